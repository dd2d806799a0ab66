"""A server's JSON Schema: refused if we cannot show or check it safely; and validation of arguments against it.

The schema is hostile: its regular expressions are not run, its references stay inside it, and validation has a budget.
"""

import importlib
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from functools import cache
from typing import Any

import msgspec

from assent.parts import JsonObject
from assent.screen import make_safe

SIZE_LIMIT = 100_000
DEPTH_LIMIT = 40
BUDGET = 50_000
"""Keywords evaluated in one validation; a schema that multiplies itself ends here."""
_left: ContextVar[list[int]] = ContextVar("left")
_PROSE = frozenset(("description", "title", "$comment"))


class BadSchema(ValueError):
    """A schema that we do not pass on; the message says why."""


def clean_schema(schema: JsonObject) -> JsonObject:
    """The schema as the model gets it: its prose made safe, everything else unchanged. Raises BadSchema."""
    if len(msgspec.json.encode(schema)) > SIZE_LIMIT:
        raise BadSchema(f"its schema is larger than {SIZE_LIMIT:,} bytes")
    if schema.get("type", "object") != "object":
        raise BadSchema("its parameters are not an object")
    cleaned = _clean(schema, 0)
    cleaned.setdefault("type", "object")
    _try_out(cleaned)
    return cleaned


def _clean(value: Any, depth: int) -> Any:
    if depth > DEPTH_LIMIT:
        raise BadSchema("its schema is nested too deeply")
    match value:
        case dict():
            return {_plain(key): _clean_entry(key, item, depth) for key, item in value.items()}  # pyright: ignore
        case list():
            return [_clean(item, depth + 1) for item in value]  # pyright: ignore
        case str():
            return _plain(value)
        case _:
            return value


def _clean_entry(key: str, value: Any, depth: int) -> Any:
    if key in _PROSE and isinstance(value, str):
        return make_safe(value, "prompt").text
    if key in ("$ref", "$dynamicRef") and isinstance(value, str) and not value.startswith("#"):
        raise BadSchema("its schema refers to something outside it")
    return _clean(value, depth + 1)


def _plain(text: str) -> str:
    """Text that must stay unchanged must not contain anything a person would not see."""
    if make_safe(text, "prompt").text != text:
        raise BadSchema(f"its schema contains hidden characters in {make_safe(text, 'label').text}")
    return text


def _try_out(schema: JsonObject) -> None:
    jsonschema = _jsonschema()
    try:
        jsonschema.Draft202012Validator.check_schema(schema)
        problem_of({}, schema)
    except jsonschema.SchemaError as error:
        raise BadSchema(f"its schema is invalid: {make_safe(str(error.message), 'label').text}") from error


def problem_of(args: JsonObject, schema: JsonObject) -> str:
    """What is wrong with the arguments, for the model; empty if they are valid. Raises BadSchema."""
    from referencing.exceptions import Unresolvable

    try:
        error = _jsonschema().exceptions.best_match(_Check.made().of(schema).iter_errors(args))
    except (RecursionError, _BudgetExceeded, Unresolvable) as failure:
        raise BadSchema("its schema cannot be checked: it refers to itself or to nothing") from failure
    if error is None:
        return ""
    where = ".".join(str(step) for step in error.absolute_path)
    return f"{where}: {error.message}" if where else str(error.message)


def _jsonschema() -> Any:
    """Slow to import, and without type hints."""
    return importlib.import_module("jsonschema")


class _BudgetExceeded(Exception):
    """The validation budget is used up."""


_Keyword = Callable[[Any, Any, Any, Any], Iterator[Any] | None]
_SKIPPED = frozenset(("pattern", "patternProperties", "unevaluatedProperties", "unevaluatedItems"))


class _Check:
    """jsonschema's validator without regular expressions, counting what it does."""

    def __init__(self) -> None:
        base = _jsonschema().Draft202012Validator
        keywords = {name: _counted(check) for name, check in base.VALIDATORS.items() if name not in _SKIPPED}
        self._validator = _jsonschema().validators.extend(base, keywords | dict.fromkeys(_SKIPPED, _anything))

    @classmethod
    @cache
    def made(cls) -> "_Check":
        return cls()

    def of(self, schema: JsonObject) -> Any:
        _left.set([BUDGET])
        return self._validator(schema, registry=importlib.import_module("referencing").Registry())


def _counted(keyword: _Keyword) -> _Keyword:
    def check(validator: Any, value: Any, instance: Any, schema: Any) -> Iterator[Any]:
        budget = _left.get()
        budget[0] -= 1
        if budget[0] < 0:
            raise _BudgetExceeded
        if "patternProperties" in schema and value is schema.get("additionalProperties"):
            return  # it would have to run the patterns
        yield from keyword(validator, value, instance, schema) or ()

    return check


def _anything(_: Any, __: Any, ___: Any, ____: Any) -> None:
    return None
