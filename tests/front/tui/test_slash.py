"""Slash commands: what a line means, what each command does to a real session, and what it says when it cannot."""

from pathlib import Path

import pytest

from assent.app.wording import MODES
from assent.approval import AskDetails, Grant, Question
from assent.commands import Submit
from assent.events import ModeChanged, ModelChanged, SessionArchived, SessionRenamed
from assent.front.tui.host import MemoryFile, RuleInfo, ServerInfo, ToolInfo
from assent.front.tui.lists import ListScreen
from assent.front.tui.slash.approval_commands import would
from assent.front.tui.slash.slash_command import Typed, parse
from assent.front.tui.slash.slash_registry import SlashRegistry
from assent.front.tui.small_screens import LineScreen, PageScreen
from assent.models.scripted.scripted_model import ScriptedModel
from support.session_harness import SessionHarness, call, calls, text
from support.slash import open_slash

pytestmark = pytest.mark.spec("G5")


@pytest.fixture
def preferences(tmp_path: Path) -> Path:
    return tmp_path / "preferences.toml"


# --- lines ---


@pytest.mark.parametrize(
    ("line", "typed"),
    [
        ("/help", Typed("help")),
        ("/", Typed("help")),
        ("/?", Typed("?")),
        ("  /model  gemini-2.5-pro ", Typed("model", "gemini-2.5-pro")),
        ("/git:commit fix it\nand that", Typed("git:commit", "fix it\nand that")),
        ("/rename Größe ändern", Typed("rename", "Größe ändern")),
        ("//help", None),
        ("/usr/bin/env is what?", None),
        ("/home/ann", None),
        ("hello /help", None),
        ("", None),
    ],
)
def test_a_line_is_a_command_or_text(line: str, typed: Typed | None):
    assert parse(line) == typed


def test_an_unknown_name_gets_the_nearest_ones():
    assert SlashRegistry().unknown("hlep") == "Unknown command /hlep. Did you mean /help?"
    assert SlashRegistry().unknown("bogus") == "Unknown command /bogus. /help lists them."
    assert SlashRegistry().unknown("zzzzzz") == "Unknown command /zzzzzz. /help lists them."


def test_every_command_of_the_contract_is_there_with_a_line_of_help():
    registry = SlashRegistry()
    wanted = (
        "help clear model mode tools mcp memory compress undo stats sessions resume policy approvals theme editor "
        "quit exit rename fork queue about"
    )
    for name in wanted.split():
        command = registry.find(name)
        assert command is not None, name
        assert command.help and "\n" not in command.help


async def test_what_is_no_command_is_left_to_the_model(preferences: Path):
    async with open_slash(SessionHarness(), preferences) as slash:
        assert await slash.run("/usr/bin is full") is False
        assert await slash.run("/nosuch") is True
        assert slash.app.complaints == ["Unknown command /nosuch. /help lists them."]


async def test_names_and_arguments_are_completed(preferences: Path):
    async with open_slash(SessionHarness(), preferences) as slash:
        registry = slash.app.registry
        assert {candidate.name for candidate in registry.candidates()} >= {"model", "mode", "resume"}
        assert all(candidate.help for candidate in registry.candidates())

        async def offered(command: str) -> list[str]:
            return [candidate.name for candidate in await registry.arguments(command, "", slash.app)]

        assert await offered("model") == ["gemini-2.5-pro", "gemini-2.5-flash"]
        assert await offered("mode") == ["default", "auto_edit", "auto_try", "contained", "plan", "yolo"]
        assert await offered("resume") == ["latest", slash.harness.session]
        assert await offered("theme") == list(slash.app.themes)
        assert (await offered("editor"))[0] == "default"
        assert "add" in await offered("memory") and "tools" in await offered("stats")
        assert "clear" in await offered("help")
        assert await offered("fork") == await offered("nosuch") == []


async def test_archive_takes_the_session_out_of_the_list(preferences: Path):
    async with open_slash(SessionHarness(), preferences) as slash:
        await slash.run("/archive")
        (archived,) = slash.harness.recorded(SessionArchived)
        assert archived.archived and "archived" in slash.app.said[-1]


# --- help, about, quit ---


async def test_help_lists_groups_commands_and_keys(preferences: Path):
    async with open_slash(SessionHarness(), preferences) as slash:
        await slash.run("/help")
        shown = slash.app.viewed
        assert "Approvals" in shown and "/policy" in shown and "Ctrl+C" in shown
        await slash.run("/help quit")
        assert "Also: /exit" in slash.app.said[-1]
        await slash.run("/help quti")
        assert slash.app.complaints == ["Unknown command /quti. Did you mean /quit?"]


async def test_about_names_version_session_and_folder(preferences: Path):
    async with open_slash(SessionHarness(), preferences) as slash:
        await slash.run("/about")
        assert slash.harness.session in slash.app.said[0] and "/w" in slash.app.said[0]


async def test_quit_and_exit_end_the_program(preferences: Path):
    async with open_slash(SessionHarness(), preferences) as slash:
        await slash.run("/quit")
        await slash.run("/exit")
        assert slash.did == [("quit", None)] * 2


# --- sessions ---


async def test_clear_begins_a_new_session_and_says_how_to_come_back(preferences: Path):
    async with open_slash(SessionHarness(), preferences) as slash:
        await slash.run("/clear")
        assert slash.did == [("switch", None)]
        assert slash.app.said == ["This is a new session."]  # nothing was said in the one before
        await slash.run("/rename Mine")
        await slash.run("/clear")
        assert f"/resume {slash.harness.session}" in slash.app.said[1]


async def test_enter_in_the_list_of_sessions_opens_one(preferences: Path):
    harness = SessionHarness()
    async with open_slash(harness, preferences) as slash:
        other = await slash.app.host.fork(harness.session)
        screen = await slash.open("/sessions")
        assert screen.highlighted is not None and screen.highlighted.key == other
        await slash.press("enter")
        await slash.finish()
        assert slash.did == [("switch", other)]


async def test_the_open_session_is_not_opened_twice(preferences: Path):
    async with open_slash(SessionHarness(), preferences) as slash:
        await slash.run(f"/resume {slash.harness.session}")
        assert slash.did == [] and "open" in slash.app.said[0]


async def test_f_forks_and_the_list_shows_the_fork(preferences: Path):
    async with open_slash(SessionHarness(), preferences) as slash:
        screen = await slash.open("/sessions")
        await slash.press("f")
        await slash.until(lambda: len(screen.rows) == 2)
        await slash.press("escape")
        await slash.finish()
        assert "Forked" in slash.app.said[0] and slash.did == []


async def test_what_the_host_cannot_do_is_said_and_the_list_stays(preferences: Path):
    async with open_slash(SessionHarness(), preferences) as slash:
        slash.app.host.can_fork = False
        screen = await slash.open("/sessions")
        await slash.press("f")
        await slash.until(lambda: bool(slash.app.complaints))
        assert slash.app.screen is screen
        await slash.press("escape")
        await slash.finish()
        await slash.run("/rename Fine")
        await slash.run("/fork")
        assert slash.app.complaints == ["a served session cannot be forked from here"] * 2


async def test_r_renames_the_open_session(preferences: Path):
    async with open_slash(SessionHarness(), preferences) as slash:
        await slash.open("/sessions")
        await slash.press("r")
        await slash.until(lambda: isinstance(slash.app.screen, LineScreen))
        await slash.press(*(["backspace"] * 30), *"tidy", "enter")
        await slash.until(lambda: slash.runner.state.title == "tidy")
        await slash.until(lambda: isinstance(slash.app.screen, ListScreen))
        await slash.press("escape")
        await slash.finish()


async def test_r_renames_another_session(preferences: Path):
    async with open_slash(SessionHarness(), preferences) as slash:
        other = await slash.app.host.fork(slash.harness.session)
        screen = await slash.open("/sessions")
        await slash.press("r")
        await slash.until(lambda: isinstance(slash.app.screen, LineScreen))
        await slash.press(*(["backspace"] * 30), *"tidy", "enter")
        await slash.until(lambda: any(row.key == other and row.cells[1] == "tidy" for row in screen.rows))
        await slash.press("escape")
        await slash.finish()


async def test_d_deletes_a_session_after_a_yes(preferences: Path):
    async with open_slash(SessionHarness(), preferences) as slash:
        other = await slash.app.host.fork(slash.harness.session)
        screen = await slash.open("/sessions")
        for keys, left in ((("enter",), 2), (("down", "enter"), 1)):
            await slash.press("d")
            await slash.until(lambda: slash.app.screen is not screen)
            await slash.loaded()
            await slash.press(*keys)
            await slash.until(lambda: slash.app.screen is screen)
            await slash.loaded()
            assert len(await slash.app.host.sessions()) == left
        assert other not in [row.key for row in screen.rows]
        await slash.press("escape")
        await slash.finish()


async def test_the_open_session_is_not_deleted(preferences: Path):
    async with open_slash(SessionHarness(), preferences) as slash:
        await slash.open("/sessions")
        await slash.press("d")
        await slash.until(lambda: bool(slash.app.complaints))
        assert "is open" in slash.app.complaints[0] and len(await slash.app.host.sessions()) == 1
        await slash.press("escape")
        await slash.finish()


async def test_resume_takes_the_beginning_of_an_id_or_latest(preferences: Path):
    async with open_slash(SessionHarness(), preferences) as slash:
        other = await slash.app.host.fork(slash.harness.session)
        await slash.run(f"/resume {other[:-1]}")
        await slash.run("/resume latest")
        assert slash.did == [("switch", other)] * 2
        await slash.run("/resume 2")
        await slash.run("/resume nosuch")
        assert "2 sessions start with 2" in slash.app.complaints[0]
        assert "no session nosuch" in slash.app.complaints[1]


async def test_rename_and_fork_work_on_the_open_session(preferences: Path):
    async with open_slash(SessionHarness(), preferences) as slash:
        await slash.run("/rename  A *fine* name ")
        assert slash.harness.recorded(SessionRenamed)[-1] == SessionRenamed("A *fine* name", "ann")
        await slash.run("/fork")
        assert slash.did[0][0] == "switch" and slash.did[0][1] != slash.harness.session


async def test_a_session_in_which_nothing_was_said_is_not_forked(preferences: Path):
    async with open_slash(SessionHarness(), preferences) as slash:
        await slash.run("/fork")
        assert slash.did == [] and "nothing to fork" in slash.app.complaints[0]


async def test_the_queue_gives_back_what_waits(preferences: Path):
    harness = SessionHarness(calls(call("run_note", "c1", text="touch x")), text("done"))
    async with open_slash(harness, preferences) as slash:
        await slash.runner.send(Submit("first"))
        await harness.until_waiting(slash.runner)
        for waiting in ("second", "third"):
            await slash.runner.send(Submit(waiting, by="ann"))
        await slash.until(lambda: len(slash.runner.state.queued) == 2)
        screen = await slash.open("/queue")
        await slash.press("d")
        await slash.until(lambda: [row.detail for row in screen.rows] == ["third"])
        await slash.press("enter")
        await slash.finish()
        assert slash.did == [("prompt", "third")] and slash.runner.state.queued == ()


# --- model and mode ---


async def test_the_model_is_chosen_by_name_or_from_the_list(preferences: Path):
    harness = SessionHarness(text("hi"))

    def open_model(name: str) -> ScriptedModel:
        return ScriptedModel(harness.scenario)

    async with open_slash(harness, preferences, open_model=open_model) as slash:
        await slash.run("/model gemini-2.5-flash")
        assert harness.recorded(ModelChanged) == [ModelChanged("gemini-2.5-flash", "ann")]
        screen = await slash.open("/model")
        assert screen.highlighted is not None and screen.highlighted.key == "gemini-2.5-flash"
        await slash.press("down", "enter")
        await slash.finish()
        assert slash.runner.state.model == "gemini-2.5-pro"
        await slash.run("/model gemini-2.5-pro")
        assert "already" in slash.app.said[-1]


async def test_a_model_that_cannot_be_had_is_said(preferences: Path):
    async with open_slash(SessionHarness(), preferences) as slash:
        await slash.run("/model other")
        assert slash.app.complaints == ["Not done: the model of this session cannot be changed."]


async def test_what_a_mode_means_is_shown_with_all_its_words(preferences: Path):
    async with open_slash(SessionHarness(), preferences) as slash:
        await slash.open("/mode")
        for words in MODES.values():
            await slash.until(lambda words=words: words.split()[-1] in slash.text())
            await slash.press("down")
        await slash.press("escape")
        await slash.finish()


async def test_the_mode_is_changed_and_nonsense_is_not(preferences: Path):
    async with open_slash(SessionHarness(), preferences) as slash:
        await slash.run("/mode plan")
        assert slash.runner.state.mode == "plan"
        await slash.run("/mode plann")
        assert "There is no mode plann" in slash.app.complaints[0]
        await slash.run("/mode plan")
        assert "already" in slash.app.said[-1]


async def test_yolo_is_asked_once_more_and_enter_alone_means_no(preferences: Path):
    async with open_slash(SessionHarness(), preferences) as slash:
        await slash.open("/mode yolo")
        await slash.press("enter")
        await slash.finish()
        assert slash.runner.state.mode == "default" and slash.harness.recorded(ModeChanged) == []
        await slash.open("/mode yolo")
        await slash.press("down", "enter")
        await slash.finish()
        assert slash.runner.state.mode == "yolo"


# --- approving ---


async def test_policy_shows_rules_and_grants_explains_them_and_revokes_a_grant(preferences: Path):
    harness = SessionHarness(calls(call("run_note", "c1", text="touch x")), text("done"))
    async with open_slash(harness, preferences) as slash:
        slash.app.host.rule_infos = [RuleInfo("deny run_note(rm)", "deny", "/etc/assent/policy.toml:3", "never")]
        await slash.runner.send(Submit("go"))
        await harness.until_waiting(slash.runner)
        assert await harness.answer(slash.runner, "c1", "proceed_always") == ""
        await harness.until_done()
        (grant,) = slash.runner.state.grants.values()
        assert isinstance(grant, Grant)
        screen = await slash.open("/policy")
        assert [row.cells[0] for row in screen.rows] == ["grant", "deny"]
        await slash.press("enter")
        await slash.until(lambda: isinstance(slash.app.screen, PageScreen))
        assert "call c1" in slash.text()
        await slash.press("escape")
        await slash.press("d")
        await slash.until(lambda: [row.cells[0] for row in screen.rows] == ["deny"])
        assert slash.runner.state.grants == {}
        await slash.press("d")
        await slash.until(lambda: bool(slash.app.complaints))
        await slash.press("escape")
        await slash.finish()


@pytest.mark.spec("J4")
async def test_policy_lists_what_was_allowed_from_now_on_and_says_how_long(preferences: Path):
    async with open_slash(SessionHarness(), preferences) as slash:
        reach = "Requests by web_fetch to example.org, in every folder, from now on."
        slash.app.host.grants_before = [
            Grant(id="g1", kind="domain", tool="web_fetch", reach=reach, value="example.org", lasts="everywhere")
        ]
        screen = await slash.open("/policy")
        assert [row.cells[:2] for row in screen.rows] == [("grant", reach)]
        await slash.press("enter")
        await slash.until(lambda: isinstance(slash.app.screen, PageScreen))
        assert "in every folder until it is revoked" in " ".join(slash.text().split())
        await slash.press("escape", "escape")
        await slash.finish()


async def test_approvals_come_and_go_while_the_list_is_open(preferences: Path):
    harness = SessionHarness(
        calls(call("run_note", "c1", text="rm -r x"), call("edit_note", "c2", path="a", content="b"))
    )
    async with open_slash(harness, preferences) as slash:
        screen = await slash.open("/approvals")
        assert screen.rows == [] and "Nothing is waiting for you in any session." in slash.text()
        await slash.runner.send(Submit("go"))
        await slash.until(lambda: len(screen.rows) == 2)
        assert {row.cells[1] for row in screen.rows} == {"rm -r x", "create a"}
        await harness.answer(slash.runner, "c1", "cancel")
        await slash.until(lambda: [row.cells[1] for row in screen.rows] == ["create a"])
        await slash.press("enter")
        await slash.finish()
        assert slash.did == [("answer", "c2")]


async def test_approvals_list_the_questions_of_other_sessions_and_open_them(preferences: Path):
    async with open_slash(SessionHarness(), preferences) as slash:
        other = SessionHarness(calls(call("run_note", "c1", text="rm -r x")), log=slash.harness.log)
        runner = await other.open()
        await runner.send(Submit("go"))
        await other.until_waiting(runner)
        screen = await slash.open("/approvals")
        assert [row.cells[:2] for row in screen.rows] == [(f"about {other.session}", "rm -r x")]
        assert screen.rows[0].detail.startswith(f"assent answer {other.session} c1 yes|")
        await slash.press("enter")
        await slash.finish()
        assert slash.did == [("switch", other.session)]
        await runner.close()


def test_a_question_of_the_model_is_one_line_in_the_list():
    assert (
        would(AskDetails((Question(question="Which one?"), Question(question="When?"))))
        == "ask you: Which one? / When?"
    )


# --- looking ---


async def test_tools_are_listed_filtered_and_described(preferences: Path):
    async with open_slash(SessionHarness(), preferences) as slash:
        slash.app.host.tool_infos = [
            ToolInfo("read_file", "Reads a file.", "read"),
            ToolInfo("mcp_notes_add", "Adds [bold]a note[/bold] \x1b[2J.", "other", "notes"),
        ]
        screen = await slash.open("/tools")
        await slash.press("slash", *"notes")
        assert [row.key for row in screen.shown] == ["mcp_notes_add"]
        assert "[bold]a note[/bold]" in slash.text() and "\x1b" not in slash.text()
        await slash.press("enter", "enter")
        await slash.until(lambda: isinstance(slash.app.screen, PageScreen))
        assert "from the server notes" in slash.text()
        await slash.press("escape", "escape", "escape")
        await slash.finish()


async def test_only_the_tools_that_the_model_is_offered_are_listed(preferences: Path):
    async with open_slash(SessionHarness(), preferences) as slash:
        slash.app.host.tool_infos = [
            ToolInfo("read_file", "Reads a file.", "read"),
            ToolInfo("propose_plan", "Proposes a plan.", "think", offered="in plan mode"),
            ToolInfo("undo", "Takes a change back.", "edit", offered="never"),
        ]
        screen = await slash.open("/tools")
        assert [row.key for row in screen.rows] == ["read_file"]
        await slash.press("escape")
        await slash.finish()
        await slash.run("/mode plan")
        screen = await slash.open("/tools")
        assert [row.key for row in screen.rows] == ["read_file", "propose_plan"]
        await slash.press("escape")
        await slash.finish()


@pytest.mark.parametrize(
    ("name", "complaints"),
    [
        ("gemini-2.5-flsh", ["gemini-2.5-flsh is not in the provider's list. Similar names there: "]),
        ("gemini-2.5-flash", []),
        ("ollama:qwen3", []),
        ("claude-opus", []),
    ],
)
async def test_a_model_that_its_provider_does_not_list_is_used_and_pointed_out(
    preferences: Path, name: str, complaints: list[str]
):
    harness = SessionHarness()

    def open_model(name: str) -> ScriptedModel:
        return ScriptedModel(harness.scenario)

    async with open_slash(harness, preferences, open_model=open_model) as slash:
        slash.app.host.model_names = ["gemini-2.5-pro", "gemini-2.5-flash", "ollama:qwen3:latest"]
        await slash.run(f"/model {name}")
        assert slash.runner.state.model == name
        assert [text.partition("gemini-2.5-flash")[0] for text in slash.app.complaints] == complaints


async def test_mcp_shows_state_and_problem_and_restarts_where_the_host_can(preferences: Path):
    async with open_slash(SessionHarness(), preferences) as slash:
        slash.app.host.server_infos = [ServerInfo(name="notes", state="failed", tools=0, problem="exited with code 1")]
        await slash.open("/mcp")
        assert "exited with code 1" in slash.text() and "restart" not in slash.text()
        await slash.press("escape")
        await slash.finish()
        restarted: list[str] = []

        async def restart_server(name: str) -> None:
            restarted.append(name)
            slash.app.host.server_infos = [ServerInfo(name="notes", state="ready", tools=2)]

        slash.app.host.restart_server = restart_server  # type: ignore[attr-defined]
        screen = await slash.open("/mcp")
        await slash.press("r")
        await slash.until(lambda: bool(screen.rows) and screen.rows[0].cells[1] == "ready")
        assert restarted == ["notes"]
        await slash.press("escape")
        await slash.finish()


async def test_memory_lists_shows_and_adds(preferences: Path):
    async with open_slash(SessionHarness(), preferences) as slash:
        slash.app.host.memory_files = [
            MemoryFile("/w/ASSENT.md", 12, "use tabs"),
            MemoryFile("/w/x/ASSENT.md", 9, "secret", "not trusted"),
        ]
        await slash.open("/memory")
        assert "sent to the model" in slash.text() and "left out" in slash.text()
        await slash.press("enter")
        await slash.until(lambda: isinstance(slash.app.screen, PageScreen))
        assert "use tabs" in slash.text()
        await slash.press("escape", "down")
        await slash.until(lambda: "Left out: not trusted" in slash.text())
        await slash.press("escape")
        await slash.finish()
        await slash.run("/memory show")
        assert slash.app.said == ["/w/ASSENT.md\nuse tabs"]
        await slash.run("/memory add")
        await slash.run("/memory add we use tabs")
        await slash.run("/memory forget")
        assert len(slash.app.complaints) == 3


async def test_a_fact_goes_to_the_tool_that_remembers(preferences: Path):
    async with open_slash(SessionHarness(), preferences) as slash:
        slash.app.host.tool_infos = [ToolInfo("save_memory", "Remembers.", "think")]
        await slash.run("/memory add we use tabs")
        await slash.until(lambda: bool(slash.runner.state.calls))
        (made,) = slash.runner.state.calls.values()
        assert (made.request.tool, made.request.args) == ("save_memory", {"fact": "we use tabs"})


async def test_stats_show_the_session_the_models_and_the_tools(preferences: Path):
    usage = {"input": 1200, "output": 30, "thoughts": 4, "cached": 1000}
    harness = SessionHarness(calls(call("read_note", "c1", text="a")), text("done", usage=usage))
    async with open_slash(harness, preferences) as slash:
        await slash.runner.send(Submit("go"))
        await harness.until_done()
        await slash.until(lambda: slash.app.feed.tally.usage.input == 1200)
        await slash.run("/stats")
        assert "1,200" in slash.app.said[0] and "read_note" in slash.app.said[0] and "unknown" in slash.app.said[0]
        await slash.run("/stats model")
        assert "scripted (2 requests)" in slash.app.said[1]
        await slash.run("/stats tools")
        assert "1 ok" in slash.app.said[2]
        await slash.run("/stats money")
        assert "no /stats money" in slash.app.complaints[0]


# --- the program ---


async def test_a_theme_is_shown_while_highlighted_and_kept_when_chosen(preferences: Path):
    async with open_slash(SessionHarness(), preferences) as slash:
        await slash.open("/theme")
        await slash.press("down")
        assert slash.app.theme == "textual-light"
        await slash.press("escape")
        await slash.finish()
        assert slash.app.theme == "textual-dark" and not preferences.exists()
        await slash.run("/theme nord")
        assert slash.app.theme == "nord" and 'theme = "nord"' in preferences.read_text()
        await slash.run("/theme nosuch")
        assert "no theme nosuch" in slash.app.complaints[0]


async def test_only_editors_that_are_installed_can_be_chosen(
    preferences: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    (tmp_path / "nano").write_text("#!/bin/sh\n")
    (tmp_path / "nano").chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    async with open_slash(SessionHarness(), preferences) as slash:
        screen = await slash.open("/editor")
        assert [row.key for row in screen.rows] == ["default", "nano"]
        await slash.press("down", "enter")
        await slash.finish()
        assert slash.app.preferences.chosen.editor == "nano"
        await slash.run("/editor emacs")
        assert "There is no editor emacs here" in slash.app.complaints[0]
        await slash.run("/editor default")
        assert slash.app.preferences.chosen.editor == ""


async def test_a_session_that_closes_meanwhile_does_not_leave_a_command_waiting(preferences: Path):
    async with open_slash(SessionHarness(), preferences) as slash:
        slash.app.feed.close()
        await slash.run("/mode plan")
        assert slash.app.complaints == ["The session was closed before the command finished."]
