"""The app as slash commands see it."""

import asyncio
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, TypeVar

from textual.content import Content
from textual.screen import ModalScreen

from assent.app.preferences import PreferenceFile
from assent.app.wording import safe
from assent.front.tui.host import NO_CHOICES, NO_SESSION, Choices, Host, NotHere
from assent.front.tui.prompt.completion import Candidate
from assent.front.tui.session_feed import SessionFeed
from assent.front.tui.themes import LOOKS
from assent.front.tui.transcript_model import ContentItem

if TYPE_CHECKING:
    from assent.app.session_client import SessionClient
    from assent.front.tui.reading import Reading
    from assent.front.tui.slash.slash_registry import SlashRegistry
    from assent.front.tui.terminal_app import AssentApp
    from assent.front.tui.viewer import Document

T = TypeVar("T")


class AppContext:
    def __init__(self, app: "AssentApp", preferences: PreferenceFile) -> None:
        self._app = app
        self.preferences = preferences

    @cached_property
    def commands(self) -> "SlashRegistry":
        from assent.front.tui.slash.slash_registry import SlashRegistry

        return SlashRegistry()

    # --- the session and its surroundings ---

    @property
    def client(self) -> "SessionClient":
        if self._app.client is None:
            raise NotHere(NO_SESSION)
        return self._app.client

    @property
    def session(self) -> str:
        return self._app.client.state.session if self._app.client is not None else ""

    @property
    def host(self) -> Host:
        return self._app.host

    @property
    def feed(self) -> SessionFeed:
        return self._app.feed

    @property
    def keys(self) -> Mapping[str, Mapping[str, str]]:
        from assent.front.tui.key_list import key_sections

        return key_sections(type(self._app).BINDINGS)

    # --- the transcript ---

    def say(self, markdown: str) -> None:
        self._app.note(markdown, "info", markdown=True)

    def show(self, content: Content) -> None:
        self._app.add(ContentItem(content))

    def complain(self, text: str) -> None:
        self._app.note(text, "warning")
        if isinstance(self._app.screen, ModalScreen):  # which covers the transcript
            self._app.notify(safe(text), severity="warning", markup=False)

    @property
    def reading(self) -> "Reading":
        return self._app.reading()

    def copy(self, text: str) -> None:
        self._app.copy(text)

    # --- screens ---

    async def push(self, screen: ModalScreen[T]) -> T | None:
        closed: asyncio.Future[T | None] = asyncio.get_running_loop().create_future()

        def done(result: T | None) -> None:
            if not closed.done():
                closed.set_result(result)

        self._app.push_screen(screen, done)
        return await closed

    async def view(self, document: "Document", *, search: str | None = None) -> None:
        from assent.front.tui.viewer import ViewerScreen

        await self.push(ViewerScreen(document, self._app.styler, search=search))

    async def answer_now(self, call_id: str) -> None:
        self._app.panel.show_call(call_id)
        self._app.panel.focus()

    # --- the app ---

    async def switch(self, session: str | None, choices: Choices = NO_CHOICES, note: str = "") -> None:
        await self._app.link.switch(session, choices, note)

    async def submit(self, text: str) -> None:
        await self._app.submit(text)

    def put_into_prompt(self, text: str) -> None:
        self._app.prompt.load(text)

    def paste_into_prompt(self, text: str) -> None:
        self._app.prompt.paste(text)

    @property
    def themes(self) -> Sequence[str]:
        return tuple(LOOKS)

    @property
    def theme(self) -> str:
        return self._app.theme

    def set_theme(self, name: str) -> None:
        self._app.set_look(name)

    def quit(self) -> None:
        self._app.quit()


class ContextCompletions:
    """What the input can complete: commands, their arguments, files, and resources of servers."""

    def __init__(self, context: AppContext) -> None:
        self._context = context

    def commands(self) -> Sequence[Candidate]:
        return self._context.commands.candidates()

    async def learn_commands(self) -> bool:
        return await self._context.commands.learn(self._context)

    async def arguments(self, command: str, typed: str) -> Sequence[Candidate]:
        return await self._context.commands.arguments(command, typed, self._context)

    async def files(self) -> Sequence[str]:
        host = self._context.host
        return [*await host.files(), *(resource.mention for resource in host.server_resources())]
