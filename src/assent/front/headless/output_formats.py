"""The three output formats. Each receives every event and, at the very end, exactly one summary.

- text: the answer on stdout; what the tools do on stderr.
- json: one object at the end.
- stream-json: every event as a line, then the summary as the last line.
"""

import os
import sys
from typing import TYPE_CHECKING, Protocol, TextIO

import msgspec

from assent.app.style import Style
from assent.app.wording import attached_words, call_about, clause, ended_badly, one_line, safe, shortened_words, took
from assent.events import (
    ApprovalAnswered,
    ApprovalRequested,
    CallFinished,
    CallInput,
    CallOutput,
    CallRequest,
    CallRequested,
    CallStarted,
    ChatCompressed,
    ContextLoaded,
    Envelope,
    Event,
    ModelFallback,
    ModelReplied,
    ModelRetry,
    ModelWarning,
    OutputPruned,
    PromptSubmitted,
    TextDelta,
    to_wire,
)
from assent.front.headless.console import Console
from assent.front.headless.summary import Summary
from assent.parts import Text

if TYPE_CHECKING:  # imported with the first output
    from assent.front.headless.live_output import LiveOutput
    from assent.front.headless.shortened_output import ShortenedOutput
    from assent.screen import SafeStream


class Output(Protocol):
    def known(self, request: CallRequest) -> None:
        """Announces a call that continues from an earlier run; its request is not among the events."""
        ...

    def event(self, envelope: Envelope) -> None: ...

    def flush(self) -> None:
        """Writes what was held back: no more events are pending."""
        ...

    def finish(self, summary: Summary) -> None: ...


class JsonOutput:
    def __init__(self, *, waits: bool = False) -> None:
        self._waits = waits

    def known(self, request: CallRequest) -> None:
        pass

    def event(self, envelope: Envelope) -> None:
        if self._waits and isinstance(envelope.event, ApprovalRequested):
            _write(sys.stderr, f"{how_to_answer(envelope.session, envelope.event)}\n")

    def flush(self) -> None:
        pass

    def finish(self, summary: Summary) -> None:
        _write(sys.stdout, msgspec.json.format(msgspec.json.encode(summary)).decode() + "\n")


class StreamJsonOutput:
    """Deltas come in bursts; the lines of a burst are written together."""

    def known(self, request: CallRequest) -> None:
        pass

    def event(self, envelope: Envelope) -> None:
        sys.stdout.buffer.write(to_wire(envelope) + b"\n")

    def flush(self) -> None:
        sys.stdout.buffer.flush()

    def finish(self, summary: Summary) -> None:
        sys.stdout.buffer.write(msgspec.json.encode(summary) + b"\n")
        self.flush()


REFUSED = "Refused, so the turn ends here. If you give a reason (n use the other branch), the model continues at once."


class TextOutput:
    """On a terminal, the reply appears as it arrives; in a pipe, only complete replies are written."""

    def __init__(self, console: Console, *, live: bool, waits: bool = False) -> None:
        """`live`: show what commands print while they run. `waits`: questions are answered from elsewhere."""
        self._console = console
        self._waits = waits
        self._style = console.style
        self._shows_live = live
        self._streams = sys.stdout.isatty()
        self._text: SafeStream | None = None
        self._live: dict[str, LiveOutput] = {}
        self._long: dict[str, ShortenedOutput] = {}
        self._printing = ""
        """The call whose unfinished line is on the screen."""
        self._calls: dict[str, CallRequest] = {}
        self._column_open = False
        self._refused = False
        """Whether a person refused a call of the newest reply, without a reason."""
        self._held = ""
        """Trailing line breaks: written only when more text follows, so that no reply ends with blank lines."""

    def known(self, request: CallRequest) -> None:
        self._calls[request.call_id] = request

    def event(self, envelope: Envelope) -> None:
        match envelope.event:
            case TextDelta(text=text):
                if self._streams:
                    self._stream(text)
            case ApprovalRequested() if self._waits:
                self._note(how_to_answer(envelope.session, envelope.event), whole=True)
            case ApprovalRequested(call_id=call_id):
                self._end_live_output(call_id, envelope.session)  # of a trial
            case ApprovalAnswered(outcome="cancel", reason=""):
                self._refused = True
            case ModelReplied(parts=parts):
                self._refused = False
                self._whole([part.text for part in parts if isinstance(part, Text)])
            case CallRequested(request=request):
                self.known(request)
            case CallStarted() | CallOutput() | CallInput() | CallFinished() as event:
                self._follow(event, envelope.session)
            case event:
                self._tell(event)

    def _follow(self, event: CallStarted | CallOutput | CallInput | CallFinished, session: str) -> None:
        """Shows how a call goes on."""
        match event:
            case CallStarted(call_id=call_id):
                self._note(f"{self._style.dim('▸')} {self._label(call_id)}")
            case CallOutput():
                if self._shows_live:
                    self._live_output(event)
            case CallInput(call_id=call_id):
                self._show_last(call_id)  # what the command asks may refer to it
            case CallFinished():
                self._finished(event, session)

    def _tell(self, event: Event) -> None:
        """Notes what happens besides the reply and the calls."""
        match event:
            case PromptSubmitted(attached=attached) if attached:
                self._note(self._style.dim(attached_words(attached)))
            case ModelRetry(reason=reason, delay=delay):
                self._retry(reason, delay)
            case ModelFallback(model=model, fallback=fallback, reason=reason):
                self._note(f"{clause(safe(reason, 'label'))}: continuing with {fallback} instead of {model}")
            case ModelWarning(text=text):
                self._note(self._style.yellow(one_line(text)))
            case ChatCompressed(problem=problem) if problem:
                self._note(f"The conversation was not compressed: {safe(problem, 'label')}")
            case ChatCompressed() | OutputPruned():
                self._note(shortened_words(event))
            case ContextLoaded(sources=sources):
                for source in sources:
                    if source.problem:
                        self._note(f"{safe(source.path, 'label')}: {safe(source.problem, 'label')}")
            case _:
                pass

    def flush(self) -> None:
        pass  # every piece is written at once

    def finish(self, summary: Summary) -> None:
        self._end_reply()
        if summary.error is not None:
            self._note(self._style.red(f"✗ {safe(summary.error.message)}"))
        elif summary.status == "cancelled":
            self._note(REFUSED if self._refused else "Cancelled. What was done is kept.")
        elif summary.status == "max_turns":
            self._note("Stopped: the limit of model requests (max_turns) was reached.")
        elif summary.status == "loop_detected":
            self._note("Stopped: the model repeated the same calls with the same results.")

    # --- the reply ---

    def _stream(self, text: str) -> None:
        if self._text is None:
            self._text = _safe_stream()
        self._put(self._text.feed(text))

    def _put(self, text: str) -> None:
        held = self._held + text
        shown = held.rstrip("\n")
        self._held = held[len(shown) :]
        if shown:
            _write(sys.stdout, shown)
            self._column_open = True

    def _end_reply(self) -> None:
        """Also ends a broken reply: what it left on (a colour) must be reset."""
        if self._text is not None:
            self._put(self._text.close())
            self._text = None
        self._end_line()

    def _whole(self, texts: list[str]) -> None:
        if self._streams:
            self._end_reply()
        elif any(texts):
            _write(sys.stdout, safe("".join(texts), "output").rstrip("\n") + "\n")

    def _retry(self, reason: str, delay: float) -> None:
        self._end_reply()
        self._note(self._style.dim(f"↻ {clause(safe(reason, 'label'))}; trying again in {delay:.0f} s"))

    # --- the tools ---

    def _label(self, call_id: str) -> str:
        request = self._calls[call_id]
        return call_label(request, self._style)

    def _live_output(self, event: CallOutput) -> None:
        if self._printing != event.call_id:
            self._console.finish_line()
            self._printing = event.call_id
        if event.received:
            self._console.change(self._indented(f"binary output: {event.received:,} bytes received"))
            return
        live = self._live.get(event.call_id) or self._live.setdefault(event.call_id, _live_output())
        long = self._long.get(event.call_id) or self._long.setdefault(event.call_id, _shortened())
        self._console.lines(*map(self._indented, long.feed(live.feed(event.text))))
        count = f"… {long.held:,} more lines  " if long.held else ""
        if count or live.current:
            self._console.change(self._indented(f"{count}{live.current}"))

    def _indented(self, line: str) -> str:
        """Sets the output of commands apart from our own messages."""
        return f"{self._style.dim('│ ')}{line}"

    def _end_live_output(self, call_id: str, session: str) -> None:
        if live := self._live.pop(call_id, None):
            if self._printing != call_id:
                self._console.finish_line()
            long = self._long[call_id]
            self._console.lines(*map(self._indented, long.feed(live.close())))
            self._show_last(call_id, session)
            self._long.pop(call_id, None)
        else:
            self._console.finish_line()

    def _show_last(self, call_id: str, session: str = "") -> None:
        """The end of a long output. With `session`, the call is over."""
        if (long := self._long.get(call_id)) is None or not long.held:
            return
        where = f": {_place_of_all(session, call_id)}" if session else ""
        hidden = [self._style.dim(f"… at least {long.hidden:,} lines are not shown here{where}")] if long.hidden else []
        self._console.lines(*map(self._indented, [*hidden, *long.close()]))

    def _finished(self, event: CallFinished, session: str) -> None:
        self._end_live_output(event.call_id, session)
        ended = ended_badly(event)
        mark = {"success": self._style.green("✓"), "error": self._style.red("✗"), "cancelled": "⊘"}[event.status]
        mark = self._style.yellow("!") if ended and event.status == "success" else mark
        why = ended if event.failure is None else safe(event.failure.message, "label")
        line = f"{mark} {self._label(event.call_id)} {self._style.dim(took(event))}".rstrip()
        self._note(f"{line}{why and f': {why}'}")

    def _note(self, text: str, *, whole: bool = False) -> None:
        """`whole`: its lines are not broken, because they have commands to copy."""
        self._end_line()
        self._console.finish_line()
        (self._console.lines if whole else self._console.prose)(text)

    def _end_line(self) -> None:
        self._held = ""
        if self._column_open:
            _write(sys.stdout, "\n")
            self._column_open = False


def how_to_answer(session: str, asked: ApprovalRequested) -> str:
    from assent.app.answer_words import answer_command
    from assent.app.question_text import question_title

    return (
        f"? {one_line(question_title(asked.approval.details))}: waiting for an answer from another terminal.\n"
        f"  To see it:    assent sessions show {session}\n"
        f"  To answer it: {answer_command(session, asked.call_id, asked.approval)}"
    )


def call_label(request: CallRequest, style: Style) -> str:
    """The tool and what it is about, on one line."""
    return f"{style.bold(safe(request.tool, 'label'))} {safe(call_about(request), 'label')}".rstrip()


# `assent.screen` takes 7 ms to import. By now the model is working, so nobody waits for us.


def _live_output() -> "LiveOutput":
    from assent.front.headless.live_output import LiveOutput

    return LiveOutput()


def _shortened() -> "ShortenedOutput":
    from assent.front.headless.shortened_output import ShortenedOutput

    return ShortenedOutput()


def _place_of_all(session: str, call_id: str) -> str:
    """Only what was too long for the model has a file of its own."""
    from assent.app.output_folders import whole_output_path

    path = whole_output_path(os.environ, session, call_id)
    return safe(path, "label") if path else f"`assent sessions export {session}` has them"


def _safe_stream() -> "SafeStream":
    from assent.screen import SafeStream

    return SafeStream("output")


def _write(stream: TextIO, text: str) -> None:
    stream.write(text)
    stream.flush()


def make_output(kind: str, console: Console | None = None, *, waits: bool = False) -> Output:
    match kind:
        case "json":
            return JsonOutput(waits=waits)
        case "stream-json":
            return StreamJsonOutput()
        case _:
            return TextOutput(console or Console.for_stderr(), live=sys.stderr.isatty(), waits=waits)
