"""A harness for slash commands: a real session in one process, a small app for the screens, and a record of what was
said.
"""

import asyncio
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from textual.app import App
from textual.content import Content
from textual.pilot import Pilot
from textual.screen import ModalScreen

from assent.app.applied_trials import Applied
from assent.app.custom_commands import CustomCommand
from assent.app.folder_trust import Untrusted
from assent.app.folder_view import ExecutedText, digests
from assent.app.model_catalog import ModelView
from assent.app.opening import LocalClient
from assent.app.preferences import PreferenceFile
from assent.app.session_management import FoundSession, rename_session, search_sessions
from assent.approval import Grant
from assent.events import FileChange
from assent.front.tui.host import (
    NO_CHOICES,
    Choices,
    MemoryFile,
    ModelCheck,
    NamedPrompt,
    NotHere,
    RuleInfo,
    ServerInfo,
    ServerResource,
    ToolInfo,
    WaitingQuestion,
)
from assent.front.tui.lists import ListScreen
from assent.front.tui.reading import Reading
from assent.front.tui.session_feed import SessionFeed
from assent.front.tui.slash.slash_registry import SlashRegistry
from assent.front.tui.transcript_model import TranscriptModel
from assent.front.tui.viewer import Document
from assent.mcp.offers import Prompt
from assent.models.model_facts import Prices
from assent.plan import ExecutedFile
from assent.session.fork import fork_session
from assent.session.log import SessionInfo
from assent.session.runner import Runner
from support.session_harness import SessionHarness
from support.waiting import WAIT_LIMIT

T = TypeVar("T")


class FakeHost:
    """What a test provides; sessions and forks are those of the real log."""

    folder = "/w"

    def __init__(self, harness: SessionHarness) -> None:
        self.harness = harness
        self.tool_infos: list[ToolInfo] = []
        self.rule_infos: list[RuleInfo] = []
        self.grants_before: list[Grant] = []
        self.server_infos: list[ServerInfo] = []
        self.memory_files: list[MemoryFile] = []
        self.customs: list[CustomCommand] = []
        self.prompt_infos: list[Prompt] = []
        self.resource_infos: list[ServerResource] = []
        self.prompt_texts: dict[str, str] = {}
        """By name, with placeholders for the arguments."""
        self.model_names = ["gemini-2.5-pro", "gemini-2.5-flash"]
        self.applied_before: Applied = {}
        self.can_fork = True
        self.sees_files = True

    async def open(self, session: str | None = None, choices: Choices = NO_CHOICES) -> LocalClient:
        raise NotHere("sessions are opened by the harness")

    keeps_running = False

    async def why_busy(self, session: str) -> str:
        return ""

    async def sessions(self) -> Sequence[SessionInfo]:
        return await self.harness.log.sessions()

    async def waiting(self) -> Sequence[WaitingQuestion]:
        return [
            WaitingQuestion(
                session=one.session,
                title=f"about {one.session}",
                call_id=one.call_id,
                asked_at=one.asked_at,
                approval=one.approval,
            )
            for one in await self.harness.log.waiting()
        ]

    async def fork(self, session: str) -> str:
        if not self.can_fork:
            raise NotHere("a served session cannot be forked from here")
        return await fork_session(self.harness.log, session)

    async def rename(self, session: str, title: str) -> None:
        await rename_session(self.harness.log, session, title, "ann")

    async def delete(self, session: str) -> None:
        await self.harness.log.delete(session)

    async def search(self, text: str) -> Sequence[FoundSession]:
        return await search_sessions(self.harness.log, text)

    async def executed_texts(self, files: Sequence[ExecutedFile]) -> Sequence[ExecutedText]:
        return ()

    async def read_text(self, path: str) -> str:
        return ""

    async def whole_output(self, session: str, call_id: str) -> None:
        return None

    async def digests(self, paths: Sequence[str]) -> Mapping[str, str]:
        return digests(self.harness.folder, paths) if self.sees_files else {}

    async def applied(self, changes: Sequence[FileChange]) -> Applied:
        return self.applied_before

    async def files(self) -> Sequence[str]:
        return ()

    async def paste_picture(self, session: str) -> str:
        return ""

    def keep_dropped(self, session: str, path: str) -> str:
        return path

    async def prompts(self) -> Sequence[str]:
        return ()

    async def branch(self) -> str:
        return "main"

    async def models(self, max_wait: float) -> Sequence[ModelView]:
        return [ModelView(name=name) for name in self.model_names]

    async def check_model(self, model: str) -> ModelCheck:
        return ModelCheck()

    problems: Sequence[str] = ()

    def prices(self) -> Prices:
        return Prices()

    def tools(self) -> Sequence[ToolInfo]:
        return self.tool_infos

    def rules(self) -> Sequence[RuleInfo]:
        return self.rule_infos

    def standing_grants(self) -> Sequence[Grant]:
        return self.grants_before

    def on_servers(self, changed: Callable[[], None]) -> None:
        pass

    def servers(self) -> Sequence[ServerInfo]:
        return self.server_infos

    def server_prompts(self) -> Sequence[Prompt]:
        return self.prompt_infos

    async def server_prompt(self, prompt: Prompt, arguments: Mapping[str, str]) -> str:
        if prompt.name not in self.prompt_texts:
            raise NotHere(f"The server {prompt.server} is not connected.")
        return self.prompt_texts[prompt.name].format(**arguments)

    def server_resources(self) -> Sequence[ServerResource]:
        return self.resource_infos

    def memory(self) -> Sequence[MemoryFile]:
        return self.memory_files

    def untrusted(self) -> Untrusted | None:
        return None

    def trust(self, shown: Untrusted) -> None:
        pass

    def custom_commands(self) -> Sequence[CustomCommand]:
        return self.customs

    async def named_prompts(self) -> Sequence[NamedPrompt]:
        return ()

    async def use_prompt(self, name: str, argument: str) -> None:
        raise NotHere("prompts are filled by the harness")

    async def close(self) -> None:
        pass


class SlashApp(App[None]):
    """The harness: what a command says and does is kept in lists."""

    def __init__(self, client: LocalClient, host: FakeHost, preferences: Path) -> None:
        super().__init__()
        self.client = client
        self.host = host
        self.feed = SessionFeed()
        self.preferences = PreferenceFile(preferences)
        self.keys: Mapping[str, Mapping[str, str]] = {"Everywhere": {"Ctrl+C": "stops what runs"}}
        self.said: list[str] = []
        self.viewed = ""
        self.complaints: list[str] = []
        self.did: list[tuple[str, Any]] = []
        self.theme_names = ["textual-dark", "textual-light", "nord"]
        self.registry = SlashRegistry(host.custom_commands())

    @property
    def session(self) -> str:
        return self.client.state.session

    def say(self, markdown: str) -> None:
        self.said.append(markdown)

    def show(self, content: Content) -> None:
        self.said.append(content.plain)

    def complain(self, text: str) -> None:
        self.complaints.append(text)

    async def push(self, screen: ModalScreen[T]) -> T | None:
        return await self.push_screen_wait(screen)

    async def view(self, document: Document, *, search: str | None = None) -> None:
        self.did.append(("view", document.title))
        self.viewed = document.text

    @property
    def reading(self) -> Reading:
        return Reading(TranscriptModel(), {}, partial(self.host.whole_output, self.session))

    def copy(self, text: str) -> None:
        self.did.append(("copy", text))

    async def answer_now(self, call_id: str) -> None:
        self.did.append(("answer", call_id))

    async def switch(self, session: str | None, choices: Choices = NO_CHOICES, note: str = "") -> None:
        self.did.append(("switch", session))
        self.chosen = choices
        if note:
            self.say(note)

    async def submit(self, text: str) -> None:
        self.did.append(("submit", text))

    def put_into_prompt(self, text: str) -> None:
        self.did.append(("prompt", text))

    def paste_into_prompt(self, text: str) -> None:
        self.did.append(("paste", text))

    @property
    def themes(self) -> Sequence[str]:
        return self.theme_names

    def set_theme(self, name: str) -> None:
        self.theme = name

    def quit(self) -> None:
        self.did.append(("quit", None))


class Slash:
    """Short names for what the tests do."""

    def __init__(self, app: SlashApp, pilot: "Pilot[None]", harness: SessionHarness, runner: Runner) -> None:
        self.app = app
        self.pilot = pilot
        self.harness = harness
        self.runner = runner

    def start(self, line: str) -> None:
        """Run the line in the background, as the app does; `finish` waits for its end."""
        self._worker = self.app.run_worker(self.app.registry.run(line, self.app), exit_on_error=False)

    async def finish(self) -> bool:
        async with asyncio.timeout(WAIT_LIMIT):
            result = await self._worker.wait()
        await self.pilot.pause()
        assert isinstance(result, bool)
        return result

    async def run(self, line: str) -> bool:
        self.start(line)
        return await self.finish()

    async def open(self, line: str) -> ListScreen:
        """Run a line that opens a list, and wait until its rows are there."""
        self.start(line)
        await self.until(lambda: isinstance(self.app.screen, ListScreen))
        return await self.loaded()

    async def loaded(self) -> ListScreen:
        screen = self.app.screen
        assert isinstance(screen, ListScreen)
        await self.until(lambda: screen.up_to_date)
        await self.pilot.pause()
        return screen

    async def until(self, condition: Any) -> None:
        async with asyncio.timeout(WAIT_LIMIT):
            while not condition():
                await self.pilot.pause()

    async def press(self, *keys: str) -> None:
        await self.pilot.press(*keys)
        await self.pilot.pause()

    def text(self) -> str:
        """What is on the screen."""
        lines = self.app.screen._compositor.render_strips()  # pyright: ignore[reportPrivateUsage]
        return "\n".join("".join(segment.text for segment in strip).rstrip() for strip in lines)

    @property
    def did(self) -> list[tuple[str, Any]]:
        return self.app.did


@asynccontextmanager
async def open_slash(
    harness: SessionHarness, preferences: Path, size: tuple[int, int] = (80, 24), **options: Any
) -> AsyncGenerator[Slash]:
    runner = await harness.open(**options)
    async with follow(harness, runner, LocalClient(runner, "ann"), preferences, size=size) as slash:
        yield slash


@asynccontextmanager
async def follow(
    harness: SessionHarness,
    runner: Runner,
    client: LocalClient,
    preferences: Path,
    commands: Sequence[CustomCommand] = (),
    size: tuple[int, int] = (80, 24),
) -> AsyncGenerator[Slash]:
    """Show the session and report its events until the session is closed."""
    host = FakeHost(harness)
    host.customs = list(commands)
    app = SlashApp(client, host, preferences)
    for envelope in await client.history():
        app.feed.tell(envelope)

    async def pump() -> None:
        async for envelope in client.events():
            app.feed.tell(envelope)

    async with app.run_test(size=size) as pilot:
        pumping = asyncio.create_task(pump())
        yield Slash(app, pilot, harness, runner)
        await runner.close()
        await pumping
