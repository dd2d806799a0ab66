"""How to ask a Claude model to think. Each generation has its own way, and rejects the others. Pure.

| models              | request field                                                            |
|---------------------|--------------------------------------------------------------------------|
| before 3.7          | nothing: they do not think                                               |
| 3.7 to 4.5          | a budget of tokens, which must be smaller than the longest reply         |
| from 4.6 on         | `adaptive`, and an effort                                                |

For some of the newest, thinking cannot be turned off. Models of other makers, behind a gateway, get no such field.
"""

import re

from assent.models.effort_levels import nearest_effort
from assent.models.model_protocol import Effort
from assent.parts import JsonObject

FIRST_THINKING = (3, 7)
FIRST_ADAPTIVE = (4, 6)
FIRST_WITH_ALL_EFFORTS = (4, 7)
NEWEST = (1000, 0)
"""For a name without a number."""

LEAST_BUDGET = 1024
_BUDGETS: dict[Effort | None, int] = {
    None: 8192,
    "none": 0,
    "minimal": LEAST_BUDGET,
    "low": 4096,
    "medium": 8192,
    "high": 16_384,
    "xhigh": 32_768,
    "max": 65_536,
}
_SOME_EFFORTS: tuple[Effort, ...] = ("low", "medium", "high")
_ALL_EFFORTS: tuple[Effort, ...] = (*_SOME_EFFORTS, "xhigh", "max")
_NUMBER = re.compile(r"(?<=-)\d{1,2}(?=[-@]|$)")


def version_of(model: str) -> tuple[int, int]:
    """`claude-haiku-4-5-20251001` is 4.5, and so is `claude-haiku-4-5`; `claude-sonnet-5` is 5.0. Others are 0.0."""
    if "claude-" not in model:
        return (0, 0)
    match [int(number) for number in _NUMBER.findall(model)]:
        case [major, minor, *_]:
            return (major, minor)
        case [major]:
            return (major, 0)
        case _:
            return NEWEST


def takes_budget(model: str) -> bool:
    return FIRST_THINKING <= version_of(model) < FIRST_ADAPTIVE


def thinking_fields(model: str, effort: Effort | None, max_tokens: int) -> JsonObject:
    """The fields of a request about thinking."""
    if takes_budget(model):
        return _budget(effort, max_tokens)
    version = version_of(model)
    if version < FIRST_THINKING:
        return {}
    if effort == "none" and (off := _off(model)) is not None:
        return {"thinking": {"type": off}}
    fields: JsonObject = {"thinking": {"type": "adaptive", "display": "summarized"}}
    if effort is not None:
        accepted = _ALL_EFFORTS if version >= FIRST_WITH_ALL_EFFORTS else _SOME_EFFORTS
        fields["output_config"] = {"effort": nearest_effort(effort, accepted)}
    return fields


def _budget(effort: Effort | None, max_tokens: int) -> JsonObject:
    budget = min(_BUDGETS[effort], max_tokens // 2)
    return {"thinking": {"type": "enabled", "budget_tokens": budget}} if budget >= LEAST_BUDGET else {}


def _off(model: str) -> str | None:
    """The value that turns thinking off, if this model has one."""
    if any(family in model for family in ("fable", "mythos")):
        return None
    if version_of(model) < (5, 5):
        return "disabled"
    if "opus" in model:
        return None
    return "between_tools" if "sonnet" in model else "disabled"
