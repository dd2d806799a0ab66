"""The transports to a server: lines to a program that we start, or HTTP to an address. All become the SDK's streams.

Programs are started by `process`, never by the SDK: in their own session, with an environment without our secrets, and
gone with all descendants when the connection closes. Incoming data is limited, whoever sends it.
"""

import asyncio
import os
from collections.abc import AsyncGenerator, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager

import anyio
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.client._transport import TransportStreams
from mcp.shared.message import SessionMessage
from mcp_types import jsonrpc_message_adapter

from assent.mcp.http_transport import event_stream, one_endpoint
from assent.mcp.intercept import Intercept
from assent.mcp.listed_hosts import ListedHosts
from assent.mcp.notifications import Era, NotConnected, NotificationListener
from assent.mcp_config import Entry, McpServer, expand
from assent.plan import SandboxName
from assent.process.environment import child_environment
from assent.process.peer import LineTooLong, Peer
from assent.sandbox.confinement import Confined, Unconfined, confined_environment, workspace_confinement
from assent.tools.support.network_access import proxied
from assent.web.destinations import check_entry

GARBAGE_LIMIT = 1 << 20
"""Bytes on standard output that are not messages. A greeting is tolerated, a stream of noise is not."""
MAX_MESSAGES_PER_SECOND = 2_000
"""Messages per second; a program that sends more has to wait."""

Incoming = MemoryObjectSendStream[SessionMessage | Exception]
Outgoing = MemoryObjectReceiveStream[SessionMessage]


def open_transport(
    server: McpServer,
    folder: str,
    env: Mapping[str, str],
    listener: NotificationListener,
    era: Era,
    intercept: Intercept,
) -> AbstractAsyncContextManager[TransportStreams]:
    if not server.entry.url:
        return _program(server, folder, env, listener, intercept)
    way = event_stream if era == "sse" else one_endpoint
    return way(server, env, listener, intercept)


# --- a program ---


@asynccontextmanager
async def _program(
    server: McpServer, folder: str, env: Mapping[str, str], listener: NotificationListener, intercept: Intercept
) -> AsyncGenerator[TransportStreams]:
    _check_domains(server.entry)
    cwd = working_folder(server, folder, env)
    confined = await _confined(server.entry.sandbox, cwd, folder, env)
    port = None if confined is None else confined.sandbox_port
    async with proxied(port, ListedHosts(server.entry.domains, listener.log_line)):
        peer = await _start(server.entry, cwd, env, confined)
        try:
            async with _lines(peer, listener) as streams:
                yield intercept.around(streams)
        finally:
            await peer.close()
            for note in () if confined is None else confined.clean_up():
                listener.log_line(note)


async def _start(entry: Entry, cwd: str, env: Mapping[str, str], confined: Confined | None) -> Peer:
    environment = child_environment(env, extra=expand(entry.env, env))
    argv = [entry.command, *entry.args]
    try:
        if confined is None:
            return await Peer.start(argv, cwd=cwd, env=environment)
        inside = confined_environment(environment, proxied=confined.sandbox_port is not None)
        return await Peer.start(argv, cwd=cwd, env=inside, launcher=confined.launcher)
    except OSError as error:
        raise NotConnected(f"cannot start `{entry.command}`: {error.strerror}") from error


def _check_domains(entry: Entry) -> None:
    for domain in entry.domains:
        if why := check_entry(domain):
            raise NotConnected(f"`{domain}` in `domains` is not a host: {why}")


async def _confined(sandbox: SandboxName, cwd: str, folder: str, env: Mapping[str, str]) -> Confined | None:
    """What puts the program into the sandbox that its entry names; without that sandbox, it does not start."""
    try:
        return await workspace_confinement(env, folder).confine(sandbox, cwd)
    except Unconfined as error:
        raise NotConnected(f"there is no sandbox for it: {error}") from error


def working_folder(server: McpServer, folder: str, env: Mapping[str, str]) -> str:
    """A user's server starts in the home folder, where files of another folder do not affect it; `.` is the folder."""
    if server.entry.cwd or server.tier == "workspace":
        return os.path.normpath(os.path.join(folder, os.path.expanduser(server.entry.cwd)))
    home = env.get("HOME", "")
    return home if os.path.isdir(home) else "/"


async def _ending(peer: Peer, otherwise: str) -> str:
    """How the program ended, with its last output."""
    await peer.gone(0.2)
    match peer.status():
        case None:
            return otherwise
        case status:
            how = f"with code {status}" if status >= 0 else f"by signal {-status}"
            words = [line for line in peer.errors().splitlines() if line.strip()]
            return f"the program ended {how}{f': {words[-1].strip()}' if words else ''}"


@asynccontextmanager
async def _lines(peer: Peer, listener: NotificationListener) -> AsyncGenerator[TransportStreams]:
    incoming, from_server = anyio.create_memory_object_stream[SessionMessage | Exception](0)
    to_server, outgoing = anyio.create_memory_object_stream[SessionMessage](0)
    async with incoming, from_server, to_server, outgoing, anyio.create_task_group() as group:
        group.start_soon(_read, peer, incoming, listener)
        group.start_soon(_write, peer, outgoing, listener)
        try:
            yield from_server, to_server
        finally:
            group.cancel_scope.cancel()


async def _read(peer: Peer, incoming: Incoming, listener: NotificationListener) -> None:
    loop, garbage, since, count = asyncio.get_running_loop(), 0, 0.0, 0
    try:
        while (line := await peer.read_line()) is not None:
            if not line.strip():
                continue
            try:
                message = jsonrpc_message_adapter.validate_json(line, by_name=False)
            except ValueError:
                garbage += len(line)
                listener.log_line(f"not a message: {line[:200].decode(errors='replace')}")
                if garbage > GARBAGE_LIMIT:
                    raise LineTooLong("it writes something other than messages to its standard output") from None
                continue
            await incoming.send(SessionMessage(message))
            count += 1
            if count % (MAX_MESSAGES_PER_SECOND // 10) == 0:
                await asyncio.sleep(max(0.0, since + 0.1 - loop.time()))
                since = loop.time()
        listener.lost(await _ending(peer, "the program closed its output"))
    except LineTooLong as error:
        listener.lost(str(error))
    except (anyio.ClosedResourceError, anyio.BrokenResourceError):
        pass  # nobody is listening any longer
    finally:
        incoming.close()


async def _write(peer: Peer, outgoing: Outgoing, listener: NotificationListener) -> None:
    try:
        async for message in outgoing:
            await peer.write_line(message.message.model_dump_json(by_alias=True, exclude_unset=True).encode())
    except OSError:
        listener.lost(await _ending(peer, "the program no longer reads its input"))
