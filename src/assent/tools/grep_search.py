"""grep_search, as it is declared; what a call does is in `grep_call`, imported with the first call."""

import re
from typing import Annotated

from msgspec import Meta, Struct

from assent.tools.base import InvalidParams, Invocation, Tool
from assent.tools.files import Files, check_pattern

DEFAULT_MATCHES = 100
MAX_MATCHES = 5_000

Count = Annotated[int, Meta(ge=0)]
Limit = Annotated[int, Meta(ge=1, le=MAX_MATCHES)]


class GrepParams(Struct, frozen=True, forbid_unknown_fields=True):
    pattern: Annotated[str, Meta(description="Regular expression to look for (plain text with fixed_strings).")]
    dir_path: Annotated[str, Meta(description="Folder or file to search. Default: the workspace root.")] = ""
    include_pattern: Annotated[str, Meta(description="Only files that match this glob, e.g. `*.{ts,tsx}`.")] = ""
    exclude_pattern: Annotated[str, Meta(description="Leave out lines that match this regular expression.")] = ""
    names_only: Annotated[bool, Meta(description="Only the paths of the files with a match.")] = False
    case_sensitive: Annotated[bool, Meta(description="Tell upper from lower case. Default: false.")] = False
    fixed_strings: Annotated[bool, Meta(description="Take the pattern as plain text.")] = False
    context: Annotated[Count | None, Meta(description="Lines to show before and after each match.")] = None
    after: Annotated[Count | None, Meta(description="Lines to show after each match.")] = None
    before: Annotated[Count | None, Meta(description="Lines to show before each match.")] = None
    no_ignore: Annotated[bool, Meta(description="Search also what git ignores.")] = False
    max_matches_per_file: Annotated[Limit | None, Meta(description="At most so many matches in one file.")] = None
    total_max_matches: Annotated[Limit, Meta(description=f"At most so many matches. Default: {DEFAULT_MATCHES}.")] = (
        DEFAULT_MATCHES
    )


class GrepTool(Tool[GrepParams]):
    name = "grep_search"
    display_name = "SearchText"
    description = (
        "Searches the content of files for a regular expression (ripgrep) and returns the lines with their numbers. "
        "Files that git ignores are left out."
    )
    kind = "search"
    exact = True
    main_argument = "pattern"
    params = GrepParams

    def __init__(self, files: Files, *, timeout: float = 30.0) -> None:
        self.files = files
        self.timeout = timeout

    def prepare(self) -> None:
        from assent.process import supervision

        supervision.prepare()

    def invocation(self, params: GrepParams) -> Invocation:
        from assent.tools.grep_call import GrepInvocation

        if not params.pattern or "\0" in params.pattern:
            raise InvalidParams("pattern must not be empty and must not contain NUL")
        if params.include_pattern:
            check_pattern(params.include_pattern, "include_pattern")
        try:
            re.compile(params.exclude_pattern)
        except re.error as error:
            raise InvalidParams(f"exclude_pattern is no regular expression: {error}") from error
        return GrepInvocation(self.files, params, self.timeout)
