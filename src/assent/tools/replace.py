"""replace: replaces one piece of text in a file. It must occur once, unless all occurrences are meant.

Line endings do not matter for matching, and the file keeps its own. If the text does not occur exactly, lines that
differ only in indentation or trailing whitespace count, in one place, and the file's indentation is kept.
"""

from typing import Annotated

from msgspec import Meta, Struct

from assent.parts import JsonObject
from assent.tools.support.edit import EditInvocation
from assent.tools.support.files import Files, check_path, check_text
from assent.tools.support.loose_matching import substitute_loosely
from assent.tools.support.matching import nearest, occurrences, smallest_change, substitute
from assent.tools.support.textfile import TextFile
from assent.tools.tool import InvalidParams, Invocation, Tool, ToolFailed

LOOSELY = "old_string differs from the file in indentation or trailing whitespace; the file's indentation was kept."


class ReplaceParams(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    file_path: Annotated[str, Meta(description="File to change, relative to the workspace root or absolute.")]
    instruction: Annotated[str, Meta(description="The purpose of this change, in one sentence.")] = ""
    old_string: Annotated[
        str,
        Meta(
            description="The exact text to replace, including indentation, with enough surrounding lines to be "
            "unique. Empty to create a new file."
        ),
    ]
    new_string: Annotated[str, Meta(description="The exact and complete replacement text.")]
    allow_multiple: Annotated[bool, Meta(description="Replace every occurrence. Default: false.")] = False


class ReplaceTool(Tool[ReplaceParams]):
    name = "replace"
    display_name = "Edit"
    description = (
        "Replaces text in a file. old_string must match the file exactly (read it first) and occur only once, unless "
        "allow_multiple is true. An empty old_string creates a new file."
    )
    kind = "edit"
    exact = True
    main_argument = "file_path"
    params = ReplaceParams

    def __init__(self, files: Files) -> None:
        self.files = files

    def invocation(self, params: ReplaceParams) -> Invocation:
        from assent.tools.support.placeholders import placeholders

        check_path(params.file_path, "file_path")
        check_text(params.new_string, "new_string")
        if found := placeholders(params.new_string, known=params.old_string):
            raise InvalidParams(f"new_string must be complete, but this line stands for omitted text: {found[0]!r}.")
        return ReplaceInvocation(self.files, params)


class ReplaceInvocation(EditInvocation):
    def __init__(self, files: Files, params: ReplaceParams) -> None:
        super().__init__(files, params.file_path)
        self._params = params
        self._loosely = False

    def describe(self) -> str:
        what = " ".join(self._params.instruction.split())
        return f"{self._params.file_path}: {what}" if what else self._params.file_path

    def edited(self, current: TextFile | None) -> TextFile:
        if current is None:
            return self._created()
        self._check_old(current)
        text = self._replaced(current)
        if text == current.text:
            raise ToolFailed("edit_no_change", "old_string and new_string are the same; nothing would change.")
        return current.with_text(text)

    def _replaced(self, current: TextFile) -> str:
        old, new = self._params.old_string, self._params.new_string
        self._loosely = False
        count = occurrences(current.text, old)
        if count > 1 and not self._params.allow_multiple:
            raise ToolFailed("edit_expected_occurrence_mismatch", self._too_often(count))
        if count:
            return substitute(current.text, old, new, current.newline)
        loose = substitute_loosely(current.text, old, new, current.newline)
        if loose is None:
            raise ToolFailed("edit_no_occurrence_found", self._not_there(current.text))
        self._loosely = True
        return loose

    def report_notes(self) -> str:
        return LOOSELY if self._loosely else ""

    def args_for(self, content: str) -> JsonObject:
        """The smallest replacement of whole lines that turns the current content into the edited one.

        `allow_multiple` and the original strings no longer matter; only the edited content counts.
        """
        args: JsonObject = {"file_path": self._params.file_path, "instruction": self._params.instruction}
        current = self._plan().old
        if current is None:
            return args | {"old_string": "", "new_string": content}
        old, new = smallest_change(current.replace("\r\n", "\n"), content.replace("\r\n", "\n"))
        return args | {"old_string": old, "new_string": new}

    def _created(self) -> TextFile:
        if self._params.old_string:
            raise self._files.not_found(self._params.file_path, "Use an empty old_string to create it.")
        return TextFile(self._params.new_string)

    def _check_old(self, current: TextFile) -> None:
        if not self._params.old_string:
            name = self._params.file_path
            message = f"{name} already exists. To change it, give old_string; to overwrite it, use write_file."
            raise ToolFailed("attempt_to_create_existing_file", message)

    def _too_often(self, count: int) -> str:
        return (
            f"old_string occurs {count} times in {self._params.file_path}, but must occur once. Add surrounding lines "
            "until it is unique, or set allow_multiple to replace them all."
        )

    def _not_there(self, text: str) -> str:
        near = nearest(text, self._params.old_string)
        hint = f" The nearest text in the file is:\n{near}" if near else " Nothing in the file looks like it."
        return (
            f"old_string was not found in {self._params.file_path}: it must match exactly, including whitespace and "
            f"indentation.{hint}\nRead the file and try again."
        )
