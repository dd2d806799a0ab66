"""list_directory: the names in one folder, folders first."""

from typing import Annotated

from msgspec import Meta, Struct

from assent.files.access import Entry
from assent.parts import PlainDisplay
from assent.tools.support.files import Files, check_path, check_pattern, printable
from assent.tools.tool import Invocation, Live, Permit, Resources, Tool, ToolResult

MAX_ENTRIES = 2_000


class ListDirectoryParams(Struct, frozen=True, forbid_unknown_fields=True):
    dir_path: Annotated[str, Meta(description="Folder to list, relative to the workspace root or absolute.")]
    ignore: Annotated[list[str], Meta(description="Name patterns to leave out, e.g. `*.log`.")] = []


class ListDirectoryTool(Tool[ListDirectoryParams]):
    name = "list_directory"
    display_name = "ReadFolder"
    description = "Lists the files and folders directly inside a folder, with sizes. Not recursive."
    kind = "search"
    exact = True
    main_argument = "dir_path"
    params = ListDirectoryParams

    def __init__(self, files: Files) -> None:
        self.files = files

    def invocation(self, params: ListDirectoryParams) -> "ListDirectoryInvocation":
        check_path(params.dir_path, "dir_path")
        for pattern in params.ignore:
            check_pattern(pattern, "ignore")
        return ListDirectoryInvocation(self.files, params)


class ListDirectoryInvocation(Invocation):
    def __init__(self, files: Files, params: ListDirectoryParams) -> None:
        self._files = files
        self._params = params

    def describe(self) -> str:
        return self._params.dir_path

    def resources(self) -> Resources:
        return Resources(reads=(self._files.absolute(self._params.dir_path),))

    async def execute(self, permit: Permit, live: Live) -> ToolResult:
        entries = self._files.entries(self._files.folder(self._params.dir_path))
        kept = [entry for entry in entries if not self._left_out(entry.name)]
        kept.sort(key=lambda entry: (entry.kind != "folder", entry.name.casefold(), entry.name))
        notes = _notes(len(kept), len(entries) - len(kept))
        summary = f"{len(kept)} item(s){notes}"
        if not kept:
            return ToolResult(f"Directory {self._params.dir_path} is empty{notes}.", PlainDisplay(summary))
        listing = "\n".join(_line(entry) for entry in kept[:MAX_ENTRIES])
        return ToolResult(f"Directory listing for {self._params.dir_path}{notes}:\n{listing}", PlainDisplay(summary))

    def _left_out(self, name: str) -> bool:
        from assent.tools.support.globbing import matcher

        return any(matcher(pattern, case_sensitive=True)(name) for pattern in self._params.ignore)


def _line(entry: Entry) -> str:
    name = printable(entry.name)
    match entry.kind:
        case "folder":
            return f"[DIR] {name}"
        case "file":
            return f"{name} ({entry.size} bytes)"
        case "link":
            return f"{name} (link{'' if entry.inside else ' that leads out of the workspace'})"
        case "other":
            return f"{name} (not a regular file)"


def _notes(kept: int, ignored: int) -> str:
    notes = [f"{ignored} ignored"] if ignored else []
    if kept > MAX_ENTRIES:
        notes.append(f"showing only the first {MAX_ENTRIES} of {kept}")
    return f" ({', '.join(notes)})" if notes else ""
