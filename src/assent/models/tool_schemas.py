"""Tool schemas as most providers accept them: an object at the root, with properties, and no choice between objects.

Arguments are checked against the tool's own schema later, so the schema that is sent may allow more. Pure.
"""

from typing import Any, cast

from assent.parts import JsonObject

_CHOICES = ("anyOf", "oneOf", "allOf")
_REFUSED_AT_ROOT = frozenset({*_CHOICES, "enum", "not", "const", "if", "then", "else", "$schema", "$id", "$ref"})


def tool_parameters(schema: JsonObject) -> JsonObject:
    """The schema itself if nothing has to change."""
    if schema.get("type") == "object" and "properties" in schema and not _REFUSED_AT_ROOT & schema.keys():
        return schema
    root = _resolve(schema, schema)
    properties, required = _fields(root, schema, depth=0)
    plain = {key: value for key, value in root.items() if key not in _REFUSED_AT_ROOT}
    plain |= {"type": "object", "properties": properties}
    plain.pop("required", None)
    if "$defs" in schema:
        plain["$defs"] = schema["$defs"]
    return plain | {"required": required} if required else plain


def _fields(schema: JsonObject, root: JsonObject, depth: int) -> tuple[JsonObject, list[str]]:
    """All properties of the schema and its choices, and those that are always required."""
    properties, required = dict(_object(schema.get("properties"))), _names(schema.get("required"))
    for choice in _CHOICES if depth < 8 else ():
        branches = [_fields(_resolve(branch, root), root, depth + 1) for branch in _objects(schema.get(choice))]
        for fields, _ in branches:
            properties = fields | properties
        needed = [names for _, names in branches]
        for name in [name for names in needed for name in names]:
            if name not in required and (choice == "allOf" or all(name in names for names in needed)):
                required.append(name)
    return properties, required


def _resolve(schema: JsonObject, root: JsonObject) -> JsonObject:
    """Follow a reference, if it stays inside the schema."""
    reference = schema.get("$ref")
    if not isinstance(reference, str) or not reference.startswith("#/"):
        return schema
    found: Any = root
    for name in reference[2:].split("/"):
        found = _object(found).get(name.replace("~1", "/").replace("~0", "~"))
    return _object(found) | {key: value for key, value in schema.items() if key != "$ref"}


def _object(value: Any) -> JsonObject:
    return cast(JsonObject, value) if isinstance(value, dict) else {}


def _objects(value: Any) -> list[JsonObject]:
    return (
        [cast(JsonObject, item) for item in cast(list[Any], value) if isinstance(item, dict)]
        if isinstance(value, list)
        else []
    )


def _names(value: Any) -> list[str]:
    return [item for item in cast(list[Any], value) if isinstance(item, str)] if isinstance(value, list) else []
