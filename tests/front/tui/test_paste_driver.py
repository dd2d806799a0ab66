"""From the terminal to the input: what is pasted stays a paste, in any pieces, and in a real terminal."""

import os
import signal
import sys
from collections.abc import Mapping
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from textual.app import App, ComposeResult
from textual.events import Key, Paste
from textual.message import Message
from textual.widgets import Static

from assent.front.tui.prompt.completion import Candidate
from assent.front.tui.prompt.paste import clean
from assent.front.tui.prompt.paste_driver import GuardedDriver, GuardedParser, PasteGuard
from assent.front.tui.prompt.prompt_box import PromptBox
from assent.front.tui.prompt.prompt_input import PromptInput
from support.program import Program
from support.terminal import Terminal

BEGIN, END = "\x1b[200~", "\x1b[201~"


def heard(*pieces: str) -> list[Message]:
    parser = GuardedParser()
    return [message for piece in pieces for message in parser.feed(piece)]


@pytest.mark.spec("G1")
def test_a_paste_with_colours_and_line_ends_presses_no_key():
    pasted = "a\x1b[31mred\ry and more and more and more and more\x1b[0m\r\nb"
    (paste,) = heard(BEGIN + pasted + END)
    assert isinstance(paste, Paste)
    assert clean(paste.text) == "ared\ny and more and more and more and more\nb"


@given(
    st.text(st.sampled_from("a\r\n\x1b[201~;m"), max_size=40).filter(lambda text: END not in text + END[:-1]),
    st.lists(st.integers(0, 60)),
)
@example("\x1b[201", [8])
@example("\x1b", [6, 7, 8])
@example("", [1, 2, 3, 4, 5, 6, 7])
def test_no_paste_presses_a_key_whatever_is_in_it_and_in_whatever_pieces_it_comes(pasted: str, cuts: list[int]):
    whole = BEGIN + pasted + END
    places = sorted({0, *(cut for cut in cuts if cut < len(whole)), len(whole)})
    pieces = [whole[start:end] for start, end in pairwise(places)]
    messages = heard(*pieces)
    assert [type(message) for message in messages] == [Paste]
    assert isinstance(messages[0], Paste)
    assert messages[0].text == pasted.replace("\x1b", "\x1a")


@pytest.mark.parametrize(
    ("sent", "key"),
    [("\x1b\r", "alt+enter"), ("\x1b[27;2;13~", "shift+enter"), ("\x1b[13;2u", "shift+enter"), ("\n", "ctrl+j")],
)
def test_the_ways_in_which_terminals_say_enter_with_another_key_are_understood(sent: str, key: str):
    (event,) = heard(sent)
    assert isinstance(event, Key)
    assert event.key == key


def test_alt_keys_that_arrive_together_are_not_typing():
    assert [message.key for message in heard("\x1bd\x1bd\x1bu\x1b[A\x1bbx") if isinstance(message, Key)] == [
        "alt+d", "alt+d", "alt+u", "up", "ctrl+left", "x",
    ]  # fmt: skip


@pytest.mark.parametrize("sign", "/.;!'(,:?@`{~AZ")
def test_alt_with_a_symbol_types_nothing(sign: str):
    (event,) = heard(f"\x1b{sign}")
    assert isinstance(event, Key) and event.key.startswith("alt+") and event.character is None


def test_keys_around_a_paste_pass_at_once():
    guard = PasteGuard()
    assert guard.feed("a\x1b") == "a\x1b"
    assert guard.feed(f"[A{BEGIN}x{END}b") == f"[A{BEGIN}x{END}b"


# --- a real terminal ---


class Nothing:
    def commands(self) -> list[Candidate]:
        return [Candidate("help", "What can be done")]

    async def learn_commands(self) -> bool:
        return False

    async def arguments(self, command: str, typed: str) -> list[Candidate]:
        return []

    async def files(self) -> list[str]:
        return ["漢字/", "漢字/größe.txt"]


class DemoApp(App[None]):
    """Shows what was sent, each prompt in quotes, so that the screen tells what arrived."""

    def __init__(self) -> None:
        super().__init__(driver_class=GuardedDriver)
        self._sent = Static("ready", markup=False)
        self._box = PromptBox(Nothing(), "Ask something")

    def compose(self) -> ComposeResult:
        yield self._sent
        yield Static("\n" * 10)
        yield self._box

    def on_mount(self) -> None:
        self._box.input.focus()

    def on_prompt_input_submitted(self, message: PromptInput.Submitted) -> None:
        self._sent.update(f"sent {message.text!r}")


class Demo(Program):
    def __init__(self, base: Path) -> None:
        super().__init__(base)
        tests = str(Path(__file__).resolve().parents[2])
        self.env["PYTHONPATH"] = os.pathsep.join((self.env["PYTHONPATH"], tests))

    def command(self, *args: str) -> list[str]:
        return [sys.executable, __file__]


@pytest.fixture
def terminal(tmp_path: Path):
    settings: Mapping[str, str] = {"TERM": "xterm-256color"}
    with Terminal(Demo(tmp_path), env=settings) as terminal:
        terminal.until("ready")
        terminal.until("Ask something")
        yield terminal


def test_a_stop_that_nobody_could_handle_starts_no_second_reader(terminal: Terminal):
    readers = f"/proc/{terminal.process.pid}/task"
    before = len(os.listdir(readers))
    terminal.process.send_signal(signal.SIGSTOP)
    os.waitid(os.P_PID, terminal.process.pid, os.WSTOPPED | os.WNOWAIT)
    terminal.process.send_signal(signal.SIGCONT)
    terminal.type("still here\r")
    terminal.until("sent 'still here'")
    assert len(os.listdir(readers)) == before


@pytest.mark.spec("G1")
def test_wide_characters_are_typed_and_shown_in_a_real_terminal(terminal: Terminal):
    terminal.type("漢字 größe 👍")
    terminal.until("漢字 größe")
    terminal.type("\x7f\x7f.\r")
    terminal.until("sent '漢字 größe.'")


@pytest.mark.spec("G1")
def test_keys_that_come_all_at_once_work_in_their_order(terminal: Terminal):
    terminal.type("one twx\x7fo\x17two\x01\x1b[C-\x05!\x15three\nfour\x1b[A\x1b[D5\r")
    terminal.until(r"sent 'thr5ee\nfour'")


@pytest.mark.spec("G1")
def test_a_bracketed_paste_in_a_real_terminal_neither_sends_nor_colours(terminal: Terminal):
    terminal.type(f"{BEGIN}first\r\x1b[31msecond\x1b[0m\r{END}")
    shown = terminal.until("second")
    assert "sent" not in shown
    terminal.type("\x1b\rthird\r")
    terminal.until(r"sent 'first\nsecond\n\nthird'")


@pytest.mark.spec("G1")
def test_a_long_paste_in_a_real_terminal_is_a_placeholder_until_it_is_sent(terminal: Terminal):
    lines = "\r".join(f"line {n}" for n in range(3000))
    terminal.type(f"{BEGIN}{lines}{END}")
    terminal.until("[Pasted text #1: 3,000 lines]")
    terminal.type("\r")
    terminal.until(r"sent 'line 0\nline 1\nline 2\n")


@pytest.mark.spec("G1")
def test_files_are_completed_in_a_real_terminal(terminal: Terminal):
    terminal.type("see @grö")
    terminal.until("漢字/größe.txt")
    terminal.type("\t")
    terminal.until("see @漢字/größe.txt")
    terminal.type("\r")
    terminal.until("sent 'see @漢字/größe.txt'")


def test_bytes_that_are_no_text_do_not_end_the_app(terminal: Terminal):
    terminal.type("ab")
    terminal.until("ab")
    os.write(terminal._master, b"\xff\xfec")  # pyright: ignore[reportPrivateUsage]
    terminal.type("d\r")
    terminal.until("d'")


if __name__ == "__main__":
    DemoApp().run()
