"""One day of work in the terminal UI, in a real pseudo-terminal: what tends to go wrong between two things."""

import os
import signal

import pytest

from support.program import Program, asks_for, says, shell, write
from support.terminal import Terminal

SIZE = (100, 30)
YES = "y  yes, once"
PASTE = "\n".join(f"log line {number}" for number in range(200))
EDITOR = """#!/bin/sh
echo "in the editor"
while [ ! -e leave ]; do sleep 0.02; done
echo " of the cart" >> "$1"
"""
WHEEL_UP, PRESS, DRAG, RELEASE = "\x1b[<64;20;5M", "\x1b[<0;{x};{y}M", "\x1b[<32;{x};{y}M", "\x1b[<0;{x};{y}m"
SLOW_WORDS = {"chunks": [chunk for n in range(670) for chunk in ({"text": f"word{n} "}, {"pause_ms": 15})]}


class Day:
    """The same session in one terminal after the other."""

    def __init__(self, program: Program) -> None:
        self.program = program
        editor = program.folder.parent / "editor.sh"
        editor.write_text(EDITOR)
        editor.chmod(0o755)
        self.env = {"EDITOR": str(editor)}
        waits = program.waiting_script()
        self.model = program.scenario(
            says("I have read the log."),
            asks_for(shell(waits, "wait"), text="This takes a while."),
            SLOW_WORDS,
            says("\n\n".join(f"paragraph {number}" for number in range(60))),
            asks_for(write("notes.txt", "".join(f"note {number}\n" for number in range(80)))),
            says("The notes are written."),
        )
        self.allowed = ("--allowed-tools", f"run_shell_command({waits})")

    def open(self, *args: str) -> Terminal:
        return Terminal(self.program, "-m", self.model, *self.allowed, *args, size=SIZE, env=self.env)

    def finished(self) -> int:
        return len(self.program.events_of_type("turn.finished"))


def say(terminal: Terminal, text: str) -> None:
    terminal.type(text)
    terminal.until(f"> {text}")
    terminal.type("\r")


def row_of(terminal: Terminal, text: str) -> int:
    """Counted from 1, as a mouse does."""
    return next(number for number, row in enumerate(terminal.shown.splitlines(), start=1) if text in row)


def paste_and_ask(terminal: Terminal) -> None:
    terminal.until("Ask something about this folder")
    terminal.type(f"\x1b[200~{PASTE}\x1b[201~")
    terminal.until("> [Pasted text #1: 200 lines]")
    terminal.type(" what is wrong?\r")
    terminal.until("I have read the log.")
    assert "❯ [Pasted text #1: 200 lines] what is wrong?" in terminal.shown and "log line" not in terminal.shown


def queue_and_interrupt(terminal: Terminal) -> None:
    say(terminal, "run it")
    terminal.until("▸ run_shell_command")
    say(terminal, "and then?")
    terminal.until("⋯ and then?")
    terminal.type("\x1b[A")  # Up takes it back
    terminal.until("> and then?")
    terminal.type("\x15")  # and Ctrl-U discards it
    terminal.until_true(lambda: "> and then?" not in terminal.shown, "the input is not empty")
    terminal.type("\x1b")
    terminal.until("Cancelled. What was done is kept.")


def write_in_the_editor(terminal: Terminal, day: Day) -> None:
    """The editor stays open until the whole turn is over: ten seconds, in which a screen that nobody reads fills up."""
    before = day.finished()
    say(terminal, "tell me")
    terminal.until("word3")
    terminal.type("the total")
    terminal.until("> the total")
    terminal.type("\x07")
    terminal.until("in the editor")
    terminal.until_silent(lambda: day.finished() > before, "the turn did not go on")
    (day.program.folder / "leave").touch()
    terminal.until("word669")
    terminal.until("of the cart")
    terminal.type("\r")
    terminal.until("paragraph 59")


def suspend_and_resize(terminal: Terminal) -> None:
    terminal.type("\x1a")
    os.waitid(os.P_PID, terminal.process.pid, os.WSTOPPED | os.WNOWAIT)
    terminal.until_true(lambda: "paragraph 59" not in terminal.shown, "it did not leave the screen")
    terminal.process.send_signal(signal.SIGCONT)
    terminal.until("paragraph 59")
    terminal.resize(70, 24)
    terminal.until_true(lambda: max(map(len, terminal.shown.splitlines())) == 70, "it is not narrower")
    terminal.resize(*SIZE)
    terminal.until_true(lambda: max(map(len, terminal.shown.splitlines())) == SIZE[0], "it is not wider")
    terminal.until("paragraph 59")


def scroll_and_copy(terminal: Terminal) -> None:
    terminal.type(WHEEL_UP * 8)
    terminal.until_true(lambda: "paragraph 59" not in terminal.shown, "the wheel does not scroll")
    terminal.type("\x1b[1;5F")  # Ctrl-End
    terminal.until("paragraph 59")
    row = row_of(terminal, "paragraph 59")
    for event in (PRESS, DRAG, RELEASE):
        terminal.type(event.format(x=4 if event == PRESS else 12, y=row))
    terminal.until("Copied 9 characters.")
    terminal.type("still typing")
    terminal.until("> still typing")
    terminal.type("\x15")


@pytest.mark.spec("G1", "G2", "G3", "G4")
def test_a_day_of_work(program: Program):
    day = Day(program)
    with day.open() as terminal:
        paste_and_ask(terminal)
        queue_and_interrupt(terminal)
        write_in_the_editor(terminal, day)
        suspend_and_resize(terminal)
        scroll_and_copy(terminal)
        say(terminal, "write it down")
        terminal.until(YES)
        terminal.process.kill()  # the machine crashes
        terminal.process.wait()
    with day.open("--resume", "latest") as terminal:
        terminal.until("write it down")
        terminal.until(YES)
        review_and_answer(terminal, "The notes are written.")
        say(terminal, "/quit")
        assert terminal.wait() == 0
        assert_scrollback(terminal)
    assert len((program.folder / "notes.txt").read_text().splitlines()) == 80


def review_and_answer(terminal: Terminal, result: str) -> None:
    """A change that does not fit is approved only after all of it was on the screen."""
    terminal.decide("f", "u next unseen")
    for _ in range(12):
        terminal.type("u")
    terminal.until("all seen")
    terminal.type("q")
    terminal.until(YES)
    terminal.decide("y", result)


def assert_scrollback(terminal: Terminal) -> None:
    """On the terminal as it was before, the end of the conversation and how to continue."""
    shown = terminal.shown
    for text in ("note 3", "✦ The notes are written.", "Continue with: assent --resume"):
        assert text in shown, shown
