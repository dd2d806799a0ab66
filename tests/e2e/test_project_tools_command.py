"""Tools of a project's own command from outside: only in a trusted folder, headless, in a list, and in the terminal."""

import asyncio
import json
import sys
from pathlib import Path

import pytest

from assent.app.rule_sources import trust_store
from assent.config import Settings
from assent.front.tui.local_host import LocalHost
from support.program import Program, asks_for, says
from support.servers import HERE
from support.waiting import WAIT_LIMIT

SCRIPT = [sys.executable, str(HERE / "project_command.py")]
TABLE = (
    f"[tools]\ndiscovery_command = {json.dumps([*SCRIPT, 'discover'])}\n"
    f"call_command = {json.dumps([*SCRIPT, 'call'])}\n"
)


def bring(folder: Path, *declarations: object) -> None:
    (folder / ".assent").mkdir(exist_ok=True)
    (folder / ".assent" / "settings.toml").write_text(TABLE)
    (folder / "declarations").write_text(json.dumps(declarations))


def calling(program: Program) -> str:
    return program.scenario(asks_for({"name": "discovered_tool_say", "args": {"a": 1}, "id": "c1"}), says("done"))


@pytest.mark.spec("E2")
@pytest.mark.spec("I4")
def test_nothing_of_an_untrusted_folder_is_run_and_a_trusted_ones_calls_need_a_yes(program: Program):
    bring(program.folder, {"name": "say"}, {"name": "read_file"})
    model = calling(program)
    ended = program.run("-p", "go", "-m", model, "--allowed-tools", "discovered_tool_say")
    assert "is not used: the folder is untrusted; review it with `assent trust`" in ended.err
    assert not (program.folder / "discovered").exists()
    assert "discovery_command" in program.run("trust", "--yes").out

    ended = program.run("-p", "go", "-m", model)
    assert "Left out read_file of the project's own tools: a built-in tool has this name" in ended.err
    ended = program.run("-p", "go", "-m", model, "--allowed-tools", "discovered_tool_say")
    finished = [event for s in program.sessions() for event in program.events_of_type("call.finished", s)]
    assert [event["status"] for event in finished] == ["error", "error", "success"]
    assert finished[1]["failure"]["type"] == "approval_unavailable"
    assert json.loads(finished[2]["result"]["response"]["output"])["given"] == {"a": 1}
    assert (program.folder / "calls").read_text() == "say\n"


@pytest.mark.spec("E2")
def test_a_command_in_the_users_own_settings_runs_in_trusted_folders_only(program: Program):
    program.home.mkdir(exist_ok=True)
    (program.home / "settings.toml").write_text(TABLE)
    (program.folder / "declarations").write_text('[{"name": "say"}]')
    ended = program.run("-p", "go", "-m", program.scenario(says("done")))
    assert "settings.toml: tools is not used: the folder is not trusted; see `assent trust`" in ended.err
    assert not (program.folder / "discovered").exists()
    (program.folder / "AGENTS.md").write_text("Be kind.")
    assert program.run("trust", "--yes").code == 0
    listed = program.run("mcp", "list")
    assert listed.out == f"project_tools  ready ({program.home}/settings.toml: tools)\n  discovered_tool_say  \n"


@pytest.mark.spec("E2")
def test_the_list_shows_what_is_there_what_is_new_and_what_is_refused(program: Program):
    bring(program.folder, {"name": "say", "description": "Says.\x1b[2J"}, {"name": "bad", "parameters": 5})
    program.run("trust", "--yes")
    listed = program.run("mcp", "list")
    assert listed.code == 0, listed.err
    assert "  discovered_tool_say  Says.\\x1b[2J\n  ! bad is refused: its parameters are not a schema\n" in listed.out
    (program.folder / "declarations").write_text('[{"name": "say", "description": "Shouts."}]')
    assert "discovered_tool_say (new or changed: needs approval)" in program.run("mcp", "list").out
    accepted = program.run("mcp", "accept", "project_tools")
    assert accepted.out == "Accepted: discovered_tool_say\n"
    assert "asks" not in program.run("mcp", "list", "project_tools").out


@pytest.mark.spec("E2")
async def test_the_terminal_opens_at_once_and_shows_the_tools_when_they_are_there(tmp_path: Path):
    bring(tmp_path, {"name": "say"}, {"name": "bad", "parameters": 5})
    env = {"ASSENT_HOME": str(tmp_path / "home"), "HOME": str(tmp_path), "PATH": "/usr/bin:/bin"}
    store = trust_store(env)
    store.trust(tmp_path, store.look(tmp_path))
    host = LocalHost(str(tmp_path), Settings(), env, model="scripted:none")
    ready = asyncio.Event()
    host.on_servers(lambda: ready.set() if host.servers()[0].state == "ready" else None)
    client = await host.open()
    async with asyncio.timeout(WAIT_LIMIT):
        await ready.wait()
    (info,) = host.servers()
    assert (info.name, info.tools) == ("project_tools", 1)
    assert info.problem == "left out bad: its parameters are not a schema"
    assert [tool.name for tool in host.tools() if tool.server == "project_tools"] == ["discovered_tool_say"]
    (tmp_path / "declarations").write_text('[{"name": "say"}, {"name": "more"}]')
    ready.clear()
    await host.restart_server("project_tools")
    async with asyncio.timeout(WAIT_LIMIT):
        await ready.wait()
    assert host.servers()[0].tools == 2
    await client.close()
    await host.close()
