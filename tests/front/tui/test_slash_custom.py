"""Custom commands in a session: what they run goes through the gate, what is refused stops them."""

from pathlib import Path

import pytest

from assent.app.custom_commands import BUILT_IN, CustomCommand, Stopped
from assent.app.custom_filling import filled
from assent.app.opening import LocalClient
from assent.commands import RunTool
from assent.events import ApprovalRequested, CallFinished, CallStarted
from assent.files.workspace import Workspace
from assent.front.tui.slash.slash_registry import SlashRegistry
from assent.parts import Failure
from assent.policy.rules import Rule
from assent.session.memory_log import MemoryLog
from assent.session.run_options import RunOptions
from assent.session.runner import Runner, create_session
from assent.tools.builtin import builtin_tools
from assent.tools.registry import Registry as Tools
from assent.tools.response import cancelled_result, failure_result
from support.session_harness import SessionHarness
from support.slash import Slash, follow

pytestmark = pytest.mark.spec("G5")


class FolderHarness(SessionHarness):
    """A harness over a real folder with the real tools."""

    def __init__(self, folder: Path) -> None:
        super().__init__(log=MemoryLog())
        self.folder = folder

    async def open_here(self, rules: tuple[Rule, ...] = (), mode: str = "default") -> Runner:
        folder = str(self.folder)
        self.session = await create_session(self.log, folder, "scripted", mode)  # pyright: ignore[reportArgumentType]
        registry = Tools(builtin_tools(Workspace([folder], folder)))
        runner = await Runner.open(self.log, self.session, self.model, registry, RunOptions(rules=rules, client="test"))
        self._listen(runner)
        return runner


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "work"
    folder.mkdir()
    (folder / "rules.md").write_text("Use tabs.\n!{touch pwned}\n")
    (folder / ".env").write_text("KEY=secret\n")
    return folder


async def run(
    folder: Path, prompt: str, line: str, *, answers: tuple[str, ...] = (), rules: tuple[Rule, ...] = ()
) -> tuple[Slash, FolderHarness]:
    """Runs a custom command `/do` with this prompt; gives each question an answer in turn."""
    harness = FolderHarness(folder)
    runner = await harness.open_here(rules)
    commands = [CustomCommand("do", "does it", prompt, "do.toml")]
    async with follow(harness, runner, LocalClient(runner, "ann"), folder.parent / "p.toml", commands) as slash:
        slash.start(line)
        for answer in answers:
            (waiting,) = await harness.until_waiting(runner)
            await harness.answer(runner, waiting.request.call_id, answer)  # pyright: ignore[reportArgumentType]
            await harness.until_event(CallFinished)
        await slash.finish()
    return slash, harness


async def test_a_harmless_command_and_a_file_go_into_the_prompt(folder: Path):
    slash, harness = await run(folder, "Rules: @{rules.md}\nFiles: !{ls}\nNow {{args}}.", "/do it all")
    assert slash.did == [("submit", "Rules: Use tabs.\n!{touch pwned}\nFiles: rules.md\nNow it all.")]
    assert harness.recorded(ApprovalRequested) == [] and not (folder / "pwned").exists()


async def test_a_command_of_a_file_is_asked_about_although_a_person_started_it(folder: Path):
    slash, harness = await run(folder, "See !{touch new; echo done}", "/do", answers=("proceed_once",))
    assert len(harness.recorded(ApprovalRequested)) == 1 and (folder / "new").exists()
    assert slash.did == [("submit", "See done")]


async def test_a_refusal_stops_the_prompt_and_says_so(folder: Path):
    slash, harness = await run(folder, "!{touch new} !{touch newer}", "/do", answers=("cancel",))
    assert slash.did == [] and harness.recorded(CallStarted) == []
    assert slash.app.complaints == ["/do was not sent: `touch new` was refused."]
    assert len(harness.recorded(ApprovalRequested)) == 1


async def test_a_rule_that_denies_holds_here_too(folder: Path):
    slash, _ = await run(folder, "!{touch new}", "/do", rules=(Rule(ruling="deny", tool="run_shell_command"),))
    (said,) = slash.app.complaints
    assert slash.did == [] and said.startswith("/do was not sent: `touch new` was refused: denied by policy")


def cancelled(reason: str, ran_ms: int | None = None) -> CallFinished:
    return CallFinished(call_id="c", status="cancelled", result=cancelled_result("c", "t", reason), ran_ms=ran_ms)


def failed(kind: str, message: str) -> CallFinished:
    failure = Failure(kind, message)
    return CallFinished(call_id="c", status="error", result=failure_result("c", "t", failure), failure=failure)


@pytest.mark.parametrize(
    ("end", "said"),
    [
        (cancelled("Use make."), "`ls` was refused: Use make."),
        (cancelled("The user pressed Esc.", ran_ms=9), "`ls` was stopped: The user pressed Esc."),
        (failed("shell_execute_error", "No such program."), "`ls` failed: No such program."),
        (
            failed("approval_unavailable", "Do not try again."),
            "`ls` was refused: it needs approval, and nobody can be asked.",
        ),
    ],
)
async def test_what_stopped_it_is_told_in_words_for_a_person(end: CallFinished, said: str):
    async def run(tool: RunTool) -> CallFinished:
        return end

    with pytest.raises(Stopped) as stopped:
        await filled(CustomCommand("do", "does it", "!{ls}", "do.toml"), "", run, "ann")
    assert str(stopped.value) == said


async def test_a_hostile_argument_does_not_get_out_of_its_quotes(folder: Path):
    slash, harness = await run(folder, "!{printf %s {{args}}}", "/do '; touch pwned #", answers=())
    assert not (folder / "pwned").exists() and harness.recorded(ApprovalRequested) == []
    assert slash.did == [("submit", "'; touch pwned #")]


@pytest.mark.parametrize("path", ["/etc/hostname", "../outside", "nosuch.md", "."])
async def test_a_file_outside_or_missing_is_refused_with_its_reason(folder: Path, path: str):
    slash, _ = await run(folder, "@{" + path + "}", "/do")
    assert slash.did == [] and "reading" in slash.app.complaints[0]


async def test_a_place_for_secrets_is_asked_about(folder: Path):
    slash, harness = await run(folder, "@{.env}", "/do", answers=("cancel",))
    assert slash.did == [] and len(harness.recorded(ApprovalRequested)) == 1


async def test_a_command_that_fails_says_so_in_the_prompt(folder: Path):
    slash, _ = await run(folder, "!{ls nosuch}", "/do")
    ((_, text),) = slash.did
    assert "nosuch" in text and text.endswith("(the command FAILED)]")


def test_the_names_that_no_file_may_take_are_those_of_the_terminals_commands():
    assert SlashRegistry().names() == BUILT_IN


async def test_a_custom_command_is_listed_and_never_hides_a_built_in_one(folder: Path):
    harness = FolderHarness(folder)
    runner = await harness.open_here()
    commands = [CustomCommand("quit", "evil", "x", "f"), CustomCommand("git:log", "Shows [b]it[/b]", "x", "f")]
    async with follow(harness, runner, LocalClient(runner, "ann"), folder.parent / "p.toml", commands) as slash:
        await slash.run("/quit")
        assert slash.did == [("quit", None)]
        await slash.run("/help")
        assert "/git:log" in slash.app.viewed and "Shows [b]it[/b]" in slash.app.viewed
        await slash.run("/git:log now")
        assert slash.did[-1] == ("submit", "x\n\nnow")
