"""Assent is killed while a command waits for an answer about a host, and an MCP server runs in a sandbox."""

import asyncio
import os
import signal
import sys
from contextlib import suppress
from pathlib import Path

import pytest

from assent.process import process_table
from assent.sandbox.bubblewrap import bubblewrap
from support.processes import alive
from support.program import Json, Program, Running, asks_for, says, shell
from support.servers import raw_server_in
from support.waiting import until

pytestmark = [
    pytest.mark.spec("I6"),
    pytest.mark.skipif(sys.platform != "linux" or bubblewrap() is None, reason="needs bubblewrap"),
]
LINGERS = "trap '' TERM HUP INT; while :; do sleep 1; done"
FETCH = f'(setsid sh -c "{LINGERS}" > /dev/null 2>&1 &); curl -sS http://packages.example.invalid/x'
WAITING = ("--ask", "wait", "-o", "stream-json", "--allowed-tools", "run_shell_command")
SETTINGS = """
[sandbox]
approved = "network"

[mcp.servers.srv]
command = "{python}"
args = ["{script}", "{folder}", "stubborn"]
sandbox = "network"
"""


def configure(program: Program) -> None:
    folder = program.folder / "server"
    folder.mkdir()
    program.home.mkdir()
    settings = SETTINGS.format(python=sys.executable, script=raw_server_in(folder), folder=folder)
    (program.home / "settings.toml").write_text(settings)


def around(program: Program, pid: int) -> set[int]:
    """Every process below it, and every one that works in the folder, whatever it has cut off."""
    found = set(process_table.below(pid))
    for one in process_table.all_pids():
        with suppress(OSError):
            if Path(os.readlink(f"/proc/{one}/cwd")).is_relative_to(program.folder):
                found.add(one)
    return found - {os.getpid()}


def runs(pids: set[int], *words: bytes) -> bool:
    """Whether some process among them was started with each of these words."""
    lines = [b" ".join(process_table.words(pid)) for pid in pids]
    return all(any(word in line for line in lines) for word in words)


def kill(program: Program, running: Running, *words: bytes) -> None:
    """As soon as these run; returns when nothing of it is left."""
    pid = running.process.pid
    asyncio.run(until(lambda: runs(around(program, pid), *words)))
    there = around(program, pid)
    running.process.send_signal(signal.SIGKILL)
    asyncio.run(until(lambda: not [one for one in there | around(program, pid) if alive(one)]))


def test_nothing_survives_a_kill_while_a_command_asks_for_a_host(program: Program):
    configure(program)
    model = program.scenario(asks_for(shell(FETCH)), says("Done."))
    with program.start("-p", "go", "-m", model, *WAITING) as first:
        asked = first.until_type("approval.requested")
        kill(program, first, b"curl", b"trap ''", b"stubborn")
    with program.start("--resume", asked["session"], *WAITING) as second:
        assert second.wait().result["status"] == "success"
    ends = {event["call_id"]: event for event in program.events_of_type("call.finished")}
    assert ends["run"]["failure"]["type"] == "interrupted"
    assert ends[asked["call_id"]]["status"] == "cancelled", "there is nobody left to connect"


def test_a_question_is_still_there_when_a_server_in_a_sandbox_was_killed_with_assent(program: Program):
    configure(program)
    call: Json = {"name": "mcp_srv_again", "args": {}, "id": "again"}
    model = program.scenario(asks_for(call), says("Done."))
    with program.start("-p", "go", "-m", model, *WAITING) as first:
        session = first.until_type("approval.requested")["session"]
        kill(program, first, b"stubborn")
    with program.start("--resume", session, *WAITING) as second:
        second.until_type("session.opened")
        assert program.run("answer", session, "again", "yes").out == "Answered.\n"
        assert second.wait().result["status"] == "success"
