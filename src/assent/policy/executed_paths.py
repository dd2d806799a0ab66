"""Which files a command line will execute or obey, judging by its words: scripts, programs of the workspace, and
the project files of builders, package managers and test runners.

It returns too many rather than too few: the caller keeps those that exist. What these files load in turn, and names
that only the shell knows at run time, are not found. Opens no file.
"""

import os
from collections.abc import Iterable, Iterator, Sequence

from assent.lazy_pattern import lazy_pattern
from assent.plan import Plan, Redirect, Word
from assent.policy.cwd_tracking import expanded, with_folders
from assent.policy.file_approvals import Alternatives
from assent.policy.shell.command_rules import loose
from assent.policy.shell.command_survey import Found
from assent.policy.shell.lexer import Refused
from assent.policy.shell.obeyed_files import Obeyed, obeyed_by
from assent.policy.shell.options import examine
from assent.policy.shell.parsed import parse, understood
from assent.policy.shell.unwrap import unwrap

_MAX_PATHS = 2_000
_MAX_FOLDERS = 8
_KNOWN = ("HOME", "PWD", "USER")
_APART = lazy_pattern(r"[\s;&|()<>'\"`]+")
_SHELLS = frozenset(("bash", "sh", "zsh", "dash", "ksh", "ash", "rbash", "busybox"))


def executed_paths(command: str, cwd: str, roots: tuple[str, ...]) -> tuple[Alternatives, ...]:
    """In the order of the commands; each one once."""
    found: dict[Alternatives, None] = {}
    for words, folder in _commands(command, cwd, roots):
        for alternatives in _executed(words, folder, roots):
            found[tuple(os.path.normpath(os.path.join(folder, path)) for path in alternatives)] = None
            if len(found) >= _MAX_PATHS:
                return tuple(found)
    return tuple(found)


# --- commands and their folders ---


def _commands(command: str, cwd: str, roots: tuple[str, ...]) -> Iterator[tuple[list[str], str]]:
    """The words of every command, including those that others run, with each folder it may run in."""
    for found, folders in _outer(command, cwd, roots):
        inner = (found, *unwrap((found,))[0])
        texts = [_texts(one.words, cwd) for one in inner]
        for folder in _led(folders or (cwd,), texts):
            for one, words in zip(inner, texts, strict=True):
                yield from ((variant, folder) for variant in (words, *_further(one, words)))


def _outer(command: str, cwd: str, roots: tuple[str, ...]) -> Iterator[tuple[Found, tuple[str, ...]]]:
    """As the strict reader understands it, or as the second one finds them."""
    seen = parse(command).seen.commands
    try:
        stages = list(with_folders(Plan(steps=understood(command), cwd=cwd, roots=roots)))
    except Refused:
        folders = _led((cwd,), [_texts(found.words, cwd) for found in seen])
        return ((found, folders) for found in seen)
    fed = [(found, (cwd,)) for found in seen if found.input]
    redirected = [
        (Found(words=(*stage.words, *_read_from(stage.redirects)), text=stage.text), where) for stage, where in stages
    ]
    return iter((*redirected, *fed))


def _read_from(redirects: Iterable[Redirect]) -> list[Word]:
    """`bash < x.sh`: the input of an interpreter is its script."""
    return [one.target for one in redirects if one.kind == "read" and isinstance(one.target, Word)]


def _led(folders: tuple[str, ...], commands: Sequence[Sequence[str]]) -> tuple[str, ...]:
    """These folders, and where a `cd` in a text that another program runs may lead."""
    found = list(folders)
    for words in commands:
        if words[:1] == ["cd"] and len(words) == 2 and words[1]:
            found += [os.path.normpath(os.path.join(folder, words[1])) for folder in found]
    return tuple(dict.fromkeys(found))[:_MAX_FOLDERS]


def _texts(words: Iterable[Word], cwd: str) -> list[str]:
    """The words as text; empty where only the shell knows."""
    return [_text(word, cwd) for word in words]


def _text(word: Word, cwd: str) -> str:
    if word.literal:
        return os.path.expanduser(word.text) if word.text.startswith("~/") else word.text
    known = all(part.kind in ("text", "home") or (part.kind, part.text) in _VARIABLES for part in word.parts)
    return expanded(word, cwd) if known else ""


_VARIABLES = frozenset(("variable", name) for name in _KNOWN)


def _further(found: Found, words: list[str]) -> Iterator[list[str]]:
    """More commands: what a wrapper runs after options that its model does not know, and what a shell reads from its
    input.
    """
    name = loose(words[0]) if words else ""
    use = examine(name, found.words)
    if use is not None and use.model.wrapper is not None:
        paths = bool(use.problems)
        yield from (words[at:] for at, word in enumerate(words) if at and _may_run(word, paths=paths))
    if name in _SHELLS and found.input:
        fed = _APART.split(found.input)
        yield from ([name, word] for word in fed if found.piped)
        yield from (fed[at:] for at, word in enumerate(fed) if _may_run(word, paths=True))


def _may_run(word: str, *, paths: bool) -> bool:
    """Whether a word in the middle of others may be a program."""
    return (paths and "/" in word) or bool(obeyed_by(loose(word)))


# --- one command ---


def _executed(words: list[str], folder: str, roots: tuple[str, ...]) -> Iterator[Alternatives]:
    if not words:
        return
    if "/" in words[0]:
        yield (words[0],)
    for entry in obeyed_by(loose(words[0])):
        if not entry.only or set(entry.only.split()).intersection(words[1:]):
            yield from _by_entry(entry, words[1:], folder, roots)


def _by_entry(entry: Obeyed, words: list[str], folder: str, roots: tuple[str, ...]) -> Iterator[Alternatives]:
    if entry.script and (script := _script(entry, words)):
        yield script
    for module in _values(words, entry.modules):
        yield from _module(module, words, folder, roots)
    named = _values(words, entry.file_options)
    yield from ((name,) for name in named)
    for place in _places(entry, words, folder):
        for name in (*entry.files.split(), *entry.below.split(), *named):
            yield (os.path.join(place, name),)
        for above in _above(place, roots) if entry.above else ():
            yield from ((os.path.join(above, name),) for name in entry.files.split())


def _script(entry: Obeyed, words: list[str]) -> Alternatives:
    """Every operand that may be it, in order; the values of options that are not known here do not count as files."""
    if any(_names(word, entry.inline.split()) for word in words) or _values(words, entry.modules):
        return ()
    operands = [word for word in words if word and not word.startswith("-")]
    reach = operands[: entry.reach] if entry.reach else operands
    return tuple(word + ending for word in reach for ending in ("", *entry.endings.split()))


def _module(name: str, words: list[str], folder: str, roots: tuple[str, ...]) -> Iterator[Alternatives]:
    """`python -m name …`: a module of the folder, or a program of this name."""
    path = name.replace(".", "/")
    yield (f"{path}.py", f"{path}/__main__.py")
    yield (f"{path.partition('/')[0]}/__init__.py",)
    yield from _executed([name, *words[words.index(name) + 1 :]], folder, roots) if name in words else ()


def _places(entry: Obeyed, words: list[str], folder: str) -> list[str]:
    given = _values(words, entry.folder_options)
    places = [os.path.normpath(os.path.join(folder, one)) for one in given] or [folder]
    if entry.operands:
        operands = [word.partition("::")[0] for word in words if word and not word.startswith("-")]
        places += [os.path.join(folder, one) for one in operands]
        places += [os.path.dirname(os.path.join(folder, one)) for one in operands if "/" in one]
    return list(dict.fromkeys(map(os.path.normpath, places)))


def _above(folder: str, roots: tuple[str, ...]) -> Iterator[str]:
    """The folders above, up to the root of the workspace."""
    while folder not in roots and any(folder.startswith(root.rstrip("/") + "/") for root in roots):
        folder = os.path.dirname(folder)
        yield folder


def _values(words: Sequence[str], options: str) -> list[str]:
    """The values of options: `-f x`, `-fx`, `--file x`, `--file=x`."""
    found: list[str] = []
    for name in options.split():
        for at, word in enumerate(words):
            if word == name:
                found += words[at + 1 : at + 2]
            elif word.startswith(name + "=") or (word.startswith(name) and not name.startswith("--")):
                found.append(word[len(name) :].removeprefix("="))
    return [value for value in found if value]


def _names(word: str, options: Sequence[str]) -> bool:
    """Whether it is one of these options, alone or among other letters: `bash -ec`."""
    bundled = not word.startswith("--") and word.startswith("-")
    return any(word == one or (bundled and len(one) == 2 and one[1] in word[1:]) for one in options)
