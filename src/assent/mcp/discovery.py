"""Parses the output of a project's discovery command: a JSON array of function declarations, or of objects that contain
some in `function_declarations`. Hostile until checked: a bad declaration is dropped by itself and named.
"""

from collections.abc import Collection, Iterator
from typing import Any, cast

import msgspec

from assent.mcp.definitions import Offer, Refusal

MAX_TOOLS = 2_000
_HOLDERS = ("function_declarations", "functionDeclarations")
_SCHEMAS = ("parameters", "parametersJsonSchema", "parameters_json_schema")
_TYPES = frozenset(("STRING", "NUMBER", "INTEGER", "BOOLEAN", "ARRAY", "OBJECT", "NULL"))
"""As some declarations spell them."""


class BadDiscovery(ValueError):
    """None of it can be used; the message says why."""


def declared(output: bytes, built_in: Collection[str]) -> tuple[list[Offer], list[Refusal]]:
    """Raises BadDiscovery. A tool named like a built-in one is refused: nobody should mistake one for the other."""
    try:
        printed: Any = msgspec.json.decode(output)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise BadDiscovery(f"it did not print JSON: {error}") from error
    if not isinstance(printed, list):
        raise BadDiscovery("it did not print a JSON array")
    found = list(_declarations(cast("list[Any]", printed)))
    taken = [_offer(each, number, built_in) for number, each in enumerate(found[:MAX_TOOLS], start=1)]
    refused = [each for each in taken if isinstance(each, Refusal)]
    if len(found) > MAX_TOOLS:
        refused.append(Refusal(f"{len(found) - MAX_TOOLS:,} others", f"the limit is {MAX_TOOLS:,} declarations"))
    return [each for each in taken if isinstance(each, Offer)], refused


def _declarations(printed: list[Any]) -> Iterator[Any]:
    for each in printed:
        known = cast("dict[str, Any]", each) if isinstance(each, dict) else {}
        inner = next((known[key] for key in _HOLDERS if key in known), None)
        if isinstance(inner, list):
            yield from cast("list[Any]", inner)
        else:
            yield each


def _offer(declaration: Any, number: int, built_in: Collection[str]) -> Offer | Refusal:
    if not isinstance(declaration, dict):
        return Refusal(f"declaration number {number}", "it is not a JSON object")
    known = cast("dict[str, Any]", declaration)
    name, description = known.get("name"), known.get("description") or ""
    if not isinstance(name, str) or not name.strip():
        return Refusal(f"declaration number {number}", "it has no name")
    if name in built_in:
        return Refusal(name[:200], "a built-in tool has this name")
    if not isinstance(description, str):
        return Refusal(name[:200], "its description is not text")
    if "\0" in name or name.startswith("-"):
        return Refusal(name[:200], "its name cannot be passed to the command")
    none: Any = {}
    schema: Any = next((known[key] for key in _SCHEMAS if known.get(key) is not None), none)
    if not isinstance(schema, dict):
        return Refusal(name[:200], "its parameters are not a schema")
    return Offer(name, description, _plain_types(schema, 0))


def _plain_types(schema: Any, depth: int) -> Any:
    """JSON Schema spells types in lower case. Too deep a schema is refused later; here it is only not followed."""
    if depth > 100:
        return schema
    match schema:
        case dict():
            inner = cast("dict[str, Any]", schema)
            return {key: _plain_type(key, value, depth) for key, value in inner.items()}
        case list():
            return [_plain_types(item, depth + 1) for item in cast("list[Any]", schema)]
        case _:
            return schema


def _plain_type(key: str, value: Any, depth: int) -> Any:
    return (
        value.lower()
        if key == "type" and isinstance(value, str) and value in _TYPES
        else _plain_types(value, depth + 1)
    )
