"""The declarative tool: a name, a schema, and `build(args)`, which checks the arguments and returns an invocation.

An invocation says what it would do (`describe`, `should_confirm`, `resources`) and does it (`execute`) only for a
permit, which the scheduler alone hands out. Tools do not know policy, approvals or the log.
"""

import functools
import os
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, Generic, Literal, Protocol, TypeVar

import msgspec
from msgspec import Struct

from assent.approval import Details
from assent.events import FileChange
from assent.parts import Display, Failure, JsonObject, Media, Text
from assent.plan import Plan

Kind = Literal["read", "search", "edit", "execute", "fetch", "think", "other"]


class InvalidParams(Exception):
    """The tool's schema refuses the arguments. The message is for the model."""


class ToolFailed(Exception):
    """The tool could not do it. `type` is stable, the message is for the model and the person."""

    def __init__(self, type_: str, message: str) -> None:
        super().__init__(message)
        self.failure = Failure(type_, message)
        self.tells_of: Details | None = None
        """What is judged before the message is told, for one that tells what is in a file."""


class ToolResult(Struct, frozen=True):
    """Two faces: `content` for the model (text, parts, or a ready-made response object), `display` for the person."""

    content: str | tuple[Text | Media, ...] | JsonObject
    display: Display | None = None
    failure: Failure | None = None
    """Set when the work was done but went wrong, and the content is still worth reading."""


class Resources(Struct, frozen=True):
    """What a call touches: files and folders as absolute paths, with everything below them."""

    reads: tuple[str, ...] = ()
    writes: tuple[str, ...] = ()
    things: tuple[str, ...] = ()
    """What it changes that is no file, by name, e.g. the list of steps."""
    anything: Literal["", "read", "write"] = ""
    """For a call of which nobody can say which files it touches: it may read all, or also write them."""

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
"""What the calls before this one in its batch would make of a file; None when they leave it as it is on disk."""


class Permit(Struct, frozen=True, kw_only=True):
    """The scheduler's leave to act, bound to exactly one action. Nothing else makes one."""

    call_id: str
    digest: str
    plan: Plan | None = None
    """For a command that was allowed by its words: run exactly this, and no shell."""
    by_person: bool = False
    """A person saw exactly this and said yes to it."""
    answers: tuple[str, ...] | None = None
    """What the person said to the questions of the call."""
    mark: str = ""
    """What it starts is marked with this, so that it can be found when we are not there any more."""


class Live(Protocol):
    """Where a running call reports: output as it comes, and the process that can be killed."""

    def output(self, text: str) -> None: ...

    def received(self, total: int) -> None:
        """So many bytes of output that is no text came until now."""
        ...

    def process(self, pid: int) -> None: ...


class Modifiable(Protocol):
    """An invocation whose effect is the content of one file, so that a person can edit it before approving."""

    def file_path(self) -> str: ...

    def current_content(self) -> str: ...

    def proposed_content(self) -> str: ...

    def args_for(self, content: str) -> JsonObject: ...


class Invocation(ABC):
    """One checked request. Cancelling the task that runs `execute` is its cancel scope."""

    @abstractmethod
    def describe(self) -> str:
        """One line that tells the person what this is about."""

    async def should_confirm(self) -> Details | None:
        """Exactly what would happen, or None when nothing could be harmed. Called again before the effect."""
        return None

    def resources(self) -> Resources:
        """What it touches: it waits for earlier calls that touch the same. Who does not say may touch anything."""
        return Resources(anything="write")

    def folders(self) -> tuple[str, ...]:
        """Where it works: from now on the model is told what the context files there say."""
        touched = self.resources()
        return tuple(
            path if os.path.isdir(path) else os.path.dirname(path) for path in (*touched.reads, *touched.writes)
        )

    def modifiable(self) -> Modifiable | None:
        return None

    def build_on(self, earlier: Earlier) -> None:
        """For one that writes a file: from now on it starts from what earlier calls would leave."""
        return

    def proposal(self) -> Proposal | None:
        """For one that writes a file: what `should_confirm` has shown last, for the calls after it."""
        return None

    def change(self) -> FileChange | None:
        """For one that writes a file: what it will do to it. Asked right before the effect."""
        return None

    @abstractmethod
    async def execute(self, permit: Permit, live: Live) -> ToolResult: ...

    async def end_leftovers(self, mark: str) -> tuple[int, ...]:
        """Ends what an earlier process started with this mark, and waits for it: those that could not be ended."""
        return ()


class AnyTool(ABC):
    """What the registry, the model and the scheduler know of a tool."""

    name: str
    display_name: str
    description: str
    kind: Kind
    can_update_output: bool = False
    output_is_markdown: bool = False
    server: str = ""
    """The MCP server it comes from; empty for built-ins."""
    exact: bool = False
    """Its result is kept as it is; of others secrets are masked. For what edits are made from, and a person's words."""
    for_model: bool = True
    """False: only people run it."""
    main_argument: str = ""
    """The argument that a rule such as `tool(prefix)` looks at."""

    @abstractmethod
    def schema(self) -> JsonObject:
        """JSON Schema of the parameters."""

    @abstractmethod
    def build(self, args: JsonObject) -> Invocation:
        """Checks the arguments. Raises InvalidParams with what the model should know."""

    def prepare(self) -> None:
        """A call may come, or was requested and is being judged: what takes a while and does no harm may begin. It is
        asked for often, and must cost nothing after the first time."""
        return


P = TypeVar("P", bound=Struct)


@functools.cache
def _schema(params: type[Struct]) -> JsonObject:
    """Made once for all sessions of the process; nobody changes it."""
    (_,), components = msgspec.json.schema_components([params])
    schema: dict[str, Any] = _inlined(components[params.__name__], components)
    schema.pop("title", None)
    schema.pop("description", None)
    return schema


class Tool(AnyTool, Generic[P]):
    """A tool of ours: what it is in class attributes, its parameters as a struct."""

    params: type[P]

    def schema(self) -> JsonObject:
        """JSON Schema of the parameters, with everything in one object as model providers want it."""
        return _schema(self.params)

    def build(self, args: JsonObject) -> Invocation:
        try:
            params = msgspec.convert(args, self.params)
        except msgspec.ValidationError as error:
            raise InvalidParams(f"Invalid arguments for {self.name}: {error}") from error
        return self.invocation(params)

    @abstractmethod
    def invocation(self, params: P) -> Invocation:
        """Raise InvalidParams for what the schema cannot say."""


def _inlined(schema: Any, components: dict[str, Any]) -> Any:
    """The schema with what it refers to in its place."""
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
