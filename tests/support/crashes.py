"""One crash, seen from outside: Assent runs commands that resist ending, is killed, and is opened again.

Checked: no process is left, everything announced is in the log, every call has one end, and its effect (a line in a
file) exists at most once, and exactly once if the log says that it succeeded; the audit has exactly what was decided,
and its chain is intact. Of the program's own code, only the check of that chain is used.
"""

import asyncio
import os
import random
import signal
import sqlite3
import sys
import threading
import time
from collections import Counter
from collections.abc import AsyncIterable, Callable, Iterable
from contextlib import suppress
from pathlib import Path
from typing import Literal

import msgspec
from msgspec import Struct

from assent.client.http_client import Unreachable
from assent.events import Envelope, to_wire
from support.audit_witness import compare, verify
from support.program import Json, Program, asks_for, says, shell
from support.served import ServedProgram
from support.terminal import Terminal
from support.waiting import WAIT_LIMIT

Front = Literal["prompt", "terminal", "server"]
FRONTS: tuple[Front, ...] = ("prompt", "prompt", "terminal", "server")
SIGNALS = (signal.SIGKILL, signal.SIGKILL, signal.SIGQUIT, signal.SIGTERM, signal.SIGHUP)
HITS = 40
"""About as many fail points as a run passes until its commands run."""

_ESCAPE = """
import os, signal, time
if os.fork(): os._exit(0)
os.setsid()
if os.fork(): os._exit(0)
for number in (signal.SIGTERM, signal.SIGHUP): signal.signal(number, signal.SIG_IGN)
os.closerange(0, 256)
while not os.path.exists("stop"): time.sleep(0.05)
"""
_WAIT = "until [ -e stop ]; do sleep 0.05; done"
WAYS = {
    "plain": _WAIT,
    "background": f"({_WAIT}) & wait",
    "session": f"setsid bash -c '{_WAIT}' & {_WAIT}",
    "deaf": f"trap '' TERM HUP INT; {_WAIT}",
    "orphan": f"(setsid bash -c '{_WAIT}' > /dev/null 2>&1 &); {_WAIT}",
    "escape": f"env -i {sys.executable} -I -S ../escape.py; {_WAIT}",
    "quick": "true",
}


class Crash(Struct, frozen=True):
    """Which front end, what hits it, and when: at a fail point, or some time after a visible moment."""

    front: Front
    number: int
    hit: int
    running: bool
    delay: float
    ways: tuple[str, ...]


def crash(seed: int) -> Crash:
    chance = random.Random(seed)
    front = FRONTS[seed % len(FRONTS)]
    number = chance.choice(SIGNALS)
    if front == "server" and number == signal.SIGHUP:  # a server only reloads its settings
        number = signal.SIGKILL
    hit = chance.randrange(1, HITS) if front != "server" and number == signal.SIGKILL and chance.random() < 0.5 else 0
    ways = tuple(chance.choice(list(WAYS)) for _ in range(3))
    return Crash(front, number, hit, chance.random() < 0.7, chance.random() * chance.choice((0.05, 0.6)), ways)


class Rehearsal:
    def __init__(self, base: Path, crash: Crash) -> None:
        self.base, self.crash = base, crash
        self.program = Program(base)
        (base / "escape.py").write_text(_ESCAPE)
        calls = [shell(f"echo c{at} >> canary; {WAYS[way]}", f"c{at}") for at, way in enumerate(crash.ways)]
        self.model = self.program.scenario(asks_for(*calls), says("Done."))
        self.env = {"ASSENT_FAILPOINTS": os.devnull, "ASSENT_FAILPOINT_KILL": str(crash.hit)} if crash.hit else {}
        self.announced: list[Json] = []

    def run(self) -> None:
        match self.crash.front:
            case "prompt":
                self._run_prompt()
            case "terminal":
                self._run_terminal()
            case "server":
                asyncio.run(self._run_server())
        self._nobody_is_left()
        (self.program.folder / "stop").touch()
        sessions = self._sessions()
        for session in sessions:
            compare(self.program.home / "assent.db")
            self._recover(session)
            self._check(self.program.events(session))
        if sessions:
            compare(self.program.home / "assent.db")
            assert asyncio.run(verify(self.program.home)) == (), "the audit is not intact"

    # --- until it is dead ---

    def _run_prompt(self) -> None:
        args = ("-p", "go", "-m", self.model, "--approval-mode", "yolo", "-o", "stream-json")
        with self.program.start(*args, env=self.env) as running:
            reading = threading.Thread(target=self._listen, args=(running,))
            reading.start()
            self._until_moment(running.process.poll)
            running.process.send_signal(self.crash.number)
            running.process.wait(WAIT_LIMIT)
            self.died = time.monotonic()
            reading.join(WAIT_LIMIT)

    def _listen(self, lines: Iterable[str]) -> None:
        for line in lines:
            event: Json = msgspec.json.decode(line)
            if event.get("seq"):
                self.announced.append(event)

    def _run_terminal(self) -> None:
        env = self.env | {"TERM": "xterm-256color"}
        with Terminal(self.program, "-m", self.model, "--approval-mode", "yolo", env=env, size=(100, 30)) as terminal:
            with suppress(AssertionError, OSError):  # it may die at a fail point before that
                terminal.until("Ask something about this folder")
                terminal.type("go\r")
                self._until_moment(lambda: terminal.read_for(0.02) or terminal.process.poll())
            with suppress(ProcessLookupError):
                terminal.process.send_signal(self.crash.number)
            terminal.wait()
            self.died = time.monotonic()

    async def _run_server(self) -> None:
        served = ServedProgram(self.program, self.model)
        api = await asyncio.to_thread(served.start)
        assert served.running is not None
        process = served.running.process
        try:
            session = (await api.create(folder=str(self.program.folder), mode="yolo", prompt="go"))["id"]
            listening = asyncio.create_task(self._listen_to(api.events(session)))
            await asyncio.to_thread(self._until_moment, process.poll)
            process.send_signal(self.crash.number)
            await asyncio.to_thread(process.wait, WAIT_LIMIT)
            self.died = time.monotonic()
            listening.cancel()
            await asyncio.wait([listening])
        finally:
            served.kill()
            with suppress(OSError, Unreachable):
                await api.close()

    async def _listen_to(self, events: AsyncIterable[Envelope]) -> None:
        with suppress(OSError, Unreachable):
            async for envelope in events:
                if envelope.seq:
                    self.announced.append(msgspec.json.decode(to_wire(envelope)))

    def _until_moment(self, ended: Callable[[], object]) -> None:
        """Wait until a command runs, if that is required; and a little longer. At a fail point it dies by itself, or
        not.
        """
        deadline = time.monotonic() + WAIT_LIMIT
        while (self.crash.running or self.crash.hit) and not self.effects() and ended() is None:
            assert time.monotonic() < deadline, "the commands do not start"
            time.sleep(0.005)
        if ended() is None:
            time.sleep(self.crash.delay)

    # --- afterwards ---

    def _nobody_is_left(self) -> None:
        while left := self.survivors():
            assert time.monotonic() - self.died < WAIT_LIMIT, f"still there: {left}"
            time.sleep(0.02)

    def survivors(self) -> list[str]:
        """Every process whose working directory is the project: they kept that, whatever else they cleared."""
        found: list[str] = []
        for name in filter(str.isdigit, os.listdir("/proc")):
            with suppress(OSError):
                if os.readlink(f"/proc/{name}/cwd") == str(self.program.folder):
                    found.append(f"{name}: {Path(f'/proc/{name}/cmdline').read_bytes()!r}")
        return found

    def _sessions(self) -> list[str]:
        try:
            return self.program.sessions()
        except sqlite3.OperationalError:  # it died before there was a table
            return []

    def _recover(self, session: str) -> None:
        with self.program.start("--resume", session, "-o", "stream-json") as running:
            self._listen(running)
            ended = running.wait()
        fine = ended.code in (0, 130) or "has nothing left to do" in ended.out
        assert fine, f"{ended.code} {ended.out[-2000:]} {ended.err[-2000:]}"

    def effects(self) -> list[str]:
        path = self.program.folder / "canary"
        return path.read_text().splitlines() if path.exists() else []

    def _check(self, events: list[Json]) -> None:
        assert [event["seq"] for event in events] == list(range(1, len(events) + 1))
        stored = {event["seq"]: event["type"] for event in events}
        missing = [event for event in self.announced if stored.get(event["seq"]) != event["type"]]
        assert not missing, f"announced, but not in the log: {missing}"
        requested = Counter(event["request"]["call_id"] for event in events if event["type"] == "call.requested")
        started = Counter(event["call_id"] for event in events if event["type"] == "call.started")
        ended = {event["call_id"]: event for event in events if event["type"] == "call.finished"}
        assert requested.keys() == ended.keys(), "a call without an end"
        assert sum(requested.values()) == len(ended) == len([e for e in events if e["type"] == "call.finished"])
        effects = Counter(self.effects())
        for call_id, event in ended.items():
            assert effects[call_id] <= started[call_id] <= 1, f"{call_id} had its effect too often"
            if event["status"] == "success":
                assert effects[call_id] == 1, f"{call_id} lost its effect"
            if event["status"] == "error":
                assert event["failure"]["type"] == "interrupted", event["failure"]
                assert "still running" not in event["failure"]["message"]


def rehearse(base: Path, seed: int) -> None:
    """Raises AssertionError with what was seen, and which crash it was."""
    planned = crash(seed)
    try:
        Rehearsal(base, planned).run()
    except Exception as error:
        raise AssertionError(f"seed {seed}, {planned}: {type(error).__name__}: {error}") from error
