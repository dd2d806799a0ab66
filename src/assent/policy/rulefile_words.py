"""Explains what is wrong with a rule file in the file's own terms: the line, the rule, the key, and its possible
values.
"""

import re
from typing import Final

from assent.lazy_pattern import lazy_pattern

_HEADER = lazy_pattern(r"^\s*\[\[\s*rule\s*\]\]", re.MULTILINE)
_IN_RULE = lazy_pattern(r"\.rule\[(\d+)\]\.?([^\[]*)")
_LINE = lazy_pattern(r"at line (\d+)")
_FIELD = lazy_pattern(r"(unknown|missing required) field `([^`]+)`")
_VALUE = lazy_pattern(r"Invalid enum value (.+)")
_KIND = lazy_pattern(r"Expected `([^`]+)`, got `([^`]+)`")
_MAY_BE = {"decision": "allow, ask or deny", "mode": "default, auto_edit, auto_try, contained, plan or yolo"}
_KINDS = {"str": "text", "int": "a whole number", "float": "a number", "bool": "true or false"} | {
    "array": "a list",
    "object": "a table",
}
ONLY_RULES: Final = "a rule file contains only [[rule]] tables, one for each rule"


def rule_lines(text: str) -> list[int]:
    """The line of each `[[rule]]`."""
    return [text.count("\n", 0, found.start()) + 1 + found.group().count("\n") for found in _HEADER.finditer(text)]


def in_words(problem: str, text: str, name: str) -> str:
    """`problem` is the decoder's message for this text; its positions are those of the decoded data."""
    what, _, where = problem.partition(" - at `$")
    found = _IN_RULE.match(where)
    if found is None:
        return f"{name}:{_line(what, text)}: {what if _is_syntax(what) else ONLY_RULES + _instead(what)}"
    number, key = int(found[1]), found[2].rstrip("`")
    lines = rule_lines(text)
    header = lines[number] if number < len(lines) else 1
    field = _FIELD.search(what)
    named = field[2] if field is not None else key.partition(".")[0]
    return f"{name}:{_key_line(text, header, named)}: rule {number + 1} (line {header}): {_said(what, key)}"


def _said(what: str, key: str) -> str:
    if (field := _FIELD.search(what)) is not None:
        name = f"{key}.{field[2]}" if key else field[2]
        if field[1] == "unknown":
            return f"there is no key `{name}`"
        return f"`{name}` is missing{_may_be(name, ': ')}"
    if (value := _VALUE.match(what)) is not None:
        return f"`{key}` must be{_may_be(key, ' ')}, not {value[1]}"
    if (kind := _KIND.match(what)) is not None:
        return (
            f"`{key}` must be {_kinds(kind[1])}, not {_kinds(kind[2])}"
            if key
            else f"a rule must be a table, not {_kinds(kind[2])}"
        )
    return f"`{key}`: {what}" if key else what


def _may_be(key: str, before: str) -> str:
    return f"{before}{_MAY_BE[key]}" if key in _MAY_BE else ""


def _kinds(names: str) -> str:
    return " or ".join(_KINDS.get(name, name) for name in names.split(" | "))


# --- where in the file ---


def _is_syntax(what: str) -> bool:
    return not what.startswith(("Object contains", "Expected `"))


def _instead(what: str) -> str:
    field = _FIELD.search(what)
    return f", and no `{field[2]}`" if field is not None else ""


def _line(what: str, text: str) -> int:
    if (found := _LINE.search(what)) is not None:
        return int(found[1])
    return text.count("\n") + 1 if "end of document" in what else 1


def _key_line(text: str, start: int, key: str) -> int:
    """The key's own line, or the first line of its rule."""
    for number, line in enumerate(text.splitlines()[start - 1 :], start):
        if re.match(rf"\s*[\"']?{re.escape(key)}[\"']?\s*=", line):
            return number
    return start
