"""How much Gemini thinks: version 2.5 takes a number of tokens, later ones a level. Pure."""

from assent.models.effort_levels import nearest_effort
from assent.models.model_protocol import Effort
from assent.parts import JsonObject

_BUDGETS: dict[Effort, int] = {
    "none": 0,
    "minimal": 512,
    "low": 2_048,
    "medium": 8_192,
    "high": 16_384,
    "xhigh": 24_576,
    "max": 24_576,
}
"""Tokens."""
_LEAST_OF_PRO, _MOST_OF_PRO = 128, 32_768
"""2.5 Pro cannot do without thinking, and may think longer than the others."""
_LEVELS: tuple[Effort, ...] = ("minimal", "low", "medium", "high")


def thinking_config(model: str, effort: Effort | None) -> JsonObject:
    config: JsonObject = {"includeThoughts": True}
    if effort is None:
        return config
    if major_version(model) >= 3:
        return config | {"thinkingLevel": nearest_effort(effort, _LEVELS)}
    if not model.startswith("gemini-2.5"):
        return config  # it takes no wish
    return config | {"thinkingBudget": _budget(model, effort)}


def _budget(model: str, effort: Effort) -> int:
    if not model.startswith("gemini-2.5-pro"):
        return _BUDGETS[effort]
    return _MOST_OF_PRO if effort == "max" else max(_LEAST_OF_PRO, _BUDGETS[effort])


def major_version(model: str) -> int:
    """0 for a name without one."""
    version = model.removeprefix("gemini-").partition("-")[0].partition(".")[0]
    return int(version) if version.isdigit() else 0
