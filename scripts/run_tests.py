"""Runs all tests in parallel parts: most of them wait for programs, terminals and browsers more than they compute.

Shows the progress of each part: in one changing line on a terminal, in occasional lines elsewhere. A failure is named
at once and shown in full at the end, with the reasons for skipped tests and how long each part took. Ctrl-C ends the
parts and everything they started.
"""

import json
import os
import select
import selectors
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple, TextIO

import pytest

ROOT = Path(__file__).resolve().parents[1]
PROGRAMS = ("tests/e2e", "tests/servers")
BROWSER = ("tests/front/web",)
TWO_WORKERS = ("-n2", "--dist=loadfile")
PARTS: Mapping[str, Sequence[str]] = {
    "programs": (*PROGRAMS, *TWO_WORKERS),
    "browser": BROWSER,
    "everything else": (
        "tests",
        *(f"--ignore={path}" for path in (*PROGRAMS, *BROWSER, "tests/integration")),
        *TWO_WORKERS,
    ),
}
SECONDS_A_PART = 5400
"""A part that takes longer hangs."""
SECONDS_TO_LEAVE = 10
"""From SIGINT to SIGKILL."""
SECONDS_A_LINE = 30.0
"""Between two lines of progress if lines cannot be changed."""
SECONDS_A_CHANGE = 0.2
"""Between two changes of a line."""
Report = dict[str, Any]


# --- in the process of a part ---


class Reporter:
    """A pytest plugin: reports how many tests there are, and how each ended, as JSON lines."""

    def __init__(self, descriptor: int) -> None:
        os.set_inheritable(descriptor, False)  # a program that outlives us would keep it open
        self._out = os.fdopen(descriptor, "w", buffering=1)

    def _tell(self, **report: object) -> None:
        self._out.write(json.dumps(report) + "\n")

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        self._tell(total=len(session.items))

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_node_collection_finished(self, ids: Sequence[str]) -> None:
        self._tell(total=len(ids))  # every worker finds all of them

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.when == "call" or report.outcome != "passed":
            self._tell(test=report.nodeid, outcome=report.outcome, why=why_skipped(report))


def why_skipped(report: pytest.TestReport) -> str:
    match report.longrepr:
        case (_, _, str(reason)):
            return reason.removeprefix("Skipped: ")
        case _:
            return ""


def run_part(descriptor: int, arguments: Sequence[str]) -> int:
    # A shell makes its background jobs ignore some of these, and nohup the last: so would the programs of the tests.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGQUIT, signal.SIG_DFL)
    signal.signal(signal.SIGHUP, signal.SIG_DFL)
    return pytest.main(["-q", "-p", "no:cacheprovider", *arguments], plugins=[Reporter(descriptor)])


# --- in our own process ---


class Part:
    """One run of pytest in its own process. `log` contains everything it prints."""

    def __init__(self, name: str, arguments: Sequence[str], log: Path) -> None:
        self.name, self.log = name, log
        self.begun, self.seconds = time.monotonic(), 0.0
        self.total = 0
        self.counts = {"passed": 0, "failed": 0, "skipped": 0}
        self.skipped: Counter[str] = Counter()
        """By the reason."""
        ours, theirs = os.pipe()
        with log.open("wb") as out:
            self._process = subprocess.Popen(
                [sys.executable, __file__, "--part", str(theirs), *arguments],
                cwd=ROOT,
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=subprocess.STDOUT,
                pass_fds=[theirs],
                start_new_session=True,  # only we get Ctrl-C
            )
        os.close(theirs)
        self.reports = os.fdopen(ours, "rb")
        self._rest = b""
        self.told_all = False

    def read(self) -> Iterator[str]:
        """Process what was reported; return the names of those that failed."""
        data = os.read(self.reports.fileno(), 65536)
        self.told_all = not data
        *lines, self._rest = (self._rest + data).split(b"\n")
        for report in map(json.loads, lines):
            yield from self._take(report)

    def has_more(self) -> bool:
        return not self.told_all and bool(select.select([self.reports], [], [], 0)[0])

    def _take(self, report: Report) -> Iterator[str]:
        if "total" in report:
            self.total = report["total"]
            return
        self.counts[report["outcome"]] += 1
        match report["outcome"]:
            case "failed":
                yield report["test"]
            case "skipped":
                self.skipped[report["why"]] += 1
            case _:
                pass

    @property
    def pid(self) -> int:
        return self._process.pid

    def interrupt(self) -> None:
        """Like Ctrl-C: fixtures clean up."""
        self._process.send_signal(signal.SIGINT)

    def has_ended(self) -> bool:
        return self._process.poll() is not None

    def wait(self) -> None:
        self._process.wait()
        self.seconds = time.monotonic() - self.begun

    @property
    def failed(self) -> bool:
        return self._process.returncode != 0

    def progress(self) -> str:
        done = sum(self.counts.values())
        failed = f" ({self.counts['failed']} failed)" if self.counts["failed"] else ""
        return f"{self.name} {done}/{self.total or '?'}{failed}"

    def result(self) -> str:
        counts = ", ".join(f"{count} {outcome}" for outcome, count in self.counts.items() if count)
        return f"{self.name:<16} {minutes(self.seconds):>6}  {counts}{self._odd_end()}"

    def _odd_end(self) -> str:
        """Not every part ends because its tests were run."""
        match self._process.returncode:
            case code if code < 0:
                return f" (killed by {signal.Signals(-code).name})"
            case pytest.ExitCode.TESTS_FAILED if self.counts["failed"]:
                return ""
            case code:
                return f" (exit code {code})" if code else ""


class Display:
    """One changing line on a terminal; occasional lines elsewhere."""

    def __init__(self, out: TextIO, pause: float | None) -> None:
        self._out = out
        self._changes = out.isatty()
        self._pause = pause if pause is not None else SECONDS_A_CHANGE if self._changes else SECONDS_A_LINE
        self._begun = self._shown = time.monotonic()

    def say(self, text: str) -> None:
        self._out.write(f"\r\x1b[K{text}\n" if self._changes else f"{text}\n")
        self._out.flush()

    def progress(self, parts: Sequence[Part]) -> None:
        now = time.monotonic()
        if now - self._shown < self._pause:
            return
        self._shown = now
        line = " · ".join([minutes(now - self._begun), *(part.progress() for part in parts)])
        if self._changes:
            self._out.write(f"\r\x1b[K{line[: os.get_terminal_size(self._out.fileno()).columns - 1]}")
            self._out.flush()
        else:
            self.say(line)


def minutes(seconds: float) -> str:
    return f"{int(seconds) // 60}:{int(seconds) % 60:02}"


def follow(parts: Sequence[Part], display: Display) -> None:
    """Wait until all have ended."""
    with selectors.DefaultSelector() as selector:
        for part in parts:
            selector.register(part.reports, selectors.EVENT_READ, part)
        while selector.get_map():
            ready = [key.data for key, _ in selector.select(timeout=0.5)]
            for part in ready:
                tell_failures(part, display)
            for part in [key.data for key in selector.get_map().values()]:
                if part.told_all or (part not in ready and part.has_ended()):  # one of its children may hold the pipe
                    while part.has_more():  # said after we looked, before it ended
                        tell_failures(part, display)
                    part.wait()
                    selector.unregister(part.reports)
            display.progress(parts)
            check_time(parts, display)


def tell_failures(part: Part, display: Display) -> None:
    for test in part.read():
        display.say(f"FAILED {test}")


def check_time(parts: Sequence[Part], display: Display) -> None:
    for part in parts:
        if time.monotonic() - part.begun > SECONDS_A_PART and not part.has_ended():
            display.say(f"{part.name} takes more than {minutes(SECONDS_A_PART)} and is stopped")
            end([part])


def main(parts: Mapping[str, Sequence[str]] = PARTS, pause: float | None = None) -> int:
    """`pause`: seconds between two signs of progress; None: what suits the output."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    display, begun = Display(sys.stdout, pause), time.monotonic()
    with tempfile.TemporaryDirectory(prefix="assent-tests-") as folder:
        running = [Part(name, paths, Path(folder, name)) for name, paths in parts.items()]
        try:
            follow(running, display)
        except KeyboardInterrupt:
            display.say("interrupted")
            end(running)
            return 130
        tell_results(running, display)
    failed = any(part.failed for part in running)
    display.say(f"{'failed' if failed else 'all passed':<16} {minutes(time.monotonic() - begun):>6}")
    return 1 if failed else 0


def tell_results(parts: Sequence[Part], display: Display) -> None:
    skipped: Counter[str] = Counter()
    for part in parts:
        skipped += part.skipped
        if part.failed:
            display.say(f"\n--- {part.name}\n{part.log.read_text(errors='replace')}")
    for reason, count in skipped.items():
        display.say(f"SKIPPED {count}: {reason}")
    for part in parts:
        display.say(part.result())


# --- the end of a part and of everything it started ---


def end(parts: Sequence[Part]) -> None:
    """Each may end its own programs; anything left after a while is killed."""
    processes = [process for part in parts for process in below(part.pid)]  # while it can be seen whose they are
    for part in parts:
        part.interrupt()
    deadline = time.monotonic() + SECONDS_TO_LEAVE
    with suppress(KeyboardInterrupt):  # pressed twice
        while time.monotonic() < deadline and not all(part.has_ended() for part in parts):
            time.sleep(0.05)
    for process in filter(is_alive, processes):
        with suppress(ProcessLookupError):
            os.kill(process.pid, signal.SIGKILL)


class Process(NamedTuple):
    """`started` distinguishes it from a later process with the same id."""

    pid: int
    started: str


def is_alive(process: Process) -> bool:
    stat = read_stat(process.pid)
    return stat is not None and stat[0] not in "ZX" and stat[19] == process.started


def below(root: int) -> list[Process]:
    """It and everything it started; empty if the system does not say."""
    stats = {int(path.name): read_stat(int(path.name)) for path in Path("/proc").glob("[0-9]*")}
    children: dict[int, list[int]] = {}
    for pid, stat in stats.items():
        if stat is not None:
            children.setdefault(int(stat[1]), []).append(pid)
    pids = [root]
    for pid in pids:  # which grows
        pids += children.get(pid, [])
    return [Process(pid, stat[19]) for pid in pids if (stat := stats.get(pid)) is not None]


def read_stat(pid: int) -> list[str] | None:
    """What the kernel reports about a process, from its state on."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return None


if __name__ == "__main__":
    if sys.argv[1:2] == ["--part"]:
        sys.exit(run_part(int(sys.argv[2]), sys.argv[3:]))
    sys.exit(main({name: PARTS[name] for name in sys.argv[1:]} or PARTS))
