"""A command that waits for an answer about a host: from another process, after kill -9, and with nobody to ask."""

import sys
from pathlib import Path
from typing import Any

import pytest

from assent.sandbox.bubblewrap import bubblewrap
from support.program import Program, asks_for, says, shell

pytestmark = [
    pytest.mark.spec("I1"),
    pytest.mark.skipif(sys.platform != "linux" or bubblewrap() is None, reason="needs bubblewrap"),
]
FETCH = shell("curl -sS http://packages.example.invalid/x; echo over")
WAITING = ("--ask", "wait", "-o", "stream-json", "--allowed-tools", "run_shell_command")


@pytest.fixture
def networked(program: Program) -> Program:
    """Everything that is allowed runs in the sandbox `network`."""
    program.home.mkdir()
    (program.home / "settings.toml").write_text('[sandbox]\napproved = "network"\n')
    return program


def is_question(event: dict[str, Any]) -> bool:
    return event["type"] == "approval.requested"


def test_the_question_is_answered_from_another_process_and_the_command_goes_on(networked: Program):
    model = networked.scenario(asks_for(FETCH), says("Done."))
    with networked.start("-p", "go", "-m", model, *WAITING) as first:
        asked = first.until(is_question)
        shown = networked.run("sessions", "show", asked["session"]).out
        assert "wants to connect to packages.example.invalid:80" in shown
        assert networked.run("answer", asked["session"], asked["call_id"], "yes").out == "Answered.\n"
        ended = first.wait()
    assert ended.result["status"] == "success"
    (requested,) = networked.events_of_type("connection.requested")
    assert (requested["host"], requested["port"], requested["allowed"]) == ("packages.example.invalid", 80, True)
    (over,) = networked.events_of_type("connection.ended")
    assert "cannot reach packages.example.invalid:80" in over["problem"]


def test_after_kill_9_the_question_is_withdrawn_and_the_outcome_of_the_command_is_known(networked: Program):
    model = networked.scenario(asks_for(FETCH), says("Done."))
    with networked.start("-p", "go", "-m", model, *WAITING) as first:
        asked = first.until(is_question)
        first.kill()
    with networked.start("--resume", asked["session"], *WAITING) as second:
        assert second.wait().result["status"] == "success"
    ends = {event["call_id"]: event for event in networked.events_of_type("call.finished")}
    assert (ends["run"]["status"], ends["run"]["failure"]["type"]) == ("error", "interrupted")
    assert ends[asked["call_id"]]["status"] == "cancelled"
    assert "Assent stopped, and with it the command" in str(ends[asked["call_id"]]["result"])
    answered = networked.run("answer", asked["session"], asked["call_id"], "yes")
    assert answered.code != 0
    assert networked.events_of_type("connection.requested") == []


def test_with_nobody_to_ask_the_connection_is_refused_and_the_command_goes_on(networked: Program):
    model = networked.scenario(asks_for(FETCH), says("Done."))
    ended = networked.run("-p", "go", "-m", model, "-o", "stream-json", "--allowed-tools", "run_shell_command")
    assert ended.result["status"] == "refused"
    (requested,) = networked.events_of_type("connection.requested")
    assert (requested["allowed"], requested["reason"]) == (False, "no rule allows it, and nobody can be asked")


def test_always_from_now_on_is_a_grant_that_policy_list_shows_and_revoke_ends(networked: Program):
    model = networked.scenario(asks_for(FETCH), says("Done."))
    with networked.start("-p", "go", "-m", model, *WAITING) as first:
        asked = first.until(is_question)
        answer = networked.run("answer", asked["session"], asked["call_id"], "always", "--scope", "2")
        assert answer.code == 0, answer
        first.wait()
    reach = "Connections of commands to packages.example.invalid (ports 80 and 443), in this folder, from now on."
    listed = networked.run("policy", "list").out
    assert reach in listed
    networked.run("-p", "again", "-m", model, "-o", "stream-json", "--allowed-tools", "run_shell_command")
    *_, latest = networked.events_of_type("connection.requested", networked.sessions()[-1])
    assert (latest["allowed"], latest["reason"]) == (True, f"granted before: {reach}")
    assert not Path(networked.home, "policy.toml").exists()
    (grant,) = (line.split()[1] for line in listed.splitlines() if reach in line)
    assert reach in networked.run("policy", "revoke", grant).out
    assert reach not in networked.run("policy", "list").out
