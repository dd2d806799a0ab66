"""replace, as it is declared: one piece of a file's text by another. What a call does is in `replace_call`."""

from typing import Annotated

from msgspec import Meta, Struct

from assent.tools.base import InvalidParams, Invocation, Tool
from assent.tools.files import Files, check_path, check_text
from assent.tools.placeholders import placeholders


class ReplaceParams(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    file_path: Annotated[str, Meta(description="The file, relative to the workspace root or absolute.")]
    instruction: Annotated[str, Meta(description="What this change is for, in one sentence.")] = ""
    old_string: Annotated[
        str,
        Meta(
            description="The exact text to replace, with its indentation, and enough lines around it to be found only "
            "once. Empty to create a new file."
        ),
    ]
    new_string: Annotated[str, Meta(description="The exact text to put in its place, complete.")]
    allow_multiple: Annotated[bool, Meta(description="Replace every occurrence. Default: false.")] = False


class ReplaceTool(Tool[ReplaceParams]):
    name = "replace"
    display_name = "Edit"
    description = (
        "Replaces text in a file. old_string must match the file exactly (read it first) and occur only once, unless "
        "allow_multiple is true. With an empty old_string it creates a new file."
    )
    kind = "edit"
    exact = True
    main_argument = "file_path"
    params = ReplaceParams

    def __init__(self, files: Files) -> None:
        self.files = files

    def invocation(self, params: ReplaceParams) -> Invocation:
        from assent.tools.replace_call import ReplaceInvocation

        check_path(params.file_path, "file_path")
        check_text(params.new_string, "new_string")
        if found := placeholders(params.new_string, known=params.old_string):
            raise InvalidParams(
                f"new_string must be complete, but this line stands for something left out: {found[0]!r}."
            )
        return ReplaceInvocation(self.files, params)
