"""The API as Python calls. Responses are plain JSON objects, as in docs/api.md; events are the session's own types."""

import asyncio
import os
import secrets
from collections.abc import AsyncGenerator, Callable, Mapping
from typing import Any, Self
from urllib.parse import quote, urlencode

import msgspec

from assent.client.http_client import Http, Reply, Unreachable
from assent.client.sse_frames import Frame, FrameDecoder
from assent.commands import Command, encode_command
from assent.config import data_folder
from assent.events import Envelope, from_wire
from assent.safe_open import read_regular

Json = dict[str, Any]
BASE = "/api/v1"
DISCOVERY = "serve.json"
RETRY_DELAYS = (0.1, 0.2, 0.5, 1.0, 2.0, 5.0)
"""Seconds between attempts to restore a broken stream."""


Link = Callable[[bool], None]
"""Called with whether the server is reachable."""


def _ignore(connected: bool) -> None:
    """The default: nobody wants to know."""


class ApiProblem(Exception):
    """The server refused; `kind` is the stable type, e.g. `already-decided`, `more` the whole problem object."""

    def __init__(self, status: int, more: Json) -> None:
        super().__init__(more.get("detail") or f"the server answered {status}")
        self.status = status
        self.kind: str = str(more.get("type", "")).rpartition(":")[2]
        self.more = more


class NoServer(Exception):
    """There is no server to connect to; the message says how to start one."""


def discover(env: Mapping[str, str] | None = None) -> tuple[str, str]:
    """The URL and a token of this user's own server."""
    path = data_folder(os.environ if env is None else env) / DISCOVERY
    try:
        found: Json = msgspec.json.decode(read_regular(path))
        return found["url"], found["token"]
    except (OSError, msgspec.MsgspecError, KeyError) as error:
        raise NoServer("you have no server running; start one with: assent serve") from error


def connect(url: str | None = None, token: str | None = None, ca: str | None = None) -> "Api":
    """Connects to this user's server, or to another one with a token for it.

    `ca` is a file with the certificates to trust, for a server whose certificate the system does not trust.
    """
    if url is not None and token is not None:
        return Api(Http(url, token, ca=ca))
    found, own = discover()
    if url is not None and url.rstrip("/") != found:
        raise NoServer(f"{url} needs a token; create one on that machine with: assent serve token add NAME")
    return Api(Http(found, own, ca=ca, renew=lambda: _token_of(found)))


def _token_of(url: str) -> str:
    """The current token of our own server; empty if it has moved or stopped."""
    try:
        found, token = discover()
    except NoServer:
        return ""
    return token if found == url else ""


class Api:
    def __init__(self, http: Http) -> None:
        self.http = http

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        await self.http.close()

    # --- sessions ---

    async def me(self) -> Json:
        return await self.get("/me")

    async def create(self, **wanted: Any) -> Json:
        """folder, model, mode, effort, gate, prompt, title; all are optional."""
        return await self.post("/sessions", wanted)

    async def sessions(self, limit: int = 100, offset: int = 0, archived: str = "no") -> Json:
        """`archived`: no, only, all"""
        return await self.get("/sessions", limit=limit, offset=offset, archived=archived)

    async def snapshot(self, session: str) -> Json:
        return await self.get(f"/sessions/{session}")

    async def say(self, session: str, text: str, key: str | None = None) -> str:
        return (await self.post(f"/sessions/{session}/messages", {"text": text}, key))["key"]

    async def cancel(self, session: str, reason: str = "") -> Json:
        return await self.post(f"/sessions/{session}/cancel", {"reason": reason})

    async def resume(self, session: str) -> Json:
        return await self.post(f"/sessions/{session}/resume")

    async def fork(self, session: str) -> Json:
        return await self.post(f"/sessions/{session}/fork")

    async def change(self, session: str, **changes: str | bool) -> Json:
        """title, mode, model, effort, archived"""
        return await self.ask("PATCH", f"/sessions/{session}", changes)

    async def delete(self, session: str) -> None:
        await self.ask("DELETE", f"/sessions/{session}")

    async def changes(self, session: str) -> list[Json]:
        """The changes made by calls and not undone, newest first."""
        return (await self.get(f"/sessions/{session}/changes"))["changes"]

    async def undo(self, session: str, call_id: str, key: str | None = None) -> Json:
        """`call_id` in the response is the call that undoes it; its `call.finished` tells the outcome."""
        return await self.post(f"/sessions/{session}/calls/{quote(call_id, safe='')}/undo", key=key)

    async def compress(self, session: str, key: str | None = None) -> Json:
        return await self.post(f"/sessions/{session}/compress", key=key)

    async def files(self, session: str, query: str, limit: int = 20) -> list[str]:
        return (await self.get(f"/sessions/{session}/files", query=query, limit=limit))["files"]

    async def models(self) -> Json:
        """The models that can be used on the server."""
        return await self.get("/models")

    async def prompts(self, session: str) -> Json:
        """The custom commands and the prompts of MCP servers, and which files could not be used."""
        return await self.get(f"/sessions/{session}/prompts")

    async def use_prompt(self, session: str, name: str, argument: str = "") -> None:
        """Has it filled in and sent. While it waits for approval, the same request is sent again."""
        key, state = secrets.token_urlsafe(16), "going"
        while state == "going":
            chosen = {"name": name, "argument": argument}
            state = (await self.post(f"/sessions/{session}/prompts", chosen, key))["state"]

    async def send(self, session: str, command: Command, key: str | None = None) -> str:
        """Sends any command; its outcome comes as `command.taken` with the key returned here."""
        body = encode_command(command)
        return (await self._asked("POST", f"/sessions/{session}/commands", body, key))["key"]

    # --- approvals ---

    async def approvals(self, limit: int = 50, offset: int = 0) -> Json:
        return await self.get("/approvals", limit=limit, offset=offset)

    async def decide(
        self, session: str, call_id: str, outcome: str, digest: str, *, key: str | None = None, **more: Any
    ) -> Json:
        """Raises ApiProblem with kind already-decided, gone, digest-differs or refused."""
        path = f"/sessions/{session}/calls/{quote(call_id, safe='')}/decision"
        return await self.post(path, {"outcome": outcome, "digest": digest, **more}, key)

    async def type_in(self, session: str, call_id: str, number: int, text: str | None) -> None:
        """Types a line for a prompt of a running command; None is the end of its input."""
        await self.post(f"/sessions/{session}/calls/{quote(call_id, safe='')}/input", {"number": number, "text": text})

    async def output(self, session: str, call_id: str, offset: int = 0, limit: int = 65_536) -> Json:
        """A part of a call's output: `limit` bytes from `offset` on."""
        path = f"/sessions/{session}/calls/{quote(call_id, safe='')}/output"
        return await self.get(path, offset=offset, limit=limit)

    async def background(self, session: str) -> Json:
        """The commands that run in the background, and those that have ended."""
        return await self.get(f"/sessions/{session}/background")

    async def stop_background(self, session: str, call_id: str) -> Json:
        return await self.post(f"/sessions/{session}/background/{quote(call_id, safe='')}/stop")

    async def keep_background(self, session: str, call_id: str) -> Json:
        """It goes on when the session ends."""
        return await self.post(f"/sessions/{session}/background/{quote(call_id, safe='')}/keep")

    # --- events ---

    async def history(self, session: str, after: int = 0) -> list[Envelope]:
        """All durable events after a sequence number."""
        found: list[Envelope] = []
        while True:
            page = await self.get(f"/sessions/{session}/events", after=after)
            found += [from_wire(msgspec.json.encode(event)) for event in page["events"]]
            after = page["seq"]
            if not page["more"]:
                return found

    async def frames(
        self, positions: Mapping[str, int], *, overview: bool = False, link: Link = _ignore
    ) -> AsyncGenerator[Frame, None]:
        """The stream, resumed where it broke off after each interruption; ends when the server refuses it. `link` is
        called when it breaks and when it is back."""
        cursor, failures = "", 0
        query = [("session", f"{session}:{seq}") for session, seq in positions.items()]
        target = f"{BASE}/stream?{urlencode([*query, ('overview', str(int(overview)))])}"
        while True:
            try:
                async for frame in self._frames(target, cursor, link):
                    cursor, failures = frame.cursor or cursor, 0
                    yield frame
            except Unreachable:
                if self.http.closed:
                    return
            link(False)
            await asyncio.sleep(RETRY_DELAYS[min(failures, len(RETRY_DELAYS) - 1)])
            failures += 1

    async def _frames(self, target: str, cursor: str, link: Link) -> AsyncGenerator[Frame, None]:
        decoder = FrameDecoder()
        async for block in self.http.stream(target, [("Last-Event-ID", cursor)] if cursor else []):
            if isinstance(block, Reply):
                if block.status >= 500:
                    raise Unreachable(f"the server answered {block.status}")
                _check(block)
                link(True)
            else:
                for frame in decoder.feed(block):
                    yield frame

    async def events(self, session: str, after: int = 0, link: Link = _ignore) -> AsyncGenerator[Envelope, None]:
        """All events of a session after a sequence number, as they happen; durable ones without gaps or duplicates."""
        seen = after
        async for frame in self.frames({session: after}, link=link):
            if frame.kind == "events":
                found = [from_wire(line) for line in frame.data]
            elif frame.kind == "resync":
                found = await self.history(session, seen)
            else:
                continue
            for envelope in found:
                if envelope.seq == 0 or envelope.seq > seen:
                    seen = envelope.seq or seen
                    yield envelope

    # --- requests ---

    async def get(self, path: str, **query: object) -> Json:
        return await self.ask("GET", f"{path}?{urlencode(query)}" if query else path)

    async def post(self, path: str, body: object = None, key: str | None = None) -> Json:
        """Always with an idempotency key, so that the request can be repeated after a broken connection."""
        return await self._asked("POST", path, msgspec.json.encode({} if body is None else body), key)

    async def ask(self, method: str, path: str, body: object = None) -> Json:
        return await self._asked(method, path, b"" if body is None else msgspec.json.encode(body))

    async def _asked(self, method: str, path: str, body: bytes, key: str | None = None) -> Json:
        headers = [("Idempotency-Key", key or secrets.token_urlsafe(16))] if method == "POST" else []
        reply = await self.http.request(method, BASE + path, body, headers)
        _check(reply)
        return msgspec.json.decode(reply.body) if reply.body else {}


def _check(reply: Reply) -> None:
    if reply.status < 400:
        return
    try:
        more: Json = msgspec.json.decode(reply.body, type=dict[str, Any])
    except msgspec.MsgspecError:
        more = {}
    raise ApiProblem(reply.status, more)
