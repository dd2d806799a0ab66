"""Questions of a headless run on a terminal: what happens between an answer and the event that says it was taken."""

import asyncio
import fcntl
import os
import signal
import sys
import termios
import time
from collections.abc import Generator
from pathlib import Path

import pytest
from msgspec.structs import replace

from assent.app.question_text import question_lines
from assent.app.settled_output import Played
from assent.app.style import Style
from assent.approval import (
    Approval,
    AskDetails,
    Choice,
    EditDetails,
    ExecDetails,
    Grant,
    Outcome,
    Question,
    UnapprovedFile,
)
from assent.commands import Answer, Command
from assent.events import (
    ApprovalAnswered,
    ApprovalRequested,
    CallInput,
    CallRequest,
    CommandTaken,
    Envelope,
    Event,
    TextDelta,
    ThoughtDelta,
)
from assent.front.headless.console import Console
from assent.front.headless.inline_questions import TerminalAsker
from assent.front.headless.terminal_keys import TerminalKeys
from assent.front.headless.thinking_line import ThinkingLine
from assent.parts import InputWanted
from assent.scheduler.call import AwaitingApproval
from support.waiting import WAIT_LIMIT, until

pytestmark = pytest.mark.spec("C2")


def question(name: str) -> AwaitingApproval:
    details = ExecDetails(command=f"echo {name}", roots=(), directory="/w", risk="low", risk_reason="")
    approval = Approval(id=f"q-{name}", digest=f"d-{name}", details=details, options=("proceed_once", "cancel"), why="")
    request = CallRequest(call_id=name, tool="run_shell_command", args={}, prompt_id="p")
    return AwaitingApproval(request=request, started_at=0.0, approval=approval)


class Session:
    """Records commands when it is told to, and says nothing by itself."""

    def __init__(self) -> None:
        self.waiting = [question("one")]
        self.commands: list[tuple[Command, str]] = []
        self.typed: list[tuple[str, int, str | None]] = []
        self.recorded = asyncio.Event()
        self.console = Console(Style(False), redraws=True)
        self.asker = TerminalAsker(lambda: self.waiting, self.send, self.type_in, self.console, "ann")

    async def send(self, command: Command, key: str) -> str:
        self.commands.append((command, key))
        await self.recorded.wait()
        return key

    async def type_in(self, call_id: str, number: int, text: str | None) -> str:
        self.typed.append((call_id, number, text))
        return ""

    async def tell(self, event: Event) -> None:
        await self.asker.event(Envelope(1, 1.0, "s", event))

    def asks(self, details: AskDetails) -> None:
        """The model asks this."""
        asked = question("one")
        self.waiting = [replace(asked, approval=replace(asked.approval, details=details))]

    @property
    def answers(self) -> tuple[str, ...] | None:
        ((answer, _),) = self.commands
        assert isinstance(answer, Answer)
        return answer.answers

    async def ask_also(self, name: str) -> None:
        self.waiting.append(question(name))
        await self.tell(ApprovalRequested(name, self.waiting[-1].approval))


@pytest.mark.spec("J9")
def test_a_question_names_the_files_that_run_and_are_new_or_changed() -> None:
    asked = question("one")
    files = (UnapprovedFile("x\u202e.sh"), UnapprovedFile("Makefile", changed=True))
    lines = list(question_lines(replace(asked, approval=replace(asked.approval, unapproved=files)), Style(False)))
    (line,) = [line for line in lines if "approved" in line]
    assert line.startswith("  ! Runs files that you have not approved: x")
    assert line.endswith(".sh (new), Makefile (changed)")
    assert "\u202e" not in line
    assert not any("approved" in line for line in question_lines(asked, Style(False)))


@pytest.fixture
def keyboard(monkeypatch: pytest.MonkeyPatch) -> Generator[int]:
    """The other end of the terminal."""
    ours, theirs = os.openpty()
    with os.fdopen(theirs) as stdin:
        monkeypatch.setattr(sys, "stdin", stdin)
        yield ours
    os.close(ours)


async def test_a_question_is_not_asked_again_while_its_answer_is_on_its_way(
    keyboard: int, capsys: pytest.CaptureFixture[str]
):
    session = Session()
    session.asker.start(lambda: None)
    os.write(keyboard, b"y\n")
    await until(lambda: session.commands)
    await session.ask_also("two")
    assert "echo two" not in (shown := capsys.readouterr().err) and shown.count("echo one") == 1
    ((answer, key),) = session.commands
    assert isinstance(answer, Answer) and answer.call_id == "one"
    session.waiting.pop(0)
    await session.tell(CommandTaken(key, "ann"))
    shown = capsys.readouterr().err
    assert "echo two" in shown and "echo one" not in shown, "taken before the sender heard that it was recorded"
    os.write(keyboard, b"n\n")
    await until(lambda: len(session.commands) == 2)
    second, _ = session.commands[1]
    assert isinstance(second, Answer) and (second.call_id, second.outcome) == ("two", "cancel")
    session.asker.stop()


@pytest.mark.spec("D2")
async def test_a_password_for_a_command_is_typed_without_being_shown(keyboard: int, capsys: pytest.CaptureFixture[str]):
    session = Session()
    session.waiting.clear()
    session.asker.start(lambda: None)
    await session.tell(CallInput("one", InputWanted("Password: ", 3, secret=True)))
    assert "Password: " in capsys.readouterr().err
    assert not termios.tcgetattr(keyboard)[3] & termios.ECHO
    os.write(keyboard, b"xyzzy 42\n")
    await until(lambda: session.typed)
    assert session.typed == [("one", 3, "xyzzy 42")]
    assert session.commands == [], "a command would be recorded"
    session.asker.stop()
    assert termios.tcgetattr(keyboard)[3] & termios.ECHO
    os.set_blocking(keyboard, False)
    with pytest.raises(BlockingIOError):
        os.read(keyboard, 100)  # no echo


@pytest.mark.spec("D2")
async def test_what_is_typed_is_hidden_once_the_program_switches_the_echo_off(
    keyboard: int, capsys: pytest.CaptureFixture[str]
):
    session = Session()
    session.waiting.clear()
    session.asker.start(lambda: None)
    await session.tell(CallInput("one", InputWanted("Enter it: ", 3)))
    assert termios.tcgetattr(keyboard)[3] & termios.ECHO
    await session.tell(CallInput("one", InputWanted("Enter it: ", 3, secret=True)))
    assert not termios.tcgetattr(keyboard)[3] & termios.ECHO
    assert "from now on hidden" in capsys.readouterr().err
    os.write(keyboard, b"xyzzy 42\n")
    await until(lambda: session.typed)
    assert session.typed == [("one", 3, "xyzzy 42")]
    session.asker.stop()


@pytest.mark.spec("D2")
async def test_a_question_and_the_input_of_a_command_are_asked_one_after_the_other(
    keyboard: int, capsys: pytest.CaptureFixture[str]
):
    session = Session()
    session.asker.start(lambda: None)
    await session.tell(CallInput("two", InputWanted("Name: ", 0)))
    assert "Name: " not in capsys.readouterr().err
    os.write(keyboard, b"n\n")
    await until(lambda: session.commands)
    session.waiting.clear()
    await session.tell(CommandTaken(session.commands[0][1], "ann"))
    assert "Name: " in capsys.readouterr().err
    os.write(keyboard, b"\x04")
    await until(lambda: session.typed)
    assert session.typed == [("two", 0, None)]
    session.asker.stop()


def type_half(keyboard: int, keys: str) -> None:
    """Half a line, which has reached the program's end of the terminal; there, it can be seen only key by key."""
    ours = sys.stdin.fileno()
    by_lines = termios.tcgetattr(ours)
    by_keys = [*by_lines]
    by_keys[3] &= ~termios.ICANON
    os.write(keyboard, keys.encode())
    termios.tcsetattr(ours, termios.TCSANOW, by_keys)
    deadline = time.monotonic() + WAIT_LIMIT
    while fcntl.ioctl(ours, termios.FIONREAD, bytes(4)) != len(keys).to_bytes(4, sys.byteorder):
        assert time.monotonic() < deadline
    termios.tcsetattr(ours, termios.TCSANOW, by_lines)


async def until_printed(capsys: pytest.CaptureFixture[str], text: str) -> str:
    """What was printed until the text appeared."""
    said: list[str] = []
    await until(lambda: said.append(capsys.readouterr().err) or text in "".join(said))
    return "".join(said)


def played(written: str) -> list[str]:
    """What is on the screen after it."""
    screen = Played(80, 40)
    screen.feed(written)
    return [row for row in screen.rows() if row]


async def test_nothing_is_written_into_an_open_question(keyboard: int, capsys: pytest.CaptureFixture[str]):
    session = Session()
    session.console.change("| half a li")
    session.asker.start(lambda: None)
    session.console.lines("v a call that finished meanwhile")
    session.console.change("| 50 %")
    rows = played(capsys.readouterr().err)
    assert rows[0] == "| half a li" and rows[-1].strip() == "your answer [y, n]:"
    os.write(keyboard, b"y\n")
    await until(lambda: session.commands)
    assert played(capsys.readouterr().err) == ["v a call that finished meanwhile", "| 50 %"]
    session.asker.stop()


@pytest.mark.spec("C10")
async def test_an_answer_from_elsewhere_is_told_below_the_prompt(keyboard: int, capsys: pytest.CaptureFixture[str]):
    session = Session()
    session.asker.start(lambda: None)
    session.waiting.clear()
    await session.tell(ApprovalAnswered(call_id="one", approval_id="q-one", outcome="proceed_once", by="bob@pid7"))
    rows = played(capsys.readouterr().err)
    assert [row.strip() for row in rows[-2:]] == ["your answer [y, n]:", "answered by bob"]
    session.asker.stop()


# --- what the model asks ---


DROP = AskDetails((Question(question="Drop it?", type="yesno"),))
NAME = AskDetails((Question(question="Which name?", type="text"),))


@pytest.mark.parametrize(
    ("details", "typed", "outcome", "answers", "reason"),
    [
        (DROP, "y", "proceed_once", ("Yes",), ""),
        (DROP, "n", "proceed_once", ("No",), ""),
        (DROP, "y after a backup", "proceed_once", ("after a backup",), ""),
        (DROP, "d ask Ann", "cancel", None, "ask Ann"),
        (DROP, "D ask Ann", "cancel", None, "ask Ann"),
        (NAME, "Y no", "proceed_once", ("no",), ""),
        (NAME, "y no", "proceed_once", ("no",), ""),
        (NAME, "d", "cancel", None, ""),
    ],
)
async def test_no_is_an_answer_to_what_the_model_asks_and_d_declines_it(
    keyboard: int, details: AskDetails, typed: str, outcome: str, answers: tuple[str, ...] | None, reason: str
):
    session = Session()
    session.asks(details)
    session.asker.start(lambda: None)
    os.write(keyboard, f"{typed}\n".encode())
    await until(lambda: session.commands)
    ((answer, _),) = session.commands
    assert isinstance(answer, Answer)
    assert (answer.outcome, answer.answers, answer.reason) == (outcome, answers, reason)
    session.asker.stop()


async def test_n_declines_no_question_that_is_not_answered_with_no(keyboard: int, capsys: pytest.CaptureFixture[str]):
    session = Session()
    session.asks(NAME)
    session.asker.start(lambda: None)
    assert "d  decline to answer" in capsys.readouterr().err
    os.write(keyboard, b"n\n")
    await until_printed(capsys, "`n` alone answers nothing here; answer with your own words")
    assert session.commands == []
    session.asker.stop()


FOUR = AskDetails(
    (
        Question(question="Where to store it?", options=(Choice("SQLite"), Choice("MySQL"))),
        Question(
            question="Which pages?", multi_select=True, options=(Choice("cart"), Choice("search"), Choice("help"))
        ),
        Question(question="Which name?", type="text"),
        Question(question="Start now?", type="yesno"),
    )
)


async def test_several_questions_are_asked_one_by_one_and_answered_as_people_write(
    keyboard: int, capsys: pytest.CaptureFixture[str]
):
    session = Session()
    session.asks(FOUR)
    session.asker.start(lambda: None)
    shown = capsys.readouterr().err
    assert "(1 of 4) Where to store it?" in shown and "Which pages?" not in shown
    for typed, then in [
        ("<", "this is the first question"),
        ("", "nothing was typed; answer with 1–2 or your own words"),
        ("2", "→ MySQL"),
        ("1 and 3", "→ cart, help"),
        ("<", "(2 of 4) your answer"),
        ("none", "→ none of these"),
        ("core", "(4 of 4) Start now?"),
    ]:
        os.write(keyboard, f"{typed}\n".encode())
        shown = await until_printed(capsys, then)
        assert typed != "<" or "→" not in shown, "nothing was answered"
    assert session.commands == []
    os.write(keyboard, b"y\n")
    await until(lambda: session.commands)
    assert session.answers == ("MySQL", "none of these", "core", "Yes")
    session.asker.stop()


@pytest.mark.parametrize("pasted", ["2\n1\ncore\ny\n", "2\n1\nco"])
async def test_lines_that_were_typed_ahead_answer_no_further_question(
    keyboard: int, capsys: pytest.CaptureFixture[str], pasted: str
):
    session = Session()
    session.asks(FOUR)
    session.asker.start(lambda: None)
    os.write(keyboard, pasted.encode())
    shown = await until_printed(capsys, "(2 of 4) your answer")
    assert "(3 of 4)" not in shown and "was not used" in shown
    session.asker.stop()


async def test_all_answers_in_one_line_begin_with_y_and_say_what_is_missing(
    keyboard: int, capsys: pytest.CaptureFixture[str]
):
    session = Session()
    session.asks(FOUR)
    session.asker.start(lambda: None)
    form = "y 1; 1, 2; words; yes"
    assert form in capsys.readouterr().err
    for typed, why in [
        ("y 2; 1, 3; core", f"that is 3 of 4 answers; separate them with `;`: {form}"),
        ("y 2; 1, 9; core; yes", "(2 of 4) there is no option 9"),
        ("2; 1, 3; core; yes", f"begin with y: {form}"),
    ]:
        os.write(keyboard, f"{typed}\n".encode())
        await until_printed(capsys, why)
    os.write(keyboard, b"y 2; 1, 3; core; yes\n")
    await until(lambda: session.commands)
    assert session.answers == ("MySQL", "cart, help", "core", "Yes")
    session.asker.stop()


# --- typing too early ---


async def test_a_line_that_was_begun_before_the_prompt_is_not_cut(keyboard: int, capsys: pytest.CaptureFixture[str]):
    session = Session()
    session.waiting.clear()
    session.asker.start(lambda: None)
    type_half(keyboard, "Pa")
    await session.tell(CallInput("one", InputWanted("Age: ", 1)))
    os.write(keyboard, b"ris\n")
    shown = await until_printed(capsys, "Age: ")
    assert "was not used" in shown and session.typed == []
    os.write(keyboard, b"30\n")
    await until(lambda: session.typed)
    assert session.typed == [("one", 1, "30")]
    session.asker.stop()


async def test_the_end_of_a_word_that_was_begun_too_early_is_no_yes(keyboard: int, capsys: pytest.CaptureFixture[str]):
    session = Session()
    session.waiting.clear()
    session.asker.start(lambda: None)
    type_half(keyboard, "m")
    await session.ask_also("one")
    os.write(keyboard, b"y\n")
    await until_printed(capsys, "your answer [y, n]")
    assert session.commands == []
    session.asker.stop()


@pytest.mark.spec("D2")
async def test_a_password_that_is_typed_again_too_early_stays_hidden_and_is_not_typed_at_all(
    keyboard: int, capsys: pytest.CaptureFixture[str]
):
    session = Session()
    session.waiting.clear()
    session.asker.start(lambda: None)
    await session.tell(CallInput("one", InputWanted("Password: ", 1, secret=True)))
    os.write(keyboard, b"s3cret\n")
    await until(lambda: session.typed)
    await session.tell(CallInput("one"))
    assert not termios.tcgetattr(keyboard)[3] & termios.ECHO
    type_half(keyboard, "s3c")
    await session.tell(CallInput("one", InputWanted("Again: ", 2, secret=True)))
    os.write(keyboard, b"ret\n")
    await until_printed(capsys, "Again: ")
    assert session.typed == [("one", 1, "s3cret")]
    os.write(keyboard, b"s3cret\n")
    await until(lambda: len(session.typed) == 2)
    session.asker.stop()
    assert termios.tcgetattr(keyboard)[3] & termios.ECHO
    os.set_blocking(keyboard, False)
    with pytest.raises(BlockingIOError):
        os.read(keyboard, 100)  # no echo


async def test_a_line_without_its_end_waits_for_it(keyboard: int):
    session = Session()
    session.waiting.clear()
    session.asker.start(lambda: None)
    await session.tell(CallInput("one", InputWanted("City: ", 1)))
    os.write(keyboard, b"Pa\x04ris\n")  # Ctrl-D passes on what is there
    await until(lambda: session.typed)
    assert session.typed == [("one", 1, "Paris")]
    session.asker.stop()


async def test_enter_without_an_echo_leaves_the_line_that_changes_in_its_place(
    keyboard: int, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
):
    lines: list[str | None] = []
    read = TerminalKeys.read

    def reads(keys: TerminalKeys) -> str | None:
        lines.append(read(keys))
        return lines[-1]

    monkeypatch.setattr(TerminalKeys, "read", reads)
    session = Session()
    session.waiting.clear()
    session.asker.start(lambda: None)
    await session.tell(CallInput("one", InputWanted("Password: ", 1, secret=True)))
    await session.tell(CallInput("one"))
    capsys.readouterr()
    session.console.change("| 50 %")
    os.write(keyboard, b"\n")
    await until(lambda: lines)
    session.console.change("| 60 %")
    assert played(capsys.readouterr().err) == ["| 60 %"]
    session.asker.stop()


# --- the editor ---


async def test_a_question_that_is_answered_while_the_editor_is_open_is_not_asked_again(
    keyboard: int, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
):
    editor = tmp_path / "editor"
    editor.write_text(f"#!/bin/sh\ntouch {tmp_path}/open\nuntil [ -e {tmp_path}/close ]; do sleep 0.02; done\n")
    editor.chmod(0o755)
    monkeypatch.setenv("VISUAL", str(editor))
    session = Session()
    details = EditDetails(path="a.txt", old=None, new="new\n", diff="")
    asked = replace(question("one").approval, details=details, options=("proceed_once", "modify_with_editor", "cancel"))
    session.waiting = [replace(question("one"), approval=asked)]
    session.asker.start(lambda: None)
    os.write(keyboard, b"e\n")
    await until((tmp_path / "open").exists)
    session.waiting = [question("two")]
    await session.tell(ApprovalAnswered(call_id="one", approval_id="q-one", outcome="proceed_once", by="bob@pid7"))
    os.kill(os.getpid(), signal.SIGCONT)
    await session.tell(ApprovalRequested("two", session.waiting[0].approval))
    assert "echo two" not in capsys.readouterr().err, "the editor has the terminal"
    (tmp_path / "close").touch()
    shown = await until_printed(capsys, "your answer [y, n]")
    assert "your change was not used" in shown and "echo two" in shown
    os.write(keyboard, b"y\n")
    await until(lambda: session.commands)
    ((answer, _),) = session.commands
    assert isinstance(answer, Answer) and (answer.call_id, answer.outcome) == ("two", "proceed_once")
    session.asker.stop()


# --- the window ---


async def test_prose_is_broken_between_words_and_a_command_is_not(
    keyboard: int, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("COLUMNS", "40")
    session = Session()
    asked = question("one " * 20)
    scope = Grant(id="g", kind="exact", tool="run_shell_command", reach=f"Exactly {'this ' * 12}this.", from_call="one")
    approval = replace(asked.approval, why="because " * 12, scopes=(scope,), options=("proceed_once", "proceed_always"))
    session.waiting = [replace(asked, approval=approval)]
    session.asker.start(lambda: None)
    lines = capsys.readouterr().err.splitlines()
    (command,) = [line for line in lines if "$ " in line]
    assert command.count("one") == 20
    prose = [line for line in lines if line != command]
    assert max(map(len, prose)) < 40 and sum(line.count("because ") for line in prose) > 8
    assert all(line.endswith(("this", "this.", "session:")) for line in prose if "this" in line)
    session.asker.stop()


async def test_after_a_stop_the_open_question_is_shown_again(keyboard: int, capsys: pytest.CaptureFixture[str]):
    session = Session()
    session.asker.start(lambda: None)
    assert capsys.readouterr().err.count("echo one") == 1
    os.kill(os.getpid(), signal.SIGCONT)
    assert "$ echo one" in await until_printed(capsys, "your answer [y, n]")
    os.write(keyboard, b"y\n")
    await until(lambda: session.commands)
    session.asker.stop()


def echoes(terminal: int) -> bool:
    return bool(termios.tcgetattr(terminal)[3] & termios.ECHO)


async def test_a_stop_gives_the_shell_a_terminal_that_shows_what_is_typed(
    keyboard: int, monkeypatch: pytest.MonkeyPatch
):
    stopped: list[bool] = []

    def stop(_pid: int, _number: int) -> None:
        stopped.append(echoes(keyboard))

    before = signal.signal(signal.SIGTSTP, signal.SIG_DFL)
    session = Session()
    session.waiting.clear()
    session.asker.start(lambda: None)
    await session.tell(CallInput("one", InputWanted("Password: ", 1, secret=True)))
    assert not echoes(keyboard)
    monkeypatch.setattr(os, "kill", stop)
    signal.raise_signal(signal.SIGTSTP)
    await until(lambda: stopped)
    assert stopped == [True]
    assert not echoes(keyboard), "it goes on at once if there is no shell"
    session.asker.stop()
    signal.signal(signal.SIGTSTP, before)


@pytest.mark.parametrize("restored", [True, False])
def test_after_a_stop_the_echo_is_right_whatever_the_shell_made_of_the_terminal(keyboard: int, restored: bool):
    keys = TerminalKeys()
    keys.show(False)
    if restored:  # as bash does; zsh gives a command its own settings back
        attributes = termios.tcgetattr(keyboard)
        attributes[3] |= termios.ECHO
        termios.tcsetattr(keyboard, termios.TCSANOW, attributes)
    keys.resume(shown=False)
    assert not keys.echoes
    keys.resume(shown=True)
    assert keys.echoes


def test_in_the_background_the_terminal_is_left_alone(keyboard: int, monkeypatch: pytest.MonkeyPatch):
    """A change would stop the program, and the terminal is the shell's again."""

    def elsewhere(_: TerminalKeys) -> bool:
        return False

    keys = TerminalKeys()
    keys.show(False)
    monkeypatch.setattr(TerminalKeys, "is_ours", elsewhere)
    keys.give_back()
    assert not keys.echoes


async def test_every_key_that_is_offered_is_named_if_the_answer_was_none(
    keyboard: int, capsys: pytest.CaptureFixture[str]
):
    session = Session()
    asked = question("one")
    scopes = tuple(Grant(id=one, kind="exact", tool="t", reach=f"Reach {one}.", from_call="one") for one in "abc")
    options: tuple[Outcome, ...] = ("proceed_once", "proceed_always", "cancel")
    session.waiting = [replace(asked, approval=replace(asked.approval, scopes=scopes, options=options))]
    session.asker.start(lambda: None)
    os.write(keyboard, b"what\n")
    await until_printed(capsys, "please answer with one of: y, a, a2, a3, n")
    session.asker.stop()


async def test_a_model_that_is_silent_is_said_to_be_at_work_until_it_says_something(
    capsys: pytest.CaptureFixture[str],
):
    console, thinks = Console(Style(False), redraws=True), True
    line = ThinkingLine(console, lambda: thinks)
    began = asyncio.get_running_loop().time()
    line.tick(began + 1)
    assert capsys.readouterr().err == ""
    line.tick(began + 7.2)
    assert played(capsys.readouterr().err) == ["… waiting for the model, 7 s"]
    line.heard(ThoughtDelta("m", "Plan", "hm"))
    line.tick(began + 8.2)
    line.heard(TextDelta("m", "It"))
    assert played(capsys.readouterr().err) == []
    line.tick(began + 99)
    assert capsys.readouterr().err == "", "it would stand in the middle of the reply"


async def test_always_where_it_is_not_offered_says_why(keyboard: int, capsys: pytest.CaptureFixture[str]):
    session = Session()
    asked = question("one")
    session.waiting = [replace(asked, approval=replace(asked.approval, no_always="it sets CI"))]
    session.asker.start(lambda: None)
    os.write(keyboard, b"a\n")
    await until_printed(capsys, 'No "always" here: it sets CI. please answer with one of: y, n')
