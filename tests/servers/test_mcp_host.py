"""Servers where a person sits: a session opens without waiting, their tools appear, and they outlive a session."""

import asyncio
import os
from pathlib import Path

import pytest

from assent.config import Settings
from assent.front.tui.bars import server_words
from assent.front.tui.local_host import LocalHost
from assent.mcp_config import Servers
from support.processes import alive
from support.servers import RAW, noted, program
from support.waiting import WAIT_LIMIT


@pytest.mark.spec("E5")
@pytest.mark.spec("E2")
async def test_a_session_opens_at_once_its_servers_come_and_none_outlives_the_host(tmp_path: Path):
    entry = program(RAW, tmp_path).entry
    table = {"command": entry.command, "args": list(entry.args)}
    settings = Settings(mcp=Servers({"srv": table}))
    env = {"ASSENT_HOME": str(tmp_path / "home"), "HOME": str(tmp_path), "PATH": "/usr/bin:/bin"}
    host = LocalHost(str(tmp_path), settings, env, model="scripted:none")
    first = await host.open()
    (server,) = host.servers()
    assert server.name == "srv" and server.state in ("connecting", "ready")  # it may be quick
    async with asyncio.timeout(WAIT_LIMIT):
        while not any(tool.server == "srv" for tool in host.tools()):  # noqa: ASYNC110 (any change)
            await asyncio.sleep(0.01)
    await first.close()
    second = await host.open()
    assert [server.name for server in host.servers()] == ["srv"]
    await second.close()
    await host.close()
    assert not any(alive(int(line.split()[1])) for line in noted(tmp_path))


async def test_the_host_tells_when_a_server_is_coming_and_when_it_is_there(tmp_path: Path):
    entry = program(RAW, tmp_path).entry
    gate = tmp_path / "gate"
    os.mkfifo(gate)  # it starts when something comes through
    held_back = ["-c", f'read go < "{gate}"; exec "$0" "$@"', entry.command, *entry.args]
    settings = Settings(mcp=Servers({"srv": {"command": "sh", "args": held_back}}))
    env = {"ASSENT_HOME": str(tmp_path / "home"), "HOME": str(tmp_path), "PATH": "/usr/bin:/bin"}
    host = LocalHost(str(tmp_path), settings, env, model="scripted:none")
    words: list[str] = []
    ready = asyncio.Event()

    def changed() -> None:
        words.append(server_words(host.servers()))
        if not words[-1]:
            ready.set()

    host.on_servers(changed)
    client = await host.open()
    assert server_words(host.servers()) == "mcp: srv connecting"
    async with asyncio.timeout(WAIT_LIMIT):
        await asyncio.to_thread(gate.write_text, "go\n")
        await ready.wait()
    await client.close()
    await host.close()
