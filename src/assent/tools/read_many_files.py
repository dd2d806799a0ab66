"""read_many_files, as it is declared: the contents of all files that match. What a call does is in the call's file."""

from typing import Annotated

from msgspec import Meta, Struct

from assent.tools.base import InvalidParams, Invocation, Tool
from assent.tools.files import Files, check_pattern


class ReadManyFilesParams(Struct, frozen=True, forbid_unknown_fields=True):
    include: Annotated[
        tuple[str, ...],
        Meta(description="Files, folders or patterns such as `src/**/*.py`, relative to the workspace root."),
    ]
    exclude: Annotated[tuple[str, ...], Meta(description="Patterns of paths to leave out.")] = ()
    recursive: Annotated[bool, Meta(description="Of a folder take also the folders in it. Default: true.")] = True
    use_default_excludes: Annotated[
        bool, Meta(description="Leave out dependencies, build output and the like. Default: true.")
    ] = True
    respect_git_ignore: Annotated[bool, Meta(description="Leave out what git ignores. Default: true.")] = True


class ReadManyFilesTool(Tool[ReadManyFilesParams]):
    name = "read_many_files"
    display_name = "ReadManyFiles"
    description = (
        "Reads all text files that match, one after the other, up to a limit; what was left out is listed at the end. "
        "Images, audio and PDF only when they are named or their ending is. For single files use read_file."
    )
    kind = "read"
    exact = True
    main_argument = "include"
    params = ReadManyFilesParams

    def __init__(self, files: Files) -> None:
        self.files = files

    def invocation(self, params: ReadManyFilesParams) -> Invocation:
        from assent.tools.read_many_files_call import ReadManyFilesInvocation

        if not params.include:
            raise InvalidParams("include must name at least one file, folder or pattern")
        for argument, patterns in (("include", params.include), ("exclude", params.exclude)):
            for pattern in patterns:
                check_pattern(pattern, argument)
        return ReadManyFilesInvocation(self.files, params)
