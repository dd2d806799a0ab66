"""Scenario files: a model's replies, written in advance. The scripted model and the tests' fake provider play them.

    {"replies": [
        {"chunks": [
            {"thought": "Let me look."},
            {"text": "Reading file {i}. ", "repeat": 3},
            {"call": {"name": "read_file", "args": {"path": "a{n}"}, "id": "optional"}},
            {"pause_ms": 50},
            {"cut": true},                                          the stream ends here, unfinished
            {"error": {"kind": "quota", "message": "no more"}}      auth, quota, transient, bad_request,
                                                                    context_too_long
         ],
         "finish": "stop",
         "usage": {"input": 10, "output": 5},
         "repeat": 2,
         "when": {"result_contains": "permission denied"}}
    ]}

A reply with `repeat` stands for that many. Replies are served in order; one whose `when` does not hold when its turn
comes is skipped for good. `when` looks at the results that answer the newest model message. In strings, `{n}` is the
index of the reply (repeats and skipped ones counted) and `{i}` that of the innermost repeat; both begin at 0.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, Generic, Literal, TypeVar

import msgspec
from msgspec import Struct

from assent.models.model_protocol import BadRequest
from assent.parts import FinishReason, JsonObject, Usage

ErrorKind = Literal["auth", "quota", "transient", "bad_request", "context_too_long"]
Fill = Callable[[str], str]


class CallSpec(Struct, frozen=True, forbid_unknown_fields=True):
    name: str
    args: JsonObject = {}
    id: str | None = None


class ErrorSpec(Struct, frozen=True, forbid_unknown_fields=True):
    kind: ErrorKind
    message: str = "scripted"
    retry_after: float | None = None


class ChunkSpec(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Exactly one field of the first group is set; the keys in the file are the kinds of chunks."""

    text: str | None = None
    thought: str | None = None
    call: CallSpec | None = None
    cut: Literal[True] | None = None
    error: ErrorSpec | None = None
    pause_ms: int | None = None

    signature: str | None = None
    repeat: int = 1

    def __post_init__(self) -> None:
        kinds = [field for field in self.__struct_fields__ if field not in ("signature", "repeat")]
        if sum(getattr(self, kind) is not None for kind in kinds) != 1:
            raise ValueError(f"a chunk has exactly one of {', '.join(kinds)}")
        if self.repeat < 1:
            raise ValueError("repeat must be at least 1")


ChunkT = TypeVar("ChunkT", bound=ChunkSpec)


class When(Struct, frozen=True, forbid_unknown_fields=True):
    result_contains: str

    def holds(self, results: Iterable[JsonObject]) -> bool:
        return any(self.result_contains in text for result in results for text in _strings(result))


class ReplySpec(Struct, Generic[ChunkT], frozen=True, forbid_unknown_fields=True):
    chunks: tuple[ChunkT, ...] = ()
    finish: FinishReason = "stop"
    usage: Usage = Usage()
    repeat: int = 1
    when: When | None = None

    def __post_init__(self) -> None:
        if self.repeat < 1:
            raise ValueError("repeat must be at least 1")

    @property
    def leaves_message(self) -> bool:
        """Whether the reply stays in the conversation. A broken, refused or empty one is requested again."""
        broken = any(chunk.cut or chunk.error for chunk in self.chunks)
        return not broken and any(chunk.text or chunk.call for chunk in self.chunks)


ReplyT = TypeVar("ReplyT", bound=ReplySpec[Any])


class Scenario(Struct, frozen=True, forbid_unknown_fields=True):
    replies: tuple[ReplySpec[ChunkSpec], ...] = ()
    description: str = ""


class Slot(Struct, Generic[ReplyT], frozen=True):
    """One reply of the unrolled scenario."""

    n: int
    i: int
    reply: ReplyT

    def chunks(self) -> Iterator[tuple[Any, Fill]]:
        """Each chunk, unrolled, with the function that fills its placeholders."""
        for chunk in self.reply.chunks:
            for i in range(chunk.repeat):
                yield chunk, _filler(self.n, i if chunk.repeat > 1 else self.i)


def load_scenario(path: Path) -> Scenario:
    try:
        raw = path.read_bytes()
    except OSError as error:
        raise BadRequest(f"cannot read the scenario {path}: {error.strerror}") from error
    return parse_scenario(raw, str(path), Scenario)


ScenarioT = TypeVar("ScenarioT")


def parse_scenario(raw: bytes, source: str, kind: type[ScenarioT]) -> ScenarioT:
    """`source` names the file in the error; msgspec adds the place, such as `$.replies[0].chunks[2]`."""
    try:
        return msgspec.json.decode(raw, type=kind)
    except msgspec.MsgspecError as error:
        raise BadRequest(f"the scenario {source} is not valid: {error}") from error


def unroll(replies: Iterable[ReplyT]) -> list[Slot[ReplyT]]:
    pairs = [(i, reply) for reply in replies for i in range(reply.repeat)]
    return [Slot(n, i, reply) for n, (i, reply) in enumerate(pairs)]


def next_slot(slots: Sequence[Slot[ReplyT]], start: int, results: Sequence[JsonObject]) -> int:
    """The first slot from `start` that may be served, or the number of slots if there is none."""
    for n in range(start, len(slots)):
        when = slots[n].reply.when
        if when is None or when.holds(results):
            return n
    return len(slots)


def fill_all(value: Any, fill: Fill) -> Any:
    """Fill the placeholders in every string of a JSON value."""
    match value:
        case str():
            return fill(value)
        case list():
            return [fill_all(item, fill) for item in value]  # pyright: ignore[reportUnknownVariableType]
        case dict():
            return {key: fill_all(item, fill) for key, item in value.items()}  # pyright: ignore[reportUnknownVariableType]
        case _:
            return value


def _filler(n: int, i: int) -> Fill:
    return lambda text: text.replace("{n}", str(n)).replace("{i}", str(i)) if "{" in text else text


def _strings(value: Any) -> Iterator[str]:
    match value:
        case str():
            yield value
        case list():
            for item in value:  # pyright: ignore[reportUnknownVariableType]
                yield from _strings(item)
        case dict():
            for item in value.values():  # pyright: ignore[reportUnknownVariableType]
                yield from _strings(item)
        case _:
            pass
