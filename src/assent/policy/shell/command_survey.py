"""Finds every command in a text, even where the strict reader refuses it: a second opinion.

Uses tree-sitter-bash, which accepts all of bash and tolerates errors. Its findings serve deny rules, the risk and the
approval question. They never allow anything, but if they differ from the strict reader's list of commands, the command
needs approval. It is known to overlook things, so it is corrected where it does (see `_blind_spots`).
"""

import re
from collections.abc import Iterator
from functools import cache, lru_cache
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from assent.lazy_pattern import lazy_pattern
from assent.plan import Part, Word
from assent.policy.shell.bash_evaluation import evaluated

if TYPE_CHECKING:
    from tree_sitter import Node, Parser

# The grammar needs more than linear time for hostile text, but not for what the strict reader accepts.
MAX_BYTES = 2_000
MAX_READ_BYTES = 10_000

_CONTINUED = lazy_pattern(r"\\\n")
_QUOTES = lazy_pattern(r"'([^']*)'|\"((?:[^\"\\$`]|\\.)*)\"|\$'((?:[^'\\]|\\.)*)'|\\(.)|([^'\"\\$`*?\[]+)", re.DOTALL)
_BACKQUOTED = lazy_pattern(r"`([^`]*)`|\$\(([^()]*)\)")
_NESTING = frozenset(("command_substitution", "process_substitution"))
_COMMANDS = frozenset(("command", "test_command", "declaration_command", "unset_command"))
_NOT_WORDS = frozenset(("file_redirect", "herestring_redirect", "variable_assignment", "subshell"))
_TEXTS = frozenset(("heredoc_redirect", "herestring_redirect"))
_LAST_OF = frozenset(("pipeline", "list", "negated_command"))
_SEGMENT = lazy_pattern(r"[;&|(){}`\n$]+")


class Found(Struct, frozen=True, kw_only=True):
    """One command somewhere in the text. Words that expand are not literal."""

    words: tuple[Word, ...]
    text: str
    nested: bool = False
    input: str = ""
    """The text that it gets as its input, as far as it can be seen: here-documents, and what comes before its pipe."""
    piped: bool = False
    """Its input comes from another command, or contains expansions."""
    input_file: str = ""
    """The file that its input is redirected from."""
    evaluated: bool = False
    """Not a command, but a text in which bash may run one."""
    other_name: bool = False
    """What deny and ask rules may call another command of the text: `pytest` for `python -m pytest`."""


class Survey(Struct, frozen=True):
    """Everything found. `complete` is False if the text was too long or has errors."""

    commands: tuple[Found, ...]
    complete: bool
    writes: tuple[str, ...] = ()
    evaluated: tuple[Found, ...] = ()
    assigned: tuple[str, ...] = ()
    """`NAME=value` in any position, as written."""


@cache
def _parser() -> "Parser":
    import tree_sitter_bash
    from tree_sitter import Language, Parser

    return Parser(Language(tree_sitter_bash.language()))


def survey(source: str, *, limit: int = MAX_BYTES, inner: bool = False) -> Survey:
    """All commands in `source`. A text over the limit is split naively, so that deny rules still see it. `inner`:
    another command passes it to a shell.
    """
    text = _CONTINUED.sub("", source)
    data = text.encode("utf-8", "surrogatepass")
    if len(data) > limit:
        return _coarse(text)
    tree = _parser().parse(data)
    walk = _Walk(data)
    walk.run(tree.root_node)
    commands = tuple(walk.commands) + tuple(_blind_spots(walk.bodies))
    hidden = tuple(_evaluated(one) for one in evaluated(text, tree.root_node, inner=inner))
    return Survey(
        commands, not tree.root_node.has_error, tuple(walk.writes), evaluated=hidden, assigned=tuple(walk.assigned)
    )


def commands_in(text: str) -> tuple[Found, ...]:
    """The commands in a text that another command runs. Cached, because one judgement needs it several times."""
    return _commands_in(text) if len(text) <= MAX_BYTES else survey(text).commands


@lru_cache(maxsize=64)
def _commands_in(text: str) -> tuple[Found, ...]:
    found = survey(text, inner=True)
    return (*found.commands, *found.evaluated)


def _evaluated(text: str) -> Found:
    return Found(
        words=(Word(text, literal=False, parts=(Part("variable", text),)),), text=text, nested=True, evaluated=True
    )


class _Input(Struct, frozen=True):
    text: str = ""
    piped: bool = False
    file: str = ""


_NO_INPUT = _Input()


class _Walk:
    """Visits the tree in source order with an explicit stack, so that depth costs nothing."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.commands: list[Found] = []
        self.bodies: list[str] = []
        self.writes: list[str] = []
        self.assigned: list[str] = []
        self.expands = True

    def run(self, root: "Node") -> None:
        stack: list[tuple[Node, bool, _Input]] = [(root, False, _NO_INPUT)]
        while stack:
            node, nested, given = stack.pop()
            kind = node.type
            children = node.children
            if kind in _COMMANDS:
                self._command(node, children, given, nested=nested)
            elif kind == "heredoc_start":
                self.expands = self._text(node).isidentifier()
            elif kind == "heredoc_body" and self.expands:
                self.bodies.append(self._text(node))
            elif kind == "file_redirect":
                self._redirect(children)
            elif kind == "variable_assignment":
                self.assigned.append(self._text(node))
            elif kind == "redirected_statement":
                self._words_behind(children, nested=nested)
                given = self._with_texts(children, given)
            elif kind == "pipeline":
                stack.extend((child, nested, one) for child, one in reversed(list(self._piped(children, given))))
                continue
            elif kind == "process_substitution" and self._text(node).startswith(">"):
                given = _Input(piped=True)
            inner = nested or kind in _NESTING
            stack.extend((child, inner, given) for child in reversed(children))

    def _piped(self, children: "list[Node]", given: "_Input") -> "Iterator[tuple[Node, _Input]]":
        """Each command of a pipe gets what those before it print."""
        before = ""
        for child in children:
            yield child, _Input(f"{given.text} {before}", piped=True) if before else given
            before += f"{self._text(child)} " if child.is_named else ""

    def _with_texts(self, children: "list[Node]", given: "_Input") -> "_Input":
        """Adds the here-documents and here-strings of a command."""
        texts = [self._text(one) for one in children if one.type in _TEXTS]
        given = replace(given, file=self._input_file(children) or given.file)
        if not texts:
            return given
        expands = any("$" in text or "`" in text for text in texts)
        return replace(given, text=" ".join((given.text, *texts)), piped=given.piped or expands)

    def _input_file(self, children: "list[Node]") -> str:
        for one in children:
            if one.type == "file_redirect" and any(part.type == "<" for part in one.children):
                return word(self._text(one.children[-1])).text
        return ""

    def _text(self, node: "Node") -> str:
        return self.data[node.start_byte : node.end_byte].decode("utf-8", "replace")

    def _command(self, node: "Node", children: "list[Node]", given: "_Input", *, nested: bool) -> None:
        match node.type:
            case "test_command":
                words = (Word(self._text(children[0])), *_blank_words(self._text(node)))
            case "command":
                words = tuple(word(self._text(one)) for one in children if one.type not in _NOT_WORDS)
            case _:
                words = tuple(word(self._text(one)) for one in children)
        if words:
            given = self._with_texts(children, given)
            self.commands.append(
                Found(
                    words=words,
                    text=self._text(node),
                    nested=nested,
                    input=given.text,
                    piped=given.piped,
                    input_file=given.file,
                )
            )

    def _words_behind(self, children: "list[Node]", *, nested: bool) -> None:
        """`rm >x -r y`: the grammar takes the words after a redirection for more redirection targets."""
        redirects = [one for one in children if one.type == "file_redirect"]
        more = [target for one in redirects for target in one.children_by_field_name("destination")[1:]]
        body = children[0]
        while body.type in _LAST_OF and body.children:
            body = body.children[-1]
        if more and body.type == "command":
            nodes = [*(one for one in body.children if one.type not in _NOT_WORDS), *more]
            words = tuple(word(self._text(one)) for one in nodes)
            self.commands.append(Found(words=words, text=" ".join(map(self._text, nodes)), nested=nested))

    def _redirect(self, children: "list[Node]") -> None:
        operators = [one.type for one in children if not one.is_named]
        targets = [self._text(one) for one in children if one.is_named and one.type != "file_descriptor"]
        if operators and ">" in operators[0] and targets and not targets[-1].isdigit():
            self.writes.append(targets[-1])


def _blank_words(text: str) -> tuple[Word, ...]:
    return tuple(word(one) for one in text.split()[1:])


def word(text: str) -> Word:
    """The word that a source text stands for; not literal if anything in it expands."""
    out: list[str] = []
    at = 0
    for match in _QUOTES.finditer(text):
        if match.start() != at:
            break
        at = match.end()
        out.append(_piece(match))
    if at == len(text):
        return Word("".join(out))
    return Word(text, literal=False, parts=(Part("variable", text),))


def _piece(match: re.Match[str]) -> str:
    single, double, ansi, escaped, plain = match.groups()
    if double is not None:
        return re.sub(r"\\([$`\"\\])", r"\1", double)
    if ansi is not None:
        return _ansi(ansi)
    return single if single is not None else escaped if escaped is not None else plain


def _ansi(text: str) -> str:
    try:
        return text.encode("latin-1", "backslashreplace").decode("unicode_escape")
    except UnicodeDecodeError:
        return text


def _blind_spots(bodies: list[str]) -> list[Found]:
    """Substitutions in here-documents, which the grammar does not always show."""
    found: list[Found] = []
    for body in bodies:
        for match in _BACKQUOTED.finditer(body):
            text = match[1] or match[2] or ""
            if text.strip():
                found.append(Found(words=tuple(word(one) for one in text.split()), text=text, nested=True))
    return found


def _coarse(text: str) -> Survey:
    """Every piece between separators, as if it were a command: too many rather than too few."""
    pieces = dict.fromkeys(piece.strip()[:400] for piece in _SEGMENT.split(text))
    commands = tuple(
        Found(words=tuple(word(one) for one in words), text=piece[:200])
        for piece in pieces
        if (words := piece.split(None, 8))
    )
    return Survey(commands, complete=False)
