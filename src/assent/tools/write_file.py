"""write_file: writes the whole content of one file, keeping its line endings and encoding."""

from typing import Annotated

from msgspec import Meta, Struct

from assent.parts import JsonObject
from assent.tools.support.edit import EditInvocation, Plan
from assent.tools.support.files import Files, check_path, check_text
from assent.tools.support.textfile import TextFile, with_newlines
from assent.tools.tool import Invocation, Live, Permit, Tool, ToolFailed, ToolResult


class WriteFileParams(Struct, frozen=True, forbid_unknown_fields=True):
    file_path: Annotated[str, Meta(description="File to write, relative to the workspace root or absolute.")]
    content: Annotated[
        str, Meta(description="The complete content. Never leave anything out: no `... rest of the code ...`.")
    ]


class WriteFileTool(Tool[WriteFileParams]):
    name = "write_file"
    display_name = "WriteFile"
    description = (
        "Writes a whole file, creating missing folders. Read an existing file before you write it; its line endings "
        "and encoding are kept. For a small change to an existing file, use replace."
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
            self._files.check_unchanged(path, data)
        self._checked = True
        return data

    async def execute(self, permit: Permit, live: Live) -> ToolResult:
        """What nobody was shown must not replace what the model has never seen."""
        plan = self._plan()
        if not (permit.by_person or plan.before is None or self._files.known.covers(plan.path, plan.before)):
            message = f"{self._file_path} already exists, and you have not read it. Read it, then keep what must stay."
            raise ToolFailed("file_not_read", message)
        return await super().execute(permit, live)

    def _note_written(self, plan: Plan) -> None:
        self._files.known.note(plan.path, plan.after)

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
