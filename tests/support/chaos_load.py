"""Load for a chaos test: people who prompt and answer at random servers, and watchers who reconnect all the time.

Everything they send and see is recorded for `support.history`.
"""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable
from contextlib import aclosing, suppress
from pathlib import Path
from typing import TypeVar
from uuid import uuid4

import msgspec

from assent.approval import Outcome
from assent.client import Api, ApiProblem
from assent.client.api import BASE
from assent.client.http_client import Reply, Unreachable
from assent.client.sse_frames import Frame, FrameDecoder
from assent.events import ApprovalRequested, Envelope, TurnFinished, from_wire
from support.chaos_cluster import ChaosCluster
from support.history import Command, Effect, History, Watched
from support.program import Json, asks_for, says, shell

EFFECT = '#!/bin/sh\nsleep 0.3\necho "$1" >> effects\nsleep 0.3\n'
TURNS = 4
"""Of a session; then another one begins."""
WATCHERS = 2
AT_ONCE = 20
"""How many of them come back at the same time."""
REFUSED = 500
"""From this status on, a request is sent again."""

NOT_FOUND = 404

T = TypeVar("T")


def replies() -> list[Json]:
    """Each prompt asks for one effect, whose name is the id of its call."""
    return [reply for _ in range(2 * TURNS) for reply in (asks_for(shell("./effect c{n}", "c{n}")), says("Done {n}."))]


class Watcher:
    """Reads the stream of one session at one server after the other, by cursor."""

    def __init__(self, load: "Load", session: str, name: str, seen: Callable[[Envelope], None]) -> None:
        self._load, self.session, self.name, self._seen = load, session, name, seen
        self.events: list[Envelope] = []
        self._cursor = ""

    @property
    def last(self) -> int:
        return self.events[-1].seq if self.events else 0

    async def run(self) -> None:
        while True:
            with suppress(Unreachable, ApiProblem, TimeoutError):
                async with asyncio.timeout(self._load.cluster.chance.uniform(1, 10)):
                    await self._connection(await self._load.cluster.any_api())
            self._load.counts["connections of watchers"] += 1
            await asyncio.sleep(self._load.cluster.chance.uniform(0.05, 0.3))

    async def _connection(self, api: Api) -> None:
        decoder = FrameDecoder()
        headers = [("Last-Event-ID", self._cursor)] if self._cursor else []
        async with aclosing(api.http.stream(f"{BASE}/stream?session={self.session}:0", headers)) as blocks:
            async for block in blocks:
                if isinstance(block, Reply):
                    if block.status != 200:
                        return
                    continue
                for frame in decoder.feed(block):
                    await self._take(api, frame)

    async def _take(self, api: Api, frame: Frame) -> None:
        if frame.kind == "resync":
            self._load.counts["resyncs"] += 1
            until = msgspec.json.decode(frame.data[0])["seq"]
            found = [one for one in await api.history(self.session, self.last) if one.seq <= until]
        else:
            found = [from_wire(line) for line in frame.data] if frame.kind == "events" else []
        self._cursor = frame.cursor or self._cursor
        for envelope in found:
            if envelope.seq:
                self.events.append(envelope)
                self._seen(envelope)


class Person:
    """Drives one session: prompts it, answers its questions, waits for the ends of its turns."""

    def __init__(self, load: "Load", number: int) -> None:
        self._load, self._chance = load, load.cluster.chance
        self._folder = load.cluster.program.folder / f"s{number}"
        self._news = asyncio.Event()
        self._events: dict[int, Envelope] = {}
        self._answered: set[str] = set()

    def _saw(self, envelope: Envelope) -> None:
        self._events[envelope.seq] = envelope
        self._news.set()

    async def run(self) -> None:
        self._folder.mkdir()
        (self._folder / "effect").write_text(EFFECT)
        (self._folder / "effect").chmod(0o755)
        key = uuid4().hex
        made = await self._load.send(lambda api: api.post("/sessions", {"folder": str(self._folder)}, key))
        self.session: str = made["id"]
        self._load.sessions[self.session] = self._folder
        watchers = [Watcher(self._load, self.session, f"w{number}", self._saw) for number in range(WATCHERS)]
        self._load.watchers += watchers
        async with asyncio.TaskGroup() as watching:
            tasks = [watching.create_task(watcher.run()) for watcher in watchers]
            await self._talk()
            for task in tasks:
                task.cancel()  # they come back at the end, with their cursors

    async def _talk(self) -> None:
        for number in range(1, TURNS + 1):
            if number > 1 and self._load.over:
                return
            await self._prompt()
            await self._until_finished(number)

    async def _prompt(self) -> None:
        sent = uuid4().hex
        key = await self._load.send(lambda api: api.say(self.session, "go on", sent))
        self._load.commands.append(Command(self.session, key))

    async def _until_finished(self, turns: int) -> None:
        while sum(isinstance(one.event, TurnFinished) for one in self._events.values()) < turns:
            self._news.clear()
            for envelope in list(self._events.values()):
                match envelope.event:
                    case ApprovalRequested(call_id=call, approval=asked) if asked.id not in self._answered:
                        self._answered.add(asked.id)
                        await self._answer(call, asked.digest)
                    case _:
                        pass
            await self._news.wait()

    async def _answer(self, call: str, digest: str) -> None:
        """Sometimes two people answer at once; one of them is told so."""
        outcomes: list[Outcome] = ["cancel" if self._chance.random() < 0.15 else "proceed_once"]
        if self._chance.random() < 0.3:
            outcomes.append("proceed_once")
        await asyncio.gather(*(self._decide(call, digest, outcome) for outcome in outcomes))

    async def _decide(self, call: str, digest: str, outcome: Outcome) -> None:
        sent = uuid4().hex
        try:
            taken = await self._load.send(lambda api: api.decide(self.session, call, outcome, digest, key=sent))
        except ApiProblem as problem:
            self._load.counts[f"answers refused: {problem.kind}"] += 1
            return
        self._load.commands.append(Command(self.session, taken["key"], outcome))


class Load:
    def __init__(self, cluster: ChaosCluster) -> None:
        self.cluster = cluster
        self.commands: list[Command] = []
        self.sessions: dict[str, Path] = {}
        self.counts: Counter[str] = Counter()
        self.over = False
        self._started = 0
        self.watchers: list[Watcher] = []

    async def run(self, people: int) -> None:
        """Until it is over, and each session that was begun has ended."""
        await asyncio.gather(*(self._one_after_another() for _ in range(people)))

    async def _one_after_another(self) -> None:
        while not self.over:
            self._started += 1
            await Person(self, self._started).run()

    async def send(self, ask: Callable[[Api], Awaitable[T]]) -> T:
        """The same request, at one server after the other, until it is acknowledged or refused."""
        while True:
            api = await self.cluster.any_api()
            self.counts["requests"] += 1
            try:
                return await ask(api)
            except Unreachable:
                self.counts["requests without response"] += 1
            except ApiProblem as problem:
                self.counts[f"responses {problem.status}"] += 1
                if problem.status < REFUSED:
                    raise
            await asyncio.sleep(self.cluster.chance.uniform(0.05, 0.3))

    async def history(self) -> History:
        """Once every watcher has seen everything, or had a minute for it. A session may be opened once more meanwhile,
        by a worker that takes over from one that was lost: then its watchers look again."""
        logs: dict[str, tuple[Envelope, ...]] = {}
        limit = asyncio.Semaphore(AT_ONCE)
        while (found := await self._logs()) != logs:
            logs = found
            await asyncio.gather(*(self._catch_up(one, len(logs[one.session]), limit) for one in self.watchers))
        watched = tuple(Watched(one.session, one.name, tuple(one.events)) for one in self.watchers)
        return History(logs, tuple(self.commands), watched, tuple(self._effects()))

    async def _catch_up(self, watcher: Watcher, events: int, limit: asyncio.Semaphore) -> None:
        async with limit:
            running = asyncio.create_task(watcher.run())
            with suppress(TimeoutError):
                async with asyncio.timeout(60):
                    while watcher.last < events:  # noqa: ASYNC110
                        await asyncio.sleep(0.02)
            running.cancel()
            await asyncio.wait([running])

    async def _logs(self) -> dict[str, tuple[Envelope, ...]]:
        return {session: await self._log(session) for session in self.sessions}

    async def _log(self, session: str) -> tuple[Envelope, ...]:
        try:
            return tuple(await self.send(lambda api: api.history(session)))
        except ApiProblem as problem:
            if problem.status != NOT_FOUND:
                raise
            return ()

    def _effects(self) -> list[Effect]:
        found = {id: folder / "effects" for id, folder in self.sessions.items() if (folder / "effects").exists()}
        return [Effect(session, line) for session, file in found.items() for line in file.read_text().splitlines()]
