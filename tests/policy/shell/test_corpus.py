"""The corpus: attempts to get past a rule, and commands that a rule should let through."""

import json
import re
from pathlib import Path

import pytest

from assent.policy.shell import check, judge, rules

_LINES = [json.loads(line) for line in Path(__file__).with_name("corpus.jsonl").read_text().splitlines()]
_BYPASSES = [line for line in _LINES if line["expect"] == "stop"]
_HARMLESS = [line for line in _LINES if line["expect"] == "allow"]
# The price: harmless, but of a form in which too much can hide. No other harmless command is stopped.
_STOPPED_ALTHOUGH_HARMLESS = {
    "GOFLAGS=-mod=vendor go test ./...",
    "brew outdated",
    "diff <(ls a) <(ls b)",
    "diff <(sort a) <(sort b)",
    "dotnet list package",
    "grep -e '-x' f",
    "nohup ls",
    "npm run",
    "poetry config --list",
}


def _decision(line: dict[str, list[str]]) -> str:
    return judge(str(line["command"]), rules(line["allow"]), cwd="/w", roots=["/w"]).decision


def test_the_corpus_is_large_enough_to_mean_something() -> None:
    assert len(_BYPASSES) >= 9_000
    assert len(_HARMLESS) >= 4_000
    assert {line["threat"] for line in _BYPASSES} == {f"T{number}" for number in range(8, 17)}


@pytest.mark.spec("C8")
@pytest.mark.parametrize("threat", sorted({line["threat"] for line in _BYPASSES}))
def test_no_bypass_is_let_through(threat: str) -> None:
    passed = [line["command"] for line in _BYPASSES if line["threat"] == threat and _decision(line) == "allow"]
    assert passed == []


@pytest.mark.spec("C7")
def test_at_most_three_in_a_hundred_harmless_commands_are_stopped() -> None:
    stopped = {str(line["command"]) for line in _HARMLESS if _decision(line) != "allow"}
    assert stopped == _STOPPED_ALTHOUGH_HARMLESS
    assert len(stopped) <= 0.03 * len(_HARMLESS)


@pytest.mark.spec("C8")
def test_without_a_rule_nothing_is_allowed() -> None:
    assert all(_decision({**line, "allow": []}) == "ask" for line in _LINES)


def test_every_reason_is_a_sentence() -> None:
    """`It contains it writes …` is none."""
    reasons = {reason for line in _LINES for reason in check({**line, "cwd": "/w", "roots": ["/w"]})["reasons"]}
    odd = re.compile(r"(?![A-Z`]).|.*[^.]|It contains (?:it|the command|`[^`]*` (?!after|with))\b.*", re.DOTALL)
    assert [reason for reason in reasons if odd.fullmatch(reason)] == []


def test_a_line_of_json_gets_a_line_of_json() -> None:
    answer = check({"command": "ls; rm -rf x", "allow": ["ls", "git status"]})
    assert answer["decision"] == "ask"
    assert answer["roots"] == ["ls", "rm"]
    assert answer["risk"] == "high"
    assert "It deletes folders with everything in them." in answer["reasons"]
    assert set(answer) == {"decision", "roots", "inner", "risk", "reasons"}
