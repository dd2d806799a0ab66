"""`find … -exec PROGRAM {} +`: the files found become operands of another program.

Both are judged: find without the clause, and the program with `{}` as a file name. Only programs that read are
accepted, and those that show content only for names that no secret can have (see `piped_names`). find is told to skip
links, because they may lead to a secret under any name.
"""

from collections.abc import Sequence
from typing import Literal

from msgspec import Struct

from assent.files.secret_names import secret_folders, secret_globs
from assent.lazy_pattern import lazy_pattern
from assent.plan import Word
from assent.policy.shell.command_rules import program
from assent.policy.shell.options import Use, examine, option_problem
from assent.policy.shell.piped_names import BEGINS, LEADING, finds_harmless
from assent.policy.shell.recursive_search import COUNTING, opens, shows_content, shows_no_secret

_GLOBAL = frozenset(("-maxdepth", "-mindepth", "-regextype"))
_GLOBAL_FLAGS = frozenset(("-depth", "-d", "-mount", "-xdev", "-daystart", "-noleaf", "-nowarn", "-warn"))
# Skip pipes, devices and sockets too: reading them may block forever.
_NO_LINK = tuple(Word(text) for kind in "lpbcs" for text in ("!", "-type", kind))
_FOLLOWING = frozenset(("-L", "-follow"))
_LANGUAGES = frozenset(("sed", "awk", "jq", "sqlite", "man"))
_NOT_ONLY_A_NAME = lazy_pattern(r"@|[^-/!(][^/]*[:|]")  # `host:file`, `format:file`, `@options`

Finds = Literal["", "one", "several"]


class Clause(Struct, frozen=True):
    """`-exec` and its words, up to `;` or `+`."""

    before: tuple[Word, ...]
    payload: tuple[Word, ...]
    end: Word
    after: tuple[Word, ...]

    @property
    def without(self) -> tuple[Word, ...]:
        return (*self.before, Word("-print"), *self.after)

    @property
    def finds(self) -> Finds:
        """How many files `{}` stands for at a time."""
        return "several" if self.end.text == "+" else "one"

    def running(self, payload: tuple[Word, ...]) -> tuple[Word, ...]:
        clause = (Word("-exec"), *payload, self.end)
        if not opens(program(payload[0].text)):
            return (*self.before, *clause, *self.after)
        at = _first_test(self.before)
        return (
            *self.before[:at],
            *_NO_LINK,
            Word("("),
            *self.before[at:],
            *(_unless_secret(clause) if self.passes_over else clause),
            *self.after,
            Word(")"),
        )

    @property
    def passes_over(self) -> bool:
        """Whatever the search is for, a copy of a secret may match it (`*.bak`, `*-prod`), so secrets are left out."""
        return shows_content(program(self.payload[0].text))


def _unless_secret(clause: tuple[Word, ...]) -> tuple[Word, ...]:
    """Tested last, so only on matches; in parentheses, because `!` or `-o` may precede the clause."""
    tests = [("-iname", name) for name in secret_globs()] + [("-ipath", f"*/{name}/*") for name in secret_folders()]
    return (Word("("), *(Word(text) for test, name in tests for text in ("!", test, name)), *clause, Word(")"))


def exec_clause(words: tuple[Word, ...]) -> Clause | None:
    """The only clause of a find command; None if there is none, more than one, or one that is not plain."""
    texts = [word.text for word in words]
    if texts.count("-exec") != 1:
        return None
    start = texts.index("-exec")
    end = next((at for at in range(start + 1, len(texts)) if _ends(texts, at)), None)
    payload = words[start + 1 : end]
    if end is None or not payload or any("{}" in word.text and word.text != "{}" for word in payload):
        return None
    return Clause(words[:start], payload, words[end], words[end + 1 :])


def _ends(texts: list[str], at: int) -> bool:
    return texts[at] == ";" or (texts[at] == "+" and texts[at - 1] == "{}")


def _first_test(words: tuple[Word, ...]) -> int:
    """Where the expression begins, after the folders and the global options."""
    begins = (
        at for at in range(1, len(words)) if BEGINS.match(words[at].text) and not LEADING.fullmatch(words[at].text)
    )
    at = next(begins, len(words))
    while at < len(words) and words[at].text in (*_GLOBAL, *_GLOBAL_FLAGS):
        at += 2 if words[at].text in _GLOBAL else 1
    return min(at, len(words))


def payload_problem(clause: Clause, cwd: str, roots: Sequence[str]) -> str | None:
    """Why the program must not receive the files found, beyond the problems it has by itself."""
    use = examine(program(clause.payload[0].text), clause.payload)
    if use is None or not _only_reads(use):
        return option_problem("-exec", "execute")
    if use.model.check in _LANGUAGES and any(word.text == "{}" for word in clause.payload if word not in use.reads):
        return "file names it finds would be read as a program"
    if opens(use.names[0]) and any(_NOT_ONLY_A_NAME.match(word.text) for word in clause.before[1:]):
        return "what it finds may be more than a file name"
    if shows_content(use.names[0]) and any(word.text in _FOLLOWING for word in clause.without):
        return "it follows links, which may lead to secrets"
    if shows_no_secret(use) or use.names[0] in COUNTING or finds_harmless(clause.without, cwd, roots):
        return None
    return "`-exec` may show secrets among the files it finds"


def _only_reads(use: Use) -> bool:
    model = use.model
    plain = model.kind == "program" and len(use.names) == 1 and not model.sub
    return plain and model.effect == "read" and use.names[0] != "find"
