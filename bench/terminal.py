"""The terminal UI in a real terminal: first frame, typing, streaming, idle; against a minimal Textual app.

A message is a prompt, a reply of 2.9 kB and two calls. The floor for a stream is Textual's own `MarkdownStream` with
the same fragments at the same pace; for a size, the session of 10 messages.
"""

import json
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from statistics import median

from msgspec import Struct

from bench.conversation import fragments, make_session, markdown
from bench.measure import assent, interleaved
from bench.report import Row
from bench.window import COLUMNS, ROWS, Window

FIRST_FRAME, STREAM, FLAT = 1.3, 1.2, 1.5
IDLE_PERCENT = 0.5
SIZES = (10, 100, 1_000)
FLOOR = [sys.executable, str(Path(__file__).with_name("textual_floor.py"))]
PROMPT_SHOWN = "sk something, or /help"
"""The cursor is on the first letter."""
END = "Nothing more follows."
FRAGMENTS, PAUSE_MS, ANSWER = 580, 10, 14_000
TYPED = "please look at the total once more and tell me where the tax is counted twice "
RESIZES = 10


class Visit(Struct, frozen=True):
    """The cost of looking into one session."""

    seconds: float
    """Until the end of the conversation was shown."""
    megabytes: float
    key: float
    """CPU, in ms."""
    resize: float
    """CPU, in ms."""


class Stage:
    """A home with sessions, a folder to work in, and the answer to stream."""

    def __init__(self, root: Path) -> None:
        self.folder, self._home = root / "work", root / "home"
        self.folder.mkdir()
        self._scenario, self._script = root / "stream.json", root / "fragments.json"
        pieces = [*fragments(markdown(ANSWER), FRAGMENTS - 1), f"\n\n{END}\n"]
        chunks = [chunk for piece in pieces for chunk in ({"text": piece}, {"pause_ms": PAUSE_MS})]
        self._scenario.write_text(json.dumps({"replies": [{"chunks": chunks}]}))
        self._script.write_text(json.dumps({"fragments": pieces, "pause": PAUSE_MS / 1000}))
        self._model = f"scripted:{self._scenario}"
        self._sessions = {size: make_session(self._home, self.folder, size, self._model) for size in SIZES}

    def _window(self, *argv: str) -> Window:
        return Window(argv, {"ASSENT_HOME": str(self._home)}, self.folder)

    def assent(self, *flags: str) -> Window:
        return self._window(*assent(), "--model", self._model, *flags)

    def floor(self, kind: str) -> Window:
        return self._window(*FLOOR, kind, str(self._script))

    def visit(self, size: int) -> Visit:
        with self.assent("--resume", self._sessions[size]) as window:
            shown = window.until(f"The end of reply {size - 1}.")
            window.until_quiet(1.0)
            megabytes = window.megabytes
            key, resize = cpu_per_key(window), cpu_per_resize(window)
            return Visit((shown - window.started_ns) / 1e9, megabytes, key, resize)

    def idle(self, seconds: float) -> float:
        """Percent of one processor."""
        with self.assent("--resume", self._sessions[SIZES[0]]) as window:
            window.until("The end of reply")
            window.until_quiet(2.0)
            before = window.cpu
            time.sleep(seconds)
            return (window.cpu - before) / seconds * 100


def first_frame(open_window: Callable[[], Window]) -> float:
    """Milliseconds from the start of the process."""
    with open_window() as window:
        return (window.until(PROMPT_SHOWN) - window.started_ns) / 1e6


def first_frame_cpu(open_window: Callable[[], Window]) -> float:
    with open_window() as window:
        window.until(PROMPT_SHOWN)
        return window.cpu * 1000


def stream_cpu(open_window: Callable[[], Window], ready: str, keys: str) -> float:
    """Seconds."""
    with open_window() as window:
        window.until(ready)
        window.until_quiet(1.0)
        before = window.cpu
        window.press(keys)
        window.until(END)
        window.until_quiet()
        return window.cpu - before


def floor_key(harness: Stage) -> float:
    with harness.floor("frame") as window:
        window.until(PROMPT_SHOWN)
        window.until_quiet(1.0)
        return cpu_per_key(window)


def cpu_per_key(window: Window) -> float:
    before = window.cpu
    for key in TYPED:
        window.press(key)
        window.until_drawn()
    return (window.cpu - before) / len(TYPED) * 1000


def cpu_per_resize(window: Window) -> float:
    before = window.cpu
    for turn in range(RESIZES):
        window.resize(ROWS, COLUMNS - 1 - turn)
        window.until_drawn(0.2)
    return (window.cpu - before) / RESIZES * 1000


def measure(quick: bool) -> Iterator[Row]:
    with tempfile.TemporaryDirectory(prefix="assent-bench-") as root:
        harness = Stage(Path(root))
        yield from _first_frame(harness, 2 if quick else 11)
        yield from _stream(harness, 1 if quick else 5)
        yield from _visits(harness, 1 if quick else 5)
        idle = [harness.idle(3.0 if quick else 10.0) for _ in range(1 if quick else 3)]
        yield Row("idle, CPU", median(idle), "%", most=IDLE_PERCENT)


def _first_frame(harness: Stage, runs: int) -> Iterator[Row]:
    opened: Mapping[str, Callable[[], Window]] = {"assent": harness.assent, "floor": lambda: harness.floor("frame")}
    medians = interleaved({name: partial(first_frame, window) for name, window in opened.items()}, runs)
    yield Row("start to first frame", medians["assent"], "ms", medians["floor"], FIRST_FRAME)
    medians = interleaved({name: partial(first_frame_cpu, window) for name, window in opened.items()}, runs)
    yield Row("start to first frame, CPU", medians["assent"], "ms", medians["floor"], FIRST_FRAME)


def _stream(harness: Stage, runs: int) -> Iterator[Row]:
    medians = interleaved(
        {
            "assent": lambda: stream_cpu(harness.assent, "stream.json", "go\r"),
            "floor": lambda: stream_cpu(lambda: harness.floor("stream"), "ready", "\r"),
        },
        runs,
        warm_ups=0,
    )
    yield Row("14 kB in 580 fragments, CPU", medians["assent"], "s", medians["floor"], STREAM)


def _visits(harness: Stage, runs: int) -> Iterator[Row]:
    visits: dict[int, list[Visit]] = {size: [] for size in SIZES}
    for _ in range(runs):
        for size in SIZES:
            visits[size].append(harness.visit(size))

    def row(what: str, size: int, unit: str, figure: Callable[[Visit], float], most: float | None) -> Row:
        floor, found = (median(map(figure, visits[one])) for one in (SIZES[0], size))
        return Row(f"{what}, {size:,} messages", found, unit, floor, most)

    least = median(floor_key(harness) for _ in range(runs))
    yield Row("a key, CPU, against a TextArea", median(map(_key, visits[SIZES[0]])), "ms", least)
    for size in SIZES:
        goal = FLAT if size > SIZES[0] else None
        yield row("a key, CPU", size, "ms", _key, goal)
        yield row("memory", size, "MB", lambda visit: visit.megabytes, goal)
    for size in SIZES:
        yield row("start to end of conversation", size, "s", lambda visit: visit.seconds, None)
        yield row("a resize, CPU", size, "ms", lambda visit: visit.resize, None)


def _key(visit: Visit) -> float:
    return visit.key
