"""What a person began to write for an answer and has not sent: it is there again when they come back to the question.

It belongs to the call, not to one question about it: if the question is asked again, it is still what they meant to
say. If the call is decided without it, they are told what was not sent. Pure data; it shows and sends nothing.
"""

from collections.abc import Iterator, Mapping

from assent.app.call_states import Cancelled, Executing, Terminal, ToolCall, Validating
from assent.approval import EditDetails
from assent.front.tui.argument_text import argument_text


class BegunAnswer:
    def __init__(self) -> None:
        self.reason = ""
        """For a no."""
        self.name = ""
        """The argument that was edited last."""
        self.args: dict[str, str] = {}
        """The text of each edited argument, as typed: it need not be valid yet."""
        self.content = ""
        """What was saved in the editor."""

    def forget_taken(self, call: ToolCall) -> None:
        """What the call now has anyway."""
        if isinstance(call, Cancelled) and call.refusal == self.reason.strip():
            self.reason = ""
        args = call.request.args
        self.args = {name: text for name, text in self.args.items() if text != argument_text(args.get(name))}
        if _lines(self.content) == _lines(_proposed(call)):
            self.content = ""

    def unsent(self) -> Iterator[str]:
        if self.reason.strip():
            yield f"Your reason was not sent: {self.reason.strip()}"
        for name, text in self.args.items():
            yield f"Your change of {name} was not sent: {text}"
        if self.content:
            yield f"What you saved in the editor was not used:\n{self.content}"


class BegunAnswers:
    def __init__(self) -> None:
        self._begun: dict[tuple[str, str], BegunAnswer] = {}
        """By session and call: another session may use the same ids."""

    def of(self, session: str, call_id: str) -> BegunAnswer:
        return self._begun.setdefault((session, call_id), BegunAnswer())

    def left_over(self, session: str, calls: Mapping[str, ToolCall]) -> list[str]:
        """What was begun for calls that are decided now. It is told once."""
        told: list[str] = []
        for place, begun in [(place, begun) for place, begun in self._begun.items() if place[0] == session]:
            call = calls.get(place[1])
            if call is None:
                continue
            begun.forget_taken(call)
            if isinstance(call, Executing | Terminal):
                told += begun.unsent()
                del self._begun[place]
        return told


def _proposed(call: ToolCall) -> str:
    approval = None if isinstance(call, Validating) else call.approval
    return approval.details.new if approval is not None and isinstance(approval.details, EditDetails) else ""


def _lines(text: str) -> str:
    return text.replace("\r\n", "\n")
