"""Files and folders of one simple command: what it reads, writes and leaves, and the folder it runs in.

Knows the workspace, secrets and protected names. Does not know rules, and does not decide.
"""

import re
from itertools import pairwise
from posixpath import join

from msgspec import Struct

from assent.lazy_pattern import lazy_pattern
from assent.plan import Redirect, Stage, Word
from assent.policy.shell.git_secrets import why_not_hidden
from assent.policy.shell.options import Use
from assent.policy.shell.paths import inside, may_be_protected, place, protected, secret
from assent.policy.shell.recursive_search import names_secret

_GIT_SHOWS_NAMES = (("ls-files",), ("ls-tree",), ("check-ignore",), ("check-attr",))
# Options of git that write a file or start a pager, wherever they seem to be.
_GIT_OUTPUT = lazy_pattern(r"--(?:ou|ope)|-O")
_MAKE_FOLDERS = (("git", "clone"), ("git", "init"), ("javac",), ("unzip",))
_FOLDERS = ("mkdir", "rmdir", "rm")  # their operand is usually a folder, or is gone afterwards


class CommandPlace(Struct, frozen=True, kw_only=True):
    """Where the command runs. `certain` is False after a `cd` that may have failed."""

    cwd: str
    roots: tuple[str, ...]
    certain: bool = True
    harmless_names: bool = False
    """The pipe carries file names, none of which is a secret."""
    names_inside: bool = False
    """The pipe carries names of files in the workspace."""
    at_the_end: bool = True
    """The words from the pipe come after those of the command."""


def redirect_problem(redirect: Redirect, where: CommandPlace) -> str | None:
    if isinstance(redirect.target, Word) and secret(redirect.target, where.cwd):
        return f"it reads {redirect.target.text}, which may hold secrets"
    return None


def file_problems(use: Use, words: tuple[Word, ...], where: CommandPlace) -> list[str]:
    problems = [f"it reads {word.text}, which may hold secrets" for word in use.reads if secret(word, where.cwd)]
    if (named := names_secret(use)) is not None:
        problems.append(f"it searches {named}, which may hold secrets")
    if use.names[0] == "git":
        shown = [*_git_paths(use), *(Word(value) for name, value in use.seen if name == "-L")]
        problems += [f"it shows {one.text}, which may hold secrets" for one in shown if _git_secret(one, where)]
        problems += [f"`{one.text}` looks like an option that writes" for one in words if _GIT_OUTPUT.match(one.text)]
        problems += [why] if (why := why_not_hidden(use)) else []
    if use.model.effect == "run":
        problems += [
            f"{word.text} is outside the workspace" for word in (*use.operands, *use.reads) if _leaves(word, where)
        ]
    if use.model.effect == "network" and use.names[0] != "git":
        problems += [f"{word.text} is outside the workspace" for word in use.reads if _leaves(word, where)]
    for word in use.writes:
        problems += write_problem(word, where, folder=_is_about_folders(use))
        if secret(word, where.cwd):
            problems.append(f"it moves or changes {word.text}, which may hold secrets")
    if any(place(word.text, where.cwd) in where.roots for word in _vanishing(use)):
        problems.append("it would delete or move the workspace itself")
    if use.names[0] in ("cp", "install", "rsync"):  # a copy may have the name of what is copied
        copied = use.operands[:-1] if _is_about_folders(use) else use.operands  # the last one has been judged
        problems += [
            f"{word.text} is run or trusted by tools or later commands"
            for word in copied
            if may_be_protected(word.text.rstrip("/").rpartition("/")[2])
        ]
    return problems


def _git_paths(use: Use) -> list[Word]:
    """Its operands, except what is searched for or queried, and those of commands that show only names."""
    if use.names[1:2] in _GIT_SHOWS_NAMES:
        return []
    pattern = use.names[1:2] == ("config",) or (use.names[1:2] == ("grep",) and use.option("-e", "-f") is None)
    return use.texts[1:] if pattern else use.texts


def _git_secret(word: Word, where: CommandPlace) -> bool:
    """`HEAD:.env`, paths, and what git itself treats as a wildcard (`'.e*'`) or as a pathspec (`:(top).env`)."""
    path = re.sub(r"^(?:\([a-z,:]*\)|[/!^]+)", "", word.text.rpartition(":")[2])
    return secret(Word(path, literal=False), where.cwd)


def _leaves(word: Word, where: CommandPlace) -> bool:
    return not inside(place(word.text, where.cwd), where.roots)


def _vanishing(use: Use) -> list[Word]:
    """The operands that no longer exist afterwards."""
    match use.names[0]:
        case "rm" | "rmdir" | "unlink":
            return use.writes
        case "mv":
            return use.writes[:-1]
        case _:
            return []


def folder_problems(use: Use, stage: Stage, where: CommandPlace) -> list[str]:
    """Git, and everything that does more than read, trusts the folder it runs in."""
    checked = use.model.effect == "read" or bool(use.writes)
    if use.names[0] != "git":
        return [] if checked or inside(where.cwd, where.roots) else [_outside(where.cwd)]
    folders = _git_folders(stage.words[1 : use.at])
    if len(folders) > 1:
        return ["it changes its folder more than once"]
    cwd = place(folders[0], where.cwd) if folders else where.cwd
    return [] if inside(cwd, where.roots) else [_outside(cwd)]


def _outside(folder: str) -> str:
    return f"it runs in {folder}, outside the workspace"


def _git_folders(words: tuple[Word, ...]) -> list[str]:
    """The folders of `-C` before the sub-command; after it `-C` means something else."""
    found: list[str] = []
    for word, following in pairwise((*words, Word(""))):
        if word.text == "-C":
            found.append(following.text)
        elif word.text.startswith("-C"):
            found.append(word.text[2:])
    return found


_COPYING = ("cp", "install", "rsync")


def _is_about_folders(use: Use) -> bool:
    copies = use.names[0] == "cp" and use.option("-r", "-R", "-a", "--recursive", "--archive") is not None
    copies |= use.names[0] in _COPYING and use.operands[-1:] != [] and use.operands[-1].text.endswith("/")
    return copies or use.names[0] in _FOLDERS or use.names[:2] in _MAKE_FOLDERS


def write_problem(word: Word, where: CommandPlace, *, folder: bool = False) -> list[str]:
    path = place(word.text, where.cwd)
    if path == "/dev/null":
        return []
    if not word.literal:
        return [f"`{word.text}` may match files that nobody has seen"]
    if not where.certain:
        return ["it may write in a different folder, because a `cd` may fail"]
    if not inside(path, where.roots) or (path in where.roots and word.text != "."):
        return [f"{word.text} is outside the workspace"]
    if protected(path, where.roots, folder=folder):
        return [f"{word.text} is run or trusted by tools or later commands"]
    return []


def written_paths(use: Use, where: CommandPlace) -> tuple[str, ...]:
    """As written, for checks on disk: after a link, `..` is not the folder before it."""
    return tuple(join(where.cwd, word.text) for word in use.writes if place(word.text, where.cwd) != "/dev/null")
