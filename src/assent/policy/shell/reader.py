"""Parses a command into a tree of pipelines and simple commands, or refuses it with a reason.

This is the only source of what runs without approval: the words found here are the words executed. It must not know
programs or rules; those judge what it found. The second reader, `command_survey`, only looks and must agree.
"""

import re

from msgspec.structs import replace

from assent.lazy_pattern import lazy_pattern
from assent.plan import Branch, Choice, Command, Group, Join, Loop, Redirect, Stage, Step, Word
from assent.policy.shell.lexer import Lexer, Refused, Token, word_of
from assent.policy.shell.plain_forms import CONDITIONS, as_test

MAX_STAGES = 64
MAX_WORDS = 1000
MAX_DEPTH = 8

_ASSIGNMENT = lazy_pattern(r"[A-Za-z_][A-Za-z0-9_]*(\+?=|\[)")
_NAME = lazy_pattern(r"([A-Za-z_][A-Za-z0-9_]*)=")
# Names in capitals, and proxy variables, mean something to programs.
_LOOP_VARIABLE = lazy_pattern(r"(?!.*_proxy$)[a-z][a-z0-9_]{0,30}")
# Capitals that neither bash nor programs know.
_PLAIN_VARIABLES = frozenset("A B BASE DEST DIR DST F FILE FILES I MSG N NAME OUT PATTERN SRC X Y".split())  # noqa: SIM905
_FOLLOWED = lazy_pattern(r"[ \t]*(;(?![;&])|\n|&&)")
_EXPANDING_BODY = lazy_pattern(r"[$`\\]")
_MEASURES = lazy_pattern(r"[ \t]+[^-\s;|&<>]")  # `time` with an option is the program
_STANDARD_FILES = {"/dev/stdout": 1, "/dev/stderr": 2}
_RESERVED = frozenset(
    (
        *("!", "]]", "case", "coproc", "do", "done", "elif", "else", "esac", "fi", "for", "function", "if", "in"),
        *("select", "then", "until", "while", "{", "}"),
    )
)


def read(source: str) -> tuple[Step, ...]:
    """The pipelines of `source`. Raises Refused for everything outside the accepted grammar."""
    return _Reader(source).script()


class _Draft:
    """A command whose here-document may still follow on later lines."""

    def __init__(self, start: int) -> None:
        self.start = self.end = start
        self.redirects: list[Redirect] = []

    def command(self, source: str) -> Command:
        raise NotImplementedError


class _SimpleDraft(_Draft):
    def __init__(self, start: int) -> None:
        super().__init__(start)
        self.env: list[tuple[str, str]] = []
        self.words: list[Word] = []

    def command(self, source: str) -> Command:
        return Stage(
            words=tuple(self.words),
            env=tuple(self.env),
            redirects=tuple(self.redirects),
            text=source[self.start : self.end],
        )


class _StepDraft:
    def __init__(self, join: Join, drafts: list[_Draft], *, negated: bool, timed: bool) -> None:
        self.join: Join = join
        self.drafts, self.negated, self.timed = drafts, negated, timed

    def step(self, source: str) -> Step:
        return Step(self.join, tuple(one.command(source) for one in self.drafts), self.negated, self.timed)


def _steps(drafts: list[_StepDraft], source: str) -> tuple[Step, ...]:
    return tuple(one.step(source) for one in drafts)


class _GroupDraft(_Draft):
    def __init__(self, start: int, inner: list[_StepDraft], *, subshell: bool) -> None:
        super().__init__(start)
        self.inner, self.subshell = inner, subshell

    def command(self, source: str) -> Command:
        return Group(_steps(self.inner, source), self.subshell, tuple(self.redirects))


class _LoopDraft(_Draft):
    def __init__(self, start: int, variable: str, words: list[Word], inner: list[_StepDraft]) -> None:
        super().__init__(start)
        self.variable, self.words, self.inner = variable, words, inner

    def command(self, source: str) -> Command:
        return Loop(self.variable, tuple(self.words), _steps(self.inner, source), tuple(self.redirects))


class _ChoiceDraft(_Draft):
    def __init__(self, start: int) -> None:
        super().__init__(start)
        self.branches: list[tuple[list[_StepDraft], list[_StepDraft]]] = []
        self.otherwise: list[_StepDraft] = []

    def command(self, source: str) -> Command:
        branches = tuple(Branch(_steps(condition, source), _steps(body, source)) for condition, body in self.branches)
        return Choice(branches, _steps(self.otherwise, source), tuple(self.redirects))


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
    """`outer` is the reader of the text that contains a substitution."""

    def __init__(self, source: str, at: int = 0, outer: "_Reader | None" = None) -> None:
        self.lexer = Lexer(source, self._substitution, at, outer.lexer.variables if outer else ())
        self.depth = outer.depth + 1 if outer else 0
        self.stages = outer.stages if outer else 0
        self.heredocs: list[_Heredoc] = []
        self.token: Token | None = None
        self._advance()

    def script(self) -> tuple[Step, ...]:
        drafts = self._list(empty=True)
        if self.heredocs:
            raise Refused("a here-document without a body")
        return _steps(drafts, self.lexer.source)

    def _substitution(self, at: int) -> tuple[tuple[Step, ...], int]:
        """The commands of `$(…)`, whose text begins at `at`."""
        if self.depth >= MAX_DEPTH:
            raise Refused(f"commands nested more than {MAX_DEPTH} deep")
        inner = _Reader(self.lexer.source, at, self)
        drafts = inner._list(")")
        if inner.token is None:
            raise Refused("a command substitution that is not closed")
        if inner.heredocs:
            raise Refused("a here-document without a body")
        if self.heredocs and "\n" in self.lexer.source[at : inner.token.end]:
            raise Refused("a here-document whose body begins inside a command substitution")
        self.stages = inner.stages
        return _steps(drafts, self.lexer.source), inner.token.end

    # --- tokens ---

    def _advance(self) -> None:
        self.token = self.lexer.next()
        if self.heredocs and self.token is not None and self.token.raw == "\n":
            for heredoc in self.heredocs:
                heredoc.fill(self.lexer)
            self.heredocs.clear()

    def _skip_newlines(self) -> None:
        while self._operator() == "\n":
            self._advance()

    def _operator(self) -> str:
        return self.token.raw if self.token is not None and self.token.kind == "operator" else ""

    def _raw(self) -> str:
        return self.token.raw if self.token is not None and self.token.kind != "redirect" else ""

    def _take(self, raw: str) -> int:
        """Skips a required word; returns where it ended."""
        if self.token is None or self._raw() != raw:
            raise Refused(f"a compound command without its `{raw}`")
        end = self.token.end
        self._advance()
        return end

    # --- lists and pipelines ---

    def _list(self, *closers: str, empty: bool = False) -> list[_StepDraft]:
        """Pipelines up to one of these words, or up to the end."""
        steps: list[_StepDraft] = []
        join: Join = ""
        self._skip_newlines()
        while self.token is not None and self._raw() not in closers:
            if join in ("", ";") and (match := self._assigns()) is not None:
                steps.append(self._with_variable(join, match, closers))
                return steps
            steps.append(self._pipeline(join))
            join = self._joiner(closers)
        if join in ("&&", "||"):
            raise Refused("an unfinished chain of commands")
        if closers and self.token is None:
            raise Refused(f"a compound command without its `{closers[-1]}`")
        if not steps and not empty:
            raise Refused("a missing command")
        return steps

    def _assigns(self) -> re.Match[str] | None:
        """Whether the next command only sets a variable, for those that follow it."""
        if self.token is None or self.token.word is None or self.token.more or self.heredocs:
            return None
        match = _NAME.match(self.token.raw)
        follows = _FOLLOWED.match(self.lexer.source, self.token.end)
        computed = any(part.kind == "output" for part in self.token.word.parts)
        if match is None or follows is None or (computed and follows[1] == "&&"):  # its failure would end the chain
            return None
        plain = _LOOP_VARIABLE.fullmatch(match[1]) or match[1] in _PLAIN_VARIABLES
        return match if plain and match[1] not in self.lexer.variables else None

    def _with_variable(self, join: Join, match: re.Match[str], closers: tuple[str, ...]) -> _StepDraft:
        """`x=5; a; b` is `for x in 5; do a; b; done`: the variable is not exported, and nothing sets it again."""
        assert self.token is not None and self.token.word is not None
        start, value = self.token.start, _value(self.token.word, match.end())
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise Refused(f"commands nested more than {MAX_DEPTH} deep")
        outside = self.lexer.variables
        self.lexer.variables = (*outside, match[1])
        self._advance()
        self._joiner(())
        inner = self._list(*closers, empty=True)
        if not inner:
            raise Refused("a variable that is set without a command")
        self.lexer.variables = outside
        self.depth -= 1
        return _StepDraft(join, [_LoopDraft(start, match[1], [value], inner)], negated=False, timed=False)

    def _joiner(self, closers: tuple[str, ...]) -> Join:
        """The operator between two pipelines; several newlines and a last `;` count as one."""
        raw = self._operator()
        if self.token is None or (raw == ")" and raw in closers):
            return ""
        self._advance()
        self._skip_newlines()
        match raw:
            case "&&" | "||":
                return raw
            case ";" | "\n":
                return ";"
            case _:
                raise Refused("two consecutive operators, or a word after a compound command")

    def _pipeline(self, join: Join) -> _StepDraft:
        words = self._words_before()
        drafts = [self._command()]
        while (raw := self._operator()) in ("|", "|&"):
            if raw == "|&":
                drafts[-1].redirects.append(Redirect("copy", 2, 1))
            self._advance()
            self._skip_newlines()
            drafts.append(self._command())
        return _StepDraft(join, drafts, negated="!" in words, timed="time" in words)

    def _words_before(self) -> list[str]:
        """`!` and `time`, which apply to a whole pipeline, each at most once."""
        found: list[str] = []
        while self._raw() == "!" or (self._raw() == "time" and self._measures()):
            if self._raw() in found:
                raise Refused(f"a second `{self._raw()}`")
            found.append(self._raw())
            self._advance()
        return found

    def _measures(self) -> bool:
        return self.token is not None and _MEASURES.match(self.lexer.source, self.token.end) is not None

    # --- commands ---

    def _command(self) -> _Draft:
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise Refused(f"commands nested more than {MAX_DEPTH} deep")
        start = self.token.start if self.token else 0
        match self._raw():
            case "(":
                draft = self._group(start, ")")
            case "{":
                draft = self._group(start, "}")
            case "if":
                draft = self._choice(start)
            case "for":
                draft = self._loop(start)
            case _:
                draft = self._stage(start)
        self.depth -= 1
        return draft

    def _redirects(self, draft: _Draft, end: int) -> _Draft:
        """The redirections after a compound command."""
        draft.end = end
        while self.token is not None and self.token.kind == "redirect":
            self._redirect(draft, self.token)
        if any(one.kind == "read" for one in draft.redirects):
            raise Refused("a compound command that reads a file")
        return draft

    def _group(self, start: int, closer: str) -> _Draft:
        if closer == ")" and self.lexer.source[start : start + 2] == "((":
            raise Refused("`((`, which does arithmetic on variables")
        self._advance()
        draft = _GroupDraft(start, self._list(closer), subshell=closer == ")")
        return self._redirects(draft, self._take(closer))

    def _choice(self, start: int) -> _Draft:
        draft = _ChoiceDraft(start)
        while self._raw() in ("if", "elif"):
            self._advance()
            condition = self._list("then")
            self._take("then")
            draft.branches.append((condition, self._list("elif", "else", "fi")))
        if self._raw() == "else":
            self._advance()
            draft.otherwise = self._list("fi")
        return self._redirects(draft, self._take("fi"))

    def _loop(self, start: int) -> _Draft:
        self._advance()
        variable = self._raw()
        if not _LOOP_VARIABLE.fullmatch(variable) or variable in self.lexer.variables:
            raise Refused("a loop whose variable is not a plain, unused name")
        self._advance()
        self._take("in")
        words = self._loop_words()
        outside = self.lexer.variables
        self.lexer.variables = (*outside, variable)
        self._take("do")
        inner = self._list("done")
        self.lexer.variables = outside
        return self._redirects(_LoopDraft(start, variable, words, inner), self._take("done"))

    def _loop_words(self) -> list[Word]:
        words: list[Word] = []
        while self.token is not None and self.token.word is not None:
            words += [self.token.word, *self.token.more]
            self._advance()
        if not words or self._operator() not in (";", "\n"):
            raise Refused("a loop that is not over plain words")
        self._advance()
        self._skip_newlines()
        return words

    def _stage(self, start: int) -> _Draft:
        self.stages += 1
        if self.stages > MAX_STAGES:
            raise Refused(f"more than {MAX_STAGES} commands")
        draft = _SimpleDraft(start)
        while self.token is not None and (self.token.kind != "operator" or _joins_conditions(draft.words, self.token)):
            if self.token.kind == "operator":
                draft.words.append(Word(self.token.raw))
                self._advance()
            else:
                self._item(draft, self.token)
        if not draft.words:
            raise Refused("a variable that is set without a command" if draft.env else "a missing command")
        if len(draft.words) > MAX_WORDS:
            raise Refused(f"more than {MAX_WORDS} words in one command")
        as_test(Stage(words=tuple(draft.words), env=tuple(draft.env)))  # it must have a simpler form
        return draft

    def _item(self, draft: _SimpleDraft, token: Token) -> None:
        draft.end = token.end
        if token.kind == "redirect":
            self._redirect(draft, token)
            return
        self._advance()
        assert token.word is not None
        if token.more and not draft.words:
            raise Refused("braces in the name of a program")
        if draft.words and token.raw == "[[":
            raise Refused("double brackets that are not a condition")
        if draft.words and draft.words[0].text == "[[" and token.word.text in CONDITIONS:
            raise Refused("a condition in double brackets that is not plain")
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
    # bash expands no wildcard here, but it does expand `~` and variables.
    if name is None or any(part.kind not in ("text", "glob") for part in word.parts):
        raise Refused("an assignment that is not a plain `NAME=value`")
    return name[1], word.text[name.end() :]


def _value(word: Word, start: int) -> Word:
    """What is assigned: bash splits no words here and expands no wildcard."""
    if word.literal:
        return Word(word.text[start:])
    first, *rest = word.parts
    if first.kind not in ("text", "glob") or len(first.text) < start:
        raise Refused("an assignment that is not a plain `NAME=value`")
    parts = [replace(first, text=first.text[start:]), *rest]
    whole = [replace(one, kind="text" if one.kind == "glob" else one.kind, quoted=True) for one in parts]
    if all(one.kind == "text" for one in whole):
        return Word("".join(one.text for one in whole))
    return word_of([one for one in whole if one.text])


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
    if any(part.kind == "glob" for part in target.parts) or target.unknown:
        raise Refused("input from a file whose name is known only at run time")
    return Redirect("read", fd, target)


def _output(fd: int, target: Word) -> Redirect:
    """Only /dev/null, by this exact name, is known to discard everything and change nothing."""
    if target.text == "/dev/null":
        return Redirect("null", fd)
    if target.text in _STANDARD_FILES:
        return Redirect("copy", fd, _STANDARD_FILES[target.text])
    raise Refused(f"a redirection that writes to the file {target.text}")


def _joins_conditions(words: list[Word], token: Token) -> bool:
    """Whether `&&` or `||` is inside double brackets."""
    opened = bool(words) and words[0].text == "[[" and words[-1] != Word("]]")
    return opened and token.raw in CONDITIONS
