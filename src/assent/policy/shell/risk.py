"""How dangerous a command looks, and the sentences that say why.

Works on what `command_survey` and `unwrap` find, so it covers every command, including those that need approval. It
decides nothing. The sentences are shown with the question.
"""

import re
from collections.abc import Iterator, Sequence
from itertools import takewhile

from msgspec import Struct

from assent.lazy_pattern import lazy_pattern
from assent.plan import Word
from assent.policy.shell.characters import hidden
from assent.policy.shell.command_rules import loose
from assent.policy.shell.command_survey import Found, Survey
from assent.policy.shell.options import Use, examine, option_problem
from assent.policy.shell.paths import inside, place, protected, secret
from assent.policy.shell.program_models import Risk

MAX_UNREMARKABLE_LENGTH = 2_000

_LEVELS: tuple[Risk, ...] = ("medium", "high")  # the level of a list of reasons; low without any
_PADDING = lazy_pattern(r"[ \t]{40,}|\n{10,}")
_SHELLS = frozenset(["bash", "sh", "zsh", "dash", "ksh", "fish", "python", "python3", "perl", "ruby", "node", "php"])
_FETCHERS = frozenset(["curl", "wget", "http", "xh", "aria2c"])
_UPLOAD = lazy_pattern(r"-[A-Za-z]*[dTF]|--(?:data|upload-file|form|post-file|post-data|body-file).*")
_DEVICE = lazy_pattern(r"/dev/(?:sd|hd|vd|nvme|disk|mmcblk|mapper)")
_FORK_BOMB = lazy_pattern(r"(?<!\w)(\w{1,20}|:)\s{0,3}\(\)\s{0,3}\{[^}]{0,80}\1\s{0,3}\|\s{0,3}\1")
_OPEN_RIGHTS = lazy_pattern(r"0?777|a\+rwx|\+s|u\+s|[0-7]?[4-7]777")
_FORCE = frozenset(("-f", "--force", "--force-with-lease", "--mirror", "--delete", "-d"))

_DELETERS = frozenset(("rm", "rmdir", "unlink", "shred"))
_MAKES = frozenset(("make", "gmake"))
_DRY_RUN = ("-n", "--just-print", "--dry-run", "--recon")
_WRITES = "It writes "


class Reason(Struct, frozen=True):
    level: Risk
    text: str


def assess(
    source: str, seen: Survey, commands: Sequence[Found], cwd: str, roots: Sequence[str]
) -> tuple[Risk, tuple[str, ...]]:
    """The highest level of all reasons, and their sentences, most serious first."""
    reasons = [*_of_text(source), *_of_shape(seen, commands, cwd, roots)]
    for command in commands:
        reasons += _of_command(command, cwd, roots)
    unique = {reason.text: reason for reason in reasons}
    ordered = sorted(unique.values(), key=lambda one: -_LEVELS.index(one.level))
    level: Risk = ordered[0].level if ordered else "low"
    return level, tuple(_writes_together([one.text for one in ordered]))


def _writes_together(texts: Sequence[str]) -> Iterator[str]:
    """One sentence for all files that are written, in the place of the first."""
    files = [text.removeprefix(_WRITES).removesuffix(".") for text in texts if _names_a_file(text)]
    for text in texts:
        if not _names_a_file(text):
            yield text
        elif files:
            *others, last = files
            yield f"{_WRITES}{', '.join(others)}{' and ' if others else ''}{last}."
            files = []


def _names_a_file(text: str) -> bool:
    return text.startswith(_WRITES) and not text.startswith(f"{_WRITES}outside ")


def _of_text(source: str) -> Iterator[Reason]:
    if names := hidden(source):
        yield Reason("high", f"It contains characters that are invisible or look like others: {' '.join(names[:8])}.")
    if len(source) > MAX_UNREMARKABLE_LENGTH:
        yield Reason("medium", f"It is very long ({len(source)} characters).")
    if _PADDING.search(source):
        yield Reason("high", "It contains a long gap that may hide something after it.")
    if _FORK_BOMB.search(source):
        yield Reason("high", "It starts processes endlessly.")
    if "/dev/tcp/" in source or "/dev/udp/" in source:
        yield Reason("high", "It opens a network connection through the shell.")


def _of_shape(seen: Survey, commands: Sequence[Found], cwd: str, roots: Sequence[str]) -> Iterator[Reason]:
    names = {loose(one.words[0].text) for one in commands}
    if names & _FETCHERS and names & _SHELLS:
        yield Reason("high", "It downloads something and runs it.")
    if not seen.complete:
        yield Reason("medium", "It could not be fully understood.")
    if any(not one.words[0].literal for one in commands):
        yield Reason("medium", "The name of a program is only known at run time.")
    for target in seen.writes:
        yield from _of_write(Word(target), cwd, roots)


def _of_write(word: Word, cwd: str, roots: Sequence[str]) -> Iterator[Reason]:
    path = place(word.text, cwd)
    if path in ("/dev/null", "/dev/stdout", "/dev/stderr"):
        return
    if _DEVICE.match(path):
        yield Reason("high", f"It overwrites the disk {path}.")
    elif protected(path, roots):
        yield Reason("high", f"It changes {word.text}, which tools or later commands run or trust.")
    elif not inside(path, roots):
        yield Reason("high", f"It writes outside the workspace: {word.text}.")
    else:
        yield Reason("medium", f"It writes {word.text}.")


def _of_command(command: Found, cwd: str, roots: Sequence[str]) -> Iterator[Reason]:
    words = command.words
    name = loose(words[0].text)
    use = examine(name, words)
    if use is None:
        if words[0].literal:
            yield Reason("medium", f"`{words[0].text}` is not a known program.")
        return
    special = list(_of_special(name, use, words))
    yield from special
    yield from _of_model(use, said=bool(special))
    for word in use.reads:
        if secret(word, cwd):
            yield Reason("high", f"It reads {word.text}, which may hold secrets.")
    for word in use.writes:
        yield from (one for one in _of_write(word, cwd, roots) if name not in _DELETERS or one.level == "high")


def _of_model(use: Use, *, said: bool) -> Iterator[Reason]:
    """`said`: a sentence about its options has said what they change."""
    named = " ".join(takewhile(_is_name, use.names))
    harmless = use.model.effect == "read" and not use.problems and use.model.kind == "program"
    if said and use.names[0] in _DELETERS:
        pass
    elif use.names[0] in _MAKES and use.option(*_DRY_RUN) is not None:
        yield Reason("medium", "It prints what a Makefile would run. The Makefile itself may still run commands.")
    elif use.model.because and not harmless:
        yield Reason(use.model.risk or "medium", use.model.because)
    elif use.model.kind == "shell":
        yield Reason("medium", f"`{named}` {use.model.does}.")
    elif use.model.kind == "interpreter" and use.problems:
        yield Reason("medium", f"`{named}` {use.model.does or 'runs code'}.")
    elif use.model.effect == "run":
        yield Reason("medium", f"`{named}` runs project code.")
    elif use.model.effect == "network":
        yield Reason("medium", f"`{named}` uses the network.")
    for option, effect in use.effects:
        if effect == "execute" or (effect == "change" and not said):
            yield Reason("medium", f"`{named}`: {option_problem(option, effect)}.")


def _is_name(word: str) -> bool:
    """Not code, which an interpreter takes as a name."""
    return not set(word) & set(" \n\t;()")


def _of_special(name: str, use: Use, words: tuple[Word, ...]) -> Iterator[Reason]:
    texts = [word.text for word in words[1:]]
    flags = "".join(one[1:] for one in texts if re.fullmatch(r"-[A-Za-z]+", one))
    match name:
        case "rm" if "r" in flags.lower() or any("--recursive".startswith(one) and len(one) > 2 for one in texts):
            yield Reason("high", "It deletes folders with everything in them.")
        case "find" if "-delete" in texts:
            yield Reason("high", "It deletes every file it finds.")
        case "curl" | "wget" if any(_UPLOAD.fullmatch(one) for one in texts):
            yield Reason("high", "It sends data over the network.")
        case "chmod" | "chown" if "R" in flags or any(_OPEN_RIGHTS.fullmatch(one) for one in texts):
            yield Reason("high", "It makes files accessible to everyone or changes whole folders.")
        case "dd" if any(_DEVICE.match(one.removeprefix("of=")) for one in texts):
            yield Reason("high", "It overwrites a disk.")
        case "git" if "push" in use.names and _FORCE & set(texts):
            yield Reason("high", "It overwrites or deletes history on a remote.")
        case "git" if use.names == ("git", "branch") and use.option("-D", "-d", "--delete", "-m", "--move") is not None:
            yield Reason("medium", "It changes branches.")
        case "git" if use.names == ("git", "tag") and use.option("-d", "--delete") is not None:
            yield Reason("medium", "It changes tags.")
        case "git" if "reset" in use.names and "--hard" in texts:
            yield Reason("high", "It discards uncommitted work.")
        case _:
            pass
