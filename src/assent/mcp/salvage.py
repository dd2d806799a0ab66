"""Keeps the good part of a partly malformed answer: a bad tool, prompt or content part costs only itself.

The SDK accepts an answer as a whole or not at all. So list items that it would reject are dropped and named, and a
content part that it does not know becomes a text that says so.
"""

from collections.abc import Mapping
from typing import Any, cast

from mcp_types import methods
from pydantic import ValidationError

from assent.mcp.definitions import Refusal
from assent.screen import make_safe

LISTS = {
    "tools/list": ("tools", "tool"),
    "prompts/list": ("prompts", "prompt"),
    "resources/list": ("resources", "resource"),
    "resources/templates/list": ("resourceTemplates", "template"),
}
CONTENTS = {"tools/call": "content", "prompts/get": "messages", "resources/read": "contents"}
KNOWN = frozenset((*LISTS, *CONTENTS))
MAX_ITEMS = 2_000
"""Per answer; the others are counted."""

Answer = dict[str, Any]


def salvaged(method: str, version: str, answer: Answer) -> tuple[Answer, list[Refusal]]:
    """The answer in a form that the SDK accepts, as far as possible, and what was dropped from it."""
    place = LISTS[method][0] if method in LISTS else CONTENTS[method]
    if not _is_long(answer.get(place)) and _problem(method, version, answer) is None:
        return answer, []
    if method == "tools/call" and place not in answer and answer.get("structuredContent") is None:
        return answer, []  # a request from the server, or nothing that could be saved
    around: Answer = {**_without_oddities(answer), place: []}
    items = answer.get(place, [])
    items = cast("list[Any]", items) if isinstance(items, list) else [items]
    if _problem(method, version, around) is not None:
        return answer, []
    if method in LISTS:
        return _good_items(method, version, around, items)
    return _readable(method, version, around, items), []


def _is_long(items: object) -> bool:
    return isinstance(items, list) and len(cast("list[Any]", items)) > MAX_ITEMS


def _problem(method: str, version: str, answer: Answer) -> str | None:
    try:
        methods.parse_server_result(method, version, answer)
    except ValidationError as error:
        return _in_words(error)
    except (KeyError, ValueError, RuntimeError):
        return None  # a version that we cannot judge
    return None


def _in_words(error: ValidationError) -> str:
    first = error.errors(include_url=False, include_context=False, include_input=False)[0]
    steps = [str(step) for step in first["loc"] if isinstance(step, str) and step[:1].islower()]
    return make_safe(f"`{steps[-1]}`: {first['msg']}" if steps else first["msg"], "label").text


def _without_oddities(answer: Answer) -> Answer:
    """The fields around the items, without optional ones that are malformed."""
    expected = {"_meta": Mapping, "structuredContent": Mapping, "nextCursor": str, "description": str}
    return {key: value for key, value in answer.items() if isinstance(value, expected.get(key, object))}


# --- lists ---


def _good_items(method: str, version: str, around: Answer, items: list[Any]) -> tuple[Answer, list[Refusal]]:
    place, kind = LISTS[method]
    good: list[Any] = []
    dropped: list[Refusal] = []
    for number, item in enumerate(items[:MAX_ITEMS], start=1):
        problem = _problem(method, version, around | {place: [item]})
        if problem is None:
            good.append(item)
        else:
            dropped.append(Refusal(_name(item, kind, number), f"its definition is malformed: {problem}"))
    if len(items) > MAX_ITEMS:
        dropped.append(Refusal(f"{len(items) - MAX_ITEMS:,} others", f"the limit is {MAX_ITEMS:,} in one answer"))
    return around | {place: good}, dropped


def _name(item: Any, kind: str, number: int) -> str:
    name = cast("dict[str, Any]", item).get("name") if isinstance(item, dict) else None
    if not isinstance(name, str) or not name.strip():
        return f"{kind} number {number}"
    return name[:200] if kind == "tool" else f"{kind} {name[:200]}"


# --- contents ---


def _readable(method: str, version: str, around: Answer, items: list[Any]) -> Answer:
    place = CONTENTS[method]
    parts = [_readable_part(method, version, around, item) for item in items[:MAX_ITEMS]]
    if len(items) > MAX_ITEMS:
        parts.append(_note(method, items[-1], f"[{len(items) - MAX_ITEMS:,} content parts were left out]"))
    return around | {place: parts}


def _readable_part(method: str, version: str, around: Answer, item: Any) -> Any:
    place = CONTENTS[method]
    if _problem(method, version, around | {place: [item]}) is None:
        return item
    return _note(method, item, _left_out(method, item))


def _left_out(method: str, item: Any) -> str:
    inner = _get(item, "content") if method == "prompts/get" else item
    kind = _get(inner, "type")
    match method, kind:
        case "resources/read", _:
            return "[an unreadable content part was left out]"
        case _, ("text" | "image" | "audio" | "resource" | "resource_link") as known:
            return f"[an unreadable content part of type {known} was left out]"
        case _, str(unknown):
            return f"[a content part of an unknown type ({unknown[:40]!r}) was left out]"
        case _:
            return "[a content part of an unknown type was left out]"


def _note(method: str, item: Any, text: str) -> dict[str, Any]:
    part = {"type": "text", "text": text}
    match method:
        case "tools/call":
            return part
        case "prompts/get":
            role = _get(item, "role")
            return {"role": role if role in ("user", "assistant") else "user", "content": part}
        case _:
            uri = _get(item, "uri")
            return {"uri": uri if isinstance(uri, str) and uri else "unknown:", "text": text}


def _get(item: Any, key: str) -> Any:
    return cast("dict[str, Any]", item).get(key) if isinstance(item, dict) else None
