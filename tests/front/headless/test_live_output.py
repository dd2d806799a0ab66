"""What commands print while they run, on a terminal: overwritten lines are replaced, and nothing gets mixed up."""

from typing import Literal

import pytest

from assent.app.settled_output import Played
from assent.app.style import Style
from assent.events import CallFinished, CallInput, CallOutput, CallRequest, Envelope
from assent.front.headless.console import Console, clipped
from assent.front.headless.live_output import LiveOutput
from assent.front.headless.output_formats import TextOutput
from assent.parts import Result

pytestmark = pytest.mark.spec("G6")
BARS = [f"\r[{'#' * done:<5}] {done * 20}%" for done in range(6)]


def shown(*pieces: str) -> tuple[list[str], str]:
    """The finished lines, and the last state of the line that changes."""
    live = LiveOutput()
    lines = [line for piece in pieces for line in live.feed(piece)]
    return lines, live.current


@pytest.mark.parametrize(
    ("pieces", "lines", "current"),
    [
        (["one\ntw", "o\n"], ["one", "two"], ""),
        (BARS, [], "[#####] 100%"),
        ([*BARS, "\n", "done\n"], ["[#####] 100%", "done"], ""),
        (["wait\r", "\n", "next"], ["wait"], "next"),
        (["50 %\b\b\b\b75"], [], "75 %"),
        (["\x1b[2K\x1b[1Gnpm 1", "\x1b[2K\x1b[1Gnpm 22\r\n"], ["npm 22"], ""),
        (["\x1b[?25lbusy\x1b[?25h\n"], ["busy"], ""),
        (["red \x1b[3", "1mx\x1b[0m\n"], ["red \x1b[31mx\x1b[0m"], ""),
        (["\x1b[31mone\ntwo\x1b[0m\n"], ["\x1b[31mone\x1b[0m", "\x1b[31mtwo\x1b[0m"], ""),
        (["\x1b[1mbold\x1b(", "B\x1b[m\x0f x\n"], ["\x1b[1mbold\x1b[m x"], ""),
        (["\x1b[1mbold\x1b("], [], "\x1b[1mbold\x1b[0m"),
        (["a\u202eb\n"], ["a<U+202E>b"], ""),
        (["\x1b]0;title\x07x\n"], ["\\x1b]0;title\\x07x"], ""),
    ],
)
def test_overwritten_lines_look_as_on_a_terminal(pieces: list[str], lines: list[str], current: str) -> None:
    assert shown(*pieces) == (lines, current)


def test_a_program_that_moves_up_is_shown_as_it_ends_up() -> None:
    live = LiveOutput()
    assert live.feed("start\n") == ["start"]
    assert live.feed("a: 1\nb: 1\n\x1b[2A") == []
    assert live.feed("a: 9\nb: 9\n") == []
    assert live.current == "b: 9"
    assert live.close() == ["a: 9", "b: 9"]


@pytest.fixture
def output(monkeypatch: pytest.MonkeyPatch) -> TextOutput:
    monkeypatch.setenv("COLUMNS", "40")
    printed = TextOutput(Console(Style(False), redraws=True), live=True)
    for name in ("one", "two"):
        printed.known(CallRequest(call_id=name, tool=name, args={}, prompt_id="p"))
    return printed


def screen(written: str) -> list[str]:
    played = Played(40, 40)
    played.feed(written)
    return played.rows()


def prints(output: TextOutput, *pieces: tuple[str, str]) -> None:
    for call_id, text in pieces:
        output.event(Envelope(0, 1.0, "s", CallOutput(call_id, text)))


def test_a_progress_bar_stays_on_one_line(output: TextOutput, capsys: pytest.CaptureFixture[str]) -> None:
    prints(output, *(("one", bar) for bar in BARS))
    assert screen(capsys.readouterr().err) == ["│ [#####] 100%"]


def test_a_bar_that_is_wider_than_the_terminal_stays_on_one_line(
    output: TextOutput, capsys: pytest.CaptureFixture[str]
) -> None:
    prints(output, *(("one", f"\r{'漢' * 50}{place}") for place in range(5)))
    assert screen(capsys.readouterr().err) == ["│ " + "漢" * 18]


def test_the_lines_of_two_commands_are_not_mixed(output: TextOutput, capsys: pytest.CaptureFixture[str]) -> None:
    prints(output, ("one", "half"), ("two", "other\n"), ("one", " and half\n"))
    output.event(
        Envelope(1, 2.0, "s", CallFinished(call_id="two", status="success", result=Result("two", "two", {}), ran_ms=1))
    )
    assert screen(capsys.readouterr().err) == ["│ half", "│ other", "│ half and half", "✓ two 1 ms"]


@pytest.mark.parametrize(("status", "mark"), [("cancelled", "⊘"), ("error", "✗")])
def test_a_call_that_was_refused_has_no_duration(
    output: TextOutput, capsys: pytest.CaptureFixture[str], status: Literal["cancelled", "error"], mark: str
) -> None:
    """It waited for a person, or there was none; it did not work."""
    refused = CallFinished(call_id="one", status=status, result=Result("one", "one", {}), duration_ms=450_000)
    output.event(Envelope(1, 2.0, "s", refused))
    assert screen(capsys.readouterr().err) == [f"{mark} one"]


def test_what_is_cut_keeps_its_colours_and_switches_them_off() -> None:
    assert clipped("\x1b[31mabcdef\x1b[0m", 3) == "\x1b[31mabc\x1b[0m"
    assert clipped("\x1b[31mabc\x1b[0m", 3) == "\x1b[31mabc\x1b[0m"


def numbered(first: int, last: int) -> list[str]:
    return [f"│ {number}" for number in range(first, last + 1)]


def test_of_a_long_output_the_first_and_the_last_lines_are_shown_and_the_others_counted(
    output: TextOutput, capsys: pytest.CaptureFixture[str]
) -> None:
    prints(output, *(("one", f"{number}\n") for number in range(1, 1001)))
    assert "… 900 more lines" in capsys.readouterr().err
    output.event(Envelope(1, 1.0, "s", CallFinished(call_id="one", status="success", result=Result("one", "one", {}))))
    hidden, *last = capsys.readouterr().err.split("\x1b[K")[-1].splitlines()
    assert hidden == "│ … at least 860 lines are not shown here: `assent sessions export s` has them"
    assert last[:-1] == numbered(961, 1000)


def test_a_long_output_is_shown_to_its_end_before_the_command_asks_for_input(
    output: TextOutput, capsys: pytest.CaptureFixture[str]
) -> None:
    prints(output, ("one", "".join(f"{number}\n" for number in range(1, 121))))
    output.event(Envelope(0, 1.0, "s", CallInput("one")))
    shown = [line for line in capsys.readouterr().err.replace("\r\x1b[K", "\n").splitlines() if "more" not in line]
    assert [line for line in shown if line] == numbered(1, 120)
