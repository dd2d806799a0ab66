"""Tool schemas as Gemini accepts them: an unknown keyword makes it reject the request. Pure.

Arguments are checked against the tool's own schema later, so the schema that is sent may allow more.
"""

from typing import Any, cast

from assent.models.tool_schemas import tool_parameters
from assent.parts import JsonObject

_REFUSED = frozenset({"$schema", "$id", "exclusiveMinimum", "exclusiveMaximum", "title"})
_FORMATS = frozenset({"date-time", "enum", "int32", "int64", "float", "double"})
_MAPS = frozenset({"properties", "$defs", "definitions", "patternProperties"})
"""Keywords whose values map names of the tool's author to schemas."""


def gemini_parameters(schema: JsonObject) -> JsonObject:
    return _clean(tool_parameters(schema))


def _clean(schema: JsonObject) -> JsonObject:
    cleaned = {name: _value(name, value) for name, value in schema.items() if _is_accepted(name, value)}
    if "const" in cleaned:
        cleaned["enum"] = [cleaned.pop("const")]
    return cleaned


def _is_accepted(name: str, value: Any) -> bool:
    return name not in _REFUSED and (name != "format" or value in _FORMATS)


def _value(name: str, value: Any) -> Any:
    match value:
        case dict() if name in _MAPS:
            return {key: _item(item) for key, item in cast(JsonObject, value).items()}
        case dict() if name not in ("default", "const"):
            return _clean(cast(JsonObject, value))
        case list() if name not in ("default", "const", "enum", "required", "examples"):
            return [_item(item) for item in cast(list[Any], value)]
        case _:
            return value


def _item(value: Any) -> Any:
    return _clean(cast(JsonObject, value)) if isinstance(value, dict) else value
