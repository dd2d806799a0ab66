"""Explains what is wrong with a settings file in the file's own terms: the line, the setting, and its possible values.

Imported only when something is wrong.
"""

import difflib
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, get_args, get_origin, get_type_hints

from msgspec import Meta, Struct

_SYNTAX = re.compile(r"(.*) \(at (?:line (\d+), column (\d+)|end of document)\)")
_FIELD = re.compile(r"Object (?:contains unknown|missing required) field `([^`]+)`")
_VALUE = re.compile(r"Invalid enum value (.+)")
_KIND = re.compile(r"Expected `([^`]+)`, got `([^`]+)`")
_LEAST = re.compile(r"Expected `([^`]+)` (>=|>) ([\d.]+)")
_FORM = re.compile(r"Expected `str` matching regex '(.+)'")
_STEP = re.compile(r"\[[^\]]*\]|[^.\[\]]+")
_INDEX = re.compile(r"\[(\d+)\]")
_KINDS = {
    "str": "text in quotes",
    "int": "a whole number",
    "float": "a number",
    "bool": "true or false",
    "array": "a list: […]",
    "object": "a table",
}
_NOWHERE: Mapping[str, str] = {}
_GIVEN = _KINDS | {"str": "text", "array": "a list"}


def in_words(problem: str, text: str, type_: type[Struct], elsewhere: Mapping[str, str] = _NOWHERE) -> str:
    """`problem` is the decoder's message for this text and type. `elsewhere`: settings that exist, but not in this
    file, with where they belong.
    """
    if (syntax := _SYNTAX.fullmatch(problem)) is not None:
        return _syntax(syntax, text)
    what, _, where = problem.partition(" - at `")
    place = where.removeprefix("key` in `").removeprefix("$").removeprefix(".").rstrip("`")
    if not place and (field := _FIELD.fullmatch(what)) is not None and field[1] in elsewhere:
        said = f"`{field[1]}` {elsewhere[field[1]]}"
    else:
        said = _name(place, what) if where.startswith("key`") else plain(what, place, type_)
    line = _line_of(text, place, what)
    return f"line {line}: {said}" if line else said


def _syntax(found: re.Match[str], text: str) -> str:
    what = found[1][:1].lower() + found[1][1:]
    if found[2] is None:
        return f"line {len(text.rstrip().splitlines()) or 1}: {what} (at the end of the file)"
    return f"line {found[2]}: {what} (column {found[3]})"


def _name(place: str, what: str) -> str:
    form = _FORM.fullmatch(what)
    return f"a name in `{place}` must have the form {form[1]}" if form is not None else f"a name in `{place}`: {what}"


def plain(what: str, place: str, type_: type[Struct]) -> str:
    """The decoder's message about the setting `place` of this type."""
    if place == "approval_mode":
        known = "default, auto_edit, auto_try, contained or plan"
        return f"`approval_mode` must be {known}; for yolo, use --approval-mode yolo at every start"
    if (field := _FIELD.fullmatch(what)) is not None:
        return _field(what, place, field[1], type_)
    must = _must_be(what, place, type_)
    if not place:
        return f"it must be {must}" if must else what
    return f"`{place}` must be {must}" if must else f"`{place}`: {what}"


def _field(what: str, place: str, name: str, type_: type[Struct]) -> str:
    full = f"{place}.{name}" if place else name
    if "missing" in what:
        return f"`{full}` is missing"
    known = next((one.__struct_fields__ for one in _structs_at(type_, place)), ())
    near = difflib.get_close_matches(name, known, 1, cutoff=0.7)
    meant = f"; did you mean `{near[0]}`?" if near else ""
    return f"there is no setting `{full}`{meant}"


def _must_be(what: str, place: str, type_: type[Struct]) -> str:
    if (value := _VALUE.fullmatch(what)) is not None and (choices := _choices(type_, place)):
        return f"one of {', '.join(choices)}, not {value[1]}"
    if (kind := _KIND.fullmatch(what)) is not None:
        return f"{_kinds(kind[1], _KINDS)}, not {_kinds(kind[2], _GIVEN)}"
    if (least := _LEAST.fullmatch(what)) is not None:
        limit = float(least[3])
        return f"{_kinds(least[1], _KINDS)}, {'at least' if least[2] == '>=' else 'more than'} {limit:g}"
    if (form := _FORM.fullmatch(what)) is not None:
        return f"text of the form {form[1]}"
    return ""


def _kinds(names: str, words: dict[str, str]) -> str:
    return " or ".join(words.get(name, name) for name in names.split(" | ") if name != "null")


# --- types ---


def _choices(type_: type[Struct], place: str) -> list[str]:
    """The words that a setting may have; none if it may have others."""
    found = (_plain_type(kind) for hint in _hints_at(type_, place) for kind in _alternatives(hint))
    return [word for kind in found for word in get_args(kind) if isinstance(word, str) and word]


def _structs_at(type_: type[Struct], place: str) -> Iterator[type[Struct]]:
    for hint in _hints_at(type_, place):
        for kind in map(_plain_type, _alternatives(hint)):
            if isinstance(kind, type) and issubclass(kind, Struct):
                yield kind


def _hints_at(type_: Any, place: str) -> list[Any]:
    """What may stand there: `terminal.notify[0]` is an item of the list, and `keys[...]` a value of the table."""
    hints = [type_]
    for step in _STEP.findall(place):
        hints = [inner for hint in hints for kind in _alternatives(hint) for inner in _inside(_plain_type(kind), step)]
    return hints


def _inside(kind: Any, step: str) -> Sequence[Any]:
    if step.startswith("["):
        items = [item for item in get_args(kind) if item is not Ellipsis]
        return items[-1:] if get_origin(kind) in (tuple, list, dict) else ()
    if isinstance(kind, type) and issubclass(kind, Struct):
        hint = get_type_hints(kind, include_extras=True).get(step)
        return () if hint is None else (hint,)
    return get_args(kind)[-1:] if get_origin(kind) is dict else ()


def _alternatives(hint: Any) -> Sequence[Any]:
    hint = _plain_type(hint)
    return get_args(hint) if type(None) in get_args(hint) else (hint,)


def _plain_type(hint: Any) -> Any:
    """Without what `Annotated` adds."""
    args = get_args(hint)
    return args[0] if args and any(isinstance(one, Meta) for one in args[1:]) else hint


# --- lines ---


def _line_of(text: str, place: str, what: str) -> int:
    """The line of the setting, or 0 if it is written in a way that this search does not recognize."""
    steps = [step for step in _STEP.findall(place) if not step.startswith("[")]
    if (field := _FIELD.fullmatch(what)) is not None and "unknown" in what:
        steps.append(field[1])
    if not steps:
        return 0
    *tables, key = steps
    start = _table(text, tables, place) if tables else 0
    own = _line(text, rf"\s*{_dotted([key])}\s*=", start) if start or not tables else 0
    return own or _table(text, steps, place) or _line(text, rf"\s*\[+\s*{_dotted(steps)}\s*\.") or start


def _table(text: str, names: Sequence[str], place: str) -> int:
    """`[[webhooks]]` may stand several times: `webhooks[1]` is the second."""
    lines = list(_lines(text, rf"\s*\[+\s*{_dotted(names)}\s*\]"))
    nth = _INDEX.search(place)
    return lines[min(int(nth[1]) if nth is not None else 0, len(lines) - 1)] if lines else 0


def _dotted(names: Sequence[str]) -> str:
    return r"\s*\.\s*".join(rf"[\"']?{re.escape(name)}[\"']?" for name in names)


def _line(text: str, pattern: str, after: int = 0) -> int:
    return next((number for number in _lines(text, pattern) if number > after), 0)


def _lines(text: str, pattern: str) -> Iterator[int]:
    return (number for number, line in enumerate(text.split("\n"), start=1) if re.match(pattern, line))
