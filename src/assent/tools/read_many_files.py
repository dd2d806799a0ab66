"""read_many_files: the matching files in path order, each under its name, and a list of what was left out."""

import os
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Annotated

from msgspec import Meta, Struct

from assent.parts import PlainDisplay, Text
from assent.tools.support.files import Files, check_pattern
from assent.tools.tool import InvalidParams, Invocation, Live, Permit, Resources, Tool, ToolFailed, ToolResult

if TYPE_CHECKING:
    from assent.sandbox.confinement import Confinement
    from assent.tools.support.many_files import Taken

_SHOWN_SKIPPED = 20


class ReadManyFilesParams(Struct, frozen=True, forbid_unknown_fields=True):
    include: Annotated[
        tuple[str, ...],
        Meta(description="Files, folders or patterns such as `src/**/*.py`, relative to the workspace root."),
    ]
    exclude: Annotated[tuple[str, ...], Meta(description="Path patterns to leave out.")] = ()
    recursive: Annotated[bool, Meta(description="Include subfolders of a folder. Default: true.")] = True
    use_default_excludes: Annotated[
        bool, Meta(description="Leave out dependencies, build output and the like. Default: true.")
    ] = True
    respect_git_ignore: Annotated[bool, Meta(description="Skip files that git ignores. Default: true.")] = True


class ReadManyFilesTool(Tool[ReadManyFilesParams]):
    name = "read_many_files"
    display_name = "ReadManyFiles"
    description = (
        "Reads all matching text files one after the other, up to a limit, and lists at the end what was left out. "
        "Includes images, audio and PDF only if named directly or by extension. For single files use read_file."
    )
    kind = "read"
    exact = True
    main_argument = "include"
    params = ReadManyFilesParams

    def __init__(self, files: Files, *, confinement: "Callable[[], Confinement] | None" = None) -> None:
        """`confinement` puts ripgrep into a sandbox."""
        self.files = files
        self._confinement = confinement

    def invocation(self, params: ReadManyFilesParams) -> Invocation:
        if not params.include:
            raise InvalidParams("include must name at least one file, folder or pattern")
        for argument, patterns in (("include", params.include), ("exclude", params.exclude)):
            for pattern in patterns:
                check_pattern(pattern, argument)
        return ReadManyFilesInvocation(self.files, params, self._confinement)


class ReadManyFilesInvocation(Invocation):
    def __init__(
        self, files: Files, params: ReadManyFilesParams, confinement: "Callable[[], Confinement] | None" = None
    ) -> None:
        self._confinement = confinement
        self._files = files
        self._params = params

    def describe(self) -> str:
        return ", ".join(self._params.include)

    def resources(self) -> Resources:
        return Resources(reads=(self._files.root.rstrip("/") + "/",))

    async def execute(self, permit: Permit, live: Live) -> ToolResult:
        import asyncio

        from assent.tools.support.many_files import Reader

        reader = Reader(self._files, self._asks_for)
        paths = sorted(await self._matching())
        taken = [reader.take(path) if reader.is_full else await asyncio.to_thread(reader.take, path) for path in paths]
        if not taken:
            raise ToolFailed("file_not_found", f"No file matches {self.describe()}.")
        skipped = [each for each in taken if each.problem]
        end = Text(f"--- End of content: {reader.read} file(s) read ---{_report(skipped)}")
        parts = (*(part for each in taken for part in each.parts), end)
        return ToolResult(parts, PlainDisplay(f"Read {reader.read} file(s), left out {len(skipped)}"))

    async def _matching(self) -> list[str]:
        """Relative to the root. A file named by its full path is found even where a pattern would not look."""
        from assent.tools.support.many_files import any_of, below_root, usually_left_out, wanted
        from assent.tools.support.walk import list_files

        named = [below_root(self._files, each) for each in self._params.include]
        meant = [wanted(self._files, each, deep=self._params.recursive) for each in named]
        respect = self._params.respect_git_ignore
        found = await list_files(self._files, self._files.root, respect_ignore=respect, confinement=self._confinement)
        usual = usually_left_out() if self._params.use_default_excludes else any_of(())
        paths = {path for path in found if any(means(path) for means in meant) and not usual(path)}
        excluded = any_of(self._params.exclude)
        return [path for path in paths.union(filter(self._is_file, named)) if not excluded(path)]

    def _is_file(self, path: str) -> bool:
        return os.path.isfile(os.path.join(self._files.root, path))

    def _asks_for(self, path: str) -> bool:
        """Whether an image or similar file is named directly or by its extension."""
        ending = os.path.splitext(path)[1].lower()
        return any(each.lower().endswith(ending) for each in self._params.include) if ending else False


def _report(skipped: "Sequence[Taken]") -> str:
    if not skipped:
        return ""
    more = len(skipped) - _SHOWN_SKIPPED
    lines = [f"{each.path}: {each.problem}" for each in skipped[:_SHOWN_SKIPPED]]
    lines += [f"and {more} more"] if more > 0 else []
    return "\n".join(["\nLeft out:", *(f"- {line}" for line in lines)])
