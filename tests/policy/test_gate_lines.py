"""The gate for measuring: one answer for every line, also for a line that is none."""

import io
import json
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

from assent.cli import policy_jsonl
from assent.cli.policy_jsonl import Action

GOOD: dict[Action, dict[str, Any]] = {
    "check": {"command": "ls"},
    "check-path": {"roots": ["/w"], "cwd": "/w", "path": "a"},
    "check-text": {"text": "ok"},
    "check-url": {"url": "https://example.com", "addresses": ["93.184.216.34"]},
}
STRICTEST: dict[Action, dict[str, Any]] = {
    "check": {"decision": "ask"},
    "check-path": {"decision": "reject"},
    "check-text": {"text": ""},
    "check-url": {"allowed": False},
}
BAD = [
    (b"{", "line 2 is not JSON: "),
    (b'{"text": "cut', "line 2 is not JSON: "),
    (b"\x00\x01\x02", "line 2 is not "),
    (b'{"text": "\xff"}', "line 2 is not UTF-8 (byte 11)"),
    (b"[" * 100_000, "line 2 is nested too deeply"),
    (b"[]", "line 2 cannot be used: Expected `object`, got `array`"),
    (b"null", "line 2 cannot be used: Expected `object`, got `null`"),
    (b"{}", "line 2 cannot be used: Object missing required field `"),
    (
        b'{"command": 5, "path": 5, "roots": [], "text": 5, "url": 5}',
        "line 2 cannot be used: Expected `str`, got `int`",
    ),
    (b"7" * 5000, "line 2 cannot be used: "),
]

Ask = Callable[[Action, bytes], list[dict[str, Any]]]


@pytest.fixture
def ask(monkeypatch: pytest.MonkeyPatch, capsysbinary: pytest.CaptureFixture[bytes]) -> Ask:
    def ask(action: Action, lines: bytes) -> list[dict[str, Any]]:
        monkeypatch.setattr(policy_jsonl.sys, "stdin", SimpleNamespace(buffer=io.BytesIO(lines)))
        assert policy_jsonl.answer_lines(action) == 0
        return [json.loads(line) for line in capsysbinary.readouterr().out.splitlines()]

    return ask


@pytest.mark.parametrize("action", list(GOOD))
@pytest.mark.parametrize(("bad", "problem"), BAD)
def test_a_bad_line_is_answered_with_its_number_and_the_next_one_is_judged(
    ask: Ask, action: Action, bad: bytes, problem: str
) -> None:
    good = json.dumps(GOOD[action]).encode()
    first, answer, last = ask(action, good + b"\n" + bad + b"\n" + good)
    assert answer["error"].startswith(problem)
    assert STRICTEST[action].items() <= answer.items()
    assert first == last and "error" not in first


@pytest.mark.parametrize(
    ("action", "wrong"),
    [
        ("check", {"command": "ls", "allow": "ls"}),
        ("check", {"command": ["ls"]}),
        ("check-path", {"roots": "/w", "path": "a"}),
        ("check-path", {"roots": ["/w"], "path": "a", "cwd": 5}),
        ("check-path", {"roots": ["/w"], "path": "a", "op": ["read"]}),
        ("check-text", {"text": "a", "context": "nowhere"}),
        ("check-text", {"text": "a", "context": 5}),
        ("check-url", {"url": "https://example.com", "addresses": "93.184.216.34"}),
        ("check-url", {"url": "https://example.com", "addresses": [5]}),
    ],
)
def test_a_field_of_another_kind_is_an_error_and_never_read_as_something_else(
    ask: Ask, action: Action, wrong: dict[str, Any]
) -> None:
    (answer,) = ask(action, json.dumps(wrong).encode())
    assert answer["error"].startswith("line 1 cannot be used: ")
    assert STRICTEST[action].items() <= answer.items()


def test_a_line_that_is_too_long_is_refused_without_its_rest(ask: Ask, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(policy_jsonl, "_MAX_LINE", 100)
    found = ask("check-text", b'{"text": "%s"}\n{"text": "b"}\n' % (b"a" * 1000))
    assert [answer["text"] for answer in found] == ["", "b"]
    assert found[0]["error"] == "line 1 cannot be used: it is longer than 100 bytes"


@pytest.mark.parametrize(("spare", "error"), [(0, False), (1, True)])
def test_a_line_may_be_as_long_as_is_said(ask: Ask, monkeypatch: pytest.MonkeyPatch, spare: int, error: bool) -> None:
    line = b'{"text": "a"}\n'
    monkeypatch.setattr(policy_jsonl, "_MAX_LINE", len(line) - spare)
    assert [("error" in answer) for answer in ask("check-text", line * 2)] == [error, error]


def test_an_answer_is_there_before_the_next_line_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    lines, seen = [b'{"text": "a"}\n', b'{"text": "b"}\n', b""], list[int]()
    out = io.BytesIO()

    def readline(_: int) -> bytes:
        seen.append(out.getvalue().count(b"\n"))
        return lines.pop(0)

    monkeypatch.setattr(policy_jsonl.sys, "stdin", SimpleNamespace(buffer=SimpleNamespace(readline=readline)))
    monkeypatch.setattr(policy_jsonl.sys, "stdout", SimpleNamespace(buffer=io.BufferedWriter(out)))
    policy_jsonl.answer_lines("check-text")
    assert seen == [0, 1, 2]


def test_blank_lines_are_passed_over_and_counted(ask: Ask) -> None:
    found = ask("check-text", b'\n{"text": "a"}\n  \r\n{}\n')
    assert [answer["text"] for answer in found] == ["a", ""]
    assert found[1]["error"].startswith("line 4 ")
