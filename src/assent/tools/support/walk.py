"""All files below a folder of the workspace, without following links; on request, without what git ignores.

Uses ripgrep if available, which is many times faster, else walks the tree. The walk yields now and then, so that a
large tree neither blocks the event loop nor delays cancellation.
"""

import asyncio
import os
from collections.abc import AsyncIterator, Callable
from typing import TYPE_CHECKING

from assent.files.ignore import IgnoreRules
from assent.process.run_program import ProcessLimits, run
from assent.process.spawn import Launcher
from assent.tools.support.blocked_work import unless_stuck
from assent.tools.support.files import Files
from assent.tools.support.searching import COMMON, NOT_FOUND, find_rg
from assent.tools.tool import ToolFailed

if TYPE_CHECKING:
    from assent.sandbox.confinement import Confinement

MAX_FOLDERS = 50_000


async def list_files(
    files: Files, start: str, *, respect_ignore: bool = True, confinement: "Callable[[], Confinement] | None" = None
) -> list[str]:
    """Paths relative to `start`, an absolute folder. `confinement` puts ripgrep into a sandbox."""
    if rg := find_rg():
        launcher = None if confinement is None else await confinement().for_helper(start)
        try:
            listed = await unless_stuck(_listed_by_rg(rg, start, respect_ignore, launcher), start)
        except (FileNotFoundError, NotADirectoryError):
            raise files.not_found(files.shown(start)) from None  # it was there a moment ago
        if listed is not None:
            return listed
    return [path async for path in walk(files, start, respect_ignore=respect_ignore)]


async def _listed_by_rg(rg: str, start: str, respect_ignore: bool, launcher: Launcher | None) -> list[str] | None:
    """None if it could not run in the sandbox."""
    pieces: list[str] = []
    ignoring = [] if respect_ignore else ["--no-ignore"]
    argv = [rg, *COMMON, "--files", "--null", "--no-messages", *ignoring, "./"]
    limits = ProcessLimits(grace=0, keep=0, sniff=False)
    finished = await run(argv, cwd=start, on_output=pieces.append, limits=limits, launcher=launcher)
    if launcher is not None and (finished.never_ran or finished.code == NOT_FOUND):
        return None
    return [path.removeprefix("./") for path in "".join(pieces).split("\0")[:-1]]


async def walk(files: Files, start: str, *, respect_ignore: bool = True) -> AsyncIterator[str]:
    """Unreadable folders are skipped."""
    rules = _rules_above(files, start) if respect_ignore else IgnoreRules()
    waiting = [("", rules)]
    for _ in range(MAX_FOLDERS):
        if not waiting:
            return
        folder, rules = waiting.pop()
        paths, folders, rules = _look(files, start, folder, rules, respect_ignore)
        for path in paths:
            yield path
        waiting += [(below, rules) for below in reversed(folders)]
        await asyncio.sleep(0)


def is_ignored(files: Files, path: str) -> bool:
    """Whether git ignores this absolute path, or a folder above it."""
    root = files.root_of(path)
    names = path[len(root) :].strip("/").split("/")
    rules, folder = IgnoreRules(), ""
    for name in names:
        rules = rules.below(folder, files.text_or_none(f"{root}/{folder}.gitignore"))
        here = folder + name
        if rules.ignores(here, is_folder=os.path.isdir(f"{root}/{here}")):
            return True
        folder = f"{here}/"
    return False


def _look(
    files: Files, start: str, folder: str, rules: IgnoreRules, respect_ignore: bool
) -> tuple[list[str], list[str], IgnoreRules]:
    """The files and the folders (as `path/`) in one folder, and the ignore rules below it."""
    try:
        entries = files.entries(f"{start}/{folder}")
    except ToolFailed:
        return [], [], rules
    if respect_ignore and any(entry.name == ".gitignore" for entry in entries):
        rules = rules.below(folder, files.text_or_none(f"{start}/{folder}.gitignore"))
    found: list[str] = []
    folders: list[str] = []
    for entry in entries:
        path, is_folder = folder + entry.name, entry.kind == "folder"
        if entry.name == ".git" or (respect_ignore and rules.ignores(path, is_folder=is_folder)):
            continue
        if is_folder:
            folders.append(path + "/")
        elif entry.kind == "file":
            found.append(path)
    return found, folders, rules


def _rules_above(files: Files, start: str) -> IgnoreRules:
    """The ignore rules of the folders from the workspace root down to the start."""
    rules = IgnoreRules()
    root = files.root_of(start)
    parts = [part for part in start[len(root) :].split("/") if part]
    for depth in range(len(parts)):
        above = "/".join((root, *parts[:depth]))
        rules = rules.below("", _moved(files.text_or_none(f"{above}/.gitignore"), parts[depth:]))
    return rules


def _moved(gitignore: str | None, parts: list[str]) -> str | None:
    """The rules of a folder above, as seen from here: those with a path lose the part that leads here."""
    if gitignore is None:
        return None
    here = "/".join(parts) + "/"
    moved: list[str] = []
    for line in gitignore.splitlines():
        negated, rule = ("!", line[1:]) if line.startswith("!") else ("", line)
        anchored = "/" in rule.rstrip().rstrip("/") and not rule.startswith("**/")
        if not anchored:
            moved.append(line)
        elif rule.lstrip("/").startswith(here):
            moved.append(f"{negated}/{rule.lstrip('/')[len(here) :]}")
    return "\n".join(moved)
