"""The Model protocol: a request goes in, chunks stream out, and the last one is `Finished`.

A stream that ends without `Finished` was cut. What can go wrong:

    ModelError
    ├── AuthFailed        the key is missing or was rejected; the person must act
    ├── BadRequest        the provider rejects the request as it is; trying again does not help
    │   ├── ContextTooLong  the conversation does not fit; a shorter one might
    │   ├── UnknownModel    the provider has no model of this name
    │   ├── MediaRefused    the provider does not accept images, or not this one
    │   └── StaleSignature  the provider no longer accepts a signature; without signatures, the request may succeed
    ├── QuotaExhausted    no quota is left today; a smaller model may still answer
    └── Transient         worth trying again, perhaps after `retry_after` seconds
        └── BrokenStream  the reply was cut or malformed; nothing of it may be used
"""

from collections.abc import AsyncGenerator
from typing import Protocol, runtime_checkable

from msgspec import Struct

from assent.parts import Declaration, FinishReason, JsonObject, Message, SearchAnswer, Usage
from assent.parts import Effort as Effort
from assent.secrets.mask import Masker


class ModelError(Exception):
    """`str(error)` says what happened and, if the person can act, what to do. It goes into logs and onto screens, and
    may quote others, so it contains no secret.
    """

    type = "model_error"

    def __init__(self, message: str) -> None:
        super().__init__(Masker().text(message))


class AuthFailed(ModelError):
    type = "auth"


class BadRequest(ModelError):
    type = "bad_request"


class ContextTooLong(BadRequest):
    type = "context_too_long"


class UnknownModel(BadRequest):
    type = "unknown_model"


class MediaRefused(BadRequest):
    type = "media_refused"


class StaleSignature(BadRequest):
    type = "stale_signature"


class Withheld(BadRequest):
    """The provider's safety rules forbid the whole reply, or the prompt."""

    type = "safety"


class QuotaExhausted(ModelError):
    type = "quota"


class Transient(ModelError):
    type = "unavailable"

    def __init__(self, message: str, retry_after: float | None = None) -> None:
        super().__init__(message)
        self.retry_after = retry_after


class Unreachable(Transient):
    """There is no connection, which the person may be able to change."""


class BrokenStream(Transient):
    type = "broken_stream"


class Request(Struct, frozen=True, kw_only=True):
    system: str
    messages: tuple[Message, ...]
    tools: tuple[Declaration, ...] = ()
    effort: Effort | None = None
    """None leaves the choice to the provider."""
    max_tokens: int | None = None
    """The longest reply, in tokens; None: as long as the model can."""
    conversation: str = ""
    """The same for all requests of one conversation: providers use it to find what they have cached."""


class TextChunk(Struct, frozen=True):
    text: str
    signature: str | None = None


class ThoughtChunk(Struct, frozen=True):
    """A piece of a thought. A `subject` begins a new one; a `signature` ends it, and may come without text."""

    text: str
    signature: str | None = None
    subject: str = ""


class CallChunk(Struct, frozen=True):
    """A complete call: if a provider streams the arguments in pieces, its adapter assembles them."""

    name: str
    args: JsonObject
    call_id: str | None = None
    signature: str | None = None


class Finished(Struct, frozen=True):
    reason: FinishReason
    usage: Usage = Usage()
    said: str = ""
    """The provider's own word for an unusual end."""


Chunk = TextChunk | ThoughtChunk | CallChunk | Finished


class Model(Protocol):
    @property
    def name(self) -> str:
        """The shortest name by which `model_choice` opens this model; recorded with every reply."""
        ...

    def stream(self, request: Request) -> AsyncGenerator[Chunk, None]:
        """Closing the stream early closes the connection."""
        ...

    async def close(self) -> None: ...


@runtime_checkable
class Searching(Protocol):
    """A model whose provider can search the web."""

    @property
    def can_search(self) -> bool:
        """False for one that stands for a model whose provider cannot."""
        ...

    async def search(self, query: str) -> SearchAnswer:
        """Raises ModelError."""
        ...
