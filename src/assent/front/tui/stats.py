"""What a session has used so far: tokens, money, time, tools. Pure: a fold of the events, and text with small bars.

Times come from the events' own clock. Time during which the session was closed is not counted.
"""

from collections.abc import Sequence

from msgspec import Struct, field
from textual.content import Content

from assent.app.pricing import Prices, Spending, cost_words, money, price_date
from assent.app.wording import count, safe, span
from assent.events import (
    ApprovalAnswered,
    ApprovalRequested,
    CallFinished,
    CallRequested,
    CallScheduled,
    CallStarted,
    CallStatus,
    ChatCompressed,
    Envelope,
    Event,
    ModelChanged,
    ModelReplied,
    PromptSubmitted,
    SessionCreated,
    SessionOpened,
    SessionRenamed,
    TurnFinished,
)
from assent.parts import Usage

BAR_WIDTH = 8
_EIGHTHS = " ▏▎▍▌▋▊▉"


class ModelUse(Struct):
    requests: int = 0
    usage: Usage = Usage()
    dollars: float = 0.0
    unpriced: int = 0
    """Requests that used something for which no price is known."""

    @property
    def spent(self) -> Spending:
        return Spending(self.requests, self.usage.total, self.dollars, self.unpriced)


class ToolUse(Struct, kw_only=True):
    count: int = 0
    success: int = 0
    error: int = 0
    cancelled: int = 0
    seconds: float = 0.0
    """Running time, without the time spent waiting for a person."""
    asked: int = 0
    """Calls that a person was asked about; the others were decided by mode, rule or grant, or are harmless."""
    refused: int = 0
    edited: int = 0


class Times(Struct):
    """Seconds. Tools may run in parallel, and one may run while another waits: these need not add up."""

    turns: float = 0.0
    model: float = 0.0
    tools: float = 0.0
    waiting: float = 0.0


class Tally(Struct, kw_only=True):
    """The fold: pass it every envelope of a session in order."""

    prices: Prices = field(default_factory=Prices)
    models: dict[str, ModelUse] = {}
    tools: dict[str, ToolUse] = {}
    times: Times = field(default_factory=Times)
    prompts: int = 0
    model: str = ""
    """The model that writes summaries; a reply names its own."""
    tool_of: dict[str, str] = {}
    running: dict[str, float] = {}
    """Running calls, with their start times."""
    asked: set[str] = set()
    refused: set[str] = set()
    """Calls that ended because the person said no; they do not count as cancelled, too."""
    waiting: set[str] = set()
    waiting_since: float = 0.0
    turn_since: float | None = None
    model_since: float | None = None
    """When the model was last sent a request."""
    last: float = 0.0

    def apply(self, envelope: Envelope) -> None:
        if envelope.seq:
            self._apply(envelope.event, envelope.ts)
            self.last = envelope.ts

    def _apply(self, event: Event, ts: float) -> None:
        match event:
            case SessionOpened():
                self._skip_to(ts)
            case PromptSubmitted():
                self.prompts += 1
                self.turn_since = self.model_since = ts
            case ModelReplied():
                self._replied(event, ts)
            case TurnFinished():
                self.times.turns += ts - (ts if self.turn_since is None else self.turn_since)
                self.turn_since = self.model_since = None
            case CallRequested():
                self.tool_of[event.request.call_id] = event.request.tool
                self._tool(event.request.call_id).count += 1
            case CallStarted():
                self.running[event.call_id] = ts
            case CallFinished():
                self._finished(event.call_id, event.status, ts)
            case _:
                self._settle(event, ts)

    def _settle(self, event: Event, ts: float) -> None:
        match event:
            case SessionCreated(model=model) | ModelChanged(model=model):
                self.model = model
            case ChatCompressed(usage=usage, model=model) | SessionRenamed(usage=usage, model=model) if (
                usage != Usage()
            ):
                self._used(model or self.model, usage)
            case ApprovalRequested(call_id=call_id):
                self.refused.discard(call_id)  # asked again: the no did not count
                if call_id not in self.asked:
                    self.asked.add(call_id)
                    self._tool(call_id).asked += 1
                self._wait(call_id, ts)
            case ApprovalAnswered(call_id=call_id, outcome=outcome):
                if outcome == "cancel":
                    self.refused.add(call_id)
                self._stop_waiting(call_id, ts)
            case CallScheduled(call_id=call_id, decision=decision):
                self._tool(call_id).edited += decision.edited
                self._stop_waiting(call_id, ts)
            case _:
                pass

    def _replied(self, event: ModelReplied, ts: float) -> None:
        self._used(event.model, event.usage)
        if self.model_since is not None:
            self.times.model += ts - self.model_since
        self.model_since = None

    def _used(self, model: str, usage: Usage) -> None:
        use = self.models.setdefault(model, ModelUse())
        use.requests += 1
        use.usage += usage
        cost = self.prices.cost(model, usage)
        use.dollars += cost or 0.0
        use.unpriced += cost is None and usage != Usage()

    def _finished(self, call_id: str, status: CallStatus, ts: float) -> None:
        tool = self._tool(call_id)
        ended = "refused" if status == "cancelled" and call_id in self.refused else status
        setattr(tool, ended, getattr(tool, ended) + 1)
        took = ts - self.running.pop(call_id, ts)
        tool.seconds += took
        self.times.tools += took
        self._stop_waiting(call_id, ts)
        if self.turn_since is not None:
            self.model_since = ts  # after the last call of a reply, the model gets a new request

    def _tool(self, call_id: str) -> ToolUse:
        return self.tools.setdefault(self.tool_of.get(call_id, "unknown"), ToolUse())

    def _wait(self, call_id: str, ts: float) -> None:
        if not self.waiting:
            self.waiting_since = ts
        self.waiting.add(call_id)

    def _stop_waiting(self, call_id: str, ts: float) -> None:
        if call_id in self.waiting:
            self.waiting.discard(call_id)
            if not self.waiting:
                self.times.waiting += ts - self.waiting_since

    def _skip_to(self, ts: float) -> None:
        """The session was closed since the last event: running times are counted until then, and again from now."""
        gone = ts - self.last if self.last else 0.0
        self.running = {call_id: since + gone for call_id, since in self.running.items()}
        self.waiting_since += gone
        self.turn_since = None if self.turn_since is None else self.turn_since + gone
        self.model_since = None if self.model_since is None else self.model_since + gone

    # --- sums ---

    @property
    def usage(self) -> Usage:
        return sum((use.usage for use in self.models.values()), Usage())

    @property
    def spent(self) -> Spending:
        return sum((use.spent for use in self.models.values()), Spending())


# --- as text ---


def bar(part: float, whole: float, width: int = BAR_WIDTH) -> str:
    """A bar of eighths, padded to `width`; any value above zero is visible."""
    if whole <= 0 or part <= 0:
        return " " * width
    eighths = max(1, min(width * 8, round(part / whole * width * 8)))
    full, rest = divmod(eighths, 8)
    return ("█" * full + (_EIGHTHS[rest] if rest else "")).ljust(width)


Line = tuple[str, float, str]
"""Label, size of the bar, numbers."""


def session_stats(tally: Tally) -> Content:
    """The whole session at a glance."""
    usage, times = tally.usage, tally.times
    requests = sum(use.requests for use in tally.models.values())
    tokens: list[Line] = [
        ("input", usage.input, f"{usage.input:,}"),
        ("  of which cached", usage.cached, f"{usage.cached:,}"),
        ("output", usage.output, f"{usage.output:,}"),
        ("thoughts", usage.thoughts, f"{usage.thoughts:,}"),
    ]
    spans: list[Line] = [
        (label, seconds, span(seconds))
        for label, seconds in (
            ("turns", times.turns),
            ("model", times.model),
            ("tools", times.tools),
            ("waiting for you", times.waiting),
        )
    ]
    return _page(
        _section(f"Tokens ({count(tally.prompts, 'prompt')}, {count(requests, 'request')})", tokens),
        _section("Time", spans),
        tool_stats(tally),
        _cost_line(tally),
    )


def model_stats(tally: Tally) -> Content:
    """Each model on its own."""
    if not tally.models:
        return Content("No model has been used yet.")
    return _page(*(_model_section(name, use) for name, use in tally.models.items()), _cost_line(tally))


def _model_section(name: str, use: ModelUse) -> Content:
    usage = use.usage
    lines: list[Line] = [
        ("input", usage.input, f"{usage.input:,}"),
        ("  of which cached", usage.cached, f"{usage.cached:,}"),
        ("output", usage.output, f"{usage.output:,}"),
        ("thoughts", usage.thoughts, f"{usage.thoughts:,}"),
        ("cost", 0, cost_words(use.spent) or money(0)),
    ]
    return _section(f"{safe(name, 'label')} ({count(use.requests, 'request')})", lines)


def tool_stats(tally: Tally) -> Content:
    """How often each tool ran, how it ended, how long it took, and how often you were asked."""
    if not tally.tools:
        return Content("No tool has been used yet.")
    used = sorted(tally.tools.items(), key=lambda item: -item[1].count)
    lines: list[Line] = [(safe(name, "label"), use.count, _tool_numbers(use)) for name, use in used]
    return _section("Tools", lines, right=False)


def _tool_numbers(use: ToolUse) -> str:
    ended = [(use.success, "ok"), (use.error, "failed"), (use.cancelled, "cancelled"), (use.edited, "edited")]
    words = [f"{count} {word}" for count, word in ended if count]
    if use.asked:
        words.append(f"asked {use.asked}×" + (f", {use.refused} refused" if use.refused else ""))
    return f"{use.count:>4} {span(use.seconds):>12}  {', '.join(words)}"


def _section(title: str, lines: Sequence[Line], *, right: bool = True) -> Content:
    """`right`: the numbers are right-aligned; not where words follow them."""
    label_width = max(Content(label).cell_length for label, _, _ in lines)
    whole = max(size for _, size, _ in lines)
    numbers_width = max(len(numbers) for _, _, numbers in lines)
    body = [
        Content.assemble(
            "  ",
            Content(label).pad_right(label_width - Content(label).cell_length),
            "  ",
            (bar(size, whole), "$accent"),
            "  ",
            numbers.rjust(numbers_width) if right else numbers,
        )
        for label, size, numbers in lines
    ]
    return Content("\n").join([Content.styled(title, "bold"), *body])


def _cost_line(tally: Tally) -> Content:
    own = any(tally.prices.is_own(model) for model in tally.models)
    dates = sorted({date for model in tally.models if (date := price_date(model))})
    source = "by your prices in settings.toml" if own else f"by list prices of {', '.join(dates)}" if dates else ""
    if unpriced := ", ".join(safe(name, "label") for name, use in tally.models.items() if use.unpriced):
        known = cost_words(tally.spent) if tally.spent.dollars else "unknown"
        return Content(f'Cost  {known}: no price for {unpriced}. Set it in settings.toml under [prices."MODEL"].')
    return Content.assemble(("Cost", "bold"), f"  {money(tally.spent.dollars)}  ", (source, "dim"))


def _page(*sections: Content) -> Content:
    return Content("\n\n").join(sections)
