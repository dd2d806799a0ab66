"""Every crash that can be rehearsed: killed at each fail point in turn, recovered, and the guarantees checked.

One turn with everything in it: a command and an edit that wait for approval in one batch, and a command that a rule
allows. The recording run lists the fail points; each is then the place where a run of its own dies. Effects are
canaries: each start of a command appends one line to a file outside the log.
"""

import asyncio
import os
import signal
from collections import Counter
from pathlib import Path

import msgspec
import pytest

from assent.commands import Answer
from assent.session.sqlite_log import SqliteLog
from assent.session.state import fold
from support.program import Ended, Json, Program, Running, asks_for, says, shell, write

SHARES = 8
"""The enumeration is cut into so many tests, so that they run side by side."""
DURING_RECOVERY = (2, 5, 9, 14, 20)
"""Fail points of the recovering process at which it is killed too."""


class Rehearsal:
    def __init__(self, base: Path) -> None:
        self.program = Program(base)
        self.acknowledged: list[Json] = []
        """Durable events that a process printed: nothing of that may ever be missing."""
        self.model = self.program.scenario(
            asks_for(shell("echo asked >> canary", "asked"), write("new.txt", "new\n", "edit")),
            asks_for(shell("echo allowed >> canary", "allowed")),
            says("Done."),
        )

    def run(self, trace: Path, kill_at: int = 0) -> Ended:
        flags = ("--ask", "wait", "-o", "stream-json", "--allowed-tools", "run_shell_command(echo allowed >> canary)")
        begin = ("--resume", self.sessions[0]) if self.sessions else ("-p", "go", "-m", self.model)
        env = {"ASSENT_FAILPOINTS": str(trace), "ASSENT_FAILPOINT_KILL": str(kill_at)}
        with self.program.start(*begin, *flags, env=env) as running:
            return self._answer_all(running)

    @property
    def sessions(self) -> list[str]:
        return self.program.sessions()

    def _answer_all(self, running: Running) -> Ended:
        """Says yes to whatever waits; a question that was open when the process began is not announced again."""
        for line in running:
            event: Json = msgspec.json.decode(line)
            if event.get("seq"):
                self.acknowledged.append(event)
            if event["type"] in ("session.opened", "approval.requested"):
                asyncio.run(self._answer_waiting())
        return running.wait()

    async def _answer_waiting(self) -> None:
        """The key names the question, so that the log shows which one an answer was meant for."""
        log = SqliteLog(self.program.home)
        try:
            (session,) = self.sessions
            for call in fold(session, await log.read(session)).waiting():
                answer = Answer(
                    call_id=call.request.call_id, outcome="proceed_once", digest=call.approval.digest, by="ann"
                )
                await log.put(session, f"yes to {call.approval.id}", answer)
        finally:
            await log.close()

    # --- what must hold, whatever happened ---

    def check(self) -> None:
        events = self.program.events() if self.sessions else []
        assert [event["seq"] for event in events] == list(range(1, len(events) + 1))
        self._check_acknowledged(events)
        self._check_questions(events)
        self._check_effects(events)
        if events:
            self._check_ending(events)

    def _check_acknowledged(self, events: list[Json]) -> None:
        stored = {event["seq"]: event["type"] for event in events}
        assert all(stored[event["seq"]] == event["type"] for event in self.acknowledged)

    def _check_questions(self, events: list[Json]) -> None:
        """A yes counts for the question it was given to, and a call that was asked for starts only after one."""
        asked: dict[str, str] = {}
        for event in events:
            match event["type"]:
                case "approval.requested":
                    asked[event["call_id"]] = event["approval"]["id"]
                case "approval.answered":
                    assert event["approval_id"] == asked.pop(event["call_id"])
                    assert event["key"] == f"yes to {event['approval_id']}"
                case "call.started":
                    assert event["call_id"] not in asked
                case _:
                    pass

    def _check_effects(self, events: list[Json]) -> None:
        """At most one start for each yes, and no effect without a start that is in the log."""
        started = Counter(event["call_id"] for event in events if event["type"] == "call.started")
        approved = Counter(event["call_id"] for event in events if event["type"] == "approval.answered")
        effects = Counter(self.canary())
        for call_id in ("asked", "allowed"):
            assert effects[call_id] <= started[call_id] <= 1
        assert started["asked"] <= approved["asked"]
        assert started["edit"] <= approved["edit"]
        if (self.program.folder / "new.txt").exists():
            assert started["edit"] == 1
            assert (self.program.folder / "new.txt").read_text() == "new\n"

    def canary(self) -> list[str]:
        path = self.program.folder / "canary"
        return path.read_text().splitlines() if path.exists() else []

    def _check_ending(self, events: list[Json]) -> None:
        """Each call has exactly one end, which says whether its effect is known."""
        requested = Counter(event["request"]["call_id"] for event in events if event["type"] == "call.requested")
        finished = Counter(event["call_id"] for event in events if event["type"] == "call.finished")
        assert requested == finished
        assert set(requested.values()) <= {1}
        for event in events:
            if event["type"] == "call.finished" and event["status"] == "success" and event["call_id"] != "edit":
                assert event["call_id"] in self.canary()
            if event["type"] == "call.finished" and event["status"] != "success":
                assert event["failure"]["type"] == "interrupted"
        submitted = [event for event in events if event["type"] == "prompt.submitted"]
        ends = [event["status"] for event in events if event["type"] == "turn.finished"]
        assert ends == ["completed"] * len(submitted)
        assert len(submitted) <= 1

    def recover(self, trace: Path, kill_at: int = 0) -> None:
        """Resumes until there is nothing left to do."""
        ended = self.run(trace, kill_at)
        if ended.code == -signal.SIGKILL:
            ended = self.run(trace)
        assert ended.code == 0 or "has nothing left to do" in ended.result["error"]["message"]


def record(base: Path) -> list[str]:
    """A run to its end, and the fail points it passed."""
    rehearsal, trace = Rehearsal(base), base / "trace"
    assert rehearsal.run(trace).code == 0
    rehearsal.check()
    assert sorted(rehearsal.canary()) == ["allowed", "asked"]
    return trace.read_text().splitlines()


def test_the_recording_run_passes_every_fail_point_there_is(tmp_path: Path):
    names = {"requested", "asked", "answered", "started", "effect done", "finished", "before commit", "after commit"}
    assert set(record(tmp_path)) == names


@pytest.mark.spec("J2")
@pytest.mark.spec("J1")
@pytest.mark.spec("F11")
@pytest.mark.parametrize("share", range(SHARES))
def test_killed_at_any_fail_point_nothing_runs_twice_and_nothing_acknowledged_is_lost(tmp_path: Path, share: int):
    hits = len(record(tmp_path / "recorded")) + SHARES  # some more: how commits are grouped differs from run to run
    for at in range(1 + share, hits + 1, SHARES):
        rehearsal = Rehearsal(tmp_path / f"killed-at-{at}")
        assert rehearsal.run(Path(os.devnull), at).code in (-signal.SIGKILL, 0)  # 0: it ended before
        rehearsal.recover(Path(os.devnull))
        rehearsal.check()


@pytest.mark.spec("J2")
@pytest.mark.parametrize("again_at", DURING_RECOVERY)
def test_recovery_may_be_killed_too_and_comes_to_the_same_end(tmp_path: Path, again_at: int):
    names = record(tmp_path / "recorded")
    for name in ("asked", "started"):
        rehearsal = Rehearsal(tmp_path / f"killed-at-{name}")
        assert rehearsal.run(Path(os.devnull), names.index(name) + 1).code in (-signal.SIGKILL, 0)
        rehearsal.recover(Path(os.devnull), again_at)
        rehearsal.check()
