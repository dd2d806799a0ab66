"""How much a Gemini model should think, by its name: 2.5 takes a budget of tokens, later models a level. Pure."""

import re

from assent.models.effort_levels import nearest_effort
from assent.models.model_protocol import Effort
from assent.parts import JsonObject

FIRST_THINKING = (2, 5)
FIRST_WITH_LEVELS = (3, 0)

_BUDGETS: dict[Effort, int] = {
    "none": 0,
    "minimal": 512,
    "low": 2048,
    "medium": 8192,
    "high": 16_384,
    "xhigh": 24_576,
    "max": 24_576,
}
_LEAST_OF_PRO = 128
"""Thinking cannot be turned off in 2.5 Pro."""
_LEVELS: tuple[Effort, ...] = ("minimal", "low", "medium", "high")
_LEVELS_OF_3_PRO: tuple[Effort, ...] = ("low", "high")
_VERSION = re.compile(r"gemini-(\d+)(?:\.(\d+))?")


def version_of(model: str) -> tuple[int, int] | None:
    """None for a model with another name, such as one behind a gateway."""
    found = _VERSION.match(model)
    return (int(found[1]), int(found[2] or 0)) if found else None


def thinking_config(model: str, effort: Effort | None) -> JsonObject | None:
    """None for a model that does not think, and rejects requests for thoughts."""
    version = version_of(model)
    if (version is not None and version < FIRST_THINKING) or model.startswith("gemma-"):
        return None
    config: JsonObject = {"includeThoughts": True}
    if effort is None or version is None:
        return config
    if version < FIRST_WITH_LEVELS:
        least = _LEAST_OF_PRO if "-pro" in model else 0
        return config | {"thinkingBudget": max(least, _BUDGETS[effort])}
    levels = _LEVELS_OF_3_PRO if version == (3, 0) and "-pro" in model else _LEVELS
    return config | {"thinkingLevel": nearest_effort(effort, levels)}
