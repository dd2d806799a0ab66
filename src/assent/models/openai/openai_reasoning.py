"""Which of OpenAI's models think, and which levels of effort each accepts, by its name. Pure.

Models that do not think reject a request that mentions it. Models of other makers, behind a gateway, get no such field.
"""

import re

from assent.models.effort_levels import nearest_effort
from assent.models.model_protocol import Effort
from assent.parts import JsonObject

_O_SERIES = re.compile(r"o[134](?:-|$)")
_GPT = re.compile(r"gpt-(\d+)(?:\.(\d+))?(?:-|$)")


def gpt_version(model: str) -> tuple[int, int]:
    """`gpt-6.1-sol` is 6.1; names without a number are 0.0."""
    found = _GPT.match(model)
    return (int(found[1]), int(found[2] or 0)) if found else (0, 0)


def accepted_efforts(model: str) -> tuple[Effort, ...]:
    """Empty for a model that does not think."""
    version = gpt_version(model)
    if _O_SERIES.match(model) or model.startswith("codex-"):
        return ("low", "medium", "high")
    if version < (5, 0) or "-chat" in model:
        return ()
    if version < (5, 1):
        return ("minimal", "low", "medium", "high")
    if version < (5, 2):
        return ("none", "low", "medium", "high")
    if version < (5, 6):
        return ("none", "low", "medium", "high", "xhigh")
    return ("none", "low", "medium", "high", "xhigh", "max")


def reasoning_fields(model: str, effort: Effort | None) -> JsonObject:
    """The fields of a request about thinking. Thoughts come back encrypted, because OpenAI stores nothing."""
    accepted = accepted_efforts(model)
    if not accepted:
        return {}
    reasoning: JsonObject = {"summary": "auto"}
    if effort is not None:
        reasoning["effort"] = nearest_effort(effort, accepted)
    return {"reasoning": reasoning, "include": ["reasoning.encrypted_content"]}
