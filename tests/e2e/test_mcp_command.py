"""MCP servers from outside: in a headless run, in a folder that is not trusted, and with `assent mcp`."""

import json
import sys
from pathlib import Path

import pytest

from assent import exit_codes
from support.program import Program, asks_for, says
from support.servers import RAW, SDK, noted, offer
from support.waiting import WAIT_LIMIT


def entry(folder: Path, *args: str, name: str = "srv", **more: object) -> str:
    words = {"command": sys.executable, "args": [RAW, str(folder), *args], **more}
    return f"[mcp.servers.{name}]\n" + "".join(f"{key} = {json.dumps(value)}\n" for key, value in words.items())


def configure(program: Program, *entries: str) -> Path:
    """The user's settings; gives the folder of the servers."""
    program.home.mkdir(exist_ok=True)
    (program.home / "settings.toml").write_text("\n".join(entries))
    return program.folder.parent


def calling(program: Program) -> str:
    return program.scenario(asks_for({"name": "mcp_srv_again", "args": {}, "id": "c1"}), says("done"))


@pytest.mark.spec("E5")
def test_a_headless_run_uses_the_tools_of_a_trusted_server_and_leaves_no_process(program: Program):
    base = program.folder.parent
    configure(program, entry(base, trust=True))
    ended = program.run("-p", "go", "-m", calling(program), "-o", "json")
    assert ended.code == 0, ended.err
    (finished,) = program.events_of_type("call.finished")
    assert finished["status"] == "success"
    (scheduled,) = program.events_of_type("call.scheduled")
    assert scheduled["decision"]["rule"].endswith("settings.toml: mcp.servers.srv.trust)")
    (line,) = noted(base)
    assert not Path(f"/proc/{line.split()[1]}").exists()
    assert "allow   → (its server is not started for a replay)  mcp_srv_again" in program.run("policy", "replay").out


@pytest.mark.spec("E5")
@pytest.mark.spec("B12")
def test_without_trust_and_without_anyone_to_ask_the_call_is_refused(program: Program):
    configure(program, entry(program.folder.parent))
    assert program.run("-p", "go", "-m", calling(program)).code == 0
    (finished,) = program.events_of_type("call.finished")
    assert finished["failure"]["type"] == "approval_unavailable"


@pytest.mark.spec("C7")
def test_the_tools_of_a_server_can_be_allowed_for_one_run(program: Program):
    configure(program, entry(program.folder.parent))
    program.run("-p", "go", "-m", calling(program), "--allowed-tools", "mcp_srv_*")
    (finished,) = program.events_of_type("call.finished")
    assert finished["status"] == "success"


@pytest.mark.spec("E5")
def test_a_run_waits_for_a_slow_server_says_so_and_goes_on_without_one_that_does_not_start(program: Program):
    base = program.folder.parent
    slow = base / "slow"
    slow.mkdir()
    configure(program, entry(slow, "waits", name="slow", start_timeout=WAIT_LIMIT), entry(base, "dies", name="dead"))
    with program.start("-p", "go", "-m", program.scenario(says("done"))) as running:
        running.until_error("Waiting for the MCP servers: slow")
        (slow / "go").touch()
        ended = running.wait()
    assert (ended.code, ended.out) == (0, "done\n")
    assert "Continuing without the MCP server slow: the program ended with code 1: nobody came\n" in ended.err
    assert "Continuing without the MCP server dead: the program ended with code 1: no licence found\n" in ended.err


@pytest.mark.spec("E5")
def test_a_wrong_entry_stops_everything_with_its_file_and_key(program: Program):
    configure(program, "[mcp.servers.srv]\ncomand = 'x'\n")
    ended = program.run("-p", "go", "-m", program.scenario(says("done")))
    assert ended.code == 52
    assert (
        f"{program.home}/settings.toml: mcp.servers.srv: there is no setting `comand`; did you mean `command`?"
        in ended.err
    )


@pytest.mark.spec("I4")
def test_the_servers_of_a_folder_start_only_when_it_is_trusted_as_it_is(program: Program):
    base = program.folder.parent
    theirs = program.folder / ".assent" / "settings.toml"
    theirs.parent.mkdir()
    theirs.write_text(entry(base, trust=True))
    model = calling(program)
    ended = program.run("-p", "go", "-m", model)
    assert "is not used: the folder is untrusted; review it with `assent trust`" in ended.err
    assert noted(base) == []
    assert "mcp.servers.srv" in program.run("trust", "--yes").out
    program.run("-p", "go", "-m", model)
    assert [event["status"] for s in program.sessions() for event in program.events_of_type("call.finished", s)] == [
        "error",
        "success",
    ]
    theirs.write_text(entry(base, "garbage", trust=True))
    assert "is not used: the folder is changed" in program.run("-p", "go", "-m", model).err
    assert len(noted(base)) == 1


@pytest.mark.spec("E5")
def test_servers_are_added_listed_accepted_and_removed(program: Program):
    base = program.folder.parent
    assert "No MCP servers" in program.run("mcp", "list").out
    added = program.run("mcp", "add", "srv", "--trust", "--", sys.executable, RAW, str(base))
    assert added.code == 0, added.err
    offer(base, {"name": "greet", "description": "Says hello.\x1b[2J"}, "a.b", "a_b")
    listed = program.run("mcp", "list")
    assert listed.code == 0, listed.err
    assert "srv  ready (user, trusted)\n  mcp_srv_greet  Says hello.\\x1b[2J\n" in listed.out
    assert "! a.b is refused: another tool would have the same name" in listed.out
    offer(base, {"name": "greet", "description": "Says goodbye."})
    assert "mcp_srv_greet (new or changed: needs approval)" in program.run("mcp", "list").out
    assert program.run("mcp", "accept", "srv").out == "Accepted: mcp_srv_greet\n"
    assert "asks" not in program.run("mcp", "list").out
    assert "allow *(srv)" in program.run("policy", "list").out
    assert program.run("mcp", "remove", "srv").code == 0
    assert "No MCP servers" in program.run("mcp", "list").out
    assert program.run("mcp", "remove", "srv").code == 42
    assert program.run("mcp", "list", "srv").code == 42


def test_a_name_that_no_server_can_have_is_refused_with_the_rule(program: Program):
    ended = program.run("mcp", "add", "my docs", "--", "true")
    assert ended.code == 42 and "1 to 30 letters, digits and `-`" in ended.err
    assert not (program.home / "settings.toml").exists()


def test_a_server_that_fails_is_listed_with_the_reason_and_an_exit_code(program: Program):
    off = entry(program.folder, name="off", enabled=False)
    configure(program, entry(program.folder.parent, "dies", enabled=True), off)
    ended = program.run("mcp", "list")
    assert ended.code == 1
    assert "srv  failed (user): the program ended with code 1: no licence found" in ended.out
    assert "off  disabled (user)" in ended.out


def test_without_a_server_nothing_of_mcp_is_imported(program: Program):
    ended = program.run("-p", "go", "-m", program.scenario(says("done")), env={"PYTHONPROFILEIMPORTTIME": "1"})
    imported = {line.rpartition("|")[2].strip() for line in ended.err.splitlines() if "|" in line}
    assert "assent.app.session_environment" in imported
    assert not {name for name in imported if name.split(".")[0] in ("mcp", "anyio", "pydantic", "jsonschema")}
    assert "assent.mcp" not in imported


def prompting(program: Program, **entry_of: object) -> str:
    """Settings with a server that has prompts."""
    words = {"command": sys.executable, "args": [SDK, str(program.folder.parent)], **entry_of}
    configure(
        program, "[mcp.servers.srv]\n" + "".join(f"{key} = {json.dumps(value)}\n" for key, value in words.items())
    )
    return program.scenario(says("hello"))


@pytest.mark.spec("E5")
@pytest.mark.parametrize(
    ("typed", "sent"),
    [
        ("/srv:greet Ann", "Say hello to Ann."),
        ("/srv:greet who=Ann", "Say hello to Ann."),
        ("/srv:odd_name_ Ann very warmly", "Say hello to Ann very warmly.\n\n[image/png, left out]"),
        ("/etc/hosts is what?", "/etc/hosts is what?"),
        ("/", "/"),
        ("/other:thing", "/other:thing"),
    ],
)
def test_a_headless_prompt_may_be_one_of_a_server(program: Program, typed: str, sent: str):
    assert program.run("-p", typed, "-m", prompting(program)).code == 0
    (submitted,) = program.events_of_type("prompt.submitted")
    assert submitted["text"] == sent


@pytest.mark.spec("E5")
def test_standard_input_goes_before_the_prompt_of_a_server(program: Program):
    assert program.run("-p", "/srv:greet Ann", "-m", prompting(program), stdin=b"a diff\n").code == 0
    (submitted,) = program.events_of_type("prompt.submitted")
    assert submitted["text"] == "a diff\n\n\nSay hello to Ann."


@pytest.mark.spec("E5")
@pytest.mark.parametrize(
    ("typed", "problem"),
    [
        ("/srv:greet", "This needs who. Usage: /srv:greet who=…"),
        ("/srv:none", "The server srv has no prompt /srv:none; available: /srv:greet, /srv:odd_name_"),
    ],
)
def test_a_prompt_of_a_server_that_cannot_be_used_is_an_error_and_nothing_is_recorded(
    program: Program, typed: str, problem: str
):
    ended = program.run("-p", typed, "-m", prompting(program))
    assert ended.code == exit_codes.INPUT and problem in ended.err
    assert program.sessions() == []


@pytest.mark.spec("E5")
def test_a_prompt_of_a_server_that_is_not_there_is_an_error(program: Program):
    configure(program, entry(program.folder.parent, "dies"))
    ended = program.run("-p", "/srv:greet Ann", "-m", program.scenario(says("hello")))
    assert ended.code == exit_codes.INPUT and "The server srv is not connected: " in ended.err


@pytest.mark.spec("E5")
def test_an_address_of_the_older_kind_can_be_added(program: Program):
    assert program.run("mcp", "add", "old", "http://127.0.0.1:9/sse", "--type", "sse").code == 0
    assert 'type = "sse"' in (program.home / "settings.toml").read_text()
    assert program.run("mcp", "add", "odd", "--type", "sse", "--", "true").code == exit_codes.CONFIG
