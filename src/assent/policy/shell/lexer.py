"""Splits a command into words and operators, for the small part of bash that may run without approval.

Accepts literal words, quotes, plain escapes, `~`, wildcards, `$HOME`, `$?`, loop variables, arithmetic on numbers and,
with the reader's help, `$(…)`; refuses the rest with a reason. It must not guess: it refuses any character without an
entry here. It knows no programs and no rules.
"""

import re
from collections.abc import Callable
from itertools import product
from math import prod
from typing import Literal

from msgspec import Struct

from assent.lazy_pattern import lazy_pattern
from assent.plan import UNKNOWN, Part, Step, Word
from assent.policy.shell.arithmetic import EXPRESSION, NoNumber, evaluate

TokenKind = Literal["word", "operator", "redirect"]

_PLAIN = lazy_pattern(r"[A-Za-z0-9_@%+=:,./^!#\]\-]+|[^\x00-\x7f]+")
_SPACE = lazy_pattern(r"(?:[ \t]+(?:\\\n[ \t]*)?)+")
_COMMENT = lazy_pattern(r"#[^\n]*")
_OPERATOR = lazy_pattern(r"&&|\|\||\|&|[|;\n()]")
_REDIRECT = lazy_pattern(r"(\d*)(<<<|<<-|<<|<>|<&|<|>>|>\||>&|>)|(&>>|&>)")
# Braces expand only around a comma or two dots; `{}` and `HEAD@{1}` are plain text.
_BRACES = lazy_pattern(r"\{[A-Za-z0-9_:/-]*\}")
_CHOICE = lazy_pattern(r"\{([A-Za-z0-9_.@%+:/*?-]*(?:,[A-Za-z0-9_.@%+:/*?-]*)+)\}")
_SEQUENCE = lazy_pattern(r"\{(0|[1-9]\d{0,5})\.\.(0|[1-9]\d{0,5})\}")  # with a leading zero, bash pads with zeros
_WILD = lazy_pattern(r"[*?]|[^*?]+")
_MAX_CHOICES = 64
_VARIABLE = lazy_pattern(r"\$(?:(HOME|PWD|USER)(?![A-Za-z0-9_])|\{(HOME|PWD|USER)\})")
# Only printed or compared, never used as a name: their values are known only at run time.
_SHOWN_NAMES = (
    r"PATH|SHELL|LANG|LC_ALL|TERM|HOSTNAME|LOGNAME|TZ|TMPDIR|EDITOR|VISUAL|PAGER|CI|VIRTUAL_ENV|CONDA_DEFAULT_ENV"
    r"|JAVA_HOME|GOPATH|GOROOT|NODE_ENV|DISPLAY|XDG_[A-Z_]+|UID|EUID"
)
_SHOWN = lazy_pattern(rf"\$(?:({_SHOWN_NAMES})(?![A-Za-z0-9_])|\{{({_SHOWN_NAMES})\}})")
_NAME = lazy_pattern(r"\$(?:([A-Za-z_][A-Za-z0-9_]*)|\{([A-Za-z_][A-Za-z0-9_]*)\})")
_CUT = lazy_pattern(r"\$\{([A-Za-z_][A-Za-z0-9_]*)((?:##?|%%?)(?!#|%)[A-Za-z0-9_./?-]*\*?[A-Za-z0-9_./?-]*)\}")
_CALCULATED = lazy_pattern(r"\$(\(\((?:[A-Za-z0-9_ \t+*/%()-]|\$(?=[A-Za-z_])){1,200}\)\))")
IDENTIFIER = lazy_pattern(r"\$?([A-Za-z_]\w*)")
_TAB = r"$'\t'"  # the one common string with an escape: `cut -d$'\t'`
_QUOTED = lazy_pattern(r"[^\"`$\\]+")
# Inside double quotes, `$` before one of these characters is literal.
_DOLLAR_IS_TEXT = frozenset('" |)/,.%:;=]}^~+&<>\n')
_WORD_ENDS = frozenset(" \t\n|&;<>()")
_GLOB = lazy_pattern(r"\[[!]?[A-Za-z0-9_.,-]+\]|[*?]")
_EXPANDS_TILDE_AFTER = frozenset("=:")
# `..$HOME` is not the folder it seems to be, and `sys${USER}tem` is another word if USER is not set.
_BEFORE_VARIABLE = frozenset(" \t\n=:,;('\"[<")
_AFTER_USER = frozenset(" \t\n/:,;!?)'\"]>")


class Refused(Exception):
    """The command is outside the accepted grammar. The text names what it contains: "a quote that is not closed"."""


class Token(Struct, frozen=True, kw_only=True):
    """`raw` is the source text; a redirect carries its descriptor, a word its value. `{a,b}` produces `more` words."""

    kind: TokenKind
    raw: str
    start: int
    end: int
    word: Word | None = None
    fd: str = ""
    more: tuple[Word, ...] = ()


Inner = Callable[[int], tuple[tuple[Step, ...], int]]
"""Read the commands of a substitution from a position; return them and the position of the end."""


class Lexer:
    """One pass over one command. `take_lines`, called by the reader at a newline, removes here-document bodies.
    `variables` are those of the enclosing loops.
    """

    def __init__(self, source: str, inner: Inner, at: int = 0, variables: tuple[str, ...] = ()) -> None:
        self.source = source
        self.at = at
        self.variables = variables
        self._inner = inner

    def next(self) -> Token | None:
        """The next token, or None at the end."""
        self._skip()
        if self.at >= len(self.source):
            return None
        start = self.at
        if match := _REDIRECT.match(self.source, start):
            self.at = match.end()
            operator = match[2] or match[3]
            return Token(kind="redirect", raw=operator, start=start, end=self.at, fd=match[1] or "")
        if match := _OPERATOR.match(self.source, start):
            self.at = match.end()
            return Token(kind="operator", raw=match[0], start=start, end=self.at)
        word, *more = self._words()
        return Token(
            kind="word", raw=self.source[start : self.at], start=start, end=self.at, word=word, more=tuple(more)
        )

    def take_lines(self, end: str, *, strip_tabs: bool) -> str:
        """The here-document body from here to the line `end`."""
        lines: list[str] = []
        while self.at < len(self.source):
            stop = self.source.find("\n", self.at)
            stop = len(self.source) if stop == -1 else stop
            line = self.source[self.at : stop]
            line = line.lstrip("\t") if strip_tabs else line
            self.at = min(stop + 1, len(self.source))
            if line == end:
                return "".join(one + "\n" for one in lines)
            lines.append(line)
        raise Refused("a here-document without its end line")

    def _skip(self) -> None:
        if match := _SPACE.match(self.source, self.at):
            self.at = match.end()
        if match := _COMMENT.match(self.source, self.at):
            self.at = match.end()

    def _words(self) -> list[Word]:
        parts: list[Part | tuple[str, ...]] = []
        start = self.at
        while self.at < len(self.source) and self.source[self.at] not in _WORD_ENDS:
            if self.source[self.at] == '"':
                parts += self._double()
            elif match := _SEQUENCE.match(self.source, self.at):
                self.at = match.end()
                parts.append(_counted(int(match[1]), int(match[2])))
            elif match := _CHOICE.match(self.source, self.at):
                self.at = match.end()
                parts.append(tuple(match[1].split(",")))
            else:
                parts.append(self._part(start))
        if self.at == start:
            raise Refused(f"`{self.source[self.at]}`, which groups commands or runs them in the background")
        if self.source[self.at : self.at + 1] in ("<", ">") and self.source[start] == "{":
            raise Refused("a redirection to a named descriptor")
        if not _variables_stand_apart(parts):
            raise Refused("a variable in the middle of a name")
        return _each_choice(parts)

    def _part(self, start: int) -> Part:
        one = self.source[self.at]
        match one:
            case "'":
                return self._single()
            case "\\":
                return self._escape()
            case "$":
                return self._dollar()
            case "~":
                return self._tilde(start)
            case "`":
                raise Refused("a command substitution with backquotes")
            case "{" | "}" if self.at == start and _ends(self.source, self.at + 1):
                self.at += 1
                return Part("text", one)
            case "{" | "}":
                return self._take(_BRACES, "text", "braces that bash may expand to several words")
            case "*" | "?" | "[":
                return self._glob(start)
            case _:
                return self._take(_PLAIN, "text", f"the character {one!r}")

    def _take(self, pattern: re.Pattern[str], kind: Literal["text", "glob"], why: str) -> Part:
        match = pattern.match(self.source, self.at)
        if match is None:
            raise Refused(why)
        self.at = match.end()
        return Part(kind, match[0])

    def _single(self) -> Part:
        stop = self.source.find("'", self.at + 1)
        if stop == -1:
            raise Refused("a quote that is not closed")
        text = self.source[self.at + 1 : stop]
        self.at = stop + 1
        return Part("text", text, quoted=not text)

    def _escape(self) -> Part:
        escaped = self.source[self.at + 1 : self.at + 2]
        if escaped in ("", "\n"):
            raise Refused("a line continued inside a word")
        self.at += 2
        return Part("text", escaped)

    def _dollar(self) -> Part:
        if (part := self._expansion(quoted=False)) is not None:
            return part
        if self.source.startswith(_TAB, self.at):
            self.at += len(_TAB)
            return Part("text", "\t")
        if self.source[self.at + 1 : self.at + 2] in ("", " ", "\t", "\n"):
            self.at += 1
            return Part("text", "$")
        raise Refused(_dollar_reason(self.source[self.at + 1]))

    def _expansion(self, *, quoted: bool) -> Part | None:
        """Expansions that mean the same inside and outside of quotes, except for word splitting."""
        if match := _VARIABLE.match(self.source, self.at):
            self.at = match.end()
            return Part("variable", match[1] or match[2])
        if (match := _NAME.match(self.source, self.at)) and (match[1] or match[2]) in self.variables:
            self.at = match.end()
            return Part("item", match[1] or match[2], quoted)
        if (match := _CUT.match(self.source, self.at)) and (match[1] == "PWD" or match[1] in self.variables):
            self.at = match.end()
            return Part("status" if match[1] == "PWD" else "item", match[1], quoted, cut=match[2])
        if match := _SHOWN.match(self.source, self.at):
            self.at = match.end()
            return Part("status", match[1] or match[2], quoted)
        if self.source.startswith("$?", self.at):
            self.at += 2
            return Part("status", "?", quoted)
        if self.source.startswith("$((", self.at):
            return self._number(quoted=quoted)
        if self.source.startswith("$(", self.at):
            steps, self.at = self._inner(self.at + 2)
            return Part("output", "()", quoted, steps)
        return None

    def _number(self, *, quoted: bool) -> Part:
        if found := self._calculated(quoted=quoted):
            return found
        match = EXPRESSION.match(self.source, self.at)
        try:
            found = evaluate(match[1]) if match else None
        except NoNumber:
            found = None
        if match is None or found is None:
            raise Refused("arithmetic on something other than plain numbers")
        self.at = match.end()
        return Part("text", str(found))

    def _calculated(self, *, quoted: bool) -> Part | None:
        """Arithmetic on variables whose values are known when loops are unrolled."""
        match = _CALCULATED.match(self.source, self.at)
        names = IDENTIFIER.findall(match[1]) if match else []
        if match is None or not names or not set(names) <= set(self.variables):
            return None
        self.at = match.end()
        return Part("item", names[0], quoted, cut=match[1])

    def _tilde(self, start: int) -> Part:
        following = self.source[self.at + 1 : self.at + 2]
        self.at += 1
        if self.at - 1 == start:
            if following == "/" or following == "" or following in _WORD_ENDS:
                return Part("home", "~")
            raise Refused("`~` with a name, which stands for another folder")
        if self.source[self.at - 2] in _EXPANDS_TILDE_AFTER:
            raise Refused("`~` after `=` or `:`, which bash may expand")
        return Part("text", "~")

    def _glob(self, start: int) -> Part:
        if self.source[self.at] == "[" and self.at == start and _ends(self.source, self.at + 1):
            self.at += 1  # the program `[`
            return Part("text", "[")
        if self.source.startswith("[[", self.at) and self.at == start and _ends(self.source, self.at + 2):
            self.at += 2
            return Part("text", "[[")
        return self._take(_GLOB, "glob", "a bracket pattern that is not plain")

    def _double(self) -> list[Part]:
        """The text between double quotes; `"$HOME/x"` is a variable followed by text."""
        parts: list[Part] = [Part("text", "", quoted=True)]  # "" is a word too
        self.at += 1
        while (one := self.source[self.at : self.at + 1]) != '"':
            match one:
                case "":
                    raise Refused("a quote that is not closed")
                case "`":
                    raise Refused("a command substitution with backquotes")
                case "$":
                    parts.append(self._quoted_dollar())
                case "\\":
                    parts.append(Part("text", self._quoted_escape()))
                case _:
                    parts.append(self._take(_QUOTED, "text", ""))
        self.at += 1
        return parts

    def _quoted_dollar(self) -> Part:
        if (part := self._expansion(quoted=True)) is not None:
            return part
        following = self.source[self.at + 1 : self.at + 2]
        if following not in _DOLLAR_IS_TEXT:
            raise Refused(_dollar_reason(following))
        self.at += 1
        return Part("text", "$")

    def _quoted_escape(self) -> str:
        escaped = self.source[self.at + 1 : self.at + 2]
        if escaped in ("", "\n"):
            raise Refused("a line continued inside quotes")
        self.at += 2
        return escaped if escaped in '$`"\\' else "\\" + escaped


def _ends(source: str, at: int) -> bool:
    return at >= len(source) or source[at] in _WORD_ENDS


def _dollar_reason(following: str) -> str:
    match following:
        case "'" | '"':
            return "a quoted string with escapes (`$'…'`)"
        case _:
            return "a variable or expression whose value is unknown"


def _variables_stand_apart(parts: list[Part | tuple[str, ...]]) -> bool:
    """Whether no letter is attached to a variable, so that its value alone decides what the word means."""
    texts = [one.text if isinstance(one, Part) else "{}" for one in parts]
    for at, one in enumerate(parts):
        if not isinstance(one, Part) or one.kind != "variable":
            continue
        before, after = "".join(texts[:at])[-1:], "".join(texts[at + 1 :])[:1]
        is_user = one.text == "USER"
        if before and before not in _BEFORE_VARIABLE and not (is_user and before == "/"):
            return False
        if is_user and after and after not in _AFTER_USER:
            return False
    return True


def _counted(first: int, last: int) -> tuple[str, ...]:
    """The numbers of `{1..5}`, up or down."""
    if first == last:  # behind `x=`, these braces are text
        raise Refused("braces around a single number")
    if abs(last - first) >= _MAX_CHOICES:
        raise Refused(f"braces that make more than {_MAX_CHOICES} words")
    return tuple(
        str(number) for number in range(first, last + 1 if last >= first else last - 1, 1 if last >= first else -1)
    )


def _each_choice(parts: list[Part | tuple[str, ...]]) -> list[Word]:
    """Bash expands a word with `{a,b}` once per choice, before any other expansion."""
    texts = [part for part in parts if isinstance(part, tuple)]
    if not texts:
        return [_join([part for part in parts if isinstance(part, Part)])]
    if prod(map(len, texts)) > _MAX_CHOICES:
        raise Refused("braces that make too many words")
    found: list[Word] = []
    for chosen in product(*texts):
        left = iter(chosen)
        found.append(
            _join([one for part in parts for one in ([part] if isinstance(part, Part) else _wild(next(left)))])
        )
    if not all(word.text for word in found):
        raise Refused("braces that make an empty word")
    return found


def _wild(text: str) -> list[Part]:
    return [Part("glob" if one in "*?" else "text", one) for one in _WILD.findall(text)]


def _join(parts: list[Part]) -> Word:
    """Merges adjacent text, so that a word without expansions is one string."""
    if all(part.kind == "text" for part in parts):
        return Word("".join(part.text for part in parts))
    splits = any(part.kind in UNKNOWN and not part.quoted for part in parts)  # then `""` marks an empty word
    merged: list[Part] = []
    for part in parts:
        if not part.text and not (splits and part.quoted):
            continue
        if merged and part.kind == "text" and merged[-1].kind == "text":
            merged[-1] = Part("text", merged[-1].text + part.text, merged[-1].quoted or part.quoted)
        else:
            merged.append(part)
    return word_of(merged)


def word_of(parts: list[Part]) -> Word:
    """A word in which something expands."""
    text = "".join("$" + part.text if part.kind in ("variable", *UNKNOWN) else part.text for part in parts)
    return Word(text, literal=False, parts=tuple(parts))
