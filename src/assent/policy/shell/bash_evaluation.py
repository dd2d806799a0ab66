"""Finds text that bash itself evaluates, where a command may hide that no parser shows.

Arithmetic evaluates the value of a variable, and in it subscripts, which may contain `$(…)`: `x='a[$(rm y)]'; echo
$((x))` runs rm. The same holds for subscripts, for names of variables passed as text (`[[ -v … ]]`, `unset`, `printf
-v`) and for variables that bash runs, such as PS4. Only deny and ask rules use this: it says what is not certain, and
asks too often rather than too seldom. Reads the tree of the second reader; knows no rule.
"""

import re
from collections import defaultdict
from collections.abc import Iterator
from typing import TYPE_CHECKING

from assent.lazy_pattern import lazy_pattern

if TYPE_CHECKING:
    from tree_sitter import Node

_WORTH_A_LOOK = lazy_pattern(r"\(\(|\[|\blet\b|\$\{[!\w]|@P|\bPS[0-4]\b|PROMPT_COMMAND|BASH_ENV|\bENV=|-[a-z]*[inp]")
_NAME = lazy_pattern(r"[A-Za-z_]\w*")
_IN_ARITHMETIC = lazy_pattern(r"(?<![\w#])(?:0[xX][0-9a-fA-F]+|\d+#\w+|[A-Za-z_]\w*)")
_POSITIONAL = lazy_pattern(r"\$\{?[1-9@*]")
_COMPARES = lazy_pattern(r"\s-(?:eq|ne|lt|le|gt|ge)\s")
_LOOKS_UP = lazy_pattern(r"""(?:^|[\s(!])-[vR]\s+(\S+)""")
_PLAIN_VARIABLE = lazy_pattern(r"""["']?[A-Za-z_]\w*(?:\[(?:\d+|[@*])\])?["']?""")
_DECLARED = lazy_pattern(r"[-+]\w+|[A-Za-z_]\w*|--")
# The output of these is a number, whatever the files are called.
_GIVES_NUMBER = r"""(?:wc -[lwcm]+|nproc|grep -c\w*|date \+%[A-Za-z]+|id -[ug]|seq|tput (?:cols|lines)|stat -c %\w)"""
_NUMBER = lazy_pattern(
    r"[-+]?\d*|\$[#?$!]|\$\{#[^}]*\}|\{\d+\.\.\d+(?:\.\.\d+)?\}"
    rf"|\$\((?:[^()`$]*\|\s*)?{_GIVES_NUMBER}\b[^|()`$\[]*(?:\|\s*tr -d [^|()`$\[]*)?\)",
    re.DOTALL,
)
_ARITHMETIC = lazy_pattern(r"\$\(\(.*\)\)|\$\[.*\]", re.DOTALL)
_REFERENCE = lazy_pattern(r"\$?\{?([A-Za-z_]\w*)\}?")
# Bash runs or expands these: prompts, and files that it reads first.
_RUN = lazy_pattern(r"\b(?:PS[0-4]|PROMPT_COMMAND|BASH_ENV)\b|\bENV=[^\s;&|]*(?:[$`(]|/dev/)")
_PLAIN_PROMPT = lazy_pattern(r"""\bPS[0-4]=(?:"[^"$`\\]*"|'[^'$`\\]*'|[^\s"'$`\\;|&()<>]*)(?=[\s;&|)]|$)""")
_QUOTING = lazy_pattern(r"['\"\\]")
# Set by bash, and known to nobody before.
_UNKNOWN = lazy_pattern(
    r"_|REPLY|MAPFILE|OPTARG|PWD|OLDPWD|DIRSTACK|FUNCNAME|COPROC|BASH_(?!VERSINFO$|SUBSHELL$|PID$)\w+"
)
# A value that runs a command where it becomes the name of a variable: `a[$(rm y)]`.
_RUNNING_NAME = lazy_pattern(r"[A-Za-z_]\w*\[[^\]]*(?:\$\((?!\()|`)")
_TAKES_NAMES = frozenset(("read", "mapfile", "readarray", "getopts"))
_LED = frozenset(("builtin", "command"))
_NOT_A_NAME = lazy_pattern(r"-[a-zA-Z]*[pdnNtuisOcC]")  # the next word is not the name of a variable


def evaluated(text: str, root: "Node", *, inner: bool) -> tuple[str, ...]:
    """The parts of the text in which bash may run a command that nobody sees. `inner`: another command passes the text
    to a shell, so variables may have been set before.
    """
    plain = _PLAIN_PROMPT.sub("", text)
    found = [match[0] for one in (plain, _QUOTING.sub("", plain)) if (match := _RUN.search(one))]
    if not found and not _WORTH_A_LOOK.search(text):
        return ()
    look = _Look(inner=inner)
    look.run(root)
    if look.may_look_up and (named := _RUNNING_NAME.search(_QUOTING.sub("", text))) is not None:
        found.append(named[0])
    return (*found, *look.doubts, *look.evaluates())


def _text(node: "Node") -> str:
    return (node.text or b"").decode("utf-8", "replace")


class _Look:
    """One walk: where values come from, and where they are evaluated."""

    def __init__(self, *, inner: bool) -> None:
        self.inner = inner
        self.doubts: list[str] = []
        self.values: defaultdict[str, list[str]] = defaultdict(list)
        self.arithmetic: list[str] = []
        self.subscripts: list[tuple[str, str]] = []
        self.maps: set[str] = set()
        self.integers = False
        self.may_look_up = False
        """Whether a computed word of `test` or `printf` may be `-v`."""
        self._unsafe: set[str] | None = None

    def run(self, root: "Node") -> None:
        stack = [root]
        while stack:
            node = stack.pop()
            self._see(node)
            stack.extend(node.children)

    def _see(self, node: "Node") -> None:
        match node.type:
            case "variable_assignment" | "for_statement":
                self._assignment(node)
            case "arithmetic_expansion" | "compound_statement" | "c_style_for_statement" | "subscript":
                self._arithmetic(node.type, _text(node))
            case "expansion":
                self._expansion(_text(node))
            case "test_command":
                self._condition(_text(node))
                self.may_look_up |= "$" in _text(node)
            case "declaration_command" | "unset_command":
                self._declaration([one for one in node.children if one.is_named])
            case "command":
                self._command([one for one in node.children if "redirect" not in one.type])
            case _:
                pass

    def _assignment(self, node: "Node") -> None:
        if node.type == "for_statement":
            words = [_text(one) for one in node.children if one.is_named and one.type != "do_group"]
            self.values[words[0]] += words[1:]
        else:
            name, _, value = _text(node).partition("=")
            self.values[name.rstrip("+").partition("[")[0]].append(value)

    def _arithmetic(self, kind: str, text: str) -> None:
        if kind == "subscript":
            name, _, index = text.partition("[")
            self.subscripts.append((name, index.removesuffix("]")))
        elif kind == "c_style_for_statement":
            self.arithmetic.append(text.partition("))")[0])
        elif kind != "compound_statement" or text.startswith("(("):
            self.arithmetic.append(text)

    def _expansion(self, text: str) -> None:
        """`${!x}` and `${x@P}` evaluate the value; `${x:n}` evaluates n."""
        inside = text[2:-1]
        if inside.endswith("@P") or (inside[:1] == "!" and not re.fullmatch(r"!\w+(?:[@*]|\[[@*]\])", inside)):
            self.doubts.append(text)
        elif (cut := re.match(r"\w+(?:\[[^]]*\])?:([^-=+?].*)", inside, re.DOTALL)) is not None:
            self.arithmetic.append(cut[1])
        elif (given := re.match(r"(\w+):?=(.*)", inside, re.DOTALL)) is not None:
            self.values[given[1]].append(given[2])

    def _condition(self, text: str) -> None:
        if text.startswith("[[") and _COMPARES.search(text):
            self.arithmetic.append(_COMPARES.sub(" ", re.sub(r"(?<=\s)-[a-zA-Z]+\s", " ", text)))
        if any(not _PLAIN_VARIABLE.fullmatch(name) for name in _LOOKS_UP.findall(text)):
            self.doubts.append(text)

    def _declaration(self, nodes: "list[Node]") -> None:
        words = [_text(one) for one in nodes if one.type != "variable_assignment"]
        flags = "".join(word for word in words if re.fullmatch(r"-\w+", word))
        names = [_text(one).partition("=")[0] for one in nodes if not _text(one).startswith("-")]
        self.maps.update(names if "A" in flags else ())
        self.integers |= "i" in flags
        if "n" in flags or not all(map(_DECLARED.fullmatch, words)):
            self.doubts.append(" ".join(map(_text, nodes)))

    def _command(self, nodes: "list[Node]") -> None:
        words = [_text(one) for one in nodes if one.type != "variable_assignment"]
        while len(words) > 1 and _bare(words[0]) in _LED:
            words = words[1:]
        self.may_look_up |= bool(words) and _bare(words[0]) in ("printf", "test", "[") and "$" in " ".join(words)
        match [_bare(words[0]) if words else "", *words[1:]]:
            case ["let", *rest]:
                self.arithmetic += [_QUOTING.sub("", one) for one in rest]
            case [name, *rest] if name in _TAKES_NAMES:
                self._filled([one for one in rest if _NAME.fullmatch(one)])
                self._filled([one for before, one in zip([name, *rest], rest, strict=False) if _is_name(before, one)])
            case ["printf" | "wait", *rest] if any(one.startswith(("-v", "-p")) for one in rest[:2]):
                at = next(at for at, one in enumerate(rest) if one.startswith(("-v", "-p")))
                self._filled([rest[at][2:] or "".join(rest[at + 1 : at + 2])])
            case ["test", *rest]:
                self._condition(" ".join(rest))
            case ["declare" | "typeset" | "local" | "export" | "readonly" | "unset", *rest] if not all(
                _DECLARED.fullmatch(one.partition("=")[0]) for one in rest
            ):
                self.doubts.append(" ".join(words))
            case _:
                pass

    def _filled(self, names: list[str]) -> None:
        """Variables that get a value from elsewhere."""
        for name in names:
            if not _PLAIN_VARIABLE.fullmatch(name):
                self.doubts.append(name)
            self.values[_bare(name).partition("[")[0]].append("`…`")

    # --- what is evaluated ---

    def evaluates(self) -> Iterator[str]:
        places = [*self.arithmetic, *(index for name, index in self.subscripts if name not in self.maps)]
        if self.integers:
            places += [value for values in self.values.values() for value in values]
        yield from (place for place in places if not self._is_number(place))

    def _is_number(self, place: str) -> bool:
        """Whether everything in an arithmetic expression has a number for its value."""
        if place in ("@", "*") or _NUMBER.fullmatch(place.strip("\"'")):
            return True
        inside = re.sub(r"\$\{?#\w*(?:\[[@*]\])?\}?|\$[?$!]", "0", place)
        commands = re.findall(r"\$\([^(].*|`.*", inside, re.DOTALL)
        if _POSITIONAL.search(inside) or not all(_NUMBER.fullmatch(_closed(one)) for one in commands):
            return False
        names = _IN_ARITHMETIC.findall(re.sub(r"\$\([^()]*\)", "0", inside))
        return all(self._is_safe(name) for name in names if _NAME.fullmatch(name))

    def _is_safe(self, name: str) -> bool:
        """Whether all values of a variable are numbers. What bash got from outside is not the model's."""
        if self._unsafe is None:
            self._unsafe = self._spread({name for name in self.values if not self._has_plain_values(name)})
        if name not in self.values:
            return not self._is_unknown(name)
        return name not in self._unsafe

    def _is_unknown(self, name: str) -> bool:
        """A variable that is set nowhere in the text."""
        return name not in self.values and (self.inner or _UNKNOWN.fullmatch(name) is not None)

    def _has_plain_values(self, name: str) -> bool:
        """Whether each value is a number, or the value of a variable that may be one."""
        for value in self._parts(name):
            named = _REFERENCE.fullmatch(value)
            if not _is_count(value) and (named is None or self._is_unknown(named[1])):
                return False
        return True

    def _spread(self, unsafe: set[str]) -> set[str]:
        """Adds the variables that take their value from one of these."""
        users: defaultdict[str, set[str]] = defaultdict(set)
        for name in self.values:
            for value in self._parts(name):
                if (named := _REFERENCE.fullmatch(value)) is not None:
                    users[named[1]].add(name)
        todo = list(unsafe)
        while todo:
            new = users[todo.pop()] - unsafe
            unsafe |= new
            todo += new
        return unsafe

    def _parts(self, name: str) -> Iterator[str]:
        """Its values without quotes, and the elements of arrays."""
        for value in self.values[name]:
            is_array = value.startswith("(") and value.endswith(")") and not value.startswith("((")
            yield from (one.strip("\"'") for one in (value[1:-1].split() if is_array else [value]))


def _is_count(value: str) -> bool:
    """A number, or an expression that is looked at by itself."""
    return _NUMBER.fullmatch(value) is not None or _ARITHMETIC.fullmatch(value) is not None


def _bare(word: str) -> str:
    return _QUOTING.sub("", word)


def _is_name(before: str, word: str) -> bool:
    return not word.startswith("-") and not _NOT_A_NAME.fullmatch(before)


def _closed(text: str) -> str:
    """A command substitution up to the parenthesis that closes it."""
    depth = 0
    for at, character in enumerate(text):
        depth += (character == "(") - (character == ")")
        if character == ")" and depth == 0:
            return text[: at + 1]
    return text
