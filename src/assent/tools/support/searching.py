"""Searches lines in files: with ripgrep, or slower in Python with the same results.

It does not know the tool's parameters or how matches are shown.
"""

import asyncio
import os
import re
import sys
from collections.abc import AsyncIterator, Collection, Sequence
from functools import cache
from typing import TYPE_CHECKING

import msgspec
from msgspec import Struct

from assent.files.hard_links import TooManyFiles, secrets_by_links
from assent.process.run_program import ProcessFinished, ProcessLimits, run
from assent.tools.support.blocked_work import unless_stuck
from assent.tools.support.files import Files
from assent.tools.support.found_lines import FoundLines
from assent.tools.tool import ToolFailed

if TYPE_CHECKING:
    from assent.sandbox.confinement import Confinement


class Query(Struct, frozen=True, kw_only=True):
    pattern: str
    include: str = ""
    exclude: str = ""
    case_sensitive: bool = False
    fixed: bool = False
    before: int = 0
    after: int = 0
    no_ignore: bool = False
    per_file: int | None = None
    total: int = 100


class Hit(Struct, frozen=True):
    """A matching line, or one near it. The path is absolute."""

    path: str
    line: int
    text: str
    matched: bool = True


class Search(Struct):
    """What was found so far, file by file."""

    hits: list[Hit] = []
    matches: int = 0
    limited: bool = False
    timed_out: bool = False


class _LimitReached(Exception):
    """Whether the limit is reached, so that the search can stop."""


class _Collector:
    def __init__(self, files: Files, query: Query, linked: Collection[str]) -> None:
        """`linked`: where links with the names of secrets lead."""
        self.search = Search()
        self._files = files
        self._linked = linked
        self._withheld: dict[str, bool] = {}
        self._total = query.total
        self._exclude = re.compile(query.exclude, re.IGNORECASE) if query.exclude else None

    def add(self, hit: Hit) -> None:
        if self._is_withheld(hit.path):
            return
        if hit.matched:
            if self._exclude and self._exclude.search(hit.text):
                return
            if self.search.matches >= self._total:
                self.search.limited = True
                raise _LimitReached
            self.search.matches += 1
        self.search.hits.append(hit)

    def _is_withheld(self, path: str) -> bool:
        """Nothing about a secret is reported, not even whether it matches: otherwise it could be guessed bit by bit."""
        if path not in self._withheld:
            self._withheld[path] = not self._files.is_ordinary(path) or self._is_linked(path)
        return self._withheld[path]

    def _is_linked(self, path: str) -> bool:
        return any(path == leads or path.startswith(leads + "/") for leads in self._linked)


async def search(
    files: Files, start: str, query: Query, seconds: float, confinement: "Confinement | None" = None
) -> Search:
    """`start` is an absolute folder or file. Raises ToolFailed for an invalid regular expression."""
    rg = find_rg()
    collector = _Collector(files, query, await asyncio.to_thread(_linked, files.workspace.roots))
    try:
        async with asyncio.timeout(seconds):
            if not rg or not await unless_stuck(_with_rg(rg, files, start, query, collector, confinement), start):
                collector.search = Search()
                await _with_python(files, start, query, collector)
    except _LimitReached:
        pass
    except TimeoutError:
        collector.search.timed_out = True
    return collector.search


def _linked(roots: Sequence[str]) -> Collection[str]:
    """In a workspace that is too large to check, `Files` still knows the links at its top."""
    try:
        return secrets_by_links(roots)
    except TooManyFiles:
        return ()


@cache
def find_rg() -> str | None:
    """Next to our interpreter first, where the package installs it; then anywhere on the PATH."""
    folders = [os.path.dirname(sys.executable), *os.environ.get("PATH", os.defpath).split(os.pathsep)]
    candidates = (os.path.join(folder, "rg") for folder in folders if os.path.isabs(folder))
    return next((path for path in candidates if os.path.isfile(path) and os.access(path, os.X_OK)), None)


# --- ripgrep ---

NOT_FOUND = 127
"""The sandbox does not show it, because it is in a folder for temporary files."""
COMMON = ("--no-config", "--hidden", "--glob=!.git", "--no-require-git")
"""Hidden files are searched, .git is not; .gitignore also counts outside a repository."""


class _Bytes(Struct):
    """Text, or base64 if it is not UTF-8."""

    text: str = ""
    bytes: str = ""

    def decoded(self) -> str:
        return _raw(self).decode("utf-8", "replace") if self.bytes else self.text

    def as_path(self) -> str:
        return os.fsdecode(_raw(self)) if self.bytes else self.text


def _raw(found: _Bytes) -> bytes:
    if not found.bytes:
        return found.text.encode()
    import base64

    return base64.b64decode(found.bytes)


class _Data(Struct):
    path: _Bytes | None = None
    lines: _Bytes | None = None
    line_number: int | None = None
    absolute_offset: int = 0


class _Message(Struct):
    type: str
    data: _Data


_decoder = msgspec.json.Decoder(_Message)


async def _with_rg(
    rg: str, files: Files, start: str, query: Query, collector: _Collector, confinement: "Confinement | None"
) -> bool:
    """In a sandbox in which it can only read, if there is one."""
    folder = start if os.path.isdir(start) else os.path.dirname(start)
    target = "./" if folder == start else f"./{os.path.basename(start)}"
    argv = [rg, *_arguments(query), "--", target]
    launcher = None if confinement is None else await confinement.for_helper(folder)
    limits = ProcessLimits(grace=0, keep=4_000)
    with FoundLines(files) as found:
        reader = _Reader(folder, collector, found)
        try:
            finished = await run(argv, cwd=folder, on_output=reader.add, limits=limits, launcher=launcher)
        except (FileNotFoundError, NotADirectoryError):
            raise files.not_found(files.shown(start)) from None  # it was there a moment ago
    if launcher is not None and (finished.never_ran or finished.code == NOT_FOUND):
        return False
    if not collector.search.hits:
        _check(finished, query, reader.errors)
    return True


def _arguments(query: Query) -> list[str]:
    arguments = [*COMMON, "--json", "--sort=path"]
    arguments += ["--case-sensitive" if query.case_sensitive else "--ignore-case"]
    arguments += ["--fixed-strings"] if query.fixed else []
    arguments += ["--no-ignore"] if query.no_ignore else []
    arguments += [f"--glob={query.include}"] if query.include else []
    arguments += [f"--max-count={query.per_file}"] if query.per_file else []
    arguments += [f"--before-context={query.before}", f"--after-context={query.after}"]
    return [*arguments, f"--regexp={query.pattern}"]


class _Reader:
    """Turns rg's JSON lines into matches, however they are split into pieces."""

    def __init__(self, folder: str, collector: _Collector, found: FoundLines) -> None:
        self._folder = folder
        self._collector = collector
        self._found = found
        self._rest = ""
        self.errors: list[str] = []

    def add(self, text: str) -> None:
        *lines, self._rest = (self._rest + text).split("\n")
        for line in lines:
            self._line(line)

    def _line(self, line: str) -> None:
        if not line.startswith("{"):
            self.errors.append(line)
            return
        message = _decoder.decode(line)
        data = message.data
        if message.type in ("match", "context") and data.path and data.lines:
            path = f"{self._folder}/{data.path.as_path().removeprefix('./')}"
            if not self._found.contain(path, _raw(data.lines), data.absolute_offset):
                return
            text = data.lines.decoded().rstrip("\r\n")
            self._collector.add(Hit(path, data.line_number or 0, text, message.type == "match"))


def _check(finished: ProcessFinished, query: Query, errors: list[str]) -> None:
    """Code 1 means no match; 2 means an error, which matters only if nothing was found."""
    if finished.code in (0, 1):
        return
    trouble = "\n".join(errors)[:2_000].strip() or f"rg exited with {finished.code or finished.signal}"
    if "regex parse error" in trouble or "regex" in trouble.lower():
        raise ToolFailed(
            "grep_execution_error", f"{query.pattern!r} is not a valid regular expression for ripgrep:\n{trouble}"
        )
    if "No such file" not in trouble and "Permission denied" not in trouble:
        raise ToolFailed("grep_execution_error", f"The search failed: {trouble}")


# --- Python ---


async def _with_python(files: Files, start: str, query: Query, collector: _Collector) -> None:
    pattern = _compiled(query)
    async for path in _files(files, start, query):
        text = files.text_or_none(path)
        if text is not None:
            _search_text(path, text, pattern, query, collector)


def _compiled(query: Query) -> re.Pattern[str]:
    flags = 0 if query.case_sensitive else re.IGNORECASE
    try:
        return re.compile(re.escape(query.pattern) if query.fixed else query.pattern, flags)
    except re.error as error:
        message = f"{query.pattern!r} is not a valid regular expression: {error}"
        raise ToolFailed("grep_execution_error", message) from error


async def _files(files: Files, start: str, query: Query) -> AsyncIterator[str]:
    from assent.tools.support.globbing import matcher
    from assent.tools.support.walk import walk

    if not os.path.isdir(start):
        yield start
        return
    # Like rg: a pattern without a slash matches the name, at any depth.
    include = query.include if "/" in query.include else f"**/{query.include or '*'}"
    matches = matcher(include.removeprefix("/"), case_sensitive=True)
    async for path in walk(files, start, respect_ignore=not query.no_ignore):
        if matches(path):
            yield f"{start}/{path}"


def _search_text(path: str, text: str, pattern: re.Pattern[str], query: Query, collector: _Collector) -> None:
    lines = text.split("\n")
    matched = [number for number, line in enumerate(lines) if pattern.search(line)][: query.per_file]
    wanted: dict[int, bool] = {}
    for number in matched:
        for near in range(max(number - query.before, 0), min(number + query.after + 1, len(lines))):
            wanted.setdefault(near, False)
        wanted[number] = True
    for number in sorted(wanted):
        collector.add(Hit(path, number + 1, lines[number].removesuffix("\r"), wanted[number]))
