"""What is in a file that asks before it is read is told by no tool: not by its error, its count or its matches."""

import os
from pathlib import Path
from typing import Any

import pytest

from assent.approval import EditDetails, InfoDetails, Mode
from assent.files.hard_links import _secrets  # pyright: ignore[reportPrivateUsage]
from assent.policy.decision import Verdict
from assent.policy.policy import Policy
from assent.policy.rules import Rule, parse_allowed
from assent.scheduler.transitions import make_action
from assent.tools.tool import ToolFailed
from tools.toolkit import PERMIT, Bench, LiveRecorder

TEXT = "USER=ann\nDB_PASSWORD=hunter2-and-more\n"
SECRETS = [".env", "id_rsa", "server.key.old", "link.txt", "twin.txt", "sub/up.txt"]


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    (tmp_path / "sub").mkdir()
    for name in (".env", "id_rsa", "server.key.old", "plain.txt"):
        (tmp_path / name).write_text(TEXT)
    (tmp_path / "link.txt").symlink_to(".env")
    (tmp_path / "sub" / "up.txt").symlink_to("../id_rsa")
    os.link(tmp_path / "id_rsa", tmp_path / "twin.txt")
    return Bench(tmp_path)


async def judged(bench: Bench, tool: str, *rules: Rule, mode: Mode = "default", **args: Any) -> Verdict:
    policy = Policy(rules, mode, roots=(str(bench.root),))
    return policy.judge(await make_action(policy, bench.tools[tool], args, bench.build(tool, **args)))


def edits(name: str) -> list[tuple[str, dict[str, Any]]]:
    """Each would tell something of the content by how it ends."""
    return [
        ("replace", {"file_path": name, "old_string": "DB_PASSWORD=hunter", "new_string": "x"}),
        ("replace", {"file_path": name, "old_string": "DB_PASSWORD=humter", "new_string": "x"}),
        ("replace", {"file_path": name, "old_string": "a", "new_string": "x"}),
        ("replace", {"file_path": name, "old_string": "ann", "new_string": "ann"}),
        ("replace", {"file_path": name, "old_string": "", "new_string": "x"}),
        ("write_file", {"file_path": name, "content": TEXT}),
        ("write_file", {"file_path": name, "content": "other\n"}),
    ]


@pytest.mark.spec("I3")
@pytest.mark.parametrize("mode", ["default", "auto_edit", "plan"])
@pytest.mark.parametrize("name", SECRETS)
async def test_an_edit_of_a_secret_is_judged_alike_whatever_is_in_it(bench: Bench, name: str, mode: Mode) -> None:
    found = [await judged(bench, tool, mode=mode, **args) for tool, args in edits(name)]
    assert {(verdict.ruling, verdict.reason) for verdict in found} == {(found[0].ruling, found[0].reason)}
    assert found[0].ruling == ("deny" if mode == "plan" else "ask")
    assert "hunter" not in found[0].reason


@pytest.mark.spec("I3")
@pytest.mark.parametrize("name", SECRETS)
async def test_an_allowed_edit_does_not_make_a_secret_readable(bench: Bench, name: str) -> None:
    for tool, args in edits(name):
        assert (await judged(bench, tool, parse_allowed(tool), mode="auto_edit", **args)).ruling == "ask"


@pytest.mark.spec("C7")
@pytest.mark.parametrize("mode", ["default", "auto_edit", "yolo", "plan"])
@pytest.mark.parametrize("kept", ["read_file", "*", "replace", "write_file"])
async def test_an_edit_does_not_reveal_a_denied_file(bench: Bench, kept: str, mode: Mode) -> None:
    rule = Rule(ruling="deny", tool=kept, path="plain.txt")
    for tool, args in edits("plain.txt"):
        if kept in ("read_file", "*", tool):
            assert (await judged(bench, tool, rule, mode=mode, **args)).ruling == "deny"


@pytest.mark.spec("C7")
@pytest.mark.parametrize(
    ("tool", "args"),
    [
        ("grep_search", {"pattern": "hunter", "dir_path": "."}),
        ("read_many_files", {"include": ["*"]}),
        ("run_shell_command", {"command": "cat plain.txt"}),
        ("run_shell_command", {"command": "grep -r hunter ."}),
    ],
)
async def test_what_must_not_be_read_is_not_shown_by_another_tool(
    bench: Bench, tool: str, args: dict[str, Any]
) -> None:
    assert (await judged(bench, tool, Rule(ruling="deny", tool="read_file", path="plain.txt"), **args)).ruling in (
        "ask",
        "deny",
    )
    assert (await judged(bench, tool, Rule(ruling="deny", tool="read_file", path="other/**"), **args)).ruling != "deny"


async def test_an_edit_that_does_not_fit_says_what_is_near_where_the_file_may_be_read(bench: Bench) -> None:
    args: dict[str, Any] = {"file_path": "plain.txt", "old_string": "DB_PASSWORD=humter2-and-more", "new_string": "x"}
    with pytest.raises(ToolFailed, match="hunter2"):
        await judged(bench, "replace", **args)
    args["file_path"] = ".env"
    with pytest.raises(ToolFailed, match="hunter2"):
        await judged(bench, "replace", mode="yolo", **args)
    with pytest.raises(ToolFailed, match="hunter2"):
        await judged(bench, "replace", Rule(ruling="allow", tool="read_file", path=".env"), **args)


async def test_after_the_yes_the_model_is_told_why_the_edit_does_not_fit(bench: Bench) -> None:
    args = {"file_path": ".env", "old_string": "DB_PASSWORD=humter2-and-more", "new_string": "x"}
    invocation = bench.build("replace", **args)
    action = await make_action(Policy(roots=(str(bench.root),)), bench.tools["replace"], args, invocation)
    assert isinstance(action.details, EditDetails)
    assert action.details.secret == ".env usually holds secrets"
    assert invocation.modifiable() is None
    with pytest.raises(ToolFailed, match="hunter2"):
        await invocation.execute(PERMIT, LiveRecorder())


async def test_a_new_file_with_the_name_of_a_secret_tells_of_nothing(bench: Bench) -> None:
    verdict = await judged(bench, "write_file", mode="auto_edit", file_path="keys/new.key", content="x\n")
    assert verdict.ruling == "allow"


@pytest.mark.spec("I3")
@pytest.mark.parametrize("name", SECRETS)
async def test_reading_a_secret_asks_by_whatever_name(bench: Bench, name: str) -> None:
    assert isinstance(await bench.details("read_file", file_path=name), InfoDetails)
    (bench.root / "plain.txt").write_text("nothing\n")
    read = await bench.run("read_many_files", include=[name, "*"], respect_git_ignore=False)
    assert "hunter2" not in str(read.content)


@pytest.mark.spec("I3")
@pytest.mark.parametrize("has_rg", [True, False])
async def test_a_search_says_the_same_whether_a_secret_matches_or_not(
    bench: Bench, has_rg: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    (bench.root / "plain.txt").write_text("nothing\n")
    if not has_rg:
        monkeypatch.setattr("assent.tools.support.searching.find_rg", lambda: None)
    variants: list[dict[str, Any]] = [
        {},
        {"names_only": True},
        {"context": 2},
        {"total_max_matches": 1},
        {"exclude_pattern": "z"},
    ]
    for options in variants:
        told = [await bench.text("grep_search", pattern=p, no_ignore=True, **options) for p in ("hunter2", "huntex2")]
        assert told[0].replace("hunter2", "huntex2") == told[1]
        assert "Not searched: " in told[0]


async def test_a_secret_cannot_be_searched(bench: Bench) -> None:
    for name in SECRETS:
        with pytest.raises(ToolFailed, match="call read_file"):
            await bench.text("grep_search", pattern="hunter2", dir_path=name)


@pytest.mark.spec("C8")
@pytest.mark.parametrize(
    "text", ["grep -r hunter .", "rg hunter", "find . -name '*.txt' -exec cat {} +", "cat twin.txt", "cat $(ls)"]
)
async def test_a_command_that_may_find_a_hard_link_to_a_secret_needs_approval(bench: Bench, text: str) -> None:
    assert (await judged(bench, "run_shell_command", command=text)).ruling == "ask"
    (bench.root / "twin.txt").unlink()
    (bench.root / "twin.txt").write_text("ordinary\n")
    _secrets.cache_clear()
    assert (await judged(bench, "run_shell_command", command=text)).ruling == "allow"


@pytest.mark.spec("I3")
async def test_a_second_name_that_a_secret_got_a_moment_ago_is_known(bench: Bench) -> None:
    assert "plain.txt" in str(await bench.run("grep_search", pattern="hunter"))  # the folder has been looked through
    (bench.root / "fresh").mkdir()
    (bench.root / "fresh" / ".env").write_text(TEXT)
    os.link(bench.root / "fresh" / ".env", bench.root / "copy.txt")
    assert (await judged(bench, "read_file", file_path="copy.txt")).ruling == "ask"
    assert "copy.txt" not in str(await bench.run("grep_search", pattern="hunter"))
    read = await bench.run("read_many_files", include=["c*"])
    assert "hunter2" not in str(read.content)


@pytest.mark.spec("I3")
async def test_a_search_shows_nothing_of_a_secret_with_a_line_break_in_its_name(bench: Bench) -> None:
    (bench.root / "a\n.env").write_text(TEXT)
    (bench.root / "a\\n.env").write_text(TEXT)
    found = str(await bench.run("grep_search", pattern="hunter"))
    assert "plain.txt" in found
    assert ".env" not in found.partition("Not searched")[0]


@pytest.mark.spec("I3")
async def test_a_search_shows_nothing_of_what_a_link_calls_a_secret(bench: Bench) -> None:
    for folder in ("conf", "apps/web"):
        (bench.root / folder).mkdir(parents=True)
    (bench.root / "conf" / "dev").write_text(TEXT)
    (bench.root / "apps" / "web" / ".env").symlink_to("../../conf/dev")
    assert (await judged(bench, "read_file", file_path="conf/dev")).ruling == "ask"
    found = str(await bench.run("grep_search", pattern="hunter"))
    assert "plain.txt" in found
    assert "conf/dev" not in found
