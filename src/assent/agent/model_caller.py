"""One reply of the model: streamed as it arrives, recorded only when complete.

A reply that was cut, malformed or empty is requested again; nothing of it is kept, and none of its calls runs. If the
person cancels, the text and the thoughts so far are kept and the calls are not.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Iterator
from contextlib import aclosing
from typing import TYPE_CHECKING, TypeVar

from msgspec import Struct

from assent.agent import token_estimate
from assent.agent.ending import Ending, turn_ending
from assent.agent.repetition import MAX_REPLY_SECONDS, ReplyGuard, out_of_time
from assent.events import CallRequest, ModelFallback, ModelReplied, ModelRetry, TextDelta, ThoughtDelta
from assent.models.model_protocol import (
    BrokenStream,
    CallChunk,
    Chunk,
    Finished,
    Model,
    ModelError,
    QuotaExhausted,
    Request,
    TextChunk,
    ThoughtChunk,
    Transient,
)
from assent.parts import Call, ModelPart, Text, Thought, Usage
from assent.scheduler.ids import CallIds

if TYPE_CHECKING:
    from assent.scheduler.call_task import Journal

T = TypeVar("T")
Sleep = Callable[[float], Awaitable[None]]
Show = Callable[[Chunk, bool], None]
"""Called with each chunk as it arrives, and whether it continues the previous thought."""


class Retries(Struct, frozen=True):
    """How often to request a broken reply again, how long to wait each time, and how long a reply may take."""

    attempts: int = 5
    first_delay: float = 1.0
    longest_delay: float = 30.0
    longest_reply: float = MAX_REPLY_SECONDS

    def delay(self, attempt: int, asked: float | None) -> float:
        """Doubling with jitter; the provider's own delay takes precedence, unless it is unreasonable."""
        if asked is not None:
            return min(asked, 2 * self.longest_delay)
        import random

        return min(self.first_delay * 2 ** (attempt - 1), self.longest_delay) * random.uniform(0.7, 1.3)


class _Collected:
    """The parts of a reply so far; consecutive texts become one part, and so do the pieces of a thought."""

    def __init__(self) -> None:
        self._parts: list[ModelPart] = []
        self._texts: list[str] = []
        self._thought: list[str] = []
        self._subject = ""
        self.finished: Finished | None = None

    @property
    def in_thought(self) -> bool:
        return bool(self._thought)

    def add(self, chunk: Chunk) -> None:
        match chunk:
            case TextChunk() if chunk.signature is None:
                if self._thought or self._subject:
                    self._close_thought()
                self._texts.append(chunk.text)
            case TextChunk(text, signature):
                self._close()
                self._parts.append(Text(text, signature))
            case ThoughtChunk():
                self._close_text()
                self._think(chunk)
            case CallChunk():
                self._close()
                self._parts.append(Call(chunk.call_id or "", chunk.name, chunk.args, chunk.signature))
            case Finished():
                self.finished = chunk

    def stop(self, finished: Finished) -> None:
        """End the reply early. It is incomplete, so none of its calls is kept."""
        self._close()
        self._parts = [part for part in self._parts if not isinstance(part, Call)]
        self.finished = finished

    def parts(self) -> list[ModelPart]:
        self._close()
        return self._parts

    def _think(self, chunk: ThoughtChunk) -> None:
        if chunk.subject:
            self._close_thought()
            self._subject = chunk.subject
        self._thought.append(chunk.text)
        if chunk.signature is not None:
            self._close_thought(chunk.signature)

    def _close(self) -> None:
        self._close_text()
        self._close_thought()

    def _close_thought(self, signature: str | None = None) -> None:
        text = "".join(self._thought)
        if text or self._subject or signature is not None:
            self._parts.append(Thought(text, signature, self._subject))
        self._thought.clear()
        self._subject = ""

    def _close_text(self) -> None:
        if text := "".join(self._texts):
            self._parts.append(Text(text))
        self._texts.clear()


class Reply(Struct, frozen=True):
    """What the loop needs from a reply, which has been recorded by then."""

    calls: tuple[CallRequest, ...]
    ending: Ending
    """How the turn ends if there are no calls."""


class Aside(Struct, frozen=True):
    """A text that is not part of the conversation."""

    text: str
    usage: Usage
    model: str = ""
    """The model that wrote it, if it is not the session's own."""
    cost: float | None = None
    """In dollars; None if the price is unknown."""
    is_cut: bool = False
    """Whether something stopped the model before it was done."""


class ModelCaller:
    """Asks the model once, with retries."""

    def __init__(
        self,
        model: Model,
        journal: "Journal",
        ids: CallIds,
        retries: Retries | None = None,
        sleep: Sleep = asyncio.sleep,
        fallback: Callable[[], Model] | None = None,
        cost: Callable[[str, Usage], float | None] = lambda model, usage: None,
        small: Callable[[int], Model | None] = lambda _: None,
        window: Callable[[str], int] = lambda model: 0,
    ) -> None:
        """`small` provides the model for texts outside the conversation, if it can take that many tokens."""
        self._model = model
        self._fallback = fallback
        """Creates the smaller model that takes over when the quota is used up."""
        self._journal = journal
        self._ids = ids
        self._retries = retries or Retries()
        self._sleep = sleep
        self._cost = cost
        """Dollars for one request to a model, by its name; None if the price is unknown."""
        self._small = small
        self._window = window
        """The context window of a model in tokens, by its name; 0 if it is unknown."""

    @property
    def current(self) -> Model:
        """The model that gets the next request."""
        return self._model

    @property
    def model(self) -> str:
        """Its name."""
        return self._model.name

    @property
    def window(self) -> int:
        """Of that model; 0 if unknown."""
        return self._window(self._model.name)

    def use(self, model: Model) -> None:
        """Takes effect with the next request; any fallback is forgotten."""
        self._model = model

    async def run(self, request: Request, prompt_id: str) -> Reply:
        return await self._patiently(lambda: self._attempt(request, prompt_id), prompt_id)

    async def text(self, request: Request, prompt_id: str) -> Aside:
        """The text of a reply that is not part of the conversation: not shown, not recorded, its calls not run."""
        try:
            small = self._small(token_estimate.of_request(request))
            if small is not None:
                return await self._silent_attempt(request, small)
        except ModelError:
            pass  # the small model only saves money: if it fails, the session's own model writes the text
        return await self._patiently(lambda: self._silent_attempt(request), prompt_id)

    async def small_text(self, request: Request) -> Aside | None:
        """The same, from the small model only and once; None if there is none, or if it fails."""
        try:
            small = self._small(token_estimate.of_request(request))
            return await self._silent_attempt(request, small) if small is not None else None
        except ModelError:
            return None

    async def _patiently(self, ask: Callable[[], Awaitable[T]], prompt_id: str) -> T:
        """With retries, and with the smaller model if the quota is used up."""
        attempt = 1
        while True:
            try:
                return await ask()
            except Transient as error:
                if attempt >= self._retries.attempts:
                    raise
                delay = self._retries.delay(attempt, error.retry_after)
                self._journal.announce(ModelRetry(prompt_id, attempt, str(error), delay))
            except QuotaExhausted as error:
                if self._fallback is None:
                    raise
                self._fall_back(self._fallback(), prompt_id, str(error))
                continue
            await self._sleep(delay)
            attempt += 1

    def _fall_back(self, smaller: Model, prompt_id: str, reason: str) -> None:
        """Switch to the smaller model for the rest of this run, and say so."""
        self._journal.announce(ModelFallback(prompt_id, self._model.name, smaller.name, reason))
        self._model, self._fallback = smaller, None

    async def _silent_attempt(self, request: Request, small: Model | None = None) -> Aside:
        collected, model = _Collected(), small or self._model
        await self._collect(model, request, collected)
        if collected.finished is None:
            raise BrokenStream("the reply was cut off")
        texts = (part.text for part in collected.parts() if isinstance(part, Text))
        usage, name = collected.finished.usage, small.name if small is not None else ""
        is_cut = collected.finished.reason != "stop"
        return Aside("".join(texts), usage, name, self._cost(model.name, usage), is_cut)

    async def _attempt(self, request: Request, prompt_id: str) -> Reply:
        collected = _Collected()
        try:
            await self._collect(
                self._model, request, collected, lambda chunk, continues: self._show(chunk, continues, prompt_id)
            )
        except asyncio.CancelledError:
            await self._keep_words(collected, prompt_id)
            raise
        return await self._accept(collected, prompt_id)

    async def _collect(self, model: Model, request: Request, into: _Collected, show: Show | None = None) -> None:
        """Read the reply to its end, or to the point where it breaks or must not continue."""
        limit = asyncio.timeout(self._retries.longest_reply)
        try:
            async with limit:
                await self._read(model, request, into, show)
        except TimeoutError:
            if not limit.expired():
                raise
            into.stop(out_of_time(self._retries.longest_reply))

    async def _read(self, model: Model, request: Request, into: _Collected, show: Show | None) -> None:
        guard = ReplyGuard()
        async with aclosing(model.stream(request)) as chunks:
            async for chunk in chunks:
                continues = into.in_thought
                into.add(chunk)
                if show is not None:
                    show(chunk, continues)
                if (end := guard.observe(chunk)) is not None:
                    into.stop(end)
                    return

    def _show(self, chunk: Chunk, continues: bool, prompt_id: str) -> None:
        match chunk:
            case TextChunk():
                if chunk.text:
                    self._journal.announce(TextDelta(prompt_id, chunk.text))
            case ThoughtChunk(text, _, subject) if text or subject:
                self._journal.announce(ThoughtDelta(prompt_id, subject, text, continues and not subject))
            case _:
                pass

    async def _accept(self, collected: _Collected, prompt_id: str) -> Reply:
        finished, parts = collected.finished, collected.parts()
        if finished is None:
            raise BrokenStream("the reply was cut off")
        if finished.reason in ("stop", "other") and not any(isinstance(part, Text | Call) for part in parts):
            raise BrokenStream("the reply has only thoughts" if parts else "the reply was empty")
        requests: list[CallRequest] = []
        for place, part in enumerate(parts):
            if isinstance(part, Call):
                request = self._ids.request(part.call_id, part.name, part.args, prompt_id)
                parts[place] = Call(request.call_id, part.name, part.args, part.signature)
                requests.append(request)
        usage, said = finished.usage, finished.said
        replied = ModelReplied(
            prompt_id=prompt_id,
            model=self._model.name,
            parts=tuple(parts),
            finish=finished.reason,
            usage=usage,
            said=said,
            cost=self._cost(self._model.name, usage),
            window=self.window,
        )
        await self._journal.record(replied)
        return Reply(tuple(requests), turn_ending(replied))

    async def _keep_words(self, collected: _Collected, prompt_id: str) -> None:
        if words := tuple(_words(collected.parts())):
            await self._journal.record(
                ModelReplied(prompt_id=prompt_id, model=self._model.name, parts=words, finish="cancelled")
            )


def _words(parts: Iterable[ModelPart]) -> Iterator[Text | Thought]:
    """What people can read of a reply that was cut. Without a signature, a thought is sent to no model."""
    for part in parts:
        match part:
            case Text():
                yield part
            case Thought(text=text, subject=subject) if text or subject:
                yield Thought(text, None, subject)
            case _:
                pass
