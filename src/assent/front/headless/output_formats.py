"""The three output formats. Each receives every event and, at the very end, exactly one summary.

- text: the answer on stdout; what the tools do on stderr.
- json: one object at the end.
- stream-json: every event as a line, then the summary as the last line.
"""

import sys
from typing import TYPE_CHECKING, Protocol, TextIO

import msgspec

from assent.app.style import Style
from assent.app.wording import attached_words, call_about, ended_badly, one_line, safe, shortened_words, took
from assent.events import (
    CallFinished,
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
from assent.front.headless.summary import Summary
from assent.parts import Text

if TYPE_CHECKING:
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
    def known(self, request: CallRequest) -> None:
        pass

    def event(self, envelope: Envelope) -> None:
        pass

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


UNASKED = (
    "Some calls were refused because nobody could be asked. Run this in a terminal, or use --ask wait and answer from\n"
    "elsewhere; --allowed-tools and --approval-mode control what needs approval."
)


class TextOutput:
    """On a terminal, the reply appears as it arrives; in a pipe, only complete replies are written."""

    def __init__(self, style: Style, *, live: bool) -> None:
        """`live`: show what commands print while they run."""
        self._style = style
        self._shows_live = live
        self._streams = sys.stdout.isatty()
        self._text: SafeStream | None = None
        self._live: SafeStream | None = None
        self._calls: dict[str, CallRequest] = {}
        self._column_open = False
        self._held = ""
        """Trailing line breaks: written only when more text follows, so that no reply ends with blank lines."""
        self._line_start = True
        self._unasked = False
        """Whether something was refused because nobody could be asked."""

    def known(self, request: CallRequest) -> None:
        self._calls[request.call_id] = request

    def event(self, envelope: Envelope) -> None:
        match envelope.event:
            case TextDelta(text=text):
                if self._streams:
                    self._stream(text)
            case ModelReplied(parts=parts):
                self._whole([part.text for part in parts if isinstance(part, Text)])
            case CallRequested(request=request):
                self.known(request)
            case CallStarted(call_id=call_id):
                self._note(f"{self._style.dim('▸')} {self._label(call_id)}")
            case CallOutput(received=received) if received:
                self._live_count(received)
            case CallOutput(text=text):
                self._live_output(text)
            case CallFinished():
                self._finished(envelope.event)
            case event:
                self._tell(event)

    def _tell(self, event: Event) -> None:
        """Notes what happens besides the reply and the calls."""
        match event:
            case PromptSubmitted(attached=attached) if attached:
                self._note(self._style.dim(attached_words(attached)))
            case ModelRetry(reason=reason, delay=delay):
                self._retry(reason, delay)
            case ModelFallback(model=model, fallback=fallback, reason=reason):
                self._note(f"{safe(reason, 'label')}: continuing with {fallback} instead of {model}")
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
        if self._unasked:
            self._note(UNASKED)
        if summary.error is not None:
            self._note(self._style.red(f"✗ {safe(summary.error.message)}"))
        elif summary.status == "cancelled":
            self._note("Cancelled. What was done is kept.")
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
        self._note(self._style.dim(f"↻ {safe(reason, 'label')}; trying again in {delay:.0f} s"))

    # --- the tools ---

    def _label(self, call_id: str) -> str:
        request = self._calls[call_id]
        return call_label(request, self._style)

    def _live_output(self, text: str) -> None:
        if not self._shows_live:
            return
        if self._live is None:
            self._live = _safe_stream()
        self._indented(self._live.feed(text))

    def _live_count(self, received: int) -> None:
        """Keeps one line with the count up to date, on a terminal that can overwrite it."""
        if self._shows_live and sys.stderr.isatty():
            _write(sys.stderr, f"\r{self._style.dim('│ ')}binary output: {received:,} bytes received")
            self._line_start = False

    def _indented(self, text: str) -> None:
        """Sets the output of commands apart from our own messages."""
        for line in text.splitlines(keepends=True):
            bar = self._style.dim("│ ") if self._line_start else ""
            _write(sys.stderr, bar + line)
            self._line_start = line.endswith("\n")

    def _finished(self, event: CallFinished) -> None:
        if self._live is not None:
            self._indented(self._live.close())
            self._live = None
        if not self._line_start:
            self._indented("\n")
        ended = ended_badly(event)
        mark = {"success": self._style.green("✓"), "error": self._style.red("✗"), "cancelled": "⊘"}[event.status]
        mark = self._style.yellow("!") if ended and event.status == "success" else mark
        why = ended if event.failure is None else safe(event.failure.message, "label")
        self._unasked |= event.failure is not None and event.failure.type == "approval_unavailable"
        self._note(f"{mark} {self._label(event.call_id)} {self._style.dim(took(event))}{why and f': {why}'}")

    def _note(self, line: str) -> None:
        self._end_line()
        _write(sys.stderr, line + "\n")

    def _end_line(self) -> None:
        self._held = ""
        if self._column_open:
            _write(sys.stdout, "\n")
            self._column_open = False


def call_label(request: CallRequest, style: Style) -> str:
    """The tool and what it is about, on one line."""
    return f"{style.bold(safe(request.tool, 'label'))} {safe(call_about(request), 'label')}".rstrip()


# `assent.screen` takes 7 ms to import. By now the model is working, so nobody waits for us.


def _safe_stream() -> "SafeStream":
    from assent.screen import SafeStream

    return SafeStream("output")


def _write(stream: TextIO, text: str) -> None:
    stream.write(text)
    stream.flush()


def make_output(kind: str) -> Output:
    match kind:
        case "json":
            return JsonOutput()
        case "stream-json":
            return StreamJsonOutput()
        case _:
            return TextOutput(Style.for_stream(sys.stderr), live=sys.stderr.isatty())
