"""Questions of a headless run on a terminal: what happens between an answer and the event that says it was taken."""

import asyncio
import os
import sys
import termios
from collections.abc import Generator

import pytest
from msgspec.structs import replace

from assent.app.question_text import question_lines
from assent.app.settled_output import Played
from assent.app.style import Style
from assent.approval import Approval, AskDetails, ExecDetails, Question, UnapprovedFile
from assent.commands import Answer, Command
from assent.events import ApprovalAnswered, ApprovalRequested, CallInput, CallRequest, CommandTaken, Envelope, Event
from assent.front.headless.console import Console
from assent.front.headless.inline_questions import TerminalAsker
from assent.parts import InputWanted
from assent.scheduler.call import AwaitingApproval
from support.waiting import until

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
    assert termios.tcgetattr(keyboard)[3] & termios.ECHO
    session.asker.stop()
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
        (NAME, "y no", "proceed_once", ("no",), ""),
        (NAME, "d", "cancel", None, ""),
    ],
)
async def test_no_is_an_answer_to_what_the_model_asks_and_d_declines_it(
    keyboard: int, details: AskDetails, typed: str, outcome: str, answers: tuple[str, ...] | None, reason: str
):
    session = Session()
    asked = question("one")
    session.waiting = [replace(asked, approval=replace(asked.approval, details=details))]
    session.asker.start(lambda: None)
    os.write(keyboard, f"{typed}\n".encode())
    await until(lambda: session.commands)
    ((answer, _),) = session.commands
    assert isinstance(answer, Answer)
    assert (answer.outcome, answer.answers, answer.reason) == (outcome, answers, reason)
    session.asker.stop()


async def test_n_declines_no_question_that_is_not_answered_with_no(keyboard: int, capsys: pytest.CaptureFixture[str]):
    session = Session()
    asked = question("one")
    session.waiting = [replace(asked, approval=replace(asked.approval, details=NAME))]
    session.asker.start(lambda: None)
    assert "d  decline to answer" in capsys.readouterr().err
    os.write(keyboard, b"n\n")
    said: list[str] = []
    await until(lambda: said.append(capsys.readouterr().err) or "one of: y, d" in "".join(said))
    assert session.commands == []
    session.asker.stop()
