"""Grants for commands: which folder they hold in, what is offered, and why nothing is. Row J4."""

import pytest

from assent.approval import ExecDetails, Grant, UnapprovedFile
from assent.plan import ExecutedFile
from assent.policy.action import Action
from assent.policy.command_grants import folder_of
from assent.policy.decision import Verdict
from assent.policy.policy import Policy
from assent.policy.rules import Rule

pytestmark = pytest.mark.spec("J4")
SHELL = "run_shell_command"
MAKE_TEST = Grant(id="g", kind="exact", tool=SHELL, reach="", value="/w", exact=(("make", "test"),))


def command(text: str, directory: str = "/w", executes: tuple[ExecutedFile, ...] = ()) -> Action:
    details = ExecDetails(command=text, roots=(), directory=directory, risk="medium", risk_reason="", executes=executes)
    return Action(tool=SHELL, args={}, details=details)


def judged(text: str, *grants: Grant, directory: str = "/w") -> Verdict:
    return Policy(grants=grants, roots=("/w",)).judge(command(text, directory))


def reaches(text: str, *rules: Rule) -> list[str]:
    return [scope.reach for scope in Policy(rules, roots=("/w",)).offered(command(text), "c").scopes]


def why_none(text: str, *rules: Rule) -> str:
    offered = Policy(rules, roots=("/w",)).offered(command(text), "c")
    assert offered.scopes == ()
    return offered.why_none


# --- where a grant holds ---


@pytest.mark.parametrize(
    ("text", "folder"),
    [
        ("make test", "/w"),
        ("cd /w && make test", "/w"),
        ("cd . && make test", "/w"),
        ("cd /w; make test", "/w"),
        ("cd sub && make test && ls", "/w/sub"),
        ("cd sub && cd .. && make test", "/w"),
        ("(cd sub && make test)", "/w/sub"),
        ("cd sub; make test", ""),  # it may fail
        ("cd sub || make test", ""),
        ("make test && cd sub && ls", ""),
        ("if cd sub; then make test; fi", ""),
        ("cd $X && make test", ""),
        ("cd sub && bash -c 'cd .. && make test'", ""),
    ],
)
def test_a_line_runs_in_one_folder_or_it_is_not_certain_where(text: str, folder: str):
    assert folder_of(text, "/w") == folder


@pytest.mark.parametrize("text", ["cd /w && make test", "cd . && make test", "cd sub && cd .. && make test | tail -5"])
def test_a_grant_covers_a_line_whose_cd_leads_to_its_folder(text: str):
    assert judged(text, MAKE_TEST).source == "grant"


def test_a_grant_covers_a_line_from_a_folder_below_that_goes_back_to_its_folder():
    assert judged("cd .. && make test", MAKE_TEST, directory="/w/sub").source == "grant"
    assert judged("make test", MAKE_TEST, directory="/w/sub").ruling == "ask"


@pytest.mark.parametrize(
    "text",
    [
        "cd sub && make test",
        "cd /w/../x && make test",
        "cd sub; make test",
        "cd /w && cd sub && make test",
        "cd /w && make test; cd sub && make test",
        "bash -c 'cd sub && make test'",
        "cd /w && make install",
    ],
)
def test_a_grant_does_not_cover_a_line_that_may_run_elsewhere(text: str):
    assert judged(text, MAKE_TEST).ruling == "ask"


def test_a_grant_that_a_cd_leads_to_does_not_cover_files_that_nobody_approved():
    makefile = ExecutedFile("/w/Makefile", "changed")
    policy = Policy(grants=[MAKE_TEST], roots=("/w",), files=NothingApproved())
    assert policy.judge(command("cd /w && make test", executes=(makefile,))).ruling == "ask"


class NothingApproved:
    def look(self, candidates: object) -> tuple[ExecutedFile, ...]:
        return ()

    def unapproved(self, files: object) -> tuple[UnapprovedFile, ...]:
        return (UnapprovedFile("Makefile", changed=True),)

    def approve(self, files: object) -> None:
        raise AssertionError


# --- what is offered ---


def test_what_runs_after_a_cd_is_offered_for_the_folder_it_leads_to():
    assert reaches("cd sub && make test")[0] == "Exactly `make test`, and nothing else, in /w/sub, for this session."
    grant, *_ = Policy(roots=("/w",)).offered(command("cd sub && make test"), "c").scopes
    assert judged("cd sub && make test", grant).source == "grant"
    assert judged("make test", grant, directory="/w/sub").source == "grant"
    assert judged("make test", grant).ruling == "ask"


@pytest.mark.parametrize("text", ["npx eslint .", "npx --yes tsc -p .", "uv run pytest -q", "bash scripts/x.sh --fast"])
def test_the_narrowest_scope_of_a_wrapper_covers_exactly_this_line(text: str):
    policy = Policy(roots=("/w",))
    exact = policy.offered(command(text), "c").scopes[0]
    assert exact.reach == f"Exactly `{text}`, and nothing else, in /w, for this session."
    assert judged(text, exact).source == "grant"
    assert judged(f"{text} more", exact).ruling == "ask"


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("FOO=1 make test", "it sets FOO, which may change what runs"),
        ("export CI=1; npm test", "it sets CI, which may change what runs"),
        ("rm *.pyc", "what `*.pyc` stands for may change"),
        ("bash -c 'ls'", "`bash` would run a text, which needs approval each time"),
        ("python3 - <<E\nprint(1)\nE", "what `python3` runs is not among its words"),
        ("sudo ls", "`sudo` can run anything, and Assent allows it only together with some programs"),
        ("make test > x", "it contains a redirection that writes to the file x, which no permission covers"),
        ("cd sub; make test", "its `cd` makes it unclear in which folder each command runs"),
        ("cd /etc && make test", "it runs in /etc, outside the workspace"),
    ],
)
def test_where_nothing_is_offered_it_is_said_why(text: str, why: str):
    assert why_none(text) == why


def test_a_grant_is_not_offered_if_a_rule_would_ask_all_the_same():
    asks = Rule(ruling="ask", tool=SHELL, command=("git", "push"), message="Check the branch first")
    assert why_none("git push origin main", asks) == "Check the branch first"
    assert reaches("git push origin main")
