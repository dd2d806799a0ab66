"""A call of read_many_files: the files in the order of their paths, each under its name, and what was left out.

A usual place for secrets is never among them: for that read_file asks.
"""

import os
from base64 import b64encode
from collections.abc import Callable

from assent.parts import Media, PlainDisplay, Text
from assent.tools.base import Invocation, Live, Permit, Resources, ToolFailed, ToolResult
from assent.tools.files import Files, printable
from assent.tools.filetype import describe_binary, media_type
from assent.tools.globbing import matcher
from assent.tools.read_file import MAX_BYTES, MAX_MEDIA
from assent.tools.read_many_files import ReadManyFilesParams
from assent.tools.textfile import NotText, decode
from assent.tools.walk import list_files

MOST_FILES = 200
MOST_CHARACTERS = 200_000
_SHOWN_SKIPPED = 20
_DEFAULT_EXCLUDES = (
    "**/node_modules/**",
    "**/{.venv,venv,__pycache__,.tox,.mypy_cache,.pytest_cache,.ruff_cache}/**",
    "**/{dist,build,target,coverage,.next,.cache}/**",
    "**/{.idea,.vscode}/**",
    "**/*.{lock,min.js,min.css,map,pyc,so,o,class,jar}",
)


class ReadManyFilesInvocation(Invocation):
    def __init__(self, files: Files, params: ReadManyFilesParams) -> None:
        self._files = files
        self._params = params
        self._parts: list[Text | Media] = []
        self._skipped: list[str] = []
        self._read = 0
        self._room = MOST_CHARACTERS

    def describe(self) -> str:
        return ", ".join(self._params.include)

    def resources(self) -> Resources:
        return Resources(reads=(self._files.root.rstrip("/") + "/",))

    async def execute(self, permit: Permit, live: Live) -> ToolResult:
        paths = await self._matching()
        for path in sorted(paths):
            self._take(path)
        if not self._read and not self._skipped:
            raise ToolFailed("file_not_found", f"No file matches {self.describe()}.")
        self._parts.append(Text(f"--- End of content: {self._read} file(s) read ---{self._report()}"))
        return ToolResult(tuple(self._parts), PlainDisplay(f"Read {self._read} file(s), left out {len(self._skipped)}"))

    async def _matching(self) -> list[str]:
        """Relative to the root. A file that is named by its whole path is found even where a pattern would not look."""
        named = [self._relative(each) for each in self._params.include]
        wanted = [self._wanted(each) for each in named]
        found = await list_files(self._files, self._files.root, respect_ignore=self._params.respect_git_ignore)
        usual = _any_of(self._default_excludes())
        paths = {path for path in found if any(wants(path) for wants in wanted) and not usual(path)}
        excluded = _any_of(self._params.exclude)
        return [path for path in paths.union(filter(self._is_file, named)) if not excluded(path)]

    def _relative(self, include: str) -> str:
        base = self._files.root.rstrip("/") + "/"
        path = include.removeprefix(base).removeprefix("./")
        if path.startswith("/") or ".." in path.split("/"):
            self._files.locate(path, "list")  # says that it is outside, unless it only looks so
            path = os.path.relpath(os.path.join(base, path), base)
        return path.rstrip("/") or "."

    def _wanted(self, include: str) -> Callable[[str], bool]:
        if not os.path.isdir(os.path.join(self._files.root, include)):
            return matcher(include)
        inside = "" if include == "." else f"{include}/"
        deep = self._params.recursive
        return lambda path: path.startswith(inside) and (deep or "/" not in path[len(inside) :])

    def _default_excludes(self) -> tuple[str, ...]:
        return _DEFAULT_EXCLUDES if self._params.use_default_excludes else ()

    def _is_file(self, path: str) -> bool:
        return os.path.isfile(os.path.join(self._files.root, path))

    def _take(self, path: str) -> None:
        if self._read >= MOST_FILES or self._room <= 0:
            self._skip(path, "the limit is reached")
            return
        try:
            data = self._files.read(path, MAX_BYTES)
        except ToolFailed as error:
            self._skip(path, error.failure.message.removeprefix(f"{path}: ").rstrip("."))
            return
        if mime := media_type(data):
            self._take_media(path, data, mime)
            return
        try:
            self._take_text(path, decode(data).text)
        except NotText:
            self._skip(path, f"no text but {describe_binary(data)}")

    def _take_text(self, path: str, text: str) -> None:
        cut = len(text) > self._room
        shown = text[: self._room] + "\n... [cut; read on with read_file]" if cut else text
        self._parts.append(Text(f"--- {printable(path)} ---\n{shown}"))
        self._room -= len(text)
        self._read += 1

    def _take_media(self, path: str, data: bytes, mime: str) -> None:
        ending = os.path.splitext(path)[1].lower()
        asked = any(each.lower().endswith(ending) for each in self._params.include) if ending else False
        if not asked or len(data) > MAX_MEDIA:
            self._skip(path, f"{mime}; name it to read it" if not asked else f"{mime} of {len(data):,} bytes")
            return
        self._parts += [Text(f"--- {printable(path)} ---"), Media(mime, b64encode(data).decode())]
        self._read += 1

    def _skip(self, path: str, why: str) -> None:
        self._skipped.append(f"{printable(path)}: {why}")

    def _report(self) -> str:
        if not self._skipped:
            return ""
        more = len(self._skipped) - _SHOWN_SKIPPED
        lines = [*self._skipped[:_SHOWN_SKIPPED], *([f"and {more} more"] if more > 0 else [])]
        return "\n".join(["\nLeft out:", *(f"- {line}" for line in lines)])


def _any_of(patterns: tuple[str, ...]) -> Callable[[str], bool]:
    matchers = [matcher(pattern) for pattern in patterns]
    return lambda path: any(matches(path) for matches in matchers)
