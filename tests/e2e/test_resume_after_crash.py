"""kill -9, and what is left: questions stay questions, nothing runs twice, and what is unknown is called unknown."""

import asyncio
import os
import signal
from pathlib import Path

import pytest

from support.fake_gemini import FakeGemini
from support.program import Program, asks_for, replace, says, shell, write

CANARY = shell("echo x >> canary")
WAITING = ("--ask", "wait", "-o", "stream-json")


@pytest.mark.spec("J1")
@pytest.mark.spec("C10")
def test_a_question_survives_kill_9_and_is_answered_from_another_process_and_runs_once(program: Program):
    model = program.scenario(asks_for(CANARY), says("Done."))
    with program.start("-p", "go", "-m", model, *WAITING) as first:
        asked = first.until_type("approval.requested")
        first.kill()
    session = asked["session"]
    with program.start("--resume", session, *WAITING) as second:
        second.until_type("session.opened")
        assert program.run("answer", session, "run", "yes").out == "Answered.\n"
        ended = second.wait()
    assert (ended.code, ended.result["status"], ended.result["response"]) == (0, "success", "Done.")
    assert (program.folder / "canary").read_text() == "x\n"
    (only_question,) = program.events_of_type("approval.requested")
    assert only_question["approval"]["digest"] == asked["approval"]["digest"]
    assert len(program.events_of_type("call.started")) == 1


@pytest.mark.spec("B6")
@pytest.mark.spec("J1")
def test_edits_that_build_on_each_other_wait_with_the_same_digests_after_kill_9(program: Program):
    calls = (write("new.txt", "one\n"), replace("new.txt", "one", "two"))
    model = program.scenario(asks_for(*calls), says("Done."))
    with program.start("-p", "go", "-m", model, *WAITING) as first:
        asked = [first.until_type("approval.requested") for _ in calls]
        first.kill()
    session = asked[0]["session"]
    with program.start("--resume", session, *WAITING) as second:
        second.until_type("session.opened")
        assert [program.run("answer", session, call, "yes").code for call in ("replace", "write")] == [0, 0]
        assert second.wait().result["status"] == "success"
    assert (program.folder / "new.txt").read_text() == "two\n"
    digests = [event["approval"]["digest"] for event in program.events_of_type("approval.requested")]
    assert digests == [event["approval"]["digest"] for event in asked]


@pytest.mark.spec("J2")
@pytest.mark.spec("B10")
async def test_a_command_that_was_running_is_unknown_after_kill_9_and_the_model_is_told(program: Program):
    os.mkfifo(program.folder / "fifo")
    replies = [asks_for(shell("echo x >> canary; cat fifo")), says("I check first.")]
    async with FakeGemini({"replies": replies}) as fake:
        env = {"GEMINI_API_KEY": "test-key", "GOOGLE_GEMINI_BASE_URL": fake.url}
        with program.start("-p", "go", "--approval-mode", "yolo", "-o", "stream-json", env=env) as first:
            session = first.until_type("session.created")["session"]
            pid = (await asyncio.to_thread(first.until_type, "call.process"))["pid"]
            with (program.folder / "fifo").open("w"):  # opens when the command reads: it has begun
                first.kill()
        ended = await program.run_beside("--resume", session, "-o", "stream-json", env=env)
        told = fake.requests[-1].body["contents"][-1]["parts"][-1]["functionResponse"]
    assert not Path(f"/proc/{pid}").exists()
    assert (ended.code, ended.result["response"]) == (0, "I check first.")
    (finished,) = program.events_of_type("call.finished")
    assert (finished["status"], finished["failure"]["type"]) == ("error", "interrupted")
    assert "Whether it took effect is unknown; it was not run again" in told["response"]["error"]
    assert (program.folder / "canary").read_text() == "x\n"
    assert len(program.events_of_type("call.started")) == 1


@pytest.mark.spec("J2")
@pytest.mark.spec("D6")
def test_a_resumed_session_waits_until_the_old_command_is_gone_before_it_calls_it_unknown(program: Program):
    """The command is deaf to the polite signal, so that its end takes longer than the start of the next process."""
    os.mkfifo(program.folder / "fifo")
    model = program.scenario(asks_for(shell("trap '' TERM; echo > fifo; while :; do sleep 300; done")), says("Done."))
    with program.start("-p", "go", "-m", model, "--approval-mode", "yolo", "-o", "stream-json") as first:
        pid = first.until_type("call.process")["pid"]
        (program.folder / "fifo").read_text()
        first.kill()
    with program.start("--resume", program.sessions()[0], "-o", "stream-json") as second:
        second.until_type("call.finished")
        assert not Path(f"/proc/{pid}").exists()
        assert second.wait().code == 0


def crash_after_the_answer(program: Program) -> str:
    """Killed when the answer is durable, and before anything else is: the other call of the batch still waits."""
    model = program.scenario(asks_for(CANARY, write("new.txt", "new\n")), says("Done."))
    env = {"ASSENT_FAILPOINTS": os.devnull, "ASSENT_FAILPOINT_KILL": "answered"}
    with program.start("-p", "go", "-m", model, *WAITING, env=env) as first:
        first.until_type("approval.requested")
        session = first.until_type("approval.requested")["session"]
        with program.start("answer", session, "run", "yes"):
            assert first.wait().code == -signal.SIGKILL
    assert [event["type"] for event in program.events(session)[-2:]] == ["call.scheduled", "command.taken"]
    return session


@pytest.mark.spec("J2")
def test_a_yes_that_came_just_before_the_crash_is_asked_again_and_not_run_by_itself(program: Program):
    session = crash_after_the_answer(program)
    with program.start("--resume", session, *WAITING) as second:
        again = second.until(lambda event: event["type"] == "approval.requested" and event["call_id"] == "run")
        assert "you approved it, but Assent stopped before it started" in again["approval"]["why"]
        assert program.run("answer", session, "write", "no").code == 0
        assert program.run("answer", session, "run", "yes").code == 0
        assert second.wait().result["status"] == "success"
    assert (program.folder / "canary").read_text() == "x\n"


@pytest.mark.spec("J2")
@pytest.mark.spec("B12")
def test_a_yes_that_came_just_before_the_crash_waits_for_a_person_when_nobody_is_there(program: Program):
    session = crash_after_the_answer(program)
    ended = program.run("--resume", session, "-o", "json")
    assert (ended.code, ended.result["status"]) == (57, "waiting")
    assert not (program.folder / "canary").exists()
    assert len(program.events_of_type("approval.answered")) == 1


@pytest.mark.spec("J2")
def test_a_prompt_that_was_accepted_is_carried_out_after_a_crash(program: Program):
    """Killed between the command and the turn that it begins."""
    env = {"ASSENT_FAILPOINTS": os.devnull, "ASSENT_FAILPOINT_KILL": "6"}  # three commits: create, open, put
    killed = program.run("-p", "go", "-m", program.scenario(says("Here I am.")), env=env)
    assert killed.code == -signal.SIGKILL
    assert program.events_of_type("prompt.submitted") == []
    ended = program.run("--resume", program.sessions()[0], "-o", "json")
    assert (ended.code, ended.result["response"]) == (0, "Here I am.")
    assert program.events_of_type("prompt.submitted")[0]["text"] == "go"


@pytest.mark.spec("J2")
@pytest.mark.spec("F2")
async def test_a_turn_whose_last_reply_is_in_the_log_is_over_and_the_model_is_not_asked_again(program: Program):
    """Killed between the reply and the end of the turn."""
    async with FakeGemini({"replies": [says("That is all."), says("never")]}) as fake:
        env = {"GEMINI_API_KEY": "test-key", "GOOGLE_GEMINI_BASE_URL": fake.url, "ASSENT_FAILPOINTS": os.devnull}
        # Five commits: create, open, put, submit, reply; two hits each.
        killed = await program.run_beside("-p", "go", env=env | {"ASSENT_FAILPOINT_KILL": "10"})
        assert killed.code == -signal.SIGKILL
        assert program.events()[-1]["type"] == "model.message"
        ended = await program.run_beside("--resume", program.sessions()[0], "-o", "json", env=env)
        assert len(fake.requests) == 1
    assert (ended.code, ended.result["status"]) == (0, "success")
    assert program.events()[-1]["status"] == "completed"


@pytest.mark.spec("J2")
def test_a_write_that_was_interrupted_leaves_the_old_file_or_the_new_one(program: Program):
    """Killed at every fail point of a write; the file is never anything in between."""
    old, new = "old\n" * 5_000, "new\n" * 5_000
    model = program.scenario(asks_for(write("big.txt", new)), says("Done."))
    hits = program.folder.parent / "hits"
    (program.folder / "big.txt").write_text(old)
    args = ("-p", "change @big.txt", "-m", model, "--approval-mode", "auto_edit")
    program.run(*args, env={"ASSENT_FAILPOINTS": str(hits)})
    names = hits.read_text().splitlines()
    for at in range(names.index("started"), names.index("finished") + 2):
        (program.folder / "big.txt").write_text(old)
        env = {"ASSENT_FAILPOINTS": os.devnull, "ASSENT_FAILPOINT_KILL": str(at)}
        assert program.run(*args, env=env).code == -signal.SIGKILL
        assert (program.folder / "big.txt").read_text() in (old, new)
        assert {path.name for path in program.folder.iterdir()} == {"big.txt"}
