"""Servers over HTTP: they are restarted, forget sessions, answer with any status, or speak the older transport."""

import asyncio
import contextlib
import os
import signal
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from test_mcp_calls import Screen, call, listening, said, until_noted

from assent.mcp.server_supervisor import ATTEMPTS
from assent.process.peer import Peer
from assent.tools.tool import ToolFailed
from support.servers import HERE, SDK, address, noted, open_manager, program
from support.waiting import WAIT_LIMIT

RAW_HTTP = str(HERE / "raw_mcp_http.py")


@asynccontextmanager
async def serving(folder: Path, *how: str, port: int = 0, script: str = RAW_HTTP) -> AsyncGenerator[str]:
    """A server that is killed at the end, as a crash would do it."""
    (folder / "port").unlink(missing_ok=True)
    env = {"PATH": "/usr/bin:/bin", "PORT": str(port)}
    peer = await Peer.start([sys.executable, script, str(folder), str(port), *how], cwd=str(folder), env=env)
    try:
        async with asyncio.timeout(WAIT_LIMIT):
            while not ((folder / "port").exists() and (folder / "port").read_text()):  # noqa: ASYNC110
                await asyncio.sleep(0.01)
        yield f"http://127.0.0.1:{(folder / 'port').read_text()}/mcp"
    finally:
        os.kill(peer.pid, signal.SIGKILL)
        await peer.gone(20)
        await peer.close(0, 0)


def port_of(url: str) -> int:
    return int(url.split(":")[2].partition("/")[0])


@pytest.mark.spec("E5")
@pytest.mark.parametrize("how", [("400",), ("404",), ("400", "get"), ("404", "get", "stream")])
async def test_a_server_that_was_restarted_answers_the_next_call(tmp_path: Path, how: tuple[str, ...]):
    async with contextlib.AsyncExitStack() as first:
        url = await first.enter_async_context(serving(tmp_path, *how))
        async with open_manager(tmp_path, address(url)) as mcp:
            assert said(await call(mcp, "mcp_web_echo", n=1)) == '{"n": 1}'
            await first.aclose()
            async with serving(tmp_path, *how, port=port_of(url)):
                await mcp.until(lambda: mcp.registry.get("mcp_web_echo"))
                assert said(await call(mcp, "mcp_web_echo", n=2)) == '{"n": 2}'
                assert said(await call(mcp, "mcp_web_echo", n=3)) == '{"n": 3}'
                assert mcp.states()[-1] == "ready"
    assert noted(tmp_path).count("call echo") == 3, "each was executed once"
    assert noted(tmp_path).count("initialize") == 2


@pytest.mark.spec("E5")
async def test_calls_of_the_same_moment_all_survive_a_restart_and_run_once(tmp_path: Path):
    async with contextlib.AsyncExitStack() as first:
        url = await first.enter_async_context(serving(tmp_path, "404"))
        async with open_manager(tmp_path, address(url)) as mcp:
            await first.aclose()
            async with serving(tmp_path, "404", port=port_of(url)):
                await mcp.until(lambda: mcp.registry.get("mcp_web_echo"))
                results = await asyncio.gather(*(call(mcp, "mcp_web_echo", n=n) for n in range(10)))
                assert [said(result) for result in results] == [f'{{"n": {n}}}' for n in range(10)]
    assert noted(tmp_path).count("call echo") == 10


@pytest.mark.spec("E5")
@pytest.mark.parametrize("how", [("404",), ("400", "stream"), ("404", "stream", "ids"), ("404", "get", "stream")])
async def test_a_call_that_ran_when_the_server_was_killed_is_unknown(tmp_path: Path, how: tuple[str, ...]):
    async with contextlib.AsyncExitStack() as first:
        url = await first.enter_async_context(serving(tmp_path, *how))
        async with open_manager(tmp_path, address(url)) as mcp:
            running = asyncio.create_task(call(mcp, "mcp_web_wait"))
            await until_noted(tmp_path, "call wait")
            await first.aclose()
            with pytest.raises(ToolFailed, match="Whether it took effect is unknown") as caught:
                await running
            assert caught.value.failure.type == "mcp_connection_lost"
            assert "reports" not in caught.value.failure.message
            async with serving(tmp_path, *how, port=port_of(url)):
                await mcp.until(lambda: mcp.registry.get("mcp_web_echo"))
                assert said(await call(mcp, "mcp_web_echo", n=2)) == '{"n": 2}'
    assert noted(tmp_path).count("call wait") == 1, "it is not tried again"


@pytest.mark.spec("E5")
async def test_the_sdks_own_server_answers_again_after_a_restart(tmp_path: Path):
    async with contextlib.AsyncExitStack() as first:
        url = await first.enter_async_context(serving(tmp_path, "--http", script=SDK))
        async with open_manager(tmp_path, address(url)) as mcp:
            running = asyncio.create_task(call(mcp, "mcp_web_wait"))
            await until_noted(tmp_path, "call wait")
            await first.aclose()
            with pytest.raises(ToolFailed, match="Whether it took effect is unknown"):
                await running
            async with serving(tmp_path, "--http", port=port_of(url), script=SDK):
                await mcp.until(lambda: mcp.registry.get("mcp_web_echo"))
                assert said(await call(mcp, "mcp_web_echo", text="again")) == "again"


@pytest.mark.spec("E5")
async def test_an_address_that_was_good_once_is_not_given_up_for_good(tmp_path: Path):
    async with contextlib.AsyncExitStack() as first:
        url = await first.enter_async_context(serving(tmp_path, "404", "get"))
        async with open_manager(tmp_path, address(url)) as mcp:
            await first.aclose()
            with pytest.raises(ToolFailed) as caught:
                await call(mcp, "mcp_web_echo", n=1)
            assert caught.value.failure.type == "mcp_not_connected"
            await mcp.until(lambda: mcp.states().count("failed") > ATTEMPTS)
            assert mcp.registry.names() == [], "its tools go while it is away"
            async with serving(tmp_path, "404", port=port_of(url)):
                await mcp.until(lambda: mcp.states()[-1] == "ready")
                assert said(await call(mcp, "mcp_web_echo", n=1)) == '{"n": 1}'


@pytest.mark.spec("E5")
async def test_an_error_of_the_server_with_the_code_of_a_lost_connection_is_its_own(tmp_path: Path):
    async with serving(tmp_path) as url, open_manager(tmp_path, address(url)) as mcp:
        with pytest.raises(ToolFailed, match="The server web reports: no paper") as caught:
            await call(mcp, "mcp_web_bad")
        assert caught.value.failure.type == "mcp_tool_error"
        assert mcp.states()[-1] == "ready"


@pytest.mark.spec("E5")
@pytest.mark.parametrize(
    ("status", "type_", "words"),
    [
        (502, "mcp_connection_lost", "HTTP status 502. Whether it took effect is unknown"),
        (503, "mcp_connection_lost", "HTTP status 503. Whether it took effect is unknown"),
        (400, "mcp_refused", "HTTP status 400"),
        (404, "mcp_refused", "HTTP status 404"),
        (401, "mcp_refused", "put its token into `headers`"),
    ],
)
async def test_a_status_instead_of_an_answer_is_reported_and_the_session_continues(
    tmp_path: Path, status: int, type_: str, words: str
):
    async with serving(tmp_path, f"status={status}") as url, open_manager(tmp_path, address(url)) as mcp:
        with pytest.raises(ToolFailed, match=words) as caught:
            await call(mcp, "mcp_web_echo")
        assert caught.value.failure.type == type_
        assert mcp.states()[-1] == "ready"
    assert noted(tmp_path) == ["initialize", "deleted"], "the session is ended in the end"


# --- the older transport ---


@pytest.mark.spec("E5")
@pytest.mark.parametrize("entry", [{}, {"type": "sse"}])
async def test_an_event_stream_is_found_by_itself_or_when_the_entry_says_so(tmp_path: Path, entry: dict[str, str]):
    async with serving(tmp_path, "sse") as url, open_manager(tmp_path, address(url, **entry)) as mcp:
        assert mcp.states() == ["connecting", "ready"]
        assert said(await call(mcp, "mcp_web_echo", n=1)) == '{"n": 1}'


@pytest.mark.spec("E5")
async def test_the_sdks_server_over_an_event_stream_has_everything(tmp_path: Path):
    async with contextlib.AsyncExitStack() as stack:
        url = await stack.enter_async_context(serving(tmp_path, "--sse", script=SDK))
        mcp = await stack.enter_async_context(open_manager(tmp_path, address(url.replace("/mcp", "/sse"), type="sse")))
        assert len(mcp.manager.status()[0].tools) == 10
        assert said(await call(mcp, "mcp_web_echo", text="hello")) == "hello"
        screen = Screen()
        await call(mcp, "mcp_web_work", screen)
        assert "100 % all of it" in screen.shown
        assert [resource.uri for resource in mcp.manager.resources()] == ["note:/1"]


@pytest.mark.spec("E5")
async def test_an_event_stream_that_breaks_off_makes_a_call_unknown_and_is_opened_again(tmp_path: Path):
    async with contextlib.AsyncExitStack() as first:
        url = await first.enter_async_context(serving(tmp_path, "sse"))
        async with open_manager(tmp_path, address(url)) as mcp:
            running = asyncio.create_task(call(mcp, "mcp_web_wait"))
            await until_noted(tmp_path, "call wait")
            await first.aclose()
            with pytest.raises(ToolFailed, match="Whether it took effect is unknown"):
                await running
            async with serving(tmp_path, "sse", port=port_of(url)):
                await mcp.until(lambda: mcp.registry.get("mcp_web_echo"))
                assert said(await call(mcp, "mcp_web_echo", n=2)) == '{"n": 2}'


@pytest.mark.spec("E5")
async def test_an_address_of_the_one_kind_is_not_tried_as_the_other_when_the_entry_says_which(tmp_path: Path):
    async with serving(tmp_path, "sse") as url, open_manager(tmp_path, address(url, type="http")) as mcp:
        assert mcp.told[1].state == "failed"
        assert mcp.told[1].reason == "the server answered with HTTP status 405"


@pytest.mark.spec("E5")
async def test_a_token_for_an_event_stream_is_asked_for(tmp_path: Path):
    (tmp_path / "token").write_text("s3cret")
    async with listening(tmp_path) as url, open_manager(tmp_path, address(url, type="sse")) as mcp:
        assert "put its token into `headers`" in mcp.told[1].reason


def test_a_program_has_no_type_of_an_address(tmp_path: Path):
    assert program(SDK, tmp_path, type="stdio").entry.type == "stdio"
