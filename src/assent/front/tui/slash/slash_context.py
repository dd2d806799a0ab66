"""What a slash command may use of the app: the session, its surroundings, and a few things only a screen can do."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Protocol, TypeVar

if TYPE_CHECKING:  # a port names its types and imports nothing that is slow
    from textual.content import Content
    from textual.screen import ModalScreen

    from assent.app.preferences import PreferenceFile
    from assent.app.session_client import SessionClient
    from assent.front.tui.host import Host
    from assent.front.tui.session_feed import SessionFeed

T = TypeVar("T")


class SlashContext(Protocol):
    @property
    def client(self) -> "SessionClient":
        """Raises NotHere when no session is open."""
        ...

    @property
    def session(self) -> str:
        """The id of the session that is open; empty when none is."""
        ...

    @property
    def host(self) -> "Host": ...

    @property
    def feed(self) -> "SessionFeed":
        """Of the session that is open now; it must be told the history and every event."""
        ...

    @property
    def preferences(self) -> "PreferenceFile": ...

    @property
    def keys(self) -> Mapping[str, str]:
        """The keys of the app and what they do, for `/help`."""
        ...

    # --- the transcript ---

    def say(self, markdown: str) -> None:
        """A note in the transcript. Whatever is not ours in it was made safe and escaped before."""
        ...

    def show(self, content: "Content") -> None:
        """The same for text that has its styles already."""
        ...

    def complain(self, text: str) -> None:
        """Something that was typed cannot be done. Plain text of any origin: it is made safe there."""
        ...

    def clear(self) -> None: ...

    # --- screens ---

    async def push(self, screen: "ModalScreen[T]") -> T | None:
        """Shows it and waits until it is closed."""
        ...

    async def answer_now(self, call_id: str) -> None:
        """Opens the question of a waiting call."""
        ...

    # --- the app ---

    async def switch(self, session: str | None) -> None:
        """Opens that session here, or a new one; the one that was open is closed and stays as it is."""
        ...

    async def submit(self, text: str) -> None:
        """A prompt, as if typed."""
        ...

    def put_into_prompt(self, text: str) -> None:
        """Lets the person go on writing it."""
        ...

    @property
    def themes(self) -> Sequence[str]: ...

    @property
    def theme(self) -> str: ...

    def set_theme(self, name: str) -> None:
        """Shows it; keeping it for the next time is up to the command."""
        ...

    def quit(self) -> None: ...
