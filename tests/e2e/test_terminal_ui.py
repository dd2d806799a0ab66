"""The terminal UI as a real process in a real pseudo-terminal: the tour, type-ahead, pastes, a lost terminal."""

import os
import re
import signal
import time
from collections.abc import Callable
from itertools import cycle

import pytest

from support.program import Program, asks_for, says, shell, write
from support.terminal import QUIET, Terminal
from support.waiting import WAIT_LIMIT

SIZE = (80, 24)
CANARY = shell("echo x >> canary")
YES = "y  yes, once"


def start(program: Program, *replies: dict[str, object], env: dict[str, str] | None = None) -> Terminal:
    return Terminal(program, "-m", program.scenario(*replies), size=SIZE, env=env)


def submit(terminal: Terminal, text: str) -> None:
    terminal.until("Ask something about this folder")
    terminal.type(text)
    terminal.until(f"> {text}")
    terminal.type("\r")


def leave(terminal: Terminal) -> int:
    terminal.quit()
    return terminal.wait()


@pytest.mark.spec("G3", "G6")
def test_the_tour_is_played_to_its_end(program: Program):
    with Terminal(program, "tour", size=SIZE, env={"TMPDIR": str(program.folder)}) as terminal:
        terminal.until("python3 -m unittest -v")
        terminal.until(YES)
        terminal.decide("y", ">= 10_000 else 0")
        terminal.until(YES)
        terminal.decide("y", "Now the tests again")
        terminal.until(YES)
        terminal.decide("y", "All three tests pass now")
        (project,) = program.folder.glob("assent-tour-*/cart")
        assert leave(terminal) == 0
        assert "sessions show" in terminal.shown  # what to do next, on the terminal as it was before
    assert "amount >= 10_000" in (project / "cart.py").read_text()


@pytest.mark.spec("G6")
@pytest.mark.parametrize("prompt", [["fix the test"], ["--", "fix"]])
def test_a_prompt_on_the_command_line_opens_the_ui_with_it(program: Program, prompt: list[str]):
    with Terminal(program, "-m", program.scenario(says("It is fixed.")), *prompt, size=SIZE) as terminal:
        terminal.until(f"❯ {prompt[-1]}")
        terminal.until("It is fixed.")
        assert leave(terminal) == 0


@pytest.mark.spec("G4")
def test_ctrl_c_interrupts_and_ctrl_d_leaves_a_waiting_question_open(program: Program):
    slow: dict[str, object] = {"chunks": [{"text": "Once upon"}, {"pause_ms": 600_000}]}
    with start(program, slow, asks_for(CANARY)) as terminal:
        submit(terminal, "tell")
        terminal.until("Once upon")
        terminal.interrupt()
        terminal.until("Cancelled. What was done is kept.")
        terminal.type("go\r")
        terminal.until(YES)
        terminal.type("\x04")
        assert terminal.wait() == 0
        assert "A call is waiting for your answer" in terminal.shown
    assert not (program.folder / "canary").exists()


@pytest.mark.spec("N5")
def test_a_question_sets_the_title_and_rings_as_configured(program: Program):
    program.home.mkdir()
    (program.home / "settings.toml").write_text('[terminal]\nnotify = ["title", "osc777"]\n')
    with start(program, asks_for(CANARY), says("Done.")) as terminal:
        submit(terminal, "go")
        terminal.until(YES)
        assert terminal.title == "? Run a command (risk: medium)"
        terminal.decide("y", "Done.")


def answer_yes(terminal: Terminal) -> None:
    for result in ("Here is the change", "Now the tests again", "All three tests pass now"):
        terminal.until(YES)
        terminal.decide("y", result)


def answer_no(terminal: Terminal) -> None:
    """After a no, the person says something and the script continues with its next step."""
    for number in (1, 2):
        terminal.until(YES)
        terminal.decide("n", "so the turn ends here", count=number)
        terminal.type(f"go on {number}\r")
    terminal.until(YES)
    terminal.decide("y", "The tests still fail, because the change was not made")


@pytest.mark.spec("G6")
@pytest.mark.parametrize("answer", [answer_yes, answer_no], ids=["yes", "no"])
def test_the_tour_ends_well_whatever_is_answered_and_typed(program: Program, answer: Callable[[Terminal], None]):
    with Terminal(program, "tour", size=(100, 40), env={"TMPDIR": str(program.folder)}) as terminal:
        answer(terminal)
        for words in ("what now?", "hello?"):
            terminal.type(f"{words}\r")
            terminal.until(f"❯ {words}")
        terminal.until("That was the tour. I follow a script", count=2)
        assert leave(terminal) == 0
        assert "exhausted" not in terminal.shown and "../" not in terminal.shown


@pytest.mark.spec("G6", "H2")
def test_the_tour_is_shown_on_the_page_as_well(program: Program):
    with Terminal(program, "tour", "--web", env={"TMPDIR": str(program.folder)}) as terminal:
        terminal.until("The tour is at http://127.0.0.1:")
        assert "&session=" in terminal.until("Ctrl-C ends the tour.").replace("\n", "")  # the page opens there
        (home,) = program.folder.glob("assent-tour-*/home")
        asked = lambda: "unittest" in program.run("sessions", "show", "latest", env={"ASSENT_HOME": str(home)}).out  # noqa: E731
        terminal.until_silent(asked, "the tour's session asks nothing")
        terminal.type("\r")
        terminal.until("&session=", count=2)
        codes = re.findall(r"#code=([\w-]+)", terminal.shown)
        assert len(set(codes)) == 2, "each works only once"
        terminal.interrupt()
        assert terminal.wait() == 0
        assert "sessions show" in terminal.shown


@pytest.mark.spec("C2", "G3")
def test_whoever_types_on_while_a_question_appears_answers_nothing(program: Program):
    waits = program.waiting_script()
    model = program.scenario(asks_for(shell(waits, "wait"), text="One."), asks_for(CANARY), says("Done."))
    allowed = ("--allowed-tools", f"run_shell_command({waits})")
    with Terminal(program, "-m", model, *allowed, size=SIZE) as terminal:
        submit(terminal, "go")
        terminal.until("▸ run_shell_command")
        with (program.folder / "fifo").open("w"):
            pass  # the command ends, and the next question is about to appear
        keys = cycle(("y\r", "a\r", "A\r", "ry"))  # two at once: after a pause of this test, one alone would count
        deadline = time.monotonic() + 3
        while time.monotonic() < deadline:
            terminal.type(next(keys))
            terminal.read_for(0.04)
        terminal.until("▌ echo x >> canary")
        assert not (program.folder / "canary").exists()
        assert program.events_of_type("approval.answered") == []
        terminal.type("\x15")  # whatever was typed into the input
        if "Tab to answer" in terminal.until_any(YES, "Tab to answer", "too fast"):
            terminal.type("\t")  # it has the keyboard already if it came when nothing was typed
        while not program.events_of_type("approval.answered"):
            terminal.press("n")  # again, as long as it came too soon after the others
        assert not (program.folder / "canary").exists()
    (answer,) = program.events_of_type("approval.answered")
    assert answer["outcome"] == "cancel"


@pytest.mark.spec("C2")
@pytest.mark.parametrize("pasted", ["y", "y\n", "y\x1b[31m\ny"])
def test_a_paste_never_answers(program: Program, pasted: str):
    with start(program, asks_for(CANARY)) as terminal:
        submit(terminal, "go")
        terminal.until(YES)
        terminal.read_for(QUIET)
        terminal.type(f"\x1b[200~{pasted}\x1b[201~")
        terminal.until("Tab to answer")  # it is in the message now
        terminal.read_for(QUIET)
        assert program.events_of_type("approval.answered") == []
        terminal.type("\t")
        terminal.until(YES)
        terminal.decide("n", "⊘ run_shell_command")
    assert not (program.folder / "canary").exists()


@pytest.mark.spec("J1")
@pytest.mark.parametrize("how", ["closed", "hung up", "terminated"])
def test_a_lost_terminal_leaves_the_question_open(program: Program, how: str):
    with start(program, asks_for(CANARY), says("Done.")) as terminal:
        submit(terminal, "go")
        terminal.until(YES)
        match how:
            case "closed":
                terminal.close()
            case "hung up":
                terminal.process.send_signal(signal.SIGHUP)
            case _:
                terminal.process.send_signal(signal.SIGTERM)
        if how != "closed":
            terminal.wait()
        terminal.process.wait(WAIT_LIMIT)
    assert program.events()[-1]["type"] == "approval.requested"
    answered = program.run("answer", "latest", "run", "yes")
    assert answered.code == 0, answered.err
    (session,) = program.sessions()
    ended = program.run("--resume", session)
    assert ended.code == 0, ended.err
    assert (program.folder / "canary").read_text() == "x\n"


def test_the_screen_is_drawn_anew_after_ctrl_z(program: Program):
    with start(program, asks_for(CANARY)) as terminal:
        submit(terminal, "go")
        terminal.until(YES)
        terminal.type("\x1a")
        os.waitid(os.P_PID, terminal.process.pid, os.WSTOPPED | os.WNOWAIT)  # it has stopped, as a shell would see it
        terminal.until_true(lambda: YES not in terminal.shown, "it did not leave the screen")
        terminal.process.send_signal(signal.SIGCONT)
        terminal.until_true(lambda: YES in terminal.shown and "go" in terminal.shown, "it did not come back")
        terminal.decide("n", "⊘ run_shell_command")


def test_the_screen_follows_the_size_of_the_window(program: Program):
    with start(program, asks_for(CANARY)) as terminal:
        submit(terminal, "go")
        terminal.until(YES)
        terminal.resize(110, 30)
        terminal.until_true(lambda: any(len(row) == 110 for row in terminal.shown.splitlines()), "it is not wider")
        terminal.resize(60, 20)
        terminal.until_true(
            lambda: YES in terminal.shown and max(map(len, terminal.shown.splitlines())) == 60, "it is not narrower"
        )
        assert terminal.shown.splitlines()[-1].split()[0]  # the last line is on the screen


EDITOR_THAT_STAYS = """#!/bin/sh
echo "in the editor"
while [ ! -e leave ]; do sleep 0.02; done
echo mine > "$1"
"""


@pytest.mark.spec("C3")
def test_an_editor_may_stay_open_while_the_turn_goes_on(program: Program):
    editor = program.folder.parent / "editor.sh"
    editor.write_text(EDITOR_THAT_STAYS)
    editor.chmod(0o755)
    words: dict[str, object] = {
        "chunks": [chunk for n in range(150) for chunk in ({"text": f"word{n} "}, {"pause_ms": 20})]
    }
    with start(program, words, env={"EDITOR": str(editor)}) as terminal:
        submit(terminal, "go")
        terminal.until("word3")
        terminal.type("\x07")
        terminal.until("in the editor")
        # Far more is drawn meanwhile than fits into any queue; it all goes nowhere.
        terminal.until_silent(lambda: program.events_of_type("turn.finished"), "the turn did not go on")
        (program.folder / "leave").touch()
        terminal.until("word149")
        terminal.until("> mine")
        terminal.interrupt()  # clears the input
        assert leave(terminal) == 0


@pytest.mark.spec("C3")
def test_the_editor_gets_the_terminal_and_gives_it_back(program: Program):
    editor = program.folder.parent / "editor.sh"
    editor.write_text('#!/bin/sh\necho "in the editor"\nread line < /dev/tty\necho "$line" > "$1"\n')
    editor.chmod(0o755)
    with start(
        program, asks_for(write("notes.txt", "the model's\n")), says("Done."), env={"EDITOR": str(editor)}
    ) as it:
        submit(it, "go")
        it.until(YES)
        it.decide("e", "in the editor")
        it.type("mine\n")
        it.until("+ mine")
        it.until(YES)
        it.decide("y", "Done.")
    assert (program.folder / "notes.txt").read_text() == "mine\n"


BREAKS_THE_TERMINAL = """#!/bin/sh
stty raw -echo < /dev/tty
kill -9 $$
"""


@pytest.mark.spec("G1")
@pytest.mark.parametrize(
    ("editor", "said"),
    [
        ("nosuch", "The editor could not be started: nosuch was not found"),
        ("", "The editor could not be started: vi was not found"),
        ("false", "The editor ended with exit code 1"),
        (BREAKS_THE_TERMINAL, "The editor was ended by signal 9"),
    ],
    ids=["unknown", "none", "fails", "killed"],
)
def test_an_editor_that_fails_leaves_the_screen_and_the_draft(program: Program, editor: str, said: str):
    path = os.environ["PATH"] if editor else str(program.folder)  # without EDITOR and without vi
    if editor.startswith("#!"):
        script = program.folder.parent / "editor.sh"
        script.write_text(editor)
        script.chmod(0o755)
        editor = str(script)
    with start(program, env={"EDITOR": editor, "VISUAL": "", "PATH": path}) as terminal:
        before = terminal.modes
        terminal.until("Ask something about this folder")
        terminal.type("a draft")
        terminal.until("> a draft")
        terminal.type("\x07")
        terminal.until(said)
        terminal.until("> a draft")
        terminal.type(" goes on")
        terminal.until("> a draft goes on")
        terminal.interrupt()  # clears the input
        terminal.until("> Ask something")
        terminal.type("/editor nosuch2\r")
        terminal.until("There is no editor nosuch2 here")
        assert leave(terminal) == 0
        assert terminal.modes == before


@pytest.mark.spec("C3")
def test_a_question_stays_if_the_editor_cannot_be_started(program: Program):
    change = asks_for(write("notes.txt", "the model's\n"))
    with start(program, change, says("Done."), env={"EDITOR": "nosuch", "VISUAL": ""}) as terminal:
        submit(terminal, "go")
        terminal.until(YES)
        terminal.decide("e", "nosuch was not found")
        terminal.until(YES)
        terminal.decide("y", "Done.")
    assert (program.folder / "notes.txt").read_text() == "the model's\n"


@pytest.mark.spec("G1")
def test_ctrl_c_in_an_editor_that_leaves_the_terminal_alone_ends_only_the_editor(program: Program):
    editor = program.folder.parent / "editor.sh"
    editor.write_text('#!/bin/sh\necho "in the editor"\nexec sleep 1000\n')
    editor.chmod(0o755)
    with start(program, env={"EDITOR": str(editor), "VISUAL": ""}) as terminal:
        terminal.until("Ask something about this folder")
        terminal.type("a draft\x07")
        terminal.until("in the editor")
        terminal.interrupt()
        terminal.until("The editor was ended by signal 2")
        terminal.until("> a draft")
        terminal.interrupt()
        assert leave(terminal) == 0
