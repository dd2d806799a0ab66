"""grep_search: runs a search with `searching` and formats the matches, file by file."""

import re
from typing import TYPE_CHECKING, Annotated

from msgspec import Meta, Struct

from assent.files.protected import secrets_below
from assent.parts import PlainDisplay
from assent.tools.support.files import Files, check_pattern, printable
from assent.tools.tool import InvalidParams, Invocation, Live, Permit, Resources, Tool, ToolFailed, ToolResult

if TYPE_CHECKING:  # modules that start processes are imported with the first call
    from collections.abc import Callable

    from assent.sandbox.confinement import Confinement
    from assent.tools.support.searching import Hit, Query, Search

DEFAULT_MATCHES = 100
MAX_MATCHES = 5_000
MAX_LINE = 2_000
MAX_CHARACTERS = 100_000
_AUTO_CONTEXT = {1: 50, 2: 15, 3: 15}

Count = Annotated[int, Meta(ge=0)]
Limit = Annotated[int, Meta(ge=1, le=MAX_MATCHES)]


class GrepParams(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    pattern: Annotated[str, Meta(description="Regular expression to search for (plain text with fixed_strings).")]
    dir_path: Annotated[str, Meta(description="Folder or file to search. Default: the workspace root.")] = ""
    include_pattern: Annotated[str, Meta(description="Only search files that match this glob, e.g. `*.{ts,tsx}`.")] = ""
    exclude_pattern: Annotated[str, Meta(description="Skip lines that match this regular expression.")] = ""
    names_only: Annotated[bool, Meta(description="Return only the paths of files with a match.")] = False
    case_sensitive: Annotated[bool, Meta(description="Match case exactly. Default: false.")] = False
    fixed_strings: Annotated[bool, Meta(description="Treat the pattern as plain text.")] = False
    context: Annotated[Count | None, Meta(description="Lines to show before and after each match.")] = None
    after: Annotated[Count | None, Meta(description="Lines to show after each match.")] = None
    before: Annotated[Count | None, Meta(description="Lines to show before each match.")] = None
    no_ignore: Annotated[bool, Meta(description="Also search files that git ignores.")] = False
    max_matches_per_file: Annotated[Limit | None, Meta(description="Maximum number of matches per file.")] = None
    total_max_matches: Annotated[Limit, Meta(description=f"Maximum number of matches. Default: {DEFAULT_MATCHES}.")] = (
        DEFAULT_MATCHES
    )


class GrepTool(Tool[GrepParams]):
    name = "grep_search"
    display_name = "SearchText"
    description = (
        "Searches file contents for a regular expression (ripgrep) and returns matching lines with their line numbers. "
        "Skips files that git ignores."
    )
    kind = "search"
    exact = True
    main_argument = "pattern"
    params = GrepParams

    def __init__(
        self, files: Files, *, timeout: float = 30.0, confinement: "Callable[[], Confinement] | None" = None
    ) -> None:
        """`confinement` puts ripgrep into a sandbox."""
        self.files = files
        self.timeout = timeout
        self._confinement = confinement

    def prepare(self) -> None:
        from assent.process import supervisor_client

        supervisor_client.prepare()

    def invocation(self, params: GrepParams) -> Invocation:
        if not params.pattern or "\0" in params.pattern:
            raise InvalidParams("pattern must not be empty or contain NUL")
        if params.include_pattern:
            check_pattern(params.include_pattern, "include_pattern")
        try:
            re.compile(params.exclude_pattern)
        except re.error as error:
            raise InvalidParams(f"exclude_pattern is not a valid regular expression: {error}") from error
        return GrepInvocation(self.files, params, self.timeout, self._confinement)


class GrepInvocation(Invocation):
    def __init__(
        self,
        files: Files,
        params: GrepParams,
        timeout: float,
        confinement: "Callable[[], Confinement] | None",
    ) -> None:
        self._confinement = confinement
        self._files = files
        self._params = params
        self._timeout = timeout

    def describe(self) -> str:
        files = f" in {self._params.include_pattern}" if self._params.include_pattern else ""
        return f"'{self._params.pattern}'{files} within {self._params.dir_path or './'}"

    def resources(self) -> Resources:
        return Resources(reads=(self._files.absolute(self._params.dir_path).rstrip("/") + "/",))

    async def execute(self, permit: Permit, live: Live) -> ToolResult:
        from assent.tools.support.searching import search

        start = self._files.existing(self._params.dir_path)
        if why := self._files.why_asked(start):
            raise ToolFailed(
                "permission_denied",
                f"{why}, so it is not searched. To read it, call read_file; the user will be asked.",
            )
        confinement = None if self._confinement is None else self._confinement()
        found = await search(self._files, start, self._query(), self._timeout, confinement)
        if not found.hits:
            notes = _notes(found, start)
            return ToolResult(f"No matches found for {self._what()}.{notes}", PlainDisplay("No matches found"))
        if self._params.names_only:
            return self._names(found, start)
        return self._lines(found, start)

    def _query(self) -> "Query":
        from assent.tools.support.searching import Query

        params = self._params
        context = params.context or 0
        return Query(
            pattern=params.pattern,
            include=params.include_pattern,
            exclude=params.exclude_pattern,
            case_sensitive=params.case_sensitive,
            fixed=params.fixed_strings,
            before=params.before if params.before is not None else context,
            after=params.after if params.after is not None else context,
            no_ignore=params.no_ignore,
            per_file=1 if params.names_only and not params.exclude_pattern else params.max_matches_per_file,
            total=params.total_max_matches,
        )

    def _what(self) -> str:
        files = f' (files: "{self._params.include_pattern}")' if self._params.include_pattern else ""
        return f'"{self._params.pattern}" in {self._params.dir_path or "the workspace"}{files}'

    def _names(self, found: "Search", start: str) -> ToolResult:
        names = list(dict.fromkeys(self._shown(hit.path) for hit in found.hits))
        summary = f"Found {len(names)} file(s) with matches{_limited(found)}"
        body = "\n".join([f"{summary} for {self._what()}:", *names])
        return ToolResult(body + _notes(found, start), PlainDisplay(summary))

    def _lines(self, found: "Search", start: str) -> ToolResult:
        hits = found.hits if self._context_wanted() else self._with_context(found)
        summary = f"Found {found.matches} match(es){_limited(found)}"
        body = self._grouped(hits)
        if len(body) > MAX_CHARACTERS:
            body = body[:MAX_CHARACTERS] + "\n... [cut: narrow the search]"
        return ToolResult(f"{summary} for {self._what()}:\n{body}{_notes(found, start)}", PlainDisplay(summary))

    def _grouped(self, hits: "list[Hit]") -> str:
        lines: list[str] = []
        path, number = None, 0
        for hit in hits:
            if hit.path != path:
                lines.append(f"---\nFile: {self._shown(hit.path)}")
            elif hit.line > number + 1:
                lines.append("...")
            path, number = hit.path, hit.line
            text = hit.text if len(hit.text) <= MAX_LINE else hit.text[:MAX_LINE] + "... [truncated]"
            lines.append(f"L{hit.line}{':' if hit.matched else '-'} {text}")
        return "\n".join(lines)

    def _context_wanted(self) -> bool:
        params = self._params
        return any(wanted is not None for wanted in (params.context, params.after, params.before))

    def _with_context(self, found: "Search") -> "list[Hit]":
        """For very few matches, show the surrounding lines, which would be requested next anyway."""
        width = _AUTO_CONTEXT.get(found.matches, 0)
        if not width:
            return found.hits
        wanted: dict[str, set[int]] = {}
        for hit in found.hits:
            wanted.setdefault(hit.path, set()).update(range(hit.line - width, hit.line + width + 1))
        matched = {(hit.path, hit.line) for hit in found.hits}
        return [hit for path, numbers in wanted.items() for hit in self._around(path, numbers, matched)] or found.hits

    def _around(self, path: str, numbers: set[int], matched: set[tuple[str, int]]) -> "list[Hit]":
        from assent.tools.support.searching import Hit

        lines = (self._files.text_or_none(path) or "").split("\n")
        if lines[-1] == "":
            lines.pop()
        inside = [number for number in sorted(numbers) if 1 <= number <= len(lines)]
        return [Hit(path, n, lines[n - 1].removesuffix("\r"), (path, n) in matched) for n in inside]

    def _shown(self, path: str) -> str:
        return printable(self._files.shown(path))


def _limited(found: "Search") -> str:
    return " (stopped there; there may be more)" if found.limited else ""


def _notes(found: "Search", start: str) -> str:
    """The number of skipped secrets is reported regardless of their content, so nobody learns whether one matches."""
    notes: list[str] = []
    if number := secrets_below(start):
        notes.append(f"Not searched: {number} file(s) that usually hold secrets (.env, keys and the like).")
    if found.timed_out:
        notes.append("The search took too long and was stopped. Narrow it with dir_path or include_pattern.")
    return "".join(f"\n{note}" for note in notes)
