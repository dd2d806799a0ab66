"""Programs that nobody has described: how far a rule for one of them reaches."""

import pytest

from assent.plan import Word
from assent.policy.shell import judge, rules
from assent.policy.shell.undescribed import unknown_words


@pytest.mark.spec("C7")
@pytest.mark.parametrize(
    ("rule", "command"),
    [
        ("mytool", "mytool"),
        ("mytool", "mytool a b/c.txt"),
        ("mytool", "mytool find"),  # also a word about something else
        ("mytool deploy", "mytool deploy"),
        ("mytool deploy", "mytool deploy prod"),
        ("mytool show", "mytool show deploy"),
        ("mytool show", "mytool show rm"),
        ("mytool bash", "mytool bash a"),
        ("mytool --x", "mytool --x a"),
        ("mytool", "mytool --version"),
        ("mytool", "mytool --help"),
        ("mytool show", "mytool show db:drop"),
        ("mytool", "mytool --fast"),
        ("mytool", "mytool -v --jobs 4 unit"),
        ("mytool", "mytool -j4 --level=5 --no-color"),
        ("mytool", "mytool a -x"),
        ("./scripts/ci.sh", "./scripts/ci.sh --fast --retries=3"),
        ("mytool release", "mytool release --force"),
    ],
)
def test_a_rule_covers_its_words_and_plain_ones_behind_them(rule: str, command: str) -> None:
    assert judge(command, rules([rule]), cwd="/w", roots=["/w"]).decision == "allow"


@pytest.mark.spec("C8")
@pytest.mark.parametrize(
    ("rule", "command", "why"),
    [
        ("mytool", "mytool --x=../y", "`--x=../y` is more than the rule says, and the program is unknown"),
        ("mytool", "mytool --x=/y", "`--x=/y` is more than the rule says, and the program is unknown"),
        ("mytool", "mytool --x=a=b", "`--x=a=b` is more than the rule says, and the program is unknown"),
        ("mytool", "mytool --x='a b'", "`--x=a b` is more than the rule says, and the program is unknown"),
        ("mytool", "mytool --exec=x", "`--exec=x` is more than the rule says, and the program is unknown"),
        ("mytool", "mytool --config x", "`--config` is more than the rule says, and the program is unknown"),
        (
            "mytool",
            "mytool --config-file=x",
            "`--config-file=x` is more than the rule says, and the program is unknown",
        ),
        (
            "mytool",
            "mytool --globalSetup=x",
            "`--globalSetup=x` is more than the rule says, and the program is unknown",
        ),
        ("mytool", "mytool -o x", "`-o` is more than the rule says, and the program is unknown"),
        ("mytool", "mytool -c x", "`-c` is more than the rule says, and the program is unknown"),
        ("mytool", "mytool -e x", "`-e` is more than the rule says, and the program is unknown"),
        ("mytool", "mytool -ofile.txt", "`-ofile.txt` is more than the rule says, and the program is unknown"),
        ("mytool", "mytool --deploy", "`--deploy` may change something, so a rule must name it"),
        ("mytool", "mytool -- x", "`--` is more than the rule says, and the program is unknown"),
        ("mytool", "mytool a=b", "`a=b` is more than the rule says, and the program is unknown"),
        ("mytool show", "mytool show a*", "`a*` is more than the rule says, and the program is unknown"),
        ("mytool", "mytool deploy", "`deploy` may change something, so a rule must name it"),
        ("mytool", "mytool a deploy", "`deploy` may change something, so a rule must name it"),
        ("mytool", "mytool rm", "`rm` may change something, so a rule must name it"),
        ("mytool", "mytool db:drop", "`db:drop` may change something, so a rule must name it"),
        ("mytool show", "mytool show https://x.org", "`https://x.org` is a place on another machine"),
        ("mytool", "mytool bash", "`bash` may be a program that it runs, and the program is unknown"),
        ("mytool show", "mytool show a bash", "`bash` may be a program that it runs, and the program is unknown"),
    ],
)
def test_a_rule_does_not_cover_more_than_it_says(rule: str, command: str, why: str) -> None:
    found = judge(command, rules([rule]), cwd="/w", roots=["/w"])
    assert (found.decision, found.why) == ("ask", f"`mytool`: {why}.")


def test_a_word_that_expands_is_more_than_a_rule_says_however_it_looks() -> None:
    assert list(unknown_words((Word("mytool"), Word("a", literal=False)), 1)) != []
