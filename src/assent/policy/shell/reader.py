"""Reads a command into pipelines of simple commands, or refuses it with a sentence.

This is the only source of what runs without asking: the words found here are the words executed. It
must not know programs or rules; those judge what it found. The second reader, `survey`, only looks and
must agree.
"""

import re

from assent.plan import Join, Redirect, Stage, Step, Word
from assent.policy.shell.lexer import Lexer, Refused, Token

MAX_STAGES = 64
MAX_WORDS = 1000

_ASSIGNMENT = re.compile(r"[A-Za-z_][A-Za-z0-9_]*(\+?=|\[)")
_NAME = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)=")
_EXPANDING_BODY = re.compile(r"[$`\\]")
_STANDARD_FILES = {"/dev/stdout": 1, "/dev/stderr": 2}
# `[[`, `{` and `}` are refused by the lexer.
_RESERVED = frozenset(
    (
        *("!", "]]", "case", "coproc", "do", "done", "elif", "else", "esac", "fi", "for", "function", "if", "in"),
        *("select", "then", "until", "while"),
    )
)


def read(source: str) -> tuple[Step, ...]:
    """The pipelines of `source`. Raises Refused for everything outside the accepted grammar."""
    return _Reader(source).script()


class _Draft:
    """A stage while its here-document may still follow on later lines."""

    def __init__(self, start: int) -> None:
        self.start = self.end = start
        self.env: list[tuple[str, str]] = []
        self.words: list[Word] = []
        self.redirects: list[Redirect] = []

    def stage(self, source: str) -> Stage:
        return Stage(tuple(self.words), tuple(self.env), tuple(self.redirects), source[self.start : self.end])


class _Heredoc:
    """A here-document announced by `<<`, waiting for the next newline."""

    def __init__(self, end: str, *, strip_tabs: bool, expands: bool, draft: _Draft, fd: int) -> None:
        self.end, self.strip_tabs, self.expands, self.draft, self.fd = end, strip_tabs, expands, draft, fd
        self.place = len(draft.redirects)
        draft.redirects.append(Redirect("text", fd))

    def fill(self, lexer: Lexer) -> None:
        body = lexer.take_lines(self.end, strip_tabs=self.strip_tabs)
        if self.expands and _EXPANDING_BODY.search(body):
            raise Refused("a here-document in which bash expands variables or commands")
        self.draft.redirects[self.place] = Redirect("text", self.fd, body)


class _Reader:
    def __init__(self, source: str) -> None:
        self.lexer = Lexer(source)
        self.heredocs: list[_Heredoc] = []
        self.stages = 0
        self.token: Token | None = None
        self._advance()

    def script(self) -> tuple[Step, ...]:
        drafts: list[tuple[Join, list[_Draft]]] = []
        join: Join = ""
        self._skip_newlines()
        while self.token is not None:
            drafts.append((join, self._pipeline()))
            join = self._joiner()
        if join in ("&&", "||"):
            raise Refused("a chain of commands that breaks off")
        if self.heredocs:
            raise Refused("a here-document without a body")
        source = self.lexer.source
        return tuple(Step(join, tuple(one.stage(source) for one in line)) for join, line in drafts)

    def _advance(self) -> None:
        self.token = self.lexer.next()
        if self.heredocs and self.token is not None and self.token.raw == "\n":
            for heredoc in self.heredocs:
                heredoc.fill(self.lexer)
            self.heredocs.clear()

    def _skip_newlines(self) -> None:
        while self.token is not None and self.token.raw == "\n":
            self._advance()

    def _operator(self) -> str:
        return self.token.raw if self.token is not None else ""

    def _joiner(self) -> Join:
        """The operator between two pipelines; several newlines and a last `;` say the same as one."""
        raw = self._operator()
        if self.token is None:
            return ""
        self._advance()
        self._skip_newlines()
        match raw:
            case "&&" | "||":
                return raw
            case ";" | "\n":
                return ";"
            case _:
                raise Refused("two operators that follow each other")

    def _pipeline(self) -> list[_Draft]:
        stages = [self._stage()]
        while (raw := self._operator()) in ("|", "|&"):
            if raw == "|&":
                stages[-1].redirects.append(Redirect("copy", 2, 1))
            self._advance()
            self._skip_newlines()
            stages.append(self._stage())
        return stages

    def _stage(self) -> _Draft:
        self.stages += 1
        if self.stages > MAX_STAGES:
            raise Refused(f"more than {MAX_STAGES} commands")
        draft = _Draft(self.token.start if self.token else 0)
        while self.token is not None and self.token.kind != "operator":
            self._item(draft, self.token)
        if not draft.words:
            raise Refused("a place where a command is missing")
        if len(draft.words) > MAX_WORDS:
            raise Refused(f"more than {MAX_WORDS} words in one command")
        return draft

    def _item(self, draft: _Draft, token: Token) -> None:
        draft.end = token.end
        if token.kind == "redirect":
            self._redirect(draft, token)
            return
        self._advance()
        assert token.word is not None
        if token.more and not draft.words:
            raise Refused("braces in the name of a program")
        if not draft.words and _ASSIGNMENT.match(token.raw):
            draft.env.append(_assignment(token.raw, token.word))
        elif not draft.words and token.raw in _RESERVED:
            raise Refused(f"`{token.raw}`, which makes a compound command")
        else:
            draft.words += [token.word, *token.more]

    def _redirect(self, draft: _Draft, token: Token) -> None:
        self._advance()
        target = self.token
        if target is None or target.word is None or target.more:
            raise Refused("a redirection without a target")
        draft.end = target.end
        if token.raw in ("<<", "<<-"):
            self.heredocs.append(_heredoc(draft, token, target))
        else:
            draft.redirects += _redirection(token, target.word)
        self._advance()


def _assignment(raw: str, word: Word) -> tuple[str, str]:
    name = _NAME.match(raw)
    # bash expands no wildcard here, but `~` and variables.
    if name is None or any(part.kind not in ("text", "glob") for part in word.parts):
        raise Refused("an assignment that is not a plain `NAME=value`")
    return name[1], word.text[name.end() :]


def _heredoc(draft: _Draft, token: Token, target: Token) -> _Heredoc:
    word = target.word
    if word is None or not word.literal or "\n" in word.text:
        raise Refused("a here-document whose end word is not plain")
    return _Heredoc(
        word.text,
        strip_tabs=token.raw == "<<-",
        expands=target.raw == word.text,
        draft=draft,
        fd=_descriptor(token, 0),
    )


def _redirection(token: Token, target: Word) -> list[Redirect]:
    """The redirections that neither write a file nor open a connection."""
    match token.raw:
        case "<":
            return [_input(token, target)]
        case "<<<" if target.literal:
            return [Redirect("text", _descriptor(token, 0), target.text + "\n")]
        case ">" | ">>" | ">|":
            return [_output(_descriptor(token, 1), target)]
        case "&>" | "&>>":
            return [_output(1, target), Redirect("copy", 2, 1)]
        case ">&" if target.text in ("1", "2"):
            return [Redirect("copy", _descriptor(token, 1), int(target.text))]
        case ">&" if not token.fd:
            return [_output(1, target), Redirect("copy", 2, 1)]
        case _:
            raise Refused(f"the redirection `{token.raw}{target.text}`")


def _descriptor(token: Token, usual: int) -> int:
    if token.fd not in ("", "0", "1", "2"):
        raise Refused(f"a redirection of descriptor {token.fd}")
    return int(token.fd) if token.fd else usual


def _input(token: Token, target: Word) -> Redirect:
    fd = _descriptor(token, 0)
    if target.text == "/dev/null":
        return Redirect("null", fd)
    if any(part.kind == "glob" for part in target.parts):
        raise Refused("input from a file named by a wildcard")
    return Redirect("read", fd, target)


def _output(fd: int, target: Word) -> Redirect:
    """Only /dev/null, by this exact name, is known to swallow everything and change nothing."""
    if target.text == "/dev/null":
        return Redirect("null", fd)
    if target.text in _STANDARD_FILES:
        return Redirect("copy", fd, _STANDARD_FILES[target.text])
    raise Refused(f"a redirection that writes to the file {target.text}")
