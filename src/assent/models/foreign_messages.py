"""What a model may see of other models' replies: text and calls, but no signatures and no thoughts.

Only the provider that made a signature or an encrypted thought can read it, and no other may see it.
"""

from collections.abc import Callable

from msgspec.structs import replace

from assent.models.provider_registry import provider_of, shortest_name
from assent.parts import Call, Message, ModelMessage, ModelPart, Text, Thought


def own_or_unsigned(messages: tuple[Message, ...], provider: str) -> tuple[Message, ...]:
    """The messages as `provider` may see them. Messages without an author count as its own: they come from Assent
    itself, or from a log written before Assent had a second provider.
    """
    return _unsigned_where(messages, lambda model: bool(model) and provider_of(model) != provider)


def by_model_or_unsigned(messages: tuple[Message, ...], model: str) -> tuple[Message, ...]:
    """The same, for a provider whose signatures are bound to one model. `model` is its full name."""
    return _unsigned_where(messages, lambda writer: shortest_name(writer) != model)


def signatures(messages: tuple[Message, ...]) -> frozenset[str]:
    """All that a request with these messages would send."""
    return frozenset(signature for message in messages for signature in _signatures(message))


def without_signatures(messages: tuple[Message, ...]) -> tuple[Message, ...]:
    return _unsigned_where(messages, lambda _: True)


def without_refused(messages: tuple[Message, ...], refused: frozenset[str]) -> tuple[Message, ...]:
    """The messages that carry one of these signatures lose all of theirs; the others stay as they are."""
    return tuple(
        _unsigned(message) if isinstance(message, ModelMessage) and _signatures(message) & refused else message
        for message in messages
    )


def _signatures(message: Message) -> frozenset[str]:
    if not isinstance(message, ModelMessage):
        return frozenset()
    return frozenset(part.signature for part in message.parts if part.signature is not None)


def _unsigned_where(messages: tuple[Message, ...], is_foreign: Callable[[str], bool]) -> tuple[Message, ...]:
    return tuple(
        _unsigned(message) if isinstance(message, ModelMessage) and is_foreign(message.model) else message
        for message in messages
    )


def _unsigned(message: ModelMessage) -> ModelMessage:
    return ModelMessage(tuple(part for part in map(_bare, message.parts) if part is not None), message.model)


def _bare(part: ModelPart) -> ModelPart | None:
    match part:
        case Thought():
            return None
        case Text(text=text):
            return Text(text) if text else None
        case Call():
            return replace(part, signature=None)
