"""write_file: writes the whole content of one file, keeping its line endings and encoding."""

from typing import Annotated

from msgspec import Meta, Struct

from assent.parts import JsonObject
from assent.tools.support.edit import EditInvocation
from assent.tools.support.files import Files, check_path, check_text
from assent.tools.support.textfile import TextFile, with_newlines
from assent.tools.tool import Invocation, Tool, ToolFailed


class WriteFileParams(Struct, frozen=True, forbid_unknown_fields=True):
    file_path: Annotated[str, Meta(description="File to write, relative to the workspace root or absolute.")]
    content: Annotated[
        str, Meta(description="The complete content. Never leave anything out: no `... rest of the code ...`.")
    ]


class WriteFileTool(Tool[WriteFileParams]):
    name = "write_file"
    display_name = "WriteFile"
    description = (
        "Writes a whole file, creating missing folders. Keeps the line endings and the encoding of an existing file. "
        "For a small change to an existing file, use replace."
    )
    kind = "edit"
    exact = True
    main_argument = "file_path"
    params = WriteFileParams

    def __init__(self, files: Files) -> None:
        self.files = files

    def invocation(self, params: WriteFileParams) -> Invocation:
        check_path(params.file_path, "file_path")
        check_text(params.content, "content")
        return WriteFileInvocation(self.files, params)


class WriteFileInvocation(EditInvocation):
    def __init__(self, files: Files, params: WriteFileParams) -> None:
        super().__init__(files, params.file_path)
        self._params = params
        self._checked = False

    def _on_disk(self, path: str) -> bytes | None:
        """When the call is first judged, the model must know the file. Later, the person sees what is replaced, and
        is asked again if it changes.
        """
        data = super()._on_disk(path)
        if data is not None and not self._checked:
            self._files.check_known(path, data)
        self._checked = True
        return data

    def edited(self, current: TextFile | None) -> TextFile:
        _refuse_placeholders(self._params.content, current.text if current else "")
        if current is None:
            return TextFile(self._params.content)
        wanted = current.with_text(with_newlines(self._params.content, current.newline))
        if wanted.text == current.text:
            message = f"{self._params.file_path} already has exactly this content; nothing to do."
            raise ToolFailed("edit_no_change", message)
        return _in_some_encoding(wanted)

    def args_for(self, content: str) -> JsonObject:
        return {"file_path": self._params.file_path, "content": content}


def _refuse_placeholders(text: str, known: str) -> None:
    """A placeholder that was already in the file is intended."""
    from assent.tools.support.placeholders import placeholders

    if found := placeholders(text, known):
        message = f"content must be complete, but this line stands for omitted text: {found[0]!r}."
        raise ToolFailed("invalid_tool_params", message)


def _in_some_encoding(wanted: TextFile) -> TextFile:
    """The file's own; UTF-8 if that cannot encode the new text, because the old text is replaced anyway."""
    try:
        wanted.encoded()
    except UnicodeEncodeError:
        return TextFile(wanted.text)
    return wanted
