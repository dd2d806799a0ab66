"""MCP servers for tests: entries for the real ones of this folder, and a manager that records what it was told."""

import asyncio
import json
import shutil
import sys
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import msgspec

from assent.files.private_folder import PrivateFolder
from assent.mcp.manager import McpManager
from assent.mcp.pins import PinStore
from assent.mcp.server_supervisor import ServerContext, State, Status
from assent.mcp_config import Entry, McpServer
from assent.tools.registry import Registry
from support.waiting import WAIT_LIMIT

HERE = Path(__file__).parent
SDK = str(HERE / "mcp_server.py")
RAW = str(HERE / "raw_mcp_server.py")


def raw_server_in(folder: Path) -> str:
    """A copy of `RAW` in a workspace, for a sandbox: wherever the tests are, such as in /tmp, it can be read there."""
    return str(shutil.copy(RAW, folder))


def program(script: str, folder: Path, *args: str, name: str = "srv", **more: Any) -> McpServer:
    entry = {"command": sys.executable, "args": [script, str(folder), *args], **more}
    return McpServer(name, msgspec.convert(entry, Entry), "user", f"settings.toml: mcp.servers.{name}")


def address(url: str, name: str = "web", **more: Any) -> McpServer:
    return McpServer(name, msgspec.convert({"url": url, **more}, Entry), "user", f"settings.toml: mcp.servers.{name}")


def offer(folder: Path, *tools: str | dict[str, Any]) -> None:
    """What the server of this folder says it can do, from now on."""
    full = [{"name": tool} if isinstance(tool, str) else tool for tool in tools]
    (folder / "tools.json").write_text(json.dumps([{"inputSchema": {"type": "object"}, **tool} for tool in full]))


def prepare(folder: Path, **answers: Any) -> None:
    """Whole answers of the raw server by method, with `_` for `/`; it also declares these capabilities."""
    named: dict[str, Any] = {method.replace("_", "/"): answer for method, answer in answers.items()}
    if "initialize" not in named:
        about = {"name": "raw", "version": "1"}
        can: dict[str, Any] = {"tools": {}, "prompts": {}, "resources": {}}
        named["initialize"] = {"protocolVersion": "2025-11-25", "capabilities": can, "serverInfo": about}
    empty: dict[str, Any] = {"prompts/list": {"prompts": []}, "resources/list": {"resources": []}}
    (folder / "answers.json").write_text(json.dumps(empty | named))


def noted(folder: Path) -> list[str]:
    events = folder / "events"
    return events.read_text().splitlines() if events.exists() else []


class ManagerHarness:
    """A manager with its registry, and every status that it reported."""

    def __init__(
        self,
        folder: Path,
        *servers: McpServer,
        env: Mapping[str, str] | None = None,
        outputs: PrivateFolder | None = None,
    ) -> None:
        self.registry = Registry()
        self.told: list[Status] = []
        self._news = asyncio.Event()
        given = {"HOME": str(folder), "PATH": "/usr/bin:/bin"} if env is None else env
        store = PinStore(folder / "pins.json")
        context = ServerContext(
            folder=str(folder), registry=self.registry, env=given, pause=lambda _: 0.02, outputs=outputs
        )
        self.manager = McpManager(servers, context, store)
        self.manager.listen(self._tell)

    def _tell(self, status: Status) -> None:
        self.told.append(status)
        self._news.set()

    def states(self) -> list[State]:
        return [status.state for status in self.told]

    async def until(self, condition: Callable[[], object]) -> None:
        """Wait until the condition holds, checking at every change of status."""
        async with asyncio.timeout(WAIT_LIMIT):
            while not condition():
                self._news.clear()
                await self._news.wait()


@asynccontextmanager
async def open_manager(
    folder: Path,
    *servers: McpServer,
    env: Mapping[str, str] | None = None,
    outputs: PrivateFolder | None = None,
) -> AsyncGenerator[ManagerHarness]:
    mcp = ManagerHarness(folder, *servers, env=env, outputs=outputs)
    mcp.manager.start()
    try:
        async with asyncio.timeout(WAIT_LIMIT):
            await mcp.manager.settled()
        yield mcp
    finally:
        await mcp.manager.close()
