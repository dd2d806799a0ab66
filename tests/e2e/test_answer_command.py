"""`assent answer` from another terminal: while the session runs, and while nobody has it open."""

import re
import signal

import pytest

from support.program import Program, Running, asks_for, says, shell, write


def start_waiting(program: Program, *calls: dict[str, object], flags: tuple[str, ...] = ()) -> tuple[Running, str]:
    """A run whose calls all wait for an answer."""
    model = program.scenario(asks_for(*calls), says("Done."))
    running = program.start("-p", "go", "-m", model, "--ask", "wait", "-o", "stream-json", *flags)
    sessions = {running.until_type("approval.requested")["session"] for _ in calls}
    return running, sessions.pop()


def leave_waiting(program: Program, *calls: dict[str, object]) -> str:
    """A session with a question, and nobody who has it open."""
    running, session = start_waiting(program, *calls)
    running.kill()
    return session


CANARY = shell("echo x >> canary")


@pytest.mark.spec("C10")
@pytest.mark.spec("D1")
def test_an_answer_from_another_process_lets_the_call_run_once(program: Program):
    running, session = start_waiting(program, CANARY)
    with running:
        answered = program.run("answer", session, "run", "yes")
        ended = running.wait()
    assert (answered.code, answered.out) == (0, "Answered.\n")
    assert "echo x >> canary" in answered.err  # what was approved is shown
    assert "yes, once" not in answered.err  # but not what else could have been said
    assert ended.result["status"] == "success"
    assert (program.folder / "canary").read_text() == "x\n"
    (decided,) = program.events_of_type("call.scheduled")
    assert decided["decision"]["by"].startswith("ann@pid")


@pytest.mark.spec("C10")
@pytest.mark.parametrize("output", ["text", "json"])
def test_a_run_that_waits_says_for_what_and_how_to_answer(program: Program, output: str):
    model = program.scenario(asks_for(CANARY), says("Done."))
    with program.start("-p", "go", "-m", model, "--ask", "wait", "-o", output) as running:
        running.until_error("|no\n")
        (answer,) = re.findall(r"To answer it: assent (answer \S+ \S+ yes)\|", running.printed_errors())
        assert program.run(*answer.split()).out == "Answered.\n"
        ended = running.wait()
    assert ended.code == 0 and (program.folder / "canary").read_text() == "x\n"


@pytest.mark.spec("C10")
def test_a_run_that_waits_for_words_says_how_to_give_them(program: Program):
    questions = [{"question": "Which one?", "type": "text"}, {"question": "When?", "type": "text"}]
    asks = {"name": "ask_user", "id": "ask", "args": {"questions": questions}}
    with program.start("-p", "go", "-m", program.scenario(asks_for(asks), says("Done.")), "--ask", "wait") as running:
        running.until_error('yes|no --say "…" --say "…"\n')
        (answer,) = re.findall(r"To answer it: assent (answer \S+ \S+ yes)\|", running.printed_errors())
        assert program.run(*answer.split(), "--say", "this", "--say", "now").out == "Answered.\n"
        assert running.wait().code == 0


@pytest.mark.spec("F1")
@pytest.mark.spec("A3")
def test_every_step_of_a_call_is_in_the_stream_in_its_order(program: Program):
    running, session = start_waiting(program, shell("python3 -c 'print(1)'"))
    with running:
        program.run("answer", session, "run", "yes")
        ended = running.wait()
    steps = [line["type"] for line in ended.lines if line["type"].startswith(("call.", "approval."))]
    assert steps == [
        "call.requested",
        "approval.requested",
        "approval.answered",
        "call.scheduled",
        "call.started",
        "call.process",
        "call.output",
        "call.finished",
    ]


@pytest.mark.spec("C10")
@pytest.mark.spec("B8")
def test_a_no_carries_its_reason_to_the_model_and_leaves_the_sibling_alone(program: Program):
    running, session = start_waiting(program, CANARY, write("new.txt", "hello\n"))
    with running:
        assert program.run("answer", session, "run", "no", "--reason", "use make instead").code == 0
        assert program.run("answer", session, "write", "yes").code == 0
        ended = running.wait()
    statuses = {event["call_id"]: event for event in ended.of_type("call.finished")}
    assert "use make instead" in statuses["run"]["result"]["response"]["error"]
    assert (statuses["run"]["status"], statuses["write"]["status"]) == ("cancelled", "success")
    assert not (program.folder / "canary").exists()


@pytest.mark.spec("C10")
@pytest.mark.spec("B7")
def test_the_second_answer_is_told_that_it_came_too_late_and_by_whom(program: Program):
    running, session = start_waiting(program, CANARY, write("new.txt", "hello\n"))
    with running:
        assert program.run("answer", session, "write", "no").code == 0
        late = program.run("answer", session, "write", "yes")
        assert program.run("answer", session, "run", "no").code == 0
        running.wait()
    assert (late.code, late.out) == (42, "")
    assert late.err.rstrip().endswith("has already been answered by ann")
    assert not (program.folder / "new.txt").exists()


@pytest.mark.spec("C4")
def test_an_answer_may_bring_other_content_or_other_arguments(program: Program):
    (program.folder.parent / "mine.txt").write_text("mine\n")
    running, session = start_waiting(program, CANARY, write("new.txt", "the model's\n"))
    with running:
        better = program.run("answer", session, "write", "yes", "--content", str(program.folder.parent / "mine.txt"))
        wrong = program.run("answer", session, "run", "yes", "--args", '{"comand": "echo"}')
        other = program.run("answer", session, "run", "yes", "--args", '{"command": "echo y >> canary"}')
        ended = running.wait()
    assert (better.code, other.code, ended.result["status"]) == (0, 0, "success")
    assert wrong.code == 1
    assert "the answer was not accepted" in wrong.err
    assert (program.folder / "new.txt").read_text() == "mine\n"
    assert (program.folder / "canary").read_text() == "y\n"


@pytest.mark.spec("C10")
@pytest.mark.spec("J3")
def test_a_yes_to_a_change_of_a_file_that_has_changed_since_does_not_count_as_answered(program: Program):
    running, session = start_waiting(program, write("new.txt", "the model's\n"))
    with running:
        (program.folder / "new.txt").write_text("someone else's\n")
        early = program.run("answer", session, "write", "yes")
        assert (program.folder / "new.txt").read_text() == "someone else's\n"
        again = program.run("answer", session, "write", "yes")
        running.wait()
    assert (early.code, early.out) == (1, "")
    assert "it did not run and needs a new answer, because " in early.err
    assert "someone else's" in again.err and again.out == "Answered.\n"


@pytest.mark.spec("B11")
def test_always_releases_the_other_call_that_it_covers(program: Program):
    (program.folder / "add.py").write_text("print('x', file=open('canary', 'a'))")
    running, session = start_waiting(program, shell("python3 add.py", "one"), shell("python3 add.py", "two"))
    with running:
        answered = program.run("answer", session, "one", "always")
        assert answered.code == 0 and "`, and nothing else, in " in answered.err
        ended = running.wait()
    assert ended.result["status"] == "success"
    assert (program.folder / "canary").read_text() == "x\nx\n"
    assert ended.result["stats"]["decisions"] == {"person": 1, "grant": 1}


@pytest.mark.spec("C10")
def test_whoever_answers_is_told_when_the_session_dies_before_it_took_the_answer(program: Program):
    running, session = start_waiting(program, CANARY)
    with running:
        running.signal(signal.SIGSTOP)
        with program.start("answer", session, "run", "yes") as answering:
            while not program.inbox(session) and answering.process.poll() is None:
                pass
            running.kill()
            answered = answering.wait()
    assert answered.code == 0
    assert "The session ended before it took this." in answered.out
    assert f"assent --resume {session}" in answered.out
    assert program.run("--resume", session, "-o", "json").result["status"] == "success"
    assert (program.folder / "canary").read_text() == "x\n"


@pytest.mark.spec("C10")
def test_an_answer_that_was_taken_with_the_last_breath_counts_as_taken(program: Program):
    killed = {"ASSENT_FAILPOINTS": str(program.folder.parent / "trace"), "ASSENT_FAILPOINT_KILL": "answered"}
    model = program.scenario(asks_for(CANARY), says("Done."))
    with program.start("-p", "go", "-m", model, "--ask", "wait", "-o", "stream-json", env=killed) as running:
        session = running.until_type("approval.requested")["session"]
        answered = program.run("answer", session, "run", "yes")
        assert running.wait().code == -9
    assert (answered.code, answered.out) == (0, "Answered.\n")


@pytest.mark.spec("J1")
@pytest.mark.spec("C10")
@pytest.mark.parametrize("flags", [(), ("--ask", "wait")])
def test_an_answer_given_while_nothing_runs_takes_effect_on_resume(program: Program, flags: tuple[str, ...]):
    session = leave_waiting(program, CANARY)
    answered = program.run("answer", session[:20], "ru", "yes")
    assert answered.code == 0
    assert f"assent --resume {session}" in answered.out
    assert not (program.folder / "canary").exists()
    ended = program.run("--resume", session, "-o", "stream-json", *flags)
    assert (ended.code, ended.result["status"], ended.result["response"]) == (0, "success", "Done.")
    assert (program.folder / "canary").read_text() == "x\n"


@pytest.mark.spec("C10")
def test_of_two_answers_given_while_nothing_runs_the_first_wins(program: Program):
    session = leave_waiting(program, CANARY)
    assert program.run("answer", session, "run", "no").code == 0
    late = program.run("answer", session, "run", "yes")
    assert late.code == 42
    assert "is already recorded: cancel" in late.err
    ended = program.run("--resume", session, "-o", "stream-json")
    assert not (program.folder / "canary").exists()
    assert (ended.code, ended.result["status"]) == (130, "cancelled")


@pytest.mark.spec("J1")
@pytest.mark.spec("J3")
def test_an_answer_to_a_file_that_changed_meanwhile_is_not_taken_and_it_is_asked_again(program: Program):
    target = program.folder / "notes.txt"
    target.write_text("one\n")
    session = leave_waiting(program, write("notes.txt", "two\n"))
    assert program.run("answer", session, "write", "yes").code == 0
    target.write_text("someone else's\n")
    ended = program.run("--resume", session, "-o", "json")
    assert (ended.code, ended.result["status"]) == (57, "waiting")
    assert target.read_text() == "someone else's\n"
    assert "the action has changed since it was shown to you" in program.events_of_type("command.taken")[-1]["problem"]
    asked = program.events_of_type("approval.requested")
    assert "-someone else's" in asked[-1]["approval"]["details"]["diff"]


@pytest.mark.spec("J1")
@pytest.mark.spec("B12")
def test_a_question_of_an_earlier_run_is_not_refused_because_nobody_is_there_now(program: Program):
    session = leave_waiting(program, CANARY)
    before = program.events_of_type("approval.requested")
    ended = program.run("--resume", session, "-p", "and then?", "-o", "stream-json")
    assert (ended.code, ended.result["status"]) == (57, "waiting")
    assert f"assent answer {session} CALL OUTCOME" in ended.err
    assert program.events_of_type("approval.requested") == before
    assert len(program.events_of_type("prompt.submitted")) == 1


@pytest.mark.spec("G6")
@pytest.mark.spec("J1")
def test_a_stream_that_continues_a_session_announces_the_questions_that_wait(program: Program):
    session = leave_waiting(program, CANARY, write("new.txt", "new\n"))
    asked = program.events_of_type("approval.requested")
    announced = program.run("--resume", session, "-o", "stream-json").of_type("approval.requested")
    assert [one["call_id"] for one in announced] == ["run", "write"]  # in the order of the calls
    assert {one["call_id"]: one["approval"] for one in announced} == {one["call_id"]: one["approval"] for one in asked}
    assert {one["seq"] for one in announced} == {0}  # they are announced again, not asked again
    assert program.events_of_type("approval.requested") == asked


@pytest.mark.spec("G6")
@pytest.mark.spec("C10")
def test_a_script_that_continues_a_session_can_answer_what_is_announced(program: Program):
    session = leave_waiting(program, CANARY)
    with program.start("--resume", session, "--ask", "wait", "-o", "stream-json") as running:
        announced = running.until_type("approval.requested")
        assert program.run("answer", session, announced["call_id"], "yes").code == 0
        ended = running.wait()
    assert len(ended.of_type("approval.requested")) == 1
    assert (ended.result["status"], (program.folder / "canary").read_text()) == ("success", "x\n")


@pytest.mark.spec("G6")
def test_a_question_that_is_asked_anew_is_announced_once(program: Program):
    (program.folder / "notes.txt").write_text("one\n")
    session = leave_waiting(program, write("notes.txt", "two\n"))
    (program.folder / "notes.txt").write_text("three\n")
    (announced,) = program.run("--resume", session, "-o", "stream-json").of_type("approval.requested")
    assert "-three" in announced["approval"]["details"]["diff"]
    assert announced["seq"] > 0


@pytest.mark.spec("G6")
@pytest.mark.spec("J1")
def test_a_question_that_is_no_longer_needed_is_not_announced(program: Program):
    session = leave_waiting(program, write("new.txt", "new\n"))
    ended = program.run("--resume", session, "-o", "stream-json", "--allowed-tools", "write_file")
    assert ended.of_type("approval.requested") == []
    assert (ended.result["status"], (program.folder / "new.txt").read_text()) == ("success", "new\n")


@pytest.mark.spec("C10")
@pytest.mark.parametrize(
    ("args", "said"),
    [
        (["nope", "run", "yes"], "there is no session 'nope'"),
        (["latest", "nope", "yes"], "'nope' is none of these:\n  run\n"),
        (["latest", "run", "perhaps"], "'perhaps' is not an answer; say yes, no, always or try"),
        (["latest", "run", "yes", "--args", "[]"], "--args is not a JSON object"),
        (["latest", "run", "yes", "--content", "missing.txt"], "cannot read missing.txt"),
    ],
)
def test_an_answer_that_cannot_be_given_says_why_and_changes_nothing(program: Program, args: list[str], said: str):
    leave_waiting(program, CANARY)
    before = program.events()
    ended = program.run("answer", *args)
    assert (ended.code, ended.out) == (42, "")
    assert said in ended.err
    assert program.events() == before


@pytest.mark.spec("C10")
def test_a_call_can_be_answered_by_its_number(program: Program):
    leave_waiting(program, CANARY)
    ended = program.run("answer", "latest", "1", "no")
    assert ended.code == 0, ended.err


@pytest.mark.spec("C10")
def test_a_call_that_is_over_cannot_be_answered(program: Program):
    program.run("-p", "go", "-m", program.scenario(asks_for(CANARY), says("Done.")))
    ended = program.run("answer", "latest", "run", "yes")
    assert ended.code == 42
    assert "call run is not waiting for an answer" in ended.err
    (session,) = program.sessions()
    assert f"nothing waits for an answer in session {session}" in program.run("answer", "latest", "x", "yes").err
    assert f"session {session} has no change that can be undone" in program.run("undo", "latest", "--list").err
    assert f"session {session} has no change that can be undone" in program.run("undo", "latest", "x").err
    assert f"session {session} has no grants" in program.run("policy", "revoke", session, "x").err
