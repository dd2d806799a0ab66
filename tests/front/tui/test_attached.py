"""The screen on a session that a real server runs: what the server knows by name is offered, filled there and sent."""

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from textual.pilot import Pilot

from assent.client import Api, RemoteClient
from assent.events import PromptSubmitted
from assent.front.tui.host import NO_CHOICES, Choices
from assent.front.tui.lists import ListScreen
from assent.front.tui.prompt.popup import CompletionList
from assent.front.tui.remote_host import RemoteHost
from assent.front.tui.terminal_app import AssentApp
from assent.front.tui.transcript_model import NoteItem
from assent.front.tui.viewer import ViewerScreen
from assent.mcp_config import Servers
from support.program import asks_for, says, shell
from support.served import Served, until_event, until_waiting
from support.servers import SDK, program
from support.waiting import WAIT_LIMIT

pytestmark = [pytest.mark.spec("G5"), pytest.mark.spec("H5")]


class Attached:
    def __init__(self, served: Served, session: str, pilot: "Pilot[None]", app: AssentApp) -> None:
        self.served, self.session, self.pilot, self.app = served, session, pilot, app
        self.list = app.query_one(CompletionList)

    async def until(self, condition: Callable[[], object]) -> None:
        async with asyncio.timeout(WAIT_LIMIT):
            while not condition():
                await self.pilot.pause(0.01)

    async def say(self, line: str) -> None:
        self.app.prompt.load(line)
        await self.pilot.press("enter")

    async def until_shown(self, text: str) -> None:
        notes = self.app.transcript.transcript_model.items
        await self.until(lambda: any(text in note.text for note in notes if isinstance(note, NoteItem)))

    async def submitted(self) -> str:
        events = await until_event(self.served.api(), self.session, "turn.finished")
        (text,) = [one.event.text for one in events if isinstance(one.event, PromptSubmitted)]
        return text


class SlowHost(RemoteHost):
    """Opens a session only when it is released."""

    def __init__(self, api: Callable[[], Api], folder: str) -> None:
        super().__init__(api, folder)
        self.asked, self.released = asyncio.Event(), asyncio.Event()

    async def open(self, session: str | None = None, choices: Choices = NO_CHOICES) -> RemoteClient:
        self.asked.set()
        await self.released.wait()
        return await super().open(session, choices)


@asynccontextmanager
async def attached(served: Served) -> AsyncGenerator[Attached]:
    session = (await served.api().create(model=served.scenario(says("Fine."), name="quiet")))["id"]
    app = AssentApp(RemoteHost(served.api, str(served.folder)), session=session)
    async with app.run_test(size=(100, 30)) as pilot:
        it = Attached(served, session, pilot, app)
        await it.until(lambda: app.client is not None)
        yield it
    await app.shut_down()


async def test_the_questions_of_other_sessions_on_the_server_are_listed(tmp_path: Path):
    async with Served(tmp_path) as served, attached(served) as it:
        asking = served.scenario(asks_for(shell("rm -r build")), name="asking")
        other = (await served.api().create(model=asking, prompt="Clean up."))["id"]
        await until_waiting(served.api())
        await it.say("/approvals")
        await it.until(lambda: isinstance(it.app.screen, ListScreen) and it.app.screen.rows)
        await it.pilot.press("enter")
        await it.until(lambda: it.app.client is not None and it.app.client.state.session == other)


async def test_all_of_a_very_long_output_is_read_from_the_server_also_by_the_path_of_its_file(tmp_path: Path):
    async with Served(tmp_path) as served:
        replies = [asks_for(shell("seq -f 'number %g' 1 300000")), says("Done.")]
        model = served.scenario(*replies, name="long")
        session = (await served.api().create(model=model, mode="yolo", prompt="Count."))["id"]
        await until_event(served.api(), session, "turn.finished")
        app = AssentApp(RemoteHost(served.api, str(served.folder)), session=session)
        async with app.run_test(size=(100, 30)) as pilot:
            it = Attached(served, session, pilot, app)
            await it.until(lambda: app.client is not None)
            (path,) = (served.home / "outputs" / session).iterdir()
            for line in ("/view", f"/view {path}"):
                await it.say(line)
                await it.until(lambda: isinstance(app.screen, ViewerScreen) and len(app.screen.lines.lines) >= 300_000)
                await it.pilot.press("q")
            path.unlink()
            await it.say("/view")
            await it.until(lambda: isinstance(app.screen, ViewerScreen) and "is gone" in app.screen.said)
        await app.shut_down()


def command(served: Served, name: str, prompt: str) -> None:
    path = served.home / "commands" / f"{name}.toml"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f'description = "does {name}"\nprompt = "{prompt}"\n')


async def test_a_custom_command_of_the_server_is_offered_and_sent_filled(tmp_path: Path):
    async with Served(tmp_path) as served:
        (served.folder / "rules.md").write_text("Use tabs.\n")
        command(served, "review", "Rules: @{rules.md} Now {{args}}.")
        async with attached(served) as it:
            await it.until(lambda: it.app.context.commands.find("review"))
            await it.pilot.press("slash", "r", "e", "v")
            assert it.list.offered[0] == "review"
            await it.pilot.press("tab", "i", "t", "enter")
            assert await it.submitted() == "Rules: Use tabs. Now it."


async def test_a_command_whose_file_was_written_meanwhile_is_found_by_its_name(tmp_path: Path):
    async with Served(tmp_path) as served, attached(served) as it:
        await it.say("/later")
        await it.until_shown("Unknown command /later")
        command(served, "later", "Hi {{args}}.")
        await it.say("/later Ann")
        assert await it.submitted() == "Hi Ann."


async def test_what_a_command_of_the_server_runs_is_asked_about_here_and_a_no_is_told(tmp_path: Path):
    async with Served(tmp_path) as served:
        command(served, "do", "!{touch new}")
        async with attached(served) as it:
            await it.say("/do")
            (waiting,) = await until_waiting(served.api(), it.session)
            await it.until(lambda: it.app.panel.call is not None)
            await served.api().decide(it.session, waiting["call_id"], "cancel", waiting["approval"]["digest"])
            await it.until_shown("/do was not sent")
            assert not (served.folder / "new").exists()


@pytest.mark.spec("E5")
async def test_prompts_of_mcp_servers_are_offered_with_their_arguments_once_they_are_there(tmp_path: Path):
    entry = program(SDK, tmp_path).entry
    mcp = Servers({"srv": {"command": entry.command, "args": list(entry.args)}})
    async with Served(tmp_path, mcp=mcp) as served, attached(served) as it:
        clock = iter(range(0, 100_000, 10))
        it.list.clock = lambda: next(clock)
        async with asyncio.timeout(WAIT_LIMIT):
            while "srv:greet" not in it.list.offered:
                it.app.prompt.load("/sr")
                await it.pilot.press("v")
        await it.pilot.press("tab")
        await it.until(lambda: it.list.offered == ["who="])
        await it.say("/srv:greet who=Ann")
        assert "Ann" in await it.submitted()


async def test_what_is_typed_while_the_session_is_being_opened_is_sent_once_it_is_open(tmp_path: Path):
    async with Served(tmp_path) as served:
        session = (await served.api().create(model=served.scenario(says("Fine."), name="quiet")))["id"]
        host = SlowHost(served.api, str(served.folder))
        app = AssentApp(host, session=session)
        async with app.run_test(size=(100, 30)) as pilot:
            it = Attached(served, session, pilot, app)
            await it.until(host.asked.is_set)
            await it.say("fix it")
            host.released.set()
            assert await it.submitted() == "fix it"
        await app.shut_down()
