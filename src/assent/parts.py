"""What models, tools and people say to each other: messages made of parts, and the views of a tool's result.

Plain frozen data, the same in memory, on disk and on the wire. It knows no provider, tool or screen.
"""

from typing import Any, Literal

from msgspec import Struct

JsonObject = dict[str, Any]
Effort = Literal["none", "minimal", "low", "medium", "high", "xhigh", "max"]
"""How much a model should think. A provider with fewer levels uses the nearest one."""


class Text(Struct, frozen=True, gc=False, tag="text", omit_defaults=True):
    text: str
    signature: str | None = None


class Thought(Struct, frozen=True, gc=False, tag="thought", omit_defaults=True):
    """The model's thinking. The signature belongs to the provider and goes back to it unchanged."""

    text: str
    signature: str | None = None
    subject: str = ""
    """What it is about in a few words, if the provider says so."""


class Call(Struct, frozen=True, gc=False, tag="call", omit_defaults=True):
    """The model calls a tool."""

    call_id: str
    name: str
    args: JsonObject
    signature: str | None = None


class InputWanted(Struct, frozen=True, gc=False, omit_defaults=True):
    """What a running command waits for a person to type."""

    prompt: str
    number: int
    """Which prompt of this command it is: what is typed for one prompt never answers the next."""
    secret: bool = False
    """It is not to be shown while it is typed."""


class Media(Struct, frozen=True, gc=False, tag="media"):
    """Something that is not text; `data` is base64."""

    mime: str
    data: str


class Result(Struct, frozen=True, gc=False, tag="result", omit_defaults=True):
    """A tool's answer as the model receives it: a JSON object, with media beside it."""

    call_id: str
    name: str
    response: JsonObject
    media: tuple[Media, ...] = ()


ModelPart = Text | Thought | Call
UserPart = Text | Result | Media


class UserMessage(Struct, frozen=True, gc=False, tag="user"):
    parts: tuple[UserPart, ...]


class ModelMessage(Struct, frozen=True, gc=False, tag="model", omit_defaults=True):
    parts: tuple[ModelPart, ...]
    model: str = ""
    """Who wrote it. Signatures are only valid for this model, and are never sent to another provider."""


Message = UserMessage | ModelMessage


class Declaration(Struct, frozen=True, gc=False):
    """A tool as the model sees it."""

    name: str
    description: str
    schema: JsonObject


class Source(Struct, frozen=True, gc=False):
    """A page that an answer is based on."""

    title: str
    url: str


class SearchAnswer(Struct, frozen=True, gc=False):
    """The result of a web search; numbers in square brackets in the text refer to the sources, from 1."""

    text: str
    sources: tuple[Source, ...] = ()


class Usage(Struct, frozen=True, gc=False, omit_defaults=True):
    """Tokens, as the provider counted them."""

    input: int = 0
    """All of the prompt, including what was read from or written to the provider's cache."""
    output: int = 0
    """Without the thoughts."""
    thoughts: int = 0
    cached: int = 0
    """The part of `input` that was read from the cache."""
    cache_written: int = 0
    """The part of `input` that was written to the cache, if the provider charges extra for it."""

    @property
    def total(self) -> int:
        return self.input + self.output + self.thoughts

    def __add__(self, other: "Usage") -> "Usage":
        return Usage(
            self.input + other.input,
            self.output + other.output,
            self.thoughts + other.thoughts,
            self.cached + other.cached,
            self.cache_written + other.cache_written,
        )


# --- the view of a result that the person sees ---


class PlainDisplay(Struct, frozen=True, gc=False, tag="text"):
    text: str


class MarkdownDisplay(Struct, frozen=True, gc=False, tag="markdown"):
    text: str


class TerminalDisplay(Struct, frozen=True, gc=False, tag="terminal"):
    """Raw terminal output, including escapes; it must be made safe before it is shown."""

    text: str
    ended: str = ""
    """How the command ended, in a word or two; empty if it succeeded."""


class DiffDisplay(Struct, frozen=True, gc=False, tag="diff"):
    path: str
    diff: str
    added: int
    removed: int


TodoStatus = Literal["pending", "in_progress", "completed", "cancelled", "blocked"]


class Todo(Struct, frozen=True, gc=False, forbid_unknown_fields=True):
    description: str
    status: TodoStatus


class TodosDisplay(Struct, frozen=True, gc=False, tag="todos"):
    """The model's list of steps, which replaces the previous one."""

    todos: tuple[Todo, ...]


Display = PlainDisplay | MarkdownDisplay | TerminalDisplay | DiffDisplay | TodosDisplay


class Failure(Struct, frozen=True, gc=False):
    """Why a call did not succeed: a stable type for programs, a message for the model and the person."""

    type: str
    message: str


FinishReason = Literal["stop", "max_tokens", "safety", "repetition", "too_long", "cancelled", "other"]
