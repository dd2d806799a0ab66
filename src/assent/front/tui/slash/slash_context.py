"""What a slash command may use: the session, its surroundings, and a few things only a screen can do."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Protocol, TypeVar

from assent.front.tui.host import NO_CHOICES, Choices

if TYPE_CHECKING:  # a port names its types and imports nothing that is slow
    from textual.content import Content
    from textual.screen import ModalScreen

    from assent.app.preferences import PreferenceFile
    from assent.app.session_client import SessionClient
    from assent.front.tui.host import Host
    from assent.front.tui.reading import Reading
    from assent.front.tui.session_feed import SessionFeed
    from assent.front.tui.viewer import Document

T = TypeVar("T")


class SlashContext(Protocol):
    @property
    def client(self) -> "SessionClient":
        """Raises NotHere if no session is open."""
        ...

    @property
    def session(self) -> str:
        """The id of the open session; empty if there is none."""
        ...

    @property
    def host(self) -> "Host": ...

    @property
    def feed(self) -> "SessionFeed":
        """The feed of the open session; it must be passed the history and every event."""
        ...

    @property
    def preferences(self) -> "PreferenceFile": ...

    @property
    def keys(self) -> Mapping[str, Mapping[str, str]]:
        """All keys and what they do, by the place where they work, for `/help`."""
        ...

    # --- the transcript ---

    def say(self, markdown: str) -> None:
        """Adds a note to the transcript. Untrusted text in it must already be safe and escaped."""
        ...

    def show(self, content: "Content") -> None:
        """The same for styled text."""
        ...

    def complain(self, text: str) -> None:
        """Says that something cannot be done. Takes plain text of any origin, and makes it safe."""
        ...

    @property
    def reading(self) -> "Reading":
        """What can be read and copied."""
        ...

    def copy(self, text: str) -> None:
        """To the clipboard; says what was copied."""
        ...

    # --- screens ---

    async def push(self, screen: "ModalScreen[T]") -> T | None:
        """Shows it and waits until it is closed."""
        ...

    async def view(self, document: "Document", *, search: str | None = None) -> None:
        """Shows it on the whole screen; with `search`, the search field is open."""
        ...

    async def answer_now(self, call_id: str) -> None:
        """Opens the question of a waiting call."""
        ...

    # --- the app ---

    async def switch(self, session: str | None, choices: Choices = NO_CHOICES, note: str = "") -> None:
        """Opens that session here, or a new one; the current one is closed and kept. `note` takes the place of the
        welcome.
        """
        ...

    async def submit(self, text: str) -> None:
        """Sends a prompt, as if typed."""
        ...

    def put_into_prompt(self, text: str) -> None:
        """Puts text into the input, for the person to edit."""
        ...

    def paste_into_prompt(self, text: str) -> None:
        """Adds text to the input as if pasted: long text as a placeholder."""
        ...

    @property
    def themes(self) -> Sequence[str]: ...

    @property
    def theme(self) -> str: ...

    def set_theme(self, name: str) -> None:
        """Applies it; saving it for the next time is up to the command."""
        ...

    def quit(self) -> None: ...
