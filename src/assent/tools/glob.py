"""glob: finds files by path pattern, recently changed ones first."""

import re
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated

from msgspec import Meta, Struct

from assent.parts import PlainDisplay
from assent.tools.support.files import Files, check_pattern, printable
from assent.tools.tool import Invocation, Live, Permit, Resources, Tool, ToolResult

if TYPE_CHECKING:
    from assent.sandbox.confinement import Confinement

MAX_RESULTS = 500
_RECENT = 24 * 3600


class GlobParams(Struct, frozen=True, forbid_unknown_fields=True):
    pattern: Annotated[str, Meta(description="Path pattern, e.g. `src/**/*.py`; `**` matches any number of folders.")]
    dir_path: Annotated[str, Meta(description="Folder to search in. Default: the workspace root.")] = ""
    case_sensitive: Annotated[bool, Meta(description="Match case exactly. Default: false.")] = False
    respect_git_ignore: Annotated[bool, Meta(description="Skip files that git ignores. Default: true.")] = True


class GlobTool(Tool[GlobParams]):
    name = "glob"
    display_name = "FindFiles"
    description = (
        f"Finds files whose path matches a pattern, recently changed ones first. Returns at most {MAX_RESULTS} paths, "
        "relative to the workspace root."
    )
    kind = "search"
    exact = True
    main_argument = "pattern"
    params = GlobParams

    def __init__(self, files: Files, *, confinement: "Callable[[], Confinement] | None" = None) -> None:
        """`confinement` puts ripgrep into a sandbox."""
        self.files = files
        self._confinement = confinement

    def invocation(self, params: GlobParams) -> "GlobInvocation":
        check_pattern(params.pattern, "pattern")
        return GlobInvocation(self.files, params, self._confinement)


class GlobInvocation(Invocation):
    def __init__(
        self, files: Files, params: GlobParams, confinement: "Callable[[], Confinement] | None" = None
    ) -> None:
        self._confinement = confinement
        self._files = files
        self._params = params

    def describe(self) -> str:
        where = f" in {self._params.dir_path}" if self._params.dir_path else ""
        return f"'{self._params.pattern}'{where}"

    def resources(self) -> Resources:
        return Resources(reads=(self._files.absolute(self._params.dir_path).rstrip("/") + "/",))

    async def execute(self, permit: Permit, live: Live) -> ToolResult:
        from assent.tools.support.globbing import matcher
        from assent.tools.support.walk import list_files

        start, pattern = self._start()
        matches = matcher(pattern, case_sensitive=self._params.case_sensitive)
        respect = self._params.respect_git_ignore
        paths = [
            path
            for path in await list_files(self._files, start, respect_ignore=respect, confinement=self._confinement)
            if matches(path)
        ]
        oldest = time.time() - _RECENT
        aged = [(self._files.modified(f"{start}/{path}"), path) for path in paths]
        aged.sort(key=lambda each: (-each[0], each[1]) if each[0] >= oldest else (0.0, each[1]))
        return self._result([f"{start}/{path}" for _, path in aged])

    def _start(self) -> tuple[str, str]:
        """The search for an absolute pattern starts at the last folder without a wildcard."""
        pattern = self._params.pattern
        if not pattern.startswith("/"):
            return self._files.folder(self._params.dir_path), pattern
        fixed = re.split(r"[*?\[{]", pattern, maxsplit=1)[0].rpartition("/")[0]
        return self._files.folder(fixed or "/"), pattern[len(fixed) + 1 :]

    def _result(self, paths: list[str]) -> ToolResult:
        where = self._params.dir_path or "the workspace"
        # While ripgrep listed them, another process may have exchanged a folder for a link that leads out.
        first = [path for path in paths[:MAX_RESULTS] if self._files.has(path)]
        if not first:
            text = f'No files found matching "{self._params.pattern}" in {where}.'
            return ToolResult(text, PlainDisplay("No files found"))
        shown = [printable(self._files.shown(path)) for path in first]
        more = f" (the first {MAX_RESULTS} are shown)" if len(paths) > MAX_RESULTS else ""
        count = len(first) + len(paths[MAX_RESULTS:])
        head = f'Found {count} file(s) matching "{self._params.pattern}" in {where}{more}, newest first:'
        return ToolResult("\n".join([head, *shown]), PlainDisplay(f"Found {count} file(s){more}"))
