"""What Assent keeps of a thought so that it can go back unchanged to the Claude model that produced it.

Newer models bind a thought to everything before it: the system prompt, the tools and the conversation. If one of them
changes (the conversation was compressed, a server added tools), they reject the whole request. So the signature that
Assent keeps includes a digest of what came before the thought, and a thought whose past has changed is left out. Pure.
"""

from collections.abc import Iterator

import msgspec
from msgspec import Struct

from assent.models.foreign_messages import without_signatures
from assent.models.model_protocol import Request
from assent.models.wire_json import encode_json
from assent.parts import JsonObject, Thought


class _Kept(Struct, frozen=True, omit_defaults=True):
    """Assent's signature, as JSON."""

    past: str
    signature: str = ""
    redacted: str = ""
    """Replaces a thought that the provider does not show."""


def keep_signature(signature: str, past: str) -> str:
    return msgspec.json.encode(_Kept(past, signature)).decode()


def keep_redacted(data: str, past: str) -> str:
    return msgspec.json.encode(_Kept(past, redacted=data)).decode()


def thinking_block(thought: Thought, past: str) -> JsonObject | None:
    """The thought as it arrived; None if it is not signed, not Claude's, or has another past."""
    try:
        kept = msgspec.json.decode(thought.signature or "", type=_Kept)
    except msgspec.MsgspecError:
        return None
    if kept.past != past:
        return None
    if kept.redacted:
        return {"type": "redacted_thinking", "data": kept.redacted}
    return {"type": "thinking", "thinking": thought.text, "signature": kept.signature}


def pasts(request: Request) -> Iterator[str]:
    """For each message, a digest of what comes before it; the last one is for the reply.

    Thoughts do not count: which of them are sent follows from the rest.
    """
    import hashlib

    digest = hashlib.blake2b(digest_size=12)
    digest.update(encode_json([request.system, *((t.name, t.description, t.schema) for t in request.tools)]))
    for message in without_signatures(request.messages):
        yield digest.hexdigest()
        digest.update(encode_json(message))
    yield digest.hexdigest()


def past_of_reply(request: Request) -> str:
    *_, last = pasts(request)
    return last
