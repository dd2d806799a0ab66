"""A command line is parsed once for a whole judgement: the risk, the verdict, the scopes to propose and the order."""

from collections import Counter
from pathlib import Path

import pytest
import tree_sitter

from assent.approval import ExecDetails
from assent.policy.action import Action
from assent.policy.grants import proposed
from assent.policy.policy import Policy
from assent.policy.rules import Rule
from assent.policy.shell import command_survey, reader
from assent.policy.shell.lexer import Inner


@pytest.fixture
def parses(monkeypatch: pytest.MonkeyPatch) -> Counter[tuple[str, str]]:
    """How often each reader was given which text."""
    counted: Counter[tuple[str, str]] = Counter()
    strict, grammar = reader.Lexer.__init__, command_survey._parser()  # pyright: ignore[reportPrivateUsage]

    def lexer(self: reader.Lexer, source: str, inner: Inner, at: int = 0, variables: tuple[str, ...] = ()) -> None:
        counted["strict", source] += not at  # what is inside of it is read where it stands
        strict(self, source, inner, at, variables)

    class Parser:
        def parse(self, data: bytes) -> tree_sitter.Tree:
            counted["grammar", data.decode()] += 1
            return grammar.parse(data)

    monkeypatch.setattr(reader.Lexer, "__init__", lexer)
    monkeypatch.setattr(command_survey, "_parser", Parser)
    return counted


RULES = [
    Rule(ruling="deny", tool="run_shell_command", command=("rm",)),
    Rule(ruling="ask", tool="run_shell_command", path="/etc/**"),
]


@pytest.mark.parametrize(
    "command",
    [
        "git status --short",
        "git log --oneline -n 5 2>/dev/null | head -3 && ls -la src",
        "for f in a b; do grep -n x $f; done",
        "bash -c 'make clean && make'",
        "git -c alias.x='!make all' x",
        "npm test",
        "rm -r build",
        "echo $(date) > now; cat <<E\n$(ls)\nE",
        "unbalanced 'quote",
    ],
)
@pytest.mark.parametrize("rules", [[], RULES])
def test_a_judgement_parses_a_command_once(
    command: str, rules: list[Rule], tmp_path: Path, parses: Counter[tuple[str, str]]
) -> None:
    folder = str(tmp_path)
    policy = Policy(rules, roots=(folder,))
    command += f" # {folder}"  # no other test has had it parsed
    details = policy.assess(ExecDetails(command=command, roots=(), directory=folder, risk="high", risk_reason=""))
    assert isinstance(details, ExecDetails)
    action = Action(
        tool="run_shell_command", args={"command": command}, details=details, main=command, paths=(folder + "/",)
    )
    policy.judge(action)
    policy.only_reads(details)
    proposed(action, "c1")
    policy.judge(action)  # looked at again before it starts
    assert parses
    assert {one: number for one, number in parses.items() if number > 1} == {}
