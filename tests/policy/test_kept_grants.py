"""Grants that outlive their session: what is offered, where it holds, and how it ends. Row J4."""

from pathlib import Path

import pytest
from msgspec.structs import replace

from assent.approval import Details, EditDetails, ExecDetails, Grant, InfoDetails, Lasts, McpDetails
from assent.plan import ExecutedFile
from assent.policy.action import Action
from assent.policy.grants import proposed
from assent.policy.kept_grants import KeptGrants
from assent.policy.policy import Policy

pytestmark = pytest.mark.spec("J4")


def action(details: Details, tool: str = "run_shell_command") -> Action:
    return Action(tool=tool, args={}, details=details)


def command(text: str, executes: tuple[ExecutedFile, ...] = ()) -> ExecDetails:
    return ExecDetails(command=text, roots=(), directory="/w", risk="medium", risk_reason="", executes=executes)


def offered(details: Details, lasts: Lasts, tool: str = "run_shell_command") -> list[str]:
    return [scope.reach for scope in proposed(action(details, tool), "c", keeps=True) if scope.lasts == lasts]


def test_each_scope_is_offered_for_the_session_this_folder_and_where_it_makes_sense_everywhere():
    assert offered(command("git push origin main"), "session")[0].endswith(", in /w, for this session.")
    assert offered(command("git push origin main"), "folder")[0].endswith(", in /w, from now on.")
    assert all(", in every folder, from now on." in reach for reach in offered(command("git push x"), "everywhere"))
    web = InfoDetails("fetch", ("https://example.com/a",))
    assert offered(web, "everywhere", "web_fetch") == [
        "Requests by web_fetch to example.com, in every folder, from now on."
    ]


def test_what_depends_on_a_folder_is_never_allowed_everywhere():
    edit = EditDetails(path="/w/a.py", diff="", old="", new="x")
    assert offered(edit, "folder", "write_file") and not offered(edit, "everywhere", "write_file")
    tool = McpDetails(server="db", tool="query", args={})
    assert offered(tool, "folder", "db__query") and not offered(tool, "everywhere", "db__query")
    assert not offered(command("make deploy", (ExecutedFile("/w/Makefile", "d"),)), "everywhere")


@pytest.mark.parametrize(
    "text", ["pytest", "npm test", "cargo test", "go test ./...", "npm install", "npx eslint .", "uv run pytest"]
)
def test_what_executes_files_of_a_folder_is_not_offered_everywhere_even_if_there_are_none_yet(text: str):
    assert offered(command(text), "folder") and not offered(command(text), "everywhere")


def test_exact_words_are_not_offered_everywhere_because_they_name_things_of_this_folder():
    assert not offered(command("git status && rm -rf x"), "everywhere")


def test_what_is_wider_than_the_sandbox_lasts_like_everything_else():
    wider = replace(command("git fetch origin"), wider=True, sandbox="network", domains=("packages.example.org",))
    scopes = [scope for scope in proposed(action(wider), "c", keeps=True) if scope.prefixes]
    assert {scope.lasts for scope in scopes} == {"session", "folder", "everywhere"}
    assert {(scope.sandbox, scope.domains) for scope in scopes} == {("network", ("packages.example.org",))}
    assert all("also connecting to packages.example.org" in scope.reach for scope in scopes)
    connection = InfoDetails("connect", ("tcp://example.org:22",))
    assert offered(connection, "folder", "connect") == [
        "Connections of commands to example.org:22, in this folder, from now on."
    ]


def test_without_a_place_to_keep_them_only_the_session_is_offered():
    scopes = proposed(action(command("git push origin main")), "c")
    assert {scope.lasts for scope in scopes} == {"session"}


def grant(id: str, lasts: Lasts) -> Grant:
    return Grant(id=id, kind="tool", tool="web_search", reach="r", lasts=lasts)


def test_a_grant_holds_in_its_folder_or_everywhere_until_it_is_revoked(tmp_path: Path):
    here, there = (KeptGrants(tmp_path / "grants.json", folder) for folder in ("/here", "/there"))
    for one in (grant("a", "folder"), grant("b", "everywhere"), grant("c", "session")):
        here.keep(one)
    assert [one.id for one in here.standing()] == ["b", "a"]
    assert [one.id for one in there.standing()] == ["b"]
    policy = Policy(roots=("/there",), keeper=there)
    assert policy.revoke("b") is not None
    assert [one.id for one in here.standing()] == ["a"] and there.standing() == []
    assert not here.drop("b")


def test_a_file_that_cannot_be_read_allows_nothing(tmp_path: Path):
    (tmp_path / "grants.json").write_text("{ not json")
    assert KeptGrants(tmp_path / "grants.json", "/w").standing() == []
