"""The lines around the input: what is going on, what is in the queue, and where we are."""

import os
from collections.abc import Callable, Iterator, Sequence

from msgspec import Struct
from msgspec.structs import replace
from rich.cells import cell_len
from rich.text import Text
from textual.timer import Timer
from textual.widgets import Static

from assent import elapsed
from assent.app.wording import count, duration, safe, share, short_number
from assent.front.tui.host import ServerInfo
from assent.front.tui.lines_below import LinesBelow
from assent.front.tui.text_style import TextStyler
from assent.transient_events import Queued

SPINNER = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"
BEAT_SECONDS = 0.2
SHOWN_QUEUED = 3
PATH_LENGTH = 32
SHORTEST = 8
"""The least number of cells for the current activity; fewer would say nothing."""
NEARLY_FULL = 0.8
"""Share of the context window above which it is highlighted."""


class StatusLine(Static):
    """A spinner with the time while something runs; empty, and without a timer, otherwise. A low screen has no line for
    it then.
    """

    def __init__(
        self, styler: Callable[[], TextStyler], clock: Callable[[], float], timer: Callable[[], float]
    ) -> None:
        super().__init__(id="status", classes="-idle")
        self._styler = styler
        self._clock, self._timer = clock, timer
        self._since: float | None = None
        self._began = 0.0
        """The same by the monotonic clock."""
        self._doing = ""
        self._hint = ""
        self._beat: Timer | None = None

    def busy(self, since: float, doing: str, hint: str) -> None:
        """`hint` says how to cancel it, or how it ends."""
        if (self._since, self._doing, self._hint) == (since, doing, hint):
            return  # the timer draws it
        self.remove_class("-idle")
        if since != self._since:
            self._began = self._timer() - elapsed.since(since, self._clock())
        self._since, self._doing, self._hint = since, doing, hint
        if self._beat is None:
            self._beat = self.set_interval(BEAT_SECONDS, self._draw)
        self._draw()

    def idle(self) -> None:
        if self._since is None:
            return
        self._since = None
        self.add_class("-idle")
        if self._beat is not None:
            self._beat.stop()
            self._beat = None
        self.update("", layout=False)

    def _draw(self) -> None:
        if self._since is None:
            return
        palette = self._styler().palette
        took = self._timer() - self._began
        line = Text(no_wrap=True, overflow="ellipsis")
        line.append(f"{SPINNER[int(took / BEAT_SECONDS) % len(SPINNER)]} ", palette.accent)
        doing, timed = self._fitted(Text(safe(self._doing, "label") or "Working", "bold"), f"  {duration(took * 1000)}")
        line.append_text(doing).append(f"{timed} · {self._hint}", palette.dim)
        self.update(line, layout=False)  # one line, always

    def _fitted(self, doing: Text, timed: str) -> tuple[Text, str]:
        """How to cancel is kept longest: on a narrow screen, the time goes first, then the end of the activity."""
        room = self.size.width - len("⠋ ") - cell_len(f" · {self._hint}")
        if not self.size.width or doing.cell_len + cell_len(timed) <= room:
            return doing, timed
        if room >= SHORTEST:
            doing.truncate(room, overflow="ellipsis")
        return doing, ""


class QueueView(LinesBelow, Static):
    """What was sent while a turn is running, in order. Up in the empty input withdraws the newest."""

    def __init__(self, styler: Callable[[], TextStyler]) -> None:
        super().__init__(id="queue")
        self._styler = styler
        self._queued: Sequence[Queued] = ()
        self._elsewhere = self._typing = False
        self._drawn: tuple[object, ...] = ((), False, False, False)
        self.display = False

    def put(self, queued: Sequence[Queued], *, elsewhere: bool = False, typing: bool = False) -> None:
        """`elsewhere`: the keyboard is at a question, or at the input of a command. `typing`: something is typed."""
        self._queued, self._elsewhere, self._typing = queued, elsewhere, typing
        self.fit()

    def typing(self, typing: bool) -> None:
        """Up recalls earlier prompts while something is typed; it takes nothing back then."""
        self._typing = typing
        self.fit()

    def fit(self) -> None:
        """Draws it again if something has changed: what it shows, or whether there is room only for one line."""
        low = self.screen.has_class("-low")
        if (drawn := (self._queued, self._elsewhere, self._typing, low)) == self._drawn:
            return
        self._drawn = drawn
        self.display = bool(self._queued)
        if self._queued:
            self.update(self._newest() if low else self._all())

    def _newest(self) -> Text:
        more = f"({len(self._queued)}) " if len(self._queued) > 1 else ""
        return Text(f"{more}{_queue_line(self._queued[-1])}", self._styler().palette.dim)

    def _all(self) -> Text:
        palette, more = self._styler().palette, len(self._queued) - SHOWN_QUEUED
        lines = Text()
        for item in self._queued[:SHOWN_QUEUED]:
            lines.append(f"{_queue_line(item)}\n", palette.dim)
        if more > 0:
            lines.append(f"  and {count(more, 'more message')}\n", palette.dim)
        last = "" if self._elsewhere or self._typing else " · ↑ edits the last one"
        return lines.append(f"  {_queue_hint(self._queued, elsewhere=self._elsewhere)}{last}", f"italic {palette.dim}")


def _queue_line(item: Queued) -> str:
    text = safe(" ".join(item.text.split()), "label")
    return f"{_queue_sign(item)} {'!' if item.tool else ''}{text}"


def _queue_sign(item: Queued) -> str:
    return "‖" if item.held else "↪" if item.steer else "⋯"


def _queue_hint(queued: Sequence[Queued], *, elsewhere: bool) -> str:
    if any(item.held for item in queued):
        key = "Tab, then Enter" if elsewhere else "Enter"
        return f"‖ held: {key} sends" if all(item.held for item in queued) else f"‖ held until {key}"
    if any(item.steer for item in queued):
        return "↪ read at the next step · ⋯ sent when this is done"
    return "sent when this is done" if elsewhere else "sent when this is done (Ctrl-S: at the next step)"


class Facts(Struct, frozen=True, kw_only=True):
    """What the last line says."""

    model: str = ""
    mode: str = "default"
    next_mode: str = ""
    """The mode that takes effect once the open questions are answered."""
    folder: str = ""
    branch: str = ""
    tokens: int = 0
    """-1: not shown."""
    context: float = 0.0
    """The share of the model's context window that is in use; 0 if unknown."""
    cost: str = ""
    waiting: int = 0
    background: int = 0
    """Commands that run in the background."""
    servers: str = ""
    """The state of the MCP servers, if one is not ready."""
    mode_words: str = ""
    """What the mode means; empty for the usual one."""
    brief: bool = False
    """The model is left out."""


def _less_and_less(facts: Facts) -> Iterator[Facts]:
    """Everything first, then without what matters least. The mode and the questions always stay."""
    facts = replace(facts, mode_words=_mode_words(facts))
    yield facts
    if facts.context:
        yield (facts := replace(facts, tokens=0))
    yield (facts := replace(facts, branch=""))
    yield (facts := replace(facts, folder=""))
    yield (facts := replace(facts, mode_words=""))
    yield (facts := replace(facts, servers=""))
    yield (facts := replace(facts, tokens=-1, cost=""))
    yield (facts := replace(facts, brief=True))
    yield replace(facts, context=0.0)


def _mode_words(facts: Facts) -> str:
    if facts.next_mode:
        return "once you have answered"
    return MODE_WORDS.get(facts.mode, "") if facts.mode != "default" else ""


def server_words(servers: Sequence[ServerInfo]) -> str:
    """The servers that are not ready; empty if all are."""
    troubled = [f"{server.name} {server.state}" for server in servers if server.state != "ready"]
    return f"mcp: {', '.join(troubled)}" if troubled else ""


MODE_WORDS = {
    "default": "asks",
    "auto_edit": "edits run",
    "auto_try": "commands are tried first",
    "contained": "commands run in the sandbox",
    "yolo": "everything runs",
    "plan": "read only",
}


def short_path(path: str) -> str:
    """The home folder as ~, and only the end of a long path."""
    home = os.path.expanduser("~")
    shown = "~" + path[len(home) :] if path == home or path.startswith(home + "/") else path
    parts = shown.split("/")
    return shown if len(shown) <= PATH_LENGTH or len(parts) < 3 else "…/" + "/".join(parts[-2:])


class FootLine(Static):
    def __init__(self, styler: Callable[[], TextStyler]) -> None:
        super().__init__(id="foot")
        self._styler = styler
        self._facts = Facts()

    def put(self, facts: Facts) -> None:
        if facts != self._facts:
            self._facts = facts
            self.draw()

    def on_resize(self) -> None:
        self.draw()

    def draw(self) -> None:
        self.update(self.line(self._facts, max(self.content_size.width, 1)), layout=False)

    def line(self, facts: Facts, width: int) -> Text:
        """As much as fits."""
        left, right = Text(), Text()
        for less in _less_and_less(facts):
            left, right = self._left(less), self._right(less)
            if left.cell_len + right.cell_len < width:
                break
        left.truncate(max(width - right.cell_len - 1, 1), overflow="ellipsis")
        gap = " " * max(width - left.cell_len - right.cell_len, 1)
        return Text.assemble(left, gap, right, no_wrap=True, overflow="crop")

    def _left(self, facts: Facts) -> Text:
        palette = self._styler().palette
        colour = {"yolo": f"bold {palette.bad}", "auto_edit": palette.warn, "plan": palette.good}
        name = f"{facts.mode} → {facts.next_mode}" if facts.next_mode else facts.mode
        mode = Text(f"{name}: {facts.mode_words}" if facts.mode_words else name)
        mode.stylize(colour.get(facts.mode, palette.dim))
        place = safe(short_path(facts.folder), "label") + (f" ({safe(facts.branch, 'label')})" if facts.branch else "")
        model = Text(safe(facts.model.rpartition("/")[2], "label") or "opening…", palette.dim)
        parts = [*([] if facts.brief else [model]), mode, *([Text(place, palette.dim)] if facts.folder else [])]
        return Text(" · ", style=palette.dim).join(parts)

    def _right(self, facts: Facts) -> Text:
        palette = self._styler().palette
        parts: list[Text] = []
        if facts.servers:
            parts.append(Text(safe(facts.servers, "label"), palette.dim))
        if facts.waiting:
            parts.append(Text(count(facts.waiting, "question"), f"bold {palette.warn}"))
        if facts.background:
            parts.append(Text(f"{facts.background} in background (/tasks)", palette.accent))
        if facts.tokens > 0 or (facts.tokens == 0 and not facts.context):
            parts.append(Text(f"{short_number(facts.tokens)} tokens", palette.dim))
        if facts.context:
            parts.append(
                Text(f"context {share(facts.context)}", palette.warn if facts.context > NEARLY_FULL else palette.dim)
            )
        if facts.cost:
            parts.append(Text(facts.cost, palette.dim))
        return Text(" · ", style=palette.dim).join(parts)
