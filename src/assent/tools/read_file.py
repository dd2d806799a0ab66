"""read_file: text by lines; images, audio and PDF unchanged; anything else is refused with its type.

`textfile` turns bytes into text, and the workspace decides which files may be read.
"""

from typing import Annotated

from msgspec import Meta, Struct

from assent.approval import InfoDetails
from assent.parts import Media, PlainDisplay
from assent.tools.support.files import Files, check_path
from assent.tools.support.filetype import MAX_BYTES, MAX_MEDIA, describe_binary, media_type
from assent.tools.support.textfile import NotText, decode
from assent.tools.tool import InvalidParams, Invocation, Live, Permit, Resources, Tool, ToolFailed, ToolResult

MAX_LINES = 2_000
MAX_LINE = 2_000
_CUT = "... [truncated]"

Line = Annotated[int, Meta(ge=1)]


class ReadFileParams(Struct, frozen=True, forbid_unknown_fields=True):
    file_path: Annotated[str, Meta(description="File to read, relative to the workspace root or absolute.")]
    start_line: Annotated[Line | None, Meta(description="First line to read, starting at 1.")] = None
    end_line: Annotated[Line | None, Meta(description="Last line to read, inclusive.")] = None


class ReadFileTool(Tool[ReadFileParams]):
    name = "read_file"
    display_name = "ReadFile"
    description = (
        f"Reads a file: text (at most {MAX_LINES} lines at a time; use start_line and end_line for more), images, "
        "audio and PDF."
    )
    kind = "read"
    exact = True
    main_argument = "file_path"
    params = ReadFileParams

    def __init__(self, files: Files) -> None:
        self.files = files

    def invocation(self, params: ReadFileParams) -> "ReadFileInvocation":
        check_path(params.file_path, "file_path")
        if params.start_line and params.end_line and params.end_line < params.start_line:
            raise InvalidParams("end_line must not be before start_line")
        return ReadFileInvocation(self.files, params)


class ReadFileInvocation(Invocation):
    def __init__(self, files: Files, params: ReadFileParams) -> None:
        self._files = files
        self._params = params
        self._asked = False

    def describe(self) -> str:
        start, end = self._params.start_line, self._params.end_line
        lines = f" (lines {start or 1}-{end or 'end'})" if start or end else ""
        return f"{self._params.file_path}{lines}"

    def resources(self) -> Resources:
        return Resources(reads=(self._files.absolute(self._params.file_path),))

    async def should_confirm(self) -> InfoDetails | None:
        """Reading is harmless, but the content goes to the model, so files that usually hold secrets need approval."""
        reason = self._files.why_asked(self._params.file_path)
        self._asked = bool(reason)
        if not reason:
            return None
        return InfoDetails(f"Read {self._params.file_path} and send it to the model ({reason})")

    async def execute(self, permit: Permit, live: Live) -> ToolResult:
        data = self._files.read(self._params.file_path, MAX_BYTES, asked=self._asked)
        if mime := media_type(data):
            return self._media(data, mime)
        try:
            text = decode(data).text
        except NotText:
            raise ToolFailed("read_content_failure", self._refusal(data)) from None
        return self._text(text)

    def _media(self, data: bytes, mime: str) -> ToolResult:
        from base64 import b64encode

        if len(data) > MAX_MEDIA:
            message = (
                f"{self._params.file_path} has {len(data):,} bytes; at most {MAX_MEDIA:,} bytes of {mime} can be read."
            )
            raise ToolFailed("file_too_large", message)
        display = PlainDisplay(f"Read {mime}, {len(data):,} bytes")
        return ToolResult((Media(mime, b64encode(data).decode()),), display)

    def _refusal(self, data: bytes) -> str:
        return f"{self._params.file_path} is not text but {describe_binary(data)}; it cannot be shown."

    def _text(self, text: str) -> ToolResult:
        if not text:
            return ToolResult("The file is empty.", PlainDisplay("The file is empty."))
        lines = text.splitlines() if "\r" in text else text.removesuffix("\n").split("\n")
        first = (self._params.start_line or 1) - 1
        if first >= len(lines):
            message = f"{self._params.file_path} has only {len(lines)} lines; start_line {first + 1} is past the end."
            raise ToolFailed("read_content_failure", message)
        last = min(self._params.end_line or len(lines), first + MAX_LINES, len(lines))
        return self._shown(lines[first:last], first, last, len(lines))

    def _shown(self, lines: list[str], first: int, last: int, total: int) -> ToolResult:
        long = sum(len(line) > MAX_LINE for line in lines)
        body = "\n".join(line if len(line) <= MAX_LINE else line[:MAX_LINE] + _CUT for line in lines)
        header = self._header(first, last, total, long)
        span = (
            f"lines {first + 1}-{last} of {total}"
            if (first, last) != (0, total)
            else f"{total} line{'' if total == 1 else 's'}"
        )
        return ToolResult(header + body, PlainDisplay(f"Read {span}"))

    def _header(self, first: int, last: int, total: int, long: int) -> str:
        """Empty for a whole file; otherwise what is missing, and how to read it."""
        notes: list[str] = []
        if last < (self._params.end_line or total) and last < total:
            notes.append(f"To continue reading, call read_file again with start_line: {last + 1}.")
        if long:
            notes.append(f"{long} line(s) longer than {MAX_LINE} characters were cut.")
        if (first, last) == (0, total) and not notes:
            return ""
        marker = "IMPORTANT: The file content has been truncated.\n" if notes else ""
        status = f"Showing lines {first + 1}-{last} of {total}."
        return f"{marker}{' '.join([status, *notes])}\n--- FILE CONTENT ---\n"
