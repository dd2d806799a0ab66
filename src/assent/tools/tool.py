"""The declarative tool: a name, a schema, and `build(args)`, which validates the arguments and returns an invocation.

An invocation says what it would do (`describe`, `should_confirm`, `resources`) and does it (`execute`) only with a
permit, which only the scheduler issues. Tools do not know policy, approvals or the log.
"""

import functools
import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Generic, Literal, Protocol, TypeVar

import msgspec
from msgspec import Struct

from assent.approval import Details
from assent.events import FileChange
from assent.parts import Display, Failure, InputWanted, JsonObject, Media, Text
from assent.plan import ExecutedFile, Plan, SandboxName
from assent.trial import Trial

if TYPE_CHECKING:
    from assent.web.connection_verdict import Access, ConnectionEnd
    from assent.web.destinations import Destination

Kind = Literal["read", "search", "edit", "execute", "fetch", "think", "other"]


class InvalidParams(Exception):
    """The tool's schema rejects the arguments. The message is for the model."""


class ToolFailed(Exception):
    """The tool failed. `type` is stable; the message is for the model and the person."""

    def __init__(self, type_: str, message: str) -> None:
        super().__init__(message)
        self.failure = Failure(type_, message)
        self.tells_of: Details | None = None
        """What to judge before showing the message, if it reveals the content of a file."""


class ToolResult(Struct, frozen=True):
    """Two views: `content` for the model (text, parts, or a ready-made response object), `display` for the person."""

    content: str | tuple[Text | Media, ...] | JsonObject
    display: Display | None = None
    failure: Failure | None = None
    """Set if the work was done but went wrong, and the content is still useful."""


class Resources(Struct, frozen=True):
    """What a call touches: files and folders as absolute paths, including everything below them."""

    reads: tuple[str, ...] = ()
    writes: tuple[str, ...] = ()
    things: tuple[str, ...] = ()
    """Things it changes that are not files, by name, such as the to-do list."""
    anything: Literal["", "read", "write"] = ""
    """For a call whose files are unknown: it may read all files, or also write them."""

    @property
    def may_write(self) -> bool:
        return bool(self.writes or self.things or self.anything == "write")

    @property
    def nothing(self) -> bool:
        return not (self.reads or self.anything or self.may_write)


class Proposal(Struct, frozen=True):
    """A file as a call would leave it."""

    path: str
    after: bytes


Earlier = Callable[[str], Proposal | None]
"""What the earlier calls of the batch would make of a file; None if they do not change it."""


class Permit(Struct, frozen=True, kw_only=True):
    """The scheduler's permission for exactly one action. Nothing else makes one."""

    call_id: str
    digest: str
    plan: Plan | None = None
    """For a command allowed by its words: run exactly this, without a shell."""
    sandbox: SandboxName | None = None
    """For a command that nobody was asked about because this sandbox contains it."""
    by_person: bool = False
    """A person saw exactly this and approved it."""
    answers: tuple[str, ...] | None = None
    """The person's answers to the questions of the call."""
    mark: str = ""
    """Processes it starts carry this mark, so that they can be found after Assent has stopped."""
    unchanged: tuple[ExecutedFile, ...] = ()
    """Files that a person approved for execution: if one of them has another content, nothing starts."""


TypeIn = Callable[[int, str | None], bool]
"""Types a line for the prompt of this number, or the end of the input; False if that prompt no longer waits."""


class Live(Protocol):
    """Where a running call reports its output and the process to kill."""

    def output(self, text: str) -> None: ...

    def received(self, total: int) -> None:
        """The number of bytes of binary output so far."""
        ...

    def process(self, pid: int) -> None: ...

    async def may_connect(self, number: int, wanted: "Destination", entries: tuple[str, ...]) -> "Access":
        """Whether a command may connect; it may take as long as a person takes to answer. `entries` are the domains
        that were allowed with the command. The verdict is recorded when this returns.
        """
        ...

    async def offer(self, wider: JsonObject) -> str | None:
        """Ask the person whether to run the call again with these arguments, because a sandbox refused something.
        Returns what the model is told about it; None if nobody can be asked.
        """
        ...

    def connection_ended(self, number: int, end: "ConnectionEnd") -> None: ...

    def asks(self, wanted: InputWanted | None, type_in: TypeIn) -> None:
        """The command waits for a person to type this, through `type_in`; None: it no longer waits."""
        ...


class Modifiable(Protocol):
    """An invocation whose effect is the content of one file, so that a person can edit it before approving."""

    def file_path(self) -> str: ...

    def current_content(self) -> str: ...

    def proposed_content(self) -> str: ...

    def args_for(self, content: str) -> JsonObject: ...


class Triable(Protocol):
    """An invocation that can be tried first: afterwards, `should_confirm` shows what it did, and `execute` applies
    that.
    """

    async def problem(self) -> str:
        """Why it cannot be tried here; empty if it can."""
        ...

    async def try_out(self, permit: Permit, live: Live) -> None:
        """Raises ToolFailed."""
        ...

    def accept(self, chosen: tuple[int, ...] | None) -> None:
        """Apply only these parts of what was shown; None for all. Raises BadHunks."""
        ...

    async def resume(self, shown: Trial) -> bool:
        """Take up a trial of an earlier process; False if nothing of it is left."""
        ...

    async def discard(self, mark: str = "") -> None:
        """As if it had not been tried. `mark`: also what an earlier process left under it."""
        ...


class Invocation(ABC):
    """One validated request. Cancelling the task that runs `execute` cancels it."""

    @abstractmethod
    def describe(self) -> str:
        """One line that tells the person what this is about."""

    async def should_confirm(self) -> Details | None:
        """Exactly what would happen, or None if no harm is possible. Called again before the effect."""
        return None

    def resources(self) -> Resources:
        """What it touches: it waits for earlier calls that touch the same. If not declared, it may touch anything."""
        return Resources(anything="write")

    def folders(self) -> tuple[str, ...]:
        """Where it works: from now on the model gets the context files found there."""
        touched = self.resources()
        return tuple(
            path if os.path.isdir(path) else os.path.dirname(path) for path in (*touched.reads, *touched.writes)
        )

    def modifiable(self) -> Modifiable | None:
        return None

    def triable(self) -> Triable | None:
        return None

    def build_on(self, earlier: Earlier) -> None:
        """For a call that writes a file: from now on it starts from what earlier calls would leave."""
        return

    def proposal(self) -> Proposal | None:
        """For a call that writes a file: what `should_confirm` showed last, for the calls after it."""
        return None

    def change(self) -> FileChange | None:
        """For a call that writes a file: what it will do to it. Called right before the effect."""
        return None

    @abstractmethod
    async def execute(self, permit: Permit, live: Live) -> ToolResult: ...

    async def end_leftovers(self, mark: str) -> tuple[int, ...]:
        """End the processes that an earlier run started with this mark, and wait; returns those that could not be
        ended.
        """
        return ()

    async def known_outcome(self, mark: str) -> str:
        """After a crash: what the call with this mark has done, in a sentence; empty if that is unknown."""
        return ""


class ToolFacts(Struct, frozen=True, kw_only=True):
    """What the model, the rules and the conversation need to know about a tool before it is used."""

    name: str
    description: str
    kind: Kind
    for_model: bool
    schema: JsonObject


class AnyTool(ABC):
    """What the registry, the model and the scheduler know about a tool."""

    name: str
    display_name: str
    description: str
    kind: Kind
    can_update_output: bool = False
    output_is_markdown: bool = False
    server: str = ""
    """The MCP server it comes from; empty for built-ins."""
    exact: bool = False
    """Its result is not masked; in other results secrets are. For text that edits are based on, and a person's words.
    """
    for_model: bool = True
    """False: only people run it."""
    main_argument: str = ""
    """The argument that a rule such as `tool(prefix)` checks."""

    @abstractmethod
    def schema(self) -> JsonObject:
        """JSON Schema of the parameters."""

    @abstractmethod
    def build(self, args: JsonObject) -> Invocation:
        """Validate the arguments. Raises InvalidParams with a message for the model."""

    def facts(self) -> ToolFacts:
        return ToolFacts(
            name=self.name,
            description=self.description,
            kind=self.kind,
            for_model=self.for_model,
            schema=self.schema(),
        )

    def look_back_on(self, changes: Mapping[str, FileChange]) -> None:
        """The changes made by the session's calls, in order, for a tool that needs them."""
        return

    def prepare(self) -> None:
        """A call may come, or is being judged: start slow, harmless preparations. Called often, so it must cost nothing
        after the first time.
        """
        return


P = TypeVar("P", bound=Struct)


@functools.cache
def _schema(params: type[Struct]) -> JsonObject:
    """Built once for all sessions of the process; never changed."""
    (_,), components = msgspec.json.schema_components([params])
    schema: dict[str, Any] = _inlined(components[params.__name__], components)
    schema.pop("title", None)
    schema.pop("description", None)
    return schema


class Tool(AnyTool, Generic[P]):
    """A built-in tool: class attributes describe it, and a struct holds its parameters."""

    params: type[P]

    def schema(self) -> JsonObject:
        """JSON Schema of the parameters in a single object, as model providers expect it."""
        return _schema(self.params)

    def build(self, args: JsonObject) -> Invocation:
        try:
            params = msgspec.convert(args, self.params)
        except msgspec.ValidationError as error:
            raise InvalidParams(f"Invalid arguments for {self.name}: {error}") from error
        return self.invocation(params)

    @abstractmethod
    def invocation(self, params: P) -> Invocation:
        """Raise InvalidParams for what the schema cannot express."""


def _inlined(schema: Any, components: dict[str, Any]) -> Any:
    """The schema with its references inlined."""
    match schema:
        case {"$ref": str(name), **beside}:
            inner = _inlined(components[name.rpartition("/")[2]], components)
            return {key: value for key, value in inner.items() if key not in ("title", "description")} | beside
        case dict():
            return {key: _inlined(value, components) for key, value in schema.items()}  # pyright: ignore[reportUnknownVariableType]
        case list() | tuple():
            return [_inlined(each, components) for each in schema]  # pyright: ignore[reportUnknownVariableType]
        case _:
            return schema
