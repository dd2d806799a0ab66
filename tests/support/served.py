"""A real server on loopback, in this process or in its own, with a log on disk and scripted models."""

import asyncio
import os
from collections.abc import Awaitable, Mapping
from pathlib import Path
from typing import Any, Self

import msgspec
import pytest
from msgspec.structs import replace

from assent.app.storage import open_log_at
from assent.client import Api, ApiProblem
from assent.client.http_client import Http
from assent.config import PushSettings, parse_settings
from assent.events import Envelope, from_wire
from assent.front.web.access_tokens import Role
from assent.front.web.app_state import Setup
from assent.front.web.request_limits import RequestLimits
from assent.front.web.server_log import ServerLog
from assent.front.web.web_server import Server, Where
from assent.mcp_config import Servers
from assent.session.log import SessionLog
from assent.session.sqlite_log import SqliteLog
from support.issued_tokens import issue
from support.program import Program, Running, asks_for, says, write
from support.waiting import WAIT_LIMIT

Json = dict[str, Any]


class Served:
    """`home` has the log and the tokens, `folder` is where sessions work."""

    def __init__(
        self,
        base: Path,
        where: Where | None = None,
        mcp: Servers | None = None,
        model: str | None = None,
        database: str = "",
        settings: str = "",
        env: Mapping[str, str] | None = None,
        **more: Any,
    ) -> None:
        """`model`: of the settings; by default a scripted one that writes a file. `database`: the URL of a log that
        several servers share; `settings`: more of them, as text."""
        self.base, self.home, self.folder = base, base / "home", base / "project"
        self.folder.mkdir(parents=True, exist_ok=True)
        self.env = {"ASSENT_HOME": str(self.home), "HOME": str(base), "PATH": os.environ["PATH"]} | dict(env or {})
        self._database, self._settings = database, parse_settings(settings.encode(), base / "settings.toml")
        if database:
            self.env["ASSENT_LOG"] = database
        self._where = where or Where(port=0)
        self._mcp = mcp or Servers()
        self._model = model
        self._more = more
        self.push = PushSettings()
        self.server_log: ServerLog | None = None
        self._ready = asyncio.Event()
        self._apis: list[Api] = []

    async def __aenter__(self) -> Self:
        usual = self.scenario(asks_for(write("a.txt", "hello\n")), says("Done."))
        model = usual if self._model is None else self._model
        settings = replace(self._settings, model=model, mcp=self._mcp, push=self.push)
        more: dict[str, Any] = {
            "limits": RequestLimits(requests_per_second=10_000, burst=10_000),
            "models": ("scripted:*",),
            **self._more,
        }
        setup = Setup(
            settings=settings, env=self.env, user="ann", folder=str(self.folder), roots=(str(self.folder),), **more
        )
        self.log: SessionLog = open_log_at(self._database) if self._database else SqliteLog(self.home, busy=True)
        self.server = Server(self.log, setup, self._where, self.home, self.server_log)
        self._running = asyncio.create_task(self.server.run(lambda _: self._ready.set()))
        waiting = asyncio.create_task(self._ready.wait())
        await asyncio.wait([waiting, self._running], return_when=asyncio.FIRST_COMPLETED)
        if self._running.done():
            self._running.result()
        return self

    async def __aexit__(self, *_: object) -> None:
        for api in self._apis:
            await api.close()
        self.server.stop()
        await self._running

    def scenario(self, *replies: Json, name: str = "scenario") -> str:
        path = self.base / f"{name}.json"
        path.write_bytes(msgspec.json.encode({"replies": replies}))
        return f"scripted:{path}"

    @property
    def address(self) -> str:
        return self.server.address

    def api(self, token: str | None = None) -> Api:
        """A client with the operator's token, or with another."""
        api = Api(Http(self.address, self.server.token if token is None else token))
        self._apis.append(api)
        return api

    def token(self, name: str, role: Role, owner: str = "") -> str:
        return issue(self.server.tokens, name, role, owner=owner)


async def until_waiting(api: Api, session: str | None = None, count: int = 1) -> list[Json]:
    """What is waiting (in a session), once there is that much."""
    async with asyncio.timeout(WAIT_LIMIT):
        while True:
            found: list[Json] = (await api.approvals())["approvals"]
            mine = [item for item in found if session in (None, item["session"]["id"])]
            if len(mine) >= count:
                return mine
            await asyncio.sleep(0.01)


async def until_idle(api: Api, session: str) -> Json:
    """The snapshot once no turn is open: the end of a turn is in the stream a moment before."""
    async with asyncio.timeout(WAIT_LIMIT):
        while True:
            found = await api.snapshot(session)
            if found["open_prompt"] is None:
                return found
            await asyncio.sleep(0.01)


async def until_event(api: Api, session: str, kind: str, after: int = 0) -> list[Envelope]:
    """Follow the stream to the first event of that type; return everything received."""
    seen: list[Envelope] = []
    async with asyncio.timeout(WAIT_LIMIT):
        events = api.events(session, after)
        async for envelope in events:
            seen.append(envelope)
            if envelope.event.__struct_config__.tag == kind:  # pyright: ignore[reportUnknownMemberType]
                break
        await events.aclose()
    return seen


async def refused(work: Awaitable[object]) -> ApiProblem:
    with pytest.raises(ApiProblem) as caught:
        await work
    return caught.value


# --- in its own process, to be killed ---


class ServedProgram:
    def __init__(self, program: Program, model: str, *args: str, ca: Path | None = None) -> None:
        self.program = program
        self._args, self._ca = args, ca
        self._env = {"ASSENT_MODEL": model}
        self.running: Running | None = None

    def start(self) -> Api:
        args = ("--port", "0", "--allow-model", "scripted:*", "--root", str(self.program.folder), *self._args)
        self.running = self.program.start("serve", *args, env=self._env)
        for line in self.running:
            if line.startswith("Assent is at"):
                break
        self.running.goes_on()
        found: Json = msgspec.json.decode((self.program.home / "serve.json").read_bytes())
        return Api(Http(found["url"], found["token"], ca=None if self._ca is None else str(self._ca)))

    def kill(self) -> None:
        """Like `kill -9`."""
        assert self.running is not None
        self.running.kill()


def decoded(lines: tuple[bytes, ...]) -> list[Envelope]:
    return [from_wire(line) for line in lines]
