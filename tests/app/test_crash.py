"""What is told of a crash: where, and no secret."""

import logging
import sys

import pytest

from assent import cli
from assent.app.crash import mask_log

pytestmark = pytest.mark.spec("I3")

TOKEN = "ghp_" + "a1B2" * 9


def crash() -> Exception:
    key = "canary-key-1234"
    try:
        raise RuntimeError(f"cannot send {TOKEN} and {key}")
    except RuntimeError as error:
        return error


def test_a_crash_of_the_program_shows_where_it_was_and_no_secret(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    monkeypatch.setenv("MY_API_KEY", "canary-key-1234")
    monkeypatch.setattr(sys, "excepthook", sys.excepthook)
    cli.main(["--version"])
    sys.excepthook(RuntimeError, crash(), None)
    said = capsys.readouterr().err
    assert "RuntimeError: cannot send [secret: GitHub token] and [secret: $MY_API_KEY]" in said
    assert "in crash" in said


def test_the_log_of_a_server_is_masked_with_its_traces(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    assert logging.lastResort is not None
    monkeypatch.setattr(logging.lastResort, "formatter", None)
    mask_log()
    error = crash()
    record = logging.LogRecord("assent.web", logging.ERROR, "x", 1, "no %s", (TOKEN,), (type(error), error, None))
    logging.lastResort.handle(record)
    said = capsys.readouterr().err
    assert said.startswith("no [secret: GitHub token]\n")
    assert TOKEN not in said
