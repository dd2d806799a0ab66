"""write_file, as it is declared: the whole content of one file. What a call does is in `write_file_call`."""

from typing import Annotated

from msgspec import Meta, Struct

from assent.tools.base import Invocation, Tool
from assent.tools.files import Files, check_path, check_text


class WriteFileParams(Struct, frozen=True, forbid_unknown_fields=True):
    file_path: Annotated[str, Meta(description="The file, relative to the workspace root or absolute.")]
    content: Annotated[
        str, Meta(description="The complete content. Never leave anything out: no `... rest of the code ...`.")
    ]


class WriteFileTool(Tool[WriteFileParams]):
    name = "write_file"
    display_name = "WriteFile"
    description = (
        "Writes a whole file; missing folders are made. The line ends and the encoding of an existing file are kept. "
        "For a small change of an existing file, use replace."
    )
    kind = "edit"
    exact = True
    main_argument = "file_path"
    params = WriteFileParams

    def __init__(self, files: Files) -> None:
        self.files = files

    def invocation(self, params: WriteFileParams) -> Invocation:
        from assent.tools.write_file_call import WriteFileInvocation

        check_path(params.file_path, "file_path")
        check_text(params.content, "content")
        return WriteFileInvocation(self.files, params)
