"""The answer on a terminal, as it comes."""

import sys

import pytest

from assent.app.style import Style
from assent.events import ApprovalAnswered, Envelope, ModelRetry, TextDelta, TransientEvent
from assent.front.headless.console import Console
from assent.front.headless.output_formats import REFUSED, TextOutput
from assent.front.headless.summary import Summary
from assent.parts import Failure

BROKEN_OFF = TextDelta("p", "one \x1b[31mred")


def shown(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], *events: TransientEvent) -> str:
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    output = TextOutput(Console(Style(False)), live=False)
    for event in events:
        output.event(Envelope(0, 1.0, "s", event))
    output.finish(Summary(session_id="s", status="cancelled", response=""))
    return capsys.readouterr().out


def test_a_reply_that_breaks_off_leaves_no_colour_on(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert shown(monkeypatch, capsys, BROKEN_OFF) == "one \x1b[31mred\x1b[0m\n"


def test_nor_does_one_that_is_asked_for_again(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    again = (BROKEN_OFF, ModelRetry("p", 1, "broken", 1.0), TextDelta("p", "one two"))
    assert shown(monkeypatch, capsys, *again) == "one \x1b[31mred\x1b[0m\none two\n"


@pytest.mark.parametrize(("reason", "refused"), [("", True), ("use the other branch", False)])
def test_only_a_refusal_without_a_reason_is_said_to_end_the_turn(
    capsys: pytest.CaptureFixture[str], reason: str, refused: bool
) -> None:
    """With a reason the turn goes on, so someone has cancelled it."""
    output = TextOutput(Console(Style(False)), live=False)
    answered = ApprovalAnswered(call_id="c", approval_id="q", outcome="cancel", by="ann", reason=reason)
    output.event(Envelope(1, 1.0, "s", answered))
    output.finish(Summary(session_id="s", status="cancelled", response=""))
    assert (REFUSED in capsys.readouterr().err) == refused


def failed(message: str, *, redraws: bool) -> None:
    output = TextOutput(Console(Style(True), redraws=redraws), live=False)
    output.finish(Summary(session_id="s", status="error", response="", error=Failure("model", message)))


def test_on_a_terminal_our_own_sentences_are_broken_between_words(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "20")
    failed("the model does not answer\ntry again", redraws=True)
    assert capsys.readouterr().err == "\x1b[31m✗ the model does\n  not answer\ntry again\x1b[0m\n"


def test_elsewhere_no_line_is_broken(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("COLUMNS", "20")
    failed("the model does not answer", redraws=False)
    assert capsys.readouterr().err == "\x1b[31m✗ the model does not answer\x1b[0m\n"
