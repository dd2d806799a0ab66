"""What the terminal UI needs besides the session it shows: other sessions, files to complete, tools, rules, models.

A port: `local_host` implements it for this machine, `remote_host` for a session on a server. What a host cannot provide
raises `NotHere`, with a message for the person.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Literal, Protocol

from msgspec import Struct

if TYPE_CHECKING:  # a port names its types and imports nothing that is slow
    from assent.app.applied_trials import Applied
    from assent.app.custom_commands import CustomCommand
    from assent.app.folder_trust import Untrusted
    from assent.app.folder_view import ExecutedText
    from assent.app.mcp_types import Argument, Prompt
    from assent.app.model_catalog import ModelView
    from assent.app.output_folders import WholeText
    from assent.app.pricing import Prices
    from assent.app.session_client import SessionClient
    from assent.app.session_environment import Offered
    from assent.app.session_log import SessionInfo
    from assent.app.session_management import FoundSession
    from assent.approval import Approval, Grant, Mode
    from assent.events import FileChange
    from assent.parts import Effort
    from assent.plan import ExecutedFile

ServerState = Literal["connecting", "ready", "failed", "disconnected"]


NO_SESSION = "No session is open. Choose one with /sessions, or start one with /clear."


class NotHere(Exception):
    """This is not available here; the message says why, and what to do instead."""


class Choices(Struct, frozen=True):
    """What a person has chosen for a session."""

    mode: "Mode | None" = None
    """None: as the settings say, or as the session was."""
    model: str = ""
    """For a new session; empty: as the command line or the settings say. So is the effort."""
    effort: "Effort | None" = None


NO_CHOICES = Choices()


class ToolInfo(Struct, frozen=True):
    name: str
    description: str
    kind: str
    server: str = ""
    """The MCP server it comes from; empty for built-ins."""
    offered: "Offered" = "always"
    """To the model. What it never gets, people use: `/undo`."""


class RuleInfo(Struct, frozen=True):
    """A rule as people read it: what it does, and where it is defined."""

    text: str
    decision: str
    source: str
    note: str = ""


class WaitingQuestion(Struct, frozen=True, kw_only=True):
    """A question of any session."""

    session: str
    title: str
    """That of the session."""
    call_id: str
    asked_at: float
    approval: "Approval"
    answered_by: str | None = None
    """Who has answered, if the session has yet to take the answer."""


class ServerInfo(Struct, frozen=True, kw_only=True):
    """An MCP server and its state."""

    name: str
    state: ServerState
    tools: int = 0
    problem: str = ""
    prompts: int = 0
    resources: int = 0


class ServerResource(Struct, frozen=True):
    """Something to read that an MCP server offers; `mention` is its name after `@`."""

    server: str
    mention: str
    name: str


class NamedPrompt(Struct, frozen=True):
    """A prompt that the server running the session knows by name and fills in itself."""

    name: str
    help: str
    usage: str = ""
    arguments: "tuple[Argument, ...]" = ()


class ModelCheck(Struct, frozen=True):
    """`problem` says what keeps the model from being used; `model` is one to switch to."""

    model: str = ""
    problem: str = ""


class MemoryFile(Struct, frozen=True):
    """A context file that the model sees, or would see if its folder were trusted."""

    path: str
    size: int
    text: str = ""
    problem: str = ""
    """Why it is left out; empty if the model sees it."""

    @property
    def loaded(self) -> bool:
        return not self.problem


class Host(Protocol):
    @property
    def folder(self) -> str: ...

    @property
    def keeps_running(self) -> bool:
        """Whether a session goes on when it is closed here."""
        ...

    @property
    def problems(self) -> Sequence[str]:
        """Which parts of the folder's configuration could not be used, and why."""
        ...

    async def open(self, session: str | None = None, choices: Choices = NO_CHOICES) -> "SessionClient":
        """Opens that session, or creates a new one. If it is the current one, close that first."""
        ...

    async def why_busy(self, session: str) -> str:
        """Why another session cannot be opened now, as far as that is known; empty if nothing is."""
        ...

    async def sessions(self) -> "Sequence[SessionInfo]":
        """Newest first. `held`: open in some process now."""
        ...

    async def waiting(self) -> Sequence[WaitingQuestion]:
        """The questions of all sessions, oldest first."""
        ...

    async def fork(self, session: str) -> str: ...

    async def rename(self, session: str, title: str) -> None:
        """A session that is not open here."""
        ...

    async def delete(self, session: str) -> None: ...

    async def search(self, text: str) -> "Sequence[FoundSession]":
        """The sessions in which it was said, newest first."""
        ...

    async def files(self) -> Sequence[str]:
        """Relative paths in the folder, for completion; folders end with a slash, ignored files are left out."""
        ...

    async def read_text(self, path: str) -> str:
        """A file of the folder, or one that is kept for the open session, for the person to look at."""
        ...

    async def whole_output(self, session: str, call_id: str) -> "WholeText | None":
        """All that a call has printed, if it was too long for the log; None if it was not kept, or no longer is."""
        ...

    async def executed_texts(self, files: "Sequence[ExecutedFile]") -> "Sequence[ExecutedText]":
        """Files that a command would execute, for the person to look at. Raises NotHere."""
        ...

    async def digests(self, paths: Sequence[str]) -> Mapping[str, str]:
        """The digest of each of these files as it is now, as in `FileChange`. Without those that cannot be seen from
        here.
        """
        ...

    async def applied(self, changes: "Sequence[FileChange]") -> "Applied":
        """What the trials among these changes changed, as far as that is known here."""
        ...

    async def paste_picture(self, session: str) -> str:
        """The path of the picture that was in the clipboard, kept where the session can read it; empty if there is
        none."""
        ...

    def keep_dropped(self, session: str, path: str) -> str:
        """The path to mention for a file that was dropped: of a copy, if the session cannot read it where it is."""
        ...

    async def prompts(self) -> Sequence[str]:
        """Earlier prompts in this folder, oldest first: the history of the input."""
        ...

    async def branch(self) -> str:
        """The branch that is checked out; empty if there is none."""
        ...

    async def models(self, max_wait: float) -> "Sequence[ModelView]":
        """The models that can be used. After `max_wait` seconds, those that are known so far."""
        ...

    async def check_model(self, model: str) -> ModelCheck:
        """Whether the session's model can be used; another one if it has none and one can be found."""
        ...

    def prices(self) -> "Prices": ...

    def tools(self) -> Sequence[ToolInfo]: ...

    def rules(self) -> Sequence[RuleInfo]: ...

    def standing_grants(self) -> "Sequence[Grant]":
        """What was allowed here in earlier sessions, from then on."""
        ...

    def servers(self) -> Sequence[ServerInfo]: ...

    def on_servers(self, changed: Callable[[], None]) -> None:
        """Calls `changed` whenever the state of a server changes, in this session and in those opened later."""
        ...

    def server_prompts(self) -> "Sequence[Prompt]":
        """Those of servers that are ready."""
        ...

    async def server_prompt(self, prompt: "Prompt", arguments: Mapping[str, str]) -> str:
        """Its text, from the server; raises NotHere if there is none."""
        ...

    def server_resources(self) -> Sequence[ServerResource]:
        """Those of servers that are ready."""
        ...

    def memory(self) -> Sequence[MemoryFile]: ...

    def untrusted(self) -> "Untrusted | None":
        """What the folder brings along that is not trusted; None if there is nothing."""
        ...

    def trust(self, shown: "Untrusted") -> None:
        """Trusts exactly what was shown."""
        ...

    def custom_commands(self) -> "Sequence[CustomCommand]":
        """The user's own, and the folder's if it is trusted."""
        ...

    async def named_prompts(self) -> Sequence[NamedPrompt]:
        """Those that this host fills in itself, in the session opened last; not the custom commands and server prompts
        that are filled in here."""
        ...

    async def use_prompt(self, name: str, argument: str) -> None:
        """Fills it in and sends it; returns when it is sent."""
        ...

    async def close(self) -> None: ...
