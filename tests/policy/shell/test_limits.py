"""Limits end in a question, in bounded time, and never hide a command from a deny rule."""

import random

import pytest

from assent.policy.shell import judge, rules
from assent.policy.shell.reader import MAX_STAGES
from support.complexity import cpu_seconds

_RULES = rules(["ls", "echo"], deny=["canary"])
_HOSTILE = {
    "many": "ls;",
    "groups": "(",
    "substitutions": "$(",
    "quoted substitutions": '"$(',
    "backquotes": "`",
    "braces": "{",
    "arrays": "a=(",
    "parameters": "${",
    "here-documents": "cat <<A\n",
    "brackets": "[",
    "words": "a ",
    "letters": "x",
    "wrappers": "env ",
    "shells": "bash -c '",
    "tests": "[[ ",
    "escapes": "\\a",
    "searches": "find -exec ",
    "other searches": "fd -x ",
    "invisible": "\u202e",
    "wildcards": "*/",
    "secrets": ".env/",
    "assignments": "A=b ",
    "side by side": "parallel ::: ",
    "pipes": "ls|",
    "quotes": "''",
}


@pytest.mark.spec("I6")
@pytest.mark.parametrize("size", [1_900, 7_900, 9_900, 100_000])
@pytest.mark.parametrize("name", sorted(_HOSTILE))
@pytest.mark.parametrize("lead", ["ls ", ""])
def test_hostile_text_is_judged_in_bounded_time(lead: str, name: str, size: int) -> None:
    unit = _HOSTILE[name]
    command = lead + unit * (size // len(unit))
    judge("ls", _RULES, cwd="/w", roots=["/w"])
    # The aim is 50 ms; the bound is wide so that a busy machine does not fail the test.
    assert cpu_seconds(lambda: judge(command, _RULES, cwd="/w", roots=["/w"])) < 0.25


@pytest.mark.spec("I6")
@pytest.mark.parametrize(
    "command",
    [
        f"awk '{{print {'(' * 3_900}1{')' * 3_900}}}' f",
        f"awk '{'(' * 7_900}' f",
        "sqlite3 a.db 'select " + "\n" * 7_900 + "'",
    ],
    ids=["brackets in awk", "open brackets in awk", "lines in SQL"],
)
def test_a_hostile_program_is_judged_in_bounded_time(command: str) -> None:
    known = rules(["awk", "sqlite3"])
    assert cpu_seconds(lambda: judge(command, known, cwd="/w", roots=["/w"])) < 0.25


def test_random_text_is_judged_in_bounded_time() -> None:
    pick = random.Random(7)
    for size in (1_900, 9_900, 100_000):
        text = "".join(pick.choice("ls;|&(){}$`'\"\\\n <>*?[]=~#!-ab") for _ in range(size))
        assert cpu_seconds(lambda text=text: judge(text, _RULES, cwd="/w", roots=["/w"])) < 0.25


@pytest.mark.parametrize("search", ["find -exec ", "fd -x "])
def test_a_search_in_a_search_does_not_hide_a_denied_command(search: str) -> None:
    for count in (2, 5, 50, 300):
        assert judge(search * count + "canary", _RULES, cwd="/w", roots=["/w"]).decision == "deny"


@pytest.mark.parametrize("count", [MAX_STAGES - 1, MAX_STAGES, MAX_STAGES + 1, 10 * MAX_STAGES])
def test_padding_does_not_hide_a_denied_command(count: int) -> None:
    command = "ls; " * count + "canary"
    assert judge(command, _RULES, cwd="/w", roots=["/w"]).decision == "deny"
    assert judge(command, rules(["ls"]), cwd="/w", roots=["/w"]).decision == "ask"


def test_more_commands_than_the_limit_ask() -> None:
    assert judge("; ".join(["ls"] * MAX_STAGES), _RULES, cwd="/w", roots=["/w"]).decision == "allow"
    assert judge("; ".join(["ls"] * (MAX_STAGES + 1)), _RULES, cwd="/w", roots=["/w"]).decision == "ask"


def test_a_long_command_asks() -> None:
    assert judge("echo " + "x" * 7_995, _RULES, cwd="/w", roots=["/w"]).decision == "allow"
    assert judge("echo " + "x" * 7_996, _RULES, cwd="/w", roots=["/w"]).decision == "ask"


@pytest.mark.parametrize("depth", [10, 100, 3_900])
def test_brackets_of_an_awk_program_may_be_as_deep_as_they_like(depth: int) -> None:
    command = f"awk '{{print {'(' * depth}1 > 0{')' * depth}}}'"
    assert judge(command, rules(["awk"]), cwd="/w", roots=["/w"]).decision == "allow"
