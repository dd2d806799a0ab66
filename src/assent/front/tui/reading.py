"""What a person can read and copy of the open session: the newest answer, command and output, the conversation."""

from typing import TYPE_CHECKING

from assent.app.call_states import Terminal
from assent.app.output_folders import output_file
from assent.front.tui.documents import (
    call_document,
    code_blocks,
    command_of,
    conversation_document,
    document_of,
    output_of,
)
from assent.front.tui.transcript_model import CallItem, Item, ReplyItem, TranscriptModel

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from assent.app.call_states import ToolCall
    from assent.front.tui.documents import Kept
    from assent.front.tui.viewer import Document


class Reading:
    def __init__(self, transcript_model: TranscriptModel, calls: "Mapping[str, ToolCall]", kept: "Kept") -> None:
        self._items = transcript_model.items
        self._calls = calls
        self._kept = kept

    def answer(self) -> str:
        replies = (item.text for item in reversed(self._items) if isinstance(item, ReplyItem) and item.text.strip())
        return next(replies, "").strip()

    def code(self, number: int = 0) -> str:
        """A code block of the last reply that has one: the first is 1; 0 is the last."""
        replies = (code_blocks(item.text) for item in reversed(self._items) if isinstance(item, ReplyItem))
        blocks = next(filter(None, replies), None)
        return blocks[number - 1] if blocks and 0 <= number <= len(blocks) else ""

    def command(self) -> str:
        return next((command_of(call) for call in self._newest_first() if "command" in call.request.args), "")

    def newest_output(self) -> "Document | None":
        return next((call_document(call, self._kept) for call in self._newest_first() if output_of(call)), None)

    def output_in(self, path: str) -> "Document | None":
        """The output of the call whose file this is."""
        folder, _, name = path.rpartition("/")
        if "/outputs/" not in folder:
            return None
        calls = (call for call in self._newest_first() if output_file(call.request.call_id) == name)
        return next((call_document(call, self._kept) for call in calls if output_of(call)), None)

    def of(self, item: Item) -> "Document | None":
        return document_of(item, self._calls, self._kept)

    def own_command(self) -> str:
        """The last command that the person ran with `!`, and its output; empty if there is none."""
        return next((_in_a_shell(call) for call in self._newest_first() if _is_own_command(call)), "")

    def conversation(self) -> "Document":
        return conversation_document(self._items, self._calls)

    def _newest_first(self) -> "Iterator[ToolCall]":
        for item in reversed(self._items):
            if isinstance(item, CallItem) and (call := self._calls.get(item.call_id)) is not None:
                yield call


def _is_own_command(call: "ToolCall") -> bool:
    return call.request.initiator == "person" and "command" in call.request.args and isinstance(call, Terminal)


def _in_a_shell(call: "ToolCall") -> str:
    """The command and what it printed, with a line's end, so that what is typed next is on a line of its own."""
    lines = [f"$ {command_of(call)}", output_of(call).rstrip("\n")]
    return "".join(f"{line}\n" for line in lines if line)
