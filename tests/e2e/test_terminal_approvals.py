"""`assent -p` on a terminal: the person sees exactly what would happen, and answers there."""

import os
from pathlib import Path

import pytest

from support.processes import alive
from support.program import Json, Program, asks_for, says, shell, write
from support.terminal import Terminal

OFFER = "n]:"
CANARY = shell("echo x >> canary")


def ask(program: Program, *calls: Json, env: dict[str, str] | None = None, flags: tuple[str, ...] = ()) -> Terminal:
    """Starts a run whose reply asks for the calls."""
    return Terminal(program, "-p", "go", "-m", program.scenario(asks_for(*calls), says("Done.")), *flags, env=env)


@pytest.mark.spec("C1")
@pytest.mark.spec("C2")
def test_a_yes_after_the_diff_was_shown_writes_the_file(program: Program):
    (program.folder / "notes.txt").write_text("one\ntwo\n")
    with ask(program, write("notes.txt", "one\nthree\n")) as terminal:
        shown = terminal.until(OFFER)
        assert "Change notes.txt" in shown or f"Change {program.folder}/notes.txt" in shown
        assert "  -two\n  +three" in shown
        assert (program.folder / "notes.txt").read_text() == "one\ntwo\n"
        terminal.answer("y")
        assert terminal.wait() == 0
        assert "✓ write_file notes.txt" in terminal.shown
    assert (program.folder / "notes.txt").read_text() == "one\nthree\n"
    assert program.events_of_type("approval.answered")[0]["outcome"] == "proceed_once"


@pytest.mark.spec("D2")
def test_a_command_that_a_person_watches_has_a_terminal(program: Program):
    with ask(program, shell("test -t 1 && test -t 2 && echo terminal"), flags=("--approval-mode", "yolo")) as terminal:
        assert terminal.wait() == 0
    (finished,) = program.events_of_type("call.finished")
    assert finished["result"]["response"]["output"] == "Output: terminal\nExit Code: 0"


@pytest.mark.spec("G6")
def test_a_progress_bar_is_one_line_and_the_next_question_stands_below_it(program: Program):
    bar = shell(r"printf '\r[#  ] 20%%'; printf '\r[## ] 60%%'; printf '\r[###] 100%%'", "bar")
    model = program.scenario(asks_for(bar), asks_for(CANARY), says("Done."))
    with Terminal(program, "-p", "go", "-m", model, "--allowed-tools", "run_shell_command(printf)") as terminal:
        lines = terminal.until(OFFER).splitlines()
        assert [line for line in lines if line.startswith("│")] == ["│ [###] 100%"]
        assert lines[-1].endswith(OFFER) and "U+000D" not in terminal.shown
        terminal.answer("n not now")
        assert terminal.wait() == 0


@pytest.mark.spec("C1")
@pytest.mark.spec("C2")
def test_a_no_with_a_reason_runs_nothing_and_tells_the_model_which_goes_on(program: Program):
    with ask(program, CANARY) as terminal:
        shown = terminal.until(OFFER)
        assert "$ echo x >> canary" in shown
        assert f"in {program.folder}" in shown
        terminal.answer("n use the other file")
        terminal.until("Done.")
        assert terminal.wait() == 0
    (finished,) = program.events_of_type("call.finished")
    assert "use the other file" in finished["result"]["response"]["error"]
    assert not (program.folder / "canary").exists()


def test_the_output_of_a_trial_is_shown_once(program: Program):
    with ask(program, shell("echo tri''ed; touch made")) as terminal:
        terminal.until(OFFER)
        terminal.answer("t")
        shown = terminal.until("apply this")
        assert [line.strip() for line in shown.splitlines() if line.strip(" |│") == "tried"] == ["│ tried"]
        terminal.until("your answer", 2)
        terminal.answer("n")
        terminal.wait()


@pytest.mark.spec("E3")
def test_a_question_of_the_model_is_answered_by_a_number_or_in_words(program: Program):
    options = [{"label": "Red"}, {"label": "Blue"}]
    questions = [{"question": "Which colour?", "options": options}, {"question": "Which name?", "type": "text"}]
    with ask(program, {"name": "ask_user", "args": {"questions": questions}, "id": "q"}) as terminal:
        shown = terminal.until("(1 of 2) your answer")
        assert "(1 of 2) Which colour?" in shown and "2  Blue" in shown
        terminal.answer("2")
        terminal.until("(2 of 2) your answer")
        terminal.answer("")
        terminal.until("(2 of 2) your answer", 2)
        assert "nothing was typed" in terminal.shown
        terminal.answer("Ann")
        assert terminal.wait() == 0
    (finished,) = program.events_of_type("call.finished")
    assert finished["result"]["response"] == {"answers": {"0": "Blue", "1": "Ann"}}


@pytest.mark.spec("C2")
@pytest.mark.spec("B11")
def test_always_answers_the_same_command_for_the_rest_of_the_session(program: Program):
    (program.folder / "add.py").write_text("print('x', file=open('canary', 'a'))")
    again = asks_for(shell("python3 add.py", "two"))
    model = program.scenario(asks_for(shell("python3 add.py", "one")), again, says("Done."))
    with Terminal(program, "-p", "go", "-m", model) as terminal:
        terminal.until(OFFER)
        terminal.answer("a")
        assert terminal.wait() == 0
        assert terminal.shown.count(OFFER) == 1
    assert (program.folder / "canary").read_text() == "x\nx\n"


def make_editor(program: Program, *lines: str) -> str:
    path = program.folder.parent / "editor.sh"
    path.write_text("\n".join(["#!/bin/sh", *lines, ""]))
    path.chmod(0o755)
    return str(path)


@pytest.mark.spec("C3")
def test_an_edited_proposal_is_shown_again_and_written_as_edited(program: Program):
    editor = make_editor(program, 'echo "mine" > "$1"')
    with ask(program, write("notes.txt", "the model's\n"), env={"EDITOR": editor}) as terminal:
        terminal.until(OFFER)
        terminal.answer("e")
        shown = terminal.until(OFFER, 2)
        assert "the proposal was changed by hand" in shown
        assert "  +mine" in shown
        assert not (program.folder / "notes.txt").exists()
        terminal.answer("y")
        assert terminal.wait() == 0
    assert (program.folder / "notes.txt").read_text() == "mine\n"


@pytest.mark.spec("C3")
@pytest.mark.parametrize(
    ("lines", "said"),
    [(["true"], "nothing was changed"), (["exit 3"], "exit code 3"), (None, "editor could not be started")],
)
def test_an_editor_that_changes_nothing_leaves_the_question_as_it_was(
    program: Program, lines: list[str] | None, said: str
):
    editor = "/nonexistent/editor" if lines is None else make_editor(program, *lines)
    with ask(program, write("notes.txt", "the model's\n"), env={"EDITOR": editor}) as terminal:
        terminal.until(OFFER)
        terminal.answer("e")
        terminal.until(OFFER, 2)
        assert said in terminal.shown
        assert ("nothing was changed" in terminal.shown) == (lines == ["true"]), "one message says it"
        terminal.answer("y")
        assert terminal.wait() == 0
    assert (program.folder / "notes.txt").read_text() == "the model's\n"


# --- what is no answer ---


@pytest.mark.spec("C2")
@pytest.mark.parametrize("keys", ["y\n", "y"])
def test_what_was_typed_before_the_question_appeared_does_not_answer_it(program: Program, keys: str):
    waits = program.waiting_script()
    model = program.scenario(asks_for(shell(waits, "wait")), asks_for(CANARY), says("Done."))
    allowed = ("--allowed-tools", f"run_shell_command({waits})")
    with Terminal(program, "-p", "go", "-m", model, *allowed) as terminal:
        terminal.until(f"▸ run_shell_command {waits}")
        terminal.type(keys)
        with (program.folder / "fifo").open("w"):
            pass
        terminal.until(OFFER)
        terminal.answer("")
        terminal.until(OFFER, 2)
        assert "please answer with one of: y, t, n" in terminal.shown
        terminal.answer("n")
        assert terminal.wait() == 130
        assert "Refused, so the turn ends here." in terminal.shown and "Cancelled" not in terminal.shown
    assert not (program.folder / "canary").exists()
    assert program.events_of_type("approval.answered")[0]["outcome"] == "cancel"


@pytest.mark.spec("C2")
@pytest.mark.parametrize("line", ["", "  ", "yes please", "maybe", "y n", "s", "1"])
def test_anything_unclear_is_no_answer_and_it_is_asked_again(program: Program, line: str):
    with ask(program, CANARY) as terminal:
        terminal.until(OFFER)
        terminal.answer(line)
        terminal.until(OFFER, 2)
        assert program.events_of_type("approval.answered") == []
        terminal.answer("Y")
        assert terminal.wait() == 0
    assert (program.folder / "canary").read_text() == "x\n"


@pytest.mark.spec("B7")
def test_several_questions_are_asked_one_after_the_other(program: Program):
    with ask(program, shell("echo 1 >> canary", "one"), shell("echo 2 >> canary", "two")) as terminal:
        shown = terminal.until(OFFER)
        assert "(1 more to follow)" in shown
        terminal.answer("y")
        terminal.until(OFFER, 2)
        assert not (program.folder / "canary").exists()  # the whole batch waits
        terminal.answer("n")
        assert terminal.wait() == 0
    assert (program.folder / "canary").read_text() == "1\n"


# --- someone else is faster ---


@pytest.mark.spec("C10")
@pytest.mark.parametrize(("outcome", "canary"), [("yes", True), ("no", False)])
def test_a_question_closes_when_another_process_answers_and_says_who(program: Program, outcome: str, canary: bool):
    with ask(program, CANARY) as terminal:
        terminal.until(OFFER)
        answered = program.run("answer", "latest", "run", outcome)
        assert answered.out == "Answered.\n"
        terminal.until("answered by ann\n")
        assert terminal.wait() == (0 if canary else 130)
    assert (program.folder / "canary").exists() == canary


# --- leaving ---


@pytest.mark.spec("B10")
def test_ctrl_c_at_a_question_cancels_the_turn(program: Program):
    with ask(program, CANARY) as terminal:
        terminal.until(OFFER)
        terminal.interrupt()
        assert terminal.wait() == 130
        assert "Cancelled. What was done is kept." in terminal.shown
    assert program.events()[-1]["status"] == "cancelled"
    assert not (program.folder / "canary").exists()


@pytest.mark.spec("B10")
@pytest.mark.spec("D6")
def test_ctrl_c_ends_a_running_command_and_keeps_its_output(program: Program):
    os.mkfifo(program.folder / "fifo")
    with ask(program, shell("echo begun; cat fifo"), flags=("--approval-mode", "yolo")) as terminal:
        terminal.until("│ begun")
        terminal.interrupt()
        assert terminal.wait() == 130
    (finished,) = program.events_of_type("call.finished")
    assert (finished["status"], finished["display"]["text"]) == ("cancelled", "begun\n")


@pytest.mark.spec("J1")
def test_ctrl_d_at_a_question_leaves_it_open(program: Program):
    leave_open(program)
    check_still_answerable(program)


@pytest.mark.spec("J1")
def test_a_closed_terminal_leaves_the_question_open_and_the_session_resumable(program: Program):
    with ask(program, CANARY) as terminal:
        terminal.until(OFFER)
        terminal.close()
        terminal.process.wait()
    check_still_answerable(program)


@pytest.mark.spec("G6")
def test_ctrl_c_at_a_question_from_before_also_withdraws_the_prompt_behind_it(program: Program):
    leave_open(program)
    (session,) = program.sessions()
    with Terminal(program, "--resume", session, "-p", "and then", "--ask", "inline", "-o", "json") as terminal:
        terminal.until(OFFER)
        terminal.interrupt()
        assert terminal.wait() == 130
        assert '"status":"cancelled"' in terminal.shown.replace(" ", "").replace("\n", "")
        assert "echo x >> canary" in terminal.shown[terminal.shown.index('"calls"') :]
    assert [event["text"] for event in program.events_of_type("prompt.submitted")] == ["go"]


def leave_open(program: Program) -> None:
    with ask(program, CANARY) as terminal:
        terminal.until(OFFER)
        terminal.type("\x04")
        assert terminal.wait() == 57
        assert "assent --resume" in terminal.shown


def check_still_answerable(program: Program) -> None:
    (session,) = program.sessions()
    assert program.events()[-1]["type"] == "approval.requested"
    with Terminal(program, "--resume", session, "--ask", "inline") as terminal:
        terminal.until(OFFER)
        terminal.answer("y")
        assert terminal.wait() == 0
    assert (program.folder / "canary").read_text() == "x\n"
    assert len(program.events_of_type("approval.requested")) == 1


@pytest.mark.spec("D6")
def test_a_closed_terminal_ends_the_command_that_runs_there(program: Program):
    os.mkfifo(program.folder / "fifo")
    with ask(program, shell("echo $$ > pid; cat fifo"), flags=("--approval-mode", "yolo")) as terminal:
        terminal.until("▸ run_shell_command")
        with (program.folder / "fifo").open("w"):  # opens when the command reads
            terminal.close()
            terminal.process.wait()
        pid = int((program.folder / "pid").read_text())
    assert not alive(pid)
    (finished,) = program.events_of_type("call.finished")
    assert finished["status"] == "cancelled"


# --- what is shown ---


@pytest.mark.spec("G2")
def test_on_a_terminal_the_answer_appears_while_it_is_still_coming(program: Program):
    model = program.scenario({"chunks": [{"text": "Once upon"}, {"pause_ms": 600_000}]})
    with Terminal(program, "-p", "go", "-m", model) as terminal:
        terminal.until("Once upon")
        terminal.interrupt()
        assert terminal.wait() == 130


@pytest.mark.spec("C9")
def test_what_a_command_hides_is_shown_and_warned_of(program: Program):
    with ask(program, shell("echo \x1b[2J\x1b[Hharmless\r rm -rf x\u202e")) as terminal:
        shown = terminal.until(OFFER)
        assert "Run a command (risk:" in shown  # the screen was not cleared
        assert "  ! " in shown
        terminal.answer("n")
        assert terminal.wait() == 130


def test_a_terminal_that_can_show_nothing_gets_a_word_instead_of_the_ui(program: Program):
    with Terminal(program, env={"TERM": "dumb"}) as terminal:
        assert terminal.wait() == 42
        assert "cannot show the UI" in terminal.shown and "-p" in terminal.shown


# --- the tour ---


def tour_folder(shown: str) -> Path:
    """Where the tour says that its project is."""
    words = shown.split("The project is a copy in ")[1]
    return Path(words.split()[0].rstrip("."))


@pytest.mark.spec("G6")
@pytest.mark.spec("B11")
def test_the_tour_asks_twice_when_the_first_command_is_always_allowed(program: Program):
    with Terminal(program, "tour", "--lines", env={"TMPDIR": str(program.folder)}) as terminal:
        terminal.until(OFFER)
        assert "$ python3 -m unittest -v" in terminal.shown
        terminal.answer("a")
        terminal.until(OFFER, 2)
        assert ">= 10_000 else 0" in terminal.shown
        terminal.answer("y")
        assert terminal.wait() == 0
        shown = terminal.shown
    assert "Assent: a guided tour" in shown
    assert shown.count(OFFER) == 2
    assert "FAILED (failures=1)" in shown
    assert "All three tests pass now." in shown
    assert "amount >= 10_000" in (tour_folder(shown) / "cart.py").read_text()


def test_the_tour_leaves_the_file_alone_when_the_edit_is_refused(program: Program):
    with Terminal(program, "tour", "--lines", env={"TMPDIR": str(program.folder)}) as terminal:
        terminal.until(OFFER)
        terminal.answer("a")
        terminal.until(OFFER, 2)
        terminal.answer("n")
        assert terminal.wait() == 130
        assert "amount > 10_000" in (tour_folder(terminal.shown) / "cart.py").read_text()


@pytest.mark.spec("G6")
def test_without_a_terminal_the_tour_answers_for_itself_and_says_so(program: Program):
    ended = program.run("tour", env={"TMPDIR": str(program.folder)})
    assert ended.code == 0
    assert "because there is no terminal" in ended.err
    assert ended.err.count("there is no terminal, so the tour answered: yes, once") == 3
    assert "All three tests pass now." in ended.out
    home = tour_folder(ended.err).parent / "home"
    assert f"ASSENT_HOME={home} " in ended.err
    shown = program.run("sessions", "show", env={"ASSENT_HOME": str(home)})
    assert "allowed by tour: approved" in shown.out


def test_a_reply_with_line_ends_after_it_leaves_no_blank_lines_before_what_follows(program: Program):
    listing = {"name": "list_directory", "args": {"dir_path": "."}, "id": "l"}
    first = {"chunks": [{"text": "I look"}, {"text": ".\n"}, {"text": "\n"}, {"text": "Now:\n\n"}, {"call": listing}]}
    with Terminal(program, "-p", "go", "-m", program.scenario(first, says("Done.\n\n"))) as terminal:
        assert terminal.wait() == 0
        assert terminal.shown.startswith("I look.\n\nNow:\n▸ list_directory .\n✓")
        assert terminal.shown.endswith("\nDone.")
