"""Sending a command and waiting for its outcome, wherever the session runs."""

import asyncio
import os
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import msgspec
import pytest

from assent.app import command_sender
from assent.app.command_sender import Closed, CommandSender, Outcomes, Sent, WakeResult, run, send
from assent.app.model_access import NoModel
from assent.app.opening import LocalClient, NewSession, SessionSetup, open_session
from assent.app.storage import open_log
from assent.app.terminal_sender import may_be_served, terminal_sender
from assent.commands import Answer, Command, Rename, RevokeGrant, RunTool, person_call_id
from assent.config import Settings
from assent.events import ApprovalAnswered, CallFinished, CommandTaken, Envelope, Event
from assent.front.web.server_lock import alone
from assent.parts import Result
from assent.session.log import Fence, Opening, SessionLog
from assent.session.memory_log import MemoryLog
from assent.session.runner import create_session
from assent.session.server_clients import SERVE
from assent.session.state import SessionState
from support.program import says
from support.waiting import WAIT_LIMIT


@pytest.fixture
def env(tmp_path: Path) -> dict[str, str]:
    return {"ASSENT_HOME": str(tmp_path / "home"), "HOME": str(tmp_path), "PATH": os.environ["PATH"]}


@asynccontextmanager
async def opened(
    env: dict[str, str], folder: Path, only: str = "", by: str = "test"
) -> AsyncGenerator[tuple[LocalClient, SessionLog]]:
    """A session that runs over one log, and another log on the same file, as another process has it."""
    scenario = folder / "scenario.json"
    scenario.write_bytes(msgspec.json.encode({"replies": [says("Hi.")]}))
    log, elsewhere = open_log(env), open_log(env)
    setup = SessionSetup(env=env, settings=Settings(model=f"scripted:{scenario}"), client=by, only=only)
    client = await open_session(log, NewSession(str(folder)), setup)
    try:
        yield client, elsewhere
    finally:
        if await elsewhere.is_open(client.state.session):
            await client.close()
        await elsewhere.close()
        await log.close()


async def until_put(log: SessionLog, session: str) -> None:
    """Waits until there is a command in the inbox."""
    async with asyncio.timeout(WAIT_LIMIT):
        while not await log.inbox(session):  # noqa: ASYNC110
            await asyncio.sleep(0.001)


async def test_a_session_that_runs_elsewhere_takes_the_command_or_says_why_not(
    env: dict[str, str], tmp_path: Path
) -> None:
    async with opened(env, tmp_path) as (client, elsewhere):
        session, sender = client.state.session, CommandSender(elsewhere)
        assert await sender.send(session, Rename("shop", by="ann"), after=client.state.seq) == Sent("taken")
        assert client.state.title == "shop"
        refused = await sender.send(session, RevokeGrant("g1", by="ann"))
        assert refused.state == "refused" and refused.problem


async def test_a_tools_outcome_in_another_process_is_reported(env: dict[str, str], tmp_path: Path) -> None:
    async with opened(env, tmp_path) as (client, elsewhere):
        tool = RunTool("list_directory", {"dir_path": str(tmp_path)}, by="ann")
        end = await CommandSender(elsewhere).run(client.state.session, tool)
        assert isinstance(end, CallFinished) and end.status == "success"


async def test_a_session_that_nobody_runs_keeps_the_command_for_later() -> None:
    log = MemoryLog()
    session = await create_session(log, "/w", "scripted", "default")
    assert await CommandSender(log).send(session, Rename("shop", by="ann")) == Sent("recorded")
    assert [item.command for item in await log.inbox(session)] == [Rename("shop", by="ann")]


@pytest.mark.parametrize("when", ["before", "meanwhile"])
async def test_a_session_that_a_server_parked_is_opened_for_the_command(
    env: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, when: str
) -> None:
    monkeypatch.setattr(command_sender, "SERVER_TIMEOUT", WAIT_LIMIT)
    async with opened(env, tmp_path, only="something else", by="serve") as (client, elsewhere):
        session = client.state.session
        if when == "before":
            await client.close()
        sending = asyncio.create_task(CommandSender(elsewhere).send(session, Rename("shop", by="ann")))
        await until_put(elsewhere, session)
        if when == "meanwhile":
            await client.close()
            await asyncio.wait([sending], timeout=2 * command_sender.POLL_INTERVAL)  # it sees that nobody has it open
        setup = SessionSetup(env=env, settings=Settings(), client="serve", open_model=lambda _: NoModel())
        log = open_log(env)
        async with await open_session(log, await log.info(session), setup):
            assert await sending == Sent("taken")
        await log.close()


async def test_without_its_server_a_session_keeps_the_command_for_whoever_opens_it(
    env: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(command_sender, "SERVER_TIMEOUT", 0.05)
    async with opened(env, tmp_path, by="serve") as (client, elsewhere):
        await client.close()
        sent = await CommandSender(elsewhere).send(client.state.session, Rename("shop", by="ann"))
    when = "when the session's server runs, or when you resume the session"
    assert sent == Sent("served")
    assert sent.waits("s1") == f"Recorded. It takes effect {when}: assent --resume s1"


async def test_the_session_ends_before_it_took_the_command(env: dict[str, str], tmp_path: Path) -> None:
    async with opened(env, tmp_path, only="something else") as (client, elsewhere):
        session = client.state.session
        sending = asyncio.create_task(CommandSender(elsewhere).send(session, Rename("shop", by="ann")))
        await until_put(elsewhere, session)
        await client.close()
        assert await sending == Sent("ended")


async def test_a_command_that_is_not_taken_in_time_is_busy(
    env: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(command_sender, "COMMAND_TIMEOUT", 0.05)
    async with opened(env, tmp_path, only="something else") as (client, elsewhere):
        assert await CommandSender(elsewhere).send(client.state.session, Rename("shop", by="ann")) == Sent("busy")


async def test_the_same_request_sent_again_finds_its_outcome(env: dict[str, str], tmp_path: Path) -> None:
    async with opened(env, tmp_path) as (client, elsewhere):
        session, sender = client.state.session, CommandSender(elsewhere)
        assert await sender.send(session, Rename("shop", by="ann"), "once") == Sent("taken")
        assert await sender.send(session, Rename("shop", by="ann"), "once") == Sent("taken")
        taken = [e for e in await elsewhere.read(session) if isinstance(e.event, CommandTaken)]
        assert len(taken) == 1


# --- a server ---


@pytest.fixture
def often(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(command_sender, "POLL_INTERVAL", 0.005)


async def serve(log: MemoryLog, session: str) -> Fence:
    return await log.acquire(session, Opening(0.0, SERVE))


async def served_session() -> tuple[MemoryLog, str]:
    """Parked by its server."""
    log = MemoryLog()
    session = await create_session(log, "/w", "scripted", "default")
    await log.release(await serve(log, session))
    return log, session


async def write(log: MemoryLog, fence: Fence, event: Event) -> None:
    seq = len(await log.read(fence.session)) + 1
    await log.append(fence, [Envelope(seq, 0.0, fence.session, event)])


TOOL = RunTool("slow", {}, by="ann")
SLOW_END = CallFinished(call_id=person_call_id("key"), status="success", result=Result("c", "slow", {}))
YES = Answer(call_id="c", outcome="proceed_once", digest="d", by="ann")
ANSWERED = ApprovalAnswered(call_id="c", approval_id="a", outcome="proceed_once", by="ann", key="key")


@pytest.mark.usefixtures("often")
async def test_a_tool_may_run_longer_than_its_server_may_take_to_open_the_session(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(command_sender, "SERVER_TIMEOUT", 0.5)
    log, session = await served_session()
    running = asyncio.create_task(CommandSender(log).run(session, TOOL, "key", max_wait=None))
    await until_put(log, session)
    fence = await serve(log, session)
    await write(log, fence, CommandTaken("key", "ann", ""))
    await asyncio.wait([running], timeout=0.6)
    await write(log, fence, SLOW_END)
    assert await running == SLOW_END


@pytest.mark.usefixtures("often")
async def test_a_tool_that_runs_too_long_after_a_server_opened_its_session_is_busy(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(command_sender, "SERVER_TIMEOUT", WAIT_LIMIT)
    log, session = await served_session()
    running = asyncio.create_task(CommandSender(log).run(session, TOOL, max_wait=0.01))
    await until_put(log, session)
    await serve(log, session)
    async with asyncio.timeout(WAIT_LIMIT / 2):
        assert await running == Sent("busy")


@pytest.mark.usefixtures("often")
async def test_whoever_waits_for_a_server_is_told_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(command_sender, "SERVER_TIMEOUT", 0.1)
    log, session = await served_session()
    told: list[str] = []
    sender = CommandSender(log, waiting=lambda: told.append("waiting"))
    assert await sender.send(session, Rename("shop", by="ann")) == Sent("served")
    assert told == ["waiting"]


async def test_nobody_waits_for_a_server_of_this_machine_that_does_not_run(env: dict[str, str], tmp_path: Path) -> None:
    async with opened(env, tmp_path, by="serve") as (client, elsewhere):
        session = client.state.session
        sender = terminal_sender(elsewhere, env)
        assert await sender.send(session, Rename("shop", by="ann")) == Sent("taken"), "it is open"
        await client.close()
        async with asyncio.timeout(command_sender.SERVER_TIMEOUT / 2):
            assert await sender.send(session, Rename("till", by="ann")) == Sent("served")
    with alone(Path(env["ASSENT_HOME"])):
        assert may_be_served(env)
    assert not may_be_served(env)
    assert may_be_served({**env, "ASSENT_LOG": "postgresql://somewhere/log"}), "it may have workers anywhere"


@pytest.mark.usefixtures("often")
async def test_a_session_that_its_server_parks_before_it_took_the_command_is_served(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(command_sender, "SERVER_TIMEOUT", 0.05)
    log, session = await served_session()
    fence = await serve(log, session)
    sending = asyncio.create_task(CommandSender(log).send(session, Rename("shop", by="ann")))
    await until_put(log, session)
    await log.release(fence)
    assert await sending == Sent("served")


@pytest.mark.usefixtures("often")
async def test_a_server_that_ends_again_and_again_is_not_waited_for_without_end(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(command_sender, "SERVER_TIMEOUT", 0.2)
    log, session = await served_session()
    sending = asyncio.create_task(CommandSender(log).send(session, Rename("shop", by="ann")))
    async with asyncio.timeout(WAIT_LIMIT):
        while not sending.done():
            fence = await serve(log, session)
            await asyncio.sleep(0.02)
            await log.release(fence)
            await asyncio.sleep(0.02)
    assert (await sending).state in ("served", "busy")


@pytest.mark.usefixtures("often")
@pytest.mark.parametrize("stays", [True, False])
async def test_an_answer_that_counted_is_taken_although_the_server_does_not_say_so_in_time(
    monkeypatch: pytest.MonkeyPatch, stays: bool
) -> None:
    monkeypatch.setattr(command_sender, "COMMAND_TIMEOUT", 0.2)
    monkeypatch.setattr(command_sender, "SERVER_TIMEOUT", 0.2)
    log, session = await served_session()
    fence = await serve(log, session)
    sending = asyncio.create_task(CommandSender(log).send(session, YES, "key"))
    await until_put(log, session)
    await write(log, fence, ANSWERED)
    if not stays:
        await log.release(fence)
    assert await sending == Sent("taken")


async def test_an_answer_that_counted_is_taken_although_this_process_does_not_say_so_in_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(command_sender, "COMMAND_TIMEOUT", 0.01)
    log, outcomes = MemoryLog(), Outcomes()
    session = await create_session(log, "/w", "scripted", "default")

    async def wake(session: str) -> WakeResult:
        outcomes.tell(Envelope(2, 0.0, session, ANSWERED))
        return "here"

    assert await CommandSender(log, outcomes, wake).send(session, YES, "key") == Sent("taken")


# --- a worker of this process ---


class UnreadLog(MemoryLog):
    async def read(self, session: str, after: int = 0, limit: int | None = None) -> list[Envelope]:
        raise AssertionError("the worker has told it already")


async def test_an_outcome_that_its_worker_has_told_is_not_looked_for_in_the_log() -> None:
    log, outcomes = UnreadLog(), Outcomes()
    session = await create_session(log, "/w", "scripted", "default")

    async def wake(session: str) -> WakeResult:
        outcomes.tell(Envelope(2, 0.0, session, CommandTaken("key", "ann", "")))
        return "elsewhere"

    assert await CommandSender(log, outcomes, wake).send(session, Rename("shop", by="ann"), "key") == Sent("taken")


# --- through a client ---


class Client:
    """A served session: the server makes the key, and its events may come before its response."""

    me = "ann"

    state = SessionState("s")

    def __init__(self, outcomes: Outcomes, *told: Callable[[str], Any]) -> None:
        self._outcomes, self._told = outcomes, told

    async def send(self, command: Command, key: str | None = None) -> str:
        for event in self._told:
            self._outcomes.tell(Envelope(1, 0.0, "s", event("made-there")))
        return "made-there"

    async def history(self) -> list[Envelope]:
        return []

    def on_link(self, changed: Callable[[bool], None]) -> None: ...

    def events(self) -> AsyncIterator[Envelope]:
        raise AssertionError("whoever follows the session tells the outcomes")

    async def type_in(self, call_id: str, number: int, text: str | None) -> str:
        return ""

    async def close(self) -> None: ...


async def test_an_outcome_that_arrives_before_the_response_is_not_lost() -> None:
    outcomes = Outcomes()
    refused = Client(outcomes, lambda key: CommandTaken(key, "ann", "not now"))
    assert await send(refused, outcomes, Rename("shop")) == "not now"
    end = CallFinished(call_id=person_call_id("made-there"), status="success", result=Result("c", "x", {}))
    client = Client(outcomes, lambda key: CommandTaken(key, "ann", ""), lambda _: end)
    assert await run(client, outcomes, RunTool("x", {})) == end


async def test_whoever_waits_is_told_when_the_session_is_closed() -> None:
    outcomes = Outcomes()
    waiting = asyncio.create_task(send(Client(outcomes), outcomes, Rename("shop")))
    await asyncio.sleep(0)
    outcomes.close()
    with pytest.raises(Closed):
        await waiting
    with pytest.raises(Closed):
        await send(Client(outcomes), outcomes, Rename("shop"))


async def test_outcomes_that_nobody_waits_for_are_not_kept() -> None:
    outcomes = Outcomes()
    outcomes.tell(Envelope(1, 0.0, "s", CommandTaken("k", "ann", "")))
    with outcomes.wanted("s", "k") as outcome:
        outcomes.tell(Envelope(2, 0.0, "other", CommandTaken("k", "ann", "")))
        assert outcome.taken() is None
        outcomes.tell(Envelope(3, 0.0, "s", CommandTaken("k", "ann", "")))
        assert outcome.taken() == Sent("taken")
    with outcomes.wanted("s", "k") as outcome:
        assert outcome.taken() is None
