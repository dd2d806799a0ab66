"""Conditions in double brackets and here-documents in a substitution run in their plainer form, or not at all."""

import pytest

from assent.policy.shell import judge, rules
from assent.policy.shell.lexer import Refused
from assent.policy.shell.parsed import understood
from support.plans import stage_of

_MESSAGE = 'git commit -m "$(cat <<\'EOF\'\nfeat: it\'s a "thing" (x\n\nBody with $HOME and `x`.\nEOF\n)"'


@pytest.mark.spec("C7")
def test_a_here_document_that_is_the_message_of_a_commit_is_a_text() -> None:
    found = judge(_MESSAGE, rules(["git commit"]), cwd="/w", roots=["/w"])
    assert found.plan is not None
    words = [word.text for word in stage_of(found.plan.steps).words]
    assert words[-1] == 'feat: it\'s a "thing" (x\n\nBody with $HOME and `x`.'


@pytest.mark.parametrize(
    "command",
    [
        'git commit -m "$(cat <<EOF\n$(id)\nEOF\n)"',
        "git commit -m $(cat <<'EOF'\n--amend\nEOF\n)",
        "git commit -m \"$(cat x <<'EOF'\na\nEOF\n)\"",
        "git commit -m \"$(tac <<'EOF'\na\nEOF\n)\"",
        "git commit \"$(cat <<'EOF'\n--no-verify -F.env\nEOF\n)\" -F \"$(cat <<'EOF'\n.env\nEOF\n)\"",
    ],
)
def test_anything_else_in_the_substitution_is_judged_as_before(command: str) -> None:
    assert judge(command, rules(["git commit"]), cwd="/w", roots=["/w"]).decision == "ask"


@pytest.mark.spec("C8")
def test_a_rule_that_denies_still_sees_the_program_in_the_substitution() -> None:
    assert judge(_MESSAGE, rules(["git commit"], deny=["cat"]), cwd="/w", roots=["/w"]).decision == "deny"


@pytest.mark.parametrize(
    ("double", "single"),
    [
        ("[[ -f a ]]", ["[", "-f", "a", "]"]),
        ("[[ ! -d a ]]", ["[", "!", "-d", "a", "]"]),
        ("[[ a == b ]]", ["[", "a", "=", "b", "]"]),
        ("[[ -n '' ]]", ["[", "-n", "", "]"]),
        ("[[ 'a*' != \"b c\" ]]", ["[", "a*", "!=", "b c", "]"]),
    ],
)
def test_a_plain_condition_is_one_in_single_brackets(double: str, single: list[str]) -> None:
    assert [word.text for word in stage_of(understood(double)).words] == single


@pytest.mark.parametrize(
    "text",
    [
        *(
            "[[ a == b* ]]",
            "[[ a =~ b ]]",
            "[[ a -eq b ]]",
            "[[ -v a ]]",
            "[[ -R a ]]",
            "[[ -f a && -f b || -f c ]]",
            "[[ -f a && b ]]",
            "[[ a == '&&' ]]",
            "[[ a ]]",
        ),
        *(
            "[[ -f a",
            "[[ ]]",
            "[[",
            "[[ -f $(a) ]]",
            "[[ ( a == b ) ]]",
            "[[ -f * ]]",
            "ls [[ -f a ]]",
            "X=1 [[ -f a ]]",
        ),
        *("[[ a < b ]]", "[[ ! ! -f a ]]", "[[ -o posix ]]", "[[ -t 1 ]]", "[[ -f a ]] ]]"),
    ],
)
def test_any_other_condition_in_double_brackets_is_refused(text: str) -> None:
    with pytest.raises(Refused):
        understood(text)
