"""A real MCP server: what it offers and what comes of calling it, over its input and output and over HTTP."""

import asyncio
import contextlib
import json
import os
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from assent.mcp.offers import Argument
from assent.parts import Media, PlainDisplay, Text
from assent.process.peer import Peer
from assent.tools.tool import InvalidParams, Live, Permit, ToolFailed, ToolResult
from support.no_network import NoNetwork
from support.processes import alive
from support.servers import SDK, ManagerHarness, address, noted, open_manager, program
from support.waiting import WAIT_LIMIT

PERMIT = Permit(call_id="c1", digest="digest")


class Screen(NoNetwork, Live):
    def __init__(self) -> None:
        self.shown = ""
        self.news = asyncio.Event()

    def output(self, text: str) -> None:
        self.shown += text
        self.news.set()

    def received(self, total: int) -> None:
        raise AssertionError("a server's answers are text")

    def process(self, pid: int) -> None:
        raise AssertionError("a server is not the call's to kill")

    def asks(self, wanted: object, type_in: object) -> None:
        raise AssertionError("a server has no terminal")


async def call(mcp: ManagerHarness, name: str, live: Live | None = None, **args: object) -> ToolResult:
    tool = mcp.registry.get(name)
    assert tool is not None
    invocation = tool.build(args)
    await invocation.should_confirm()
    return await invocation.execute(PERMIT, live or Screen())


def said(result: ToolResult) -> str:
    assert isinstance(result.content, tuple)
    return "\n".join(part.text for part in result.content if isinstance(part, Text))


async def until_noted(folder: Path, line: str) -> None:
    async with asyncio.timeout(WAIT_LIMIT):
        while line not in noted(folder):  # noqa: ASYNC110 (another process writes it)
            await asyncio.sleep(0.01)


@asynccontextmanager
async def listening(folder: Path, port: int = 0) -> AsyncGenerator[str]:
    """The same server over HTTP on this machine."""
    env = {"PATH": os.environ["PATH"], "PORT": str(port)}
    peer = await Peer.start([sys.executable, SDK, str(folder), "--http"], cwd=str(folder), env=env)
    try:
        async with asyncio.timeout(WAIT_LIMIT):
            while not (folder / "port").exists():  # noqa: ASYNC110 (another process writes it)
                await asyncio.sleep(0.01)
        yield f"http://127.0.0.1:{(folder / 'port').read_text()}/mcp"
    finally:
        (folder / "port").unlink()
        await peer.close(0, 0)


@pytest.mark.spec("E5")
@pytest.mark.spec("E2")
async def test_a_program_is_started_and_all_its_pages_of_tools_prompts_and_resources_are_found(tmp_path: Path):
    async with open_manager(tmp_path, program(SDK, tmp_path)) as mcp:
        (status,) = mcp.manager.status()
        assert (status.state, status.prompts, status.resources) == ("ready", 2, 2)
        assert len(status.tools) == 10
        assert mcp.states() == ["connecting", "ready"]
        declared = {declaration.name: declaration for declaration in mcp.registry.declarations()}
        assert declared["mcp_srv_echo"].schema["required"] == ["text"]
        assert declared["mcp_srv_echo"].description.endswith("which describes it as: Does echo.")


@pytest.mark.spec("E5")
@pytest.mark.spec("D5")
async def test_text_pictures_sounds_links_and_pages_come_back_as_parts(tmp_path: Path):
    async with open_manager(tmp_path, program(SDK, tmp_path)) as mcp:
        assert said(await call(mcp, "mcp_srv_echo", text="hello")) == "hello"
        result = await call(mcp, "mcp_srv_picture")
        assert isinstance(result.content, tuple)
        assert [part.mime for part in result.content if isinstance(part, Media)] == ["image/png", "audio/wav"]
        assert "note:/2" in said(result) and "a page" in said(result)
        assert isinstance(result.display, PlainDisplay) and "[image/png]" in result.display.text
        assert said(await call(mcp, "mcp_srv_shout")) == "red \u202etxt"


@pytest.mark.spec("E5")
async def test_an_error_of_the_tool_is_a_failure_with_its_words(tmp_path: Path):
    async with open_manager(tmp_path, program(SDK, tmp_path)) as mcp:
        result = await call(mcp, "mcp_srv_fail")
        assert result.failure is not None and result.failure.type == "mcp_tool_error"
        assert said(result) == "it broke"


@pytest.mark.spec("B4")
async def test_arguments_that_the_schema_refuses_never_reach_the_server(tmp_path: Path):
    async with open_manager(tmp_path, program(SDK, tmp_path)) as mcp:
        with pytest.raises(InvalidParams, match="'text' is a required property"):
            await call(mcp, "mcp_srv_echo")
        with pytest.raises(InvalidParams, match="text: 5 is not of type 'string'"):
            await call(mcp, "mcp_srv_echo", text=5)
        assert "call echo" not in noted(tmp_path)


@pytest.mark.spec("E5")
async def test_progress_is_live_output(tmp_path: Path):
    async with open_manager(tmp_path, program(SDK, tmp_path)) as mcp:
        screen = Screen()
        assert said(await call(mcp, "mcp_srv_work", screen)) == "worked"
        assert screen.shown == "50 % half of it\n100 % all of it\n"


@pytest.mark.spec("E5")
async def test_cancelling_a_call_tells_the_server(tmp_path: Path):
    async with open_manager(tmp_path, program(SDK, tmp_path)) as mcp:
        running = asyncio.create_task(call(mcp, "mcp_srv_wait"))
        await until_noted(tmp_path, "call wait")
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running
        await until_noted(tmp_path, "cancelled")
        assert said(await call(mcp, "mcp_srv_echo", text="still here")) == "still here"


@pytest.mark.spec("D7")
async def test_a_call_that_takes_too_long_fails_and_is_cancelled(tmp_path: Path):
    async with open_manager(tmp_path, program(SDK, tmp_path, timeout=0.3)) as mcp:
        with pytest.raises(ToolFailed, match=r"did not answer within 0\.3 s") as caught:
            await call(mcp, "mcp_srv_wait")
        assert caught.value.failure.type == "mcp_timeout"
        await until_noted(tmp_path, "cancelled")


@pytest.mark.spec("E5")
async def test_prompts_and_resources_can_be_read(tmp_path: Path):
    async with open_manager(tmp_path, program(SDK, tmp_path)) as mcp:
        prompt = mcp.manager.prompts()[0]
        assert (prompt.name, prompt.arguments) == ("greet", (Argument("who", needed=True, description="Whom."),))
        assert await mcp.manager.prompt("srv", "greet", {"who": "Ann"}) == (Text("Say hello to Ann."),)
        assert mcp.manager.has_resource("srv:note:/1") and not mcp.manager.has_resource("src/a.py")
        assert await mcp.manager.read("srv:note:/1") == (Text("the text of note:/1"),)


@pytest.mark.spec("E5")
async def test_a_list_that_changes_changes_the_registry(tmp_path: Path):
    async with open_manager(tmp_path, program(SDK, tmp_path)) as mcp:
        before = mcp.registry.declarations()
        await call(mcp, "mcp_srv_change")
        await mcp.until(lambda: mcp.registry.get("mcp_srv_new"))
        assert len(mcp.registry.declarations()) == len(before) + 1


@pytest.mark.spec("E5")
@pytest.mark.spec("I3")
async def test_the_program_gets_what_its_entry_names_and_no_secret_of_ours(tmp_path: Path):
    env = {"HOME": str(tmp_path), "PATH": "/usr/bin:/bin", "GEMINI_API_KEY": "canary", "MY_TOKEN": "for the server"}
    server = program(SDK, tmp_path, env={"TOKEN": "${MY_TOKEN}", "PLAIN": "x"})
    async with open_manager(tmp_path, server, env=env) as mcp:
        seen = json.loads(said(await call(mcp, "mcp_srv_environment")))
    assert (seen["TOKEN"], seen["PLAIN"]) == ("for the server", "x")
    assert "canary" not in seen.values() and "MY_TOKEN" not in seen


@pytest.mark.spec("D6")
async def test_closing_leaves_no_process_not_even_a_grandchild_in_a_session_of_its_own(tmp_path: Path):
    async with open_manager(tmp_path, program(SDK, tmp_path)) as mcp:
        child = int(said(await call(mcp, "mcp_srv_child")))
        leader = int(noted(tmp_path)[0].split()[1])
        assert os.getsid(leader) == leader != os.getsid(0)
        assert alive(child) and alive(leader)
    assert not alive(child) and not alive(leader)


@pytest.mark.spec("E5")
async def test_a_server_over_http_is_found_called_and_cancelled(tmp_path: Path):
    async with listening(tmp_path) as url, open_manager(tmp_path, address(url)) as mcp:
        assert len(mcp.manager.status()[0].tools) == 10
        assert said(await call(mcp, "mcp_web_echo", text="hello")) == "hello"
        screen = Screen()
        await call(mcp, "mcp_web_work", screen)
        assert "100 % all of it" in screen.shown
        running = asyncio.create_task(call(mcp, "mcp_web_wait"))
        await until_noted(tmp_path, "call wait")
        running.cancel()
        await until_noted(tmp_path, "cancelled")


@pytest.mark.spec("E5")
async def test_a_server_over_http_that_wants_a_token_says_so_and_gets_it_from_the_headers(tmp_path: Path):
    (tmp_path / "token").write_text("s3cret")
    async with listening(tmp_path) as url:
        async with open_manager(tmp_path, address(url)) as mcp:
            assert "put its token into `headers`" in mcp.told[1].reason
        env = {"HOME": str(tmp_path), "PATH": "/usr/bin:/bin", "T": "s3cret"}
        with_token = address(url, headers={"Authorization": "Bearer $T"})
        async with open_manager(tmp_path, with_token, env=env) as mcp:
            assert mcp.states()[-1] == "ready"


@pytest.mark.parametrize("name", ["HTTP_PROXY", "ALL_PROXY"])
async def test_a_server_on_this_machine_is_reached_without_a_proxy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
):
    """Its token would travel to the proxy in the clear."""
    for variable in ("no_proxy", "NO_PROXY"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setenv(name, "http://127.0.0.1:9")
    async with listening(tmp_path) as url, open_manager(tmp_path, address(url)) as mcp:
        assert mcp.states()[-1] == "ready"


@pytest.mark.spec("E5")
async def test_a_server_over_http_that_was_restarted_is_found_again(tmp_path: Path):
    async with contextlib.AsyncExitStack() as first:
        url = await first.enter_async_context(listening(tmp_path))
        async with open_manager(tmp_path, address(url)) as mcp:
            await first.aclose()
            await mcp.until(lambda: "disconnected" in mcp.states())
            async with listening(tmp_path, int(url.split(":")[2].removesuffix("/mcp"))):
                await mcp.manager.reconnect("web")
                await mcp.until(lambda: mcp.states()[-1] == "ready")
                assert said(await call(mcp, "mcp_web_echo", text="again")) == "again"
