"""What the person is told when a request has failed for good: what happened, and what they can do.

The same for every provider; docs/models.md has the whole table. What to do about a refused key depends on the provider,
so the error itself says it.
"""

from collections.abc import Awaitable, Callable, Sequence

from assent.models.model_protocol import ModelError, UnknownModel, Unreachable

NearestModels = Callable[[str], Awaitable[Sequence[str]]]
"""The provider's model names most similar to this one. Never raises."""

_OTHER_MODEL = "choose another model with /model or -m"
_ADVICE = {
    "bad_request": f"If it happens again, {_OTHER_MODEL}.",
    "context_too_long": "Start a new session, or choose a model with a larger context window with /model or -m.",
    "media_refused": "It is left out from now on. Describe it in words, or attach it again for a model that takes it.",
    "stale_signature": f"Start a new session, or {_OTHER_MODEL}.",
    "safety": "Rephrase your request, or leave out what was rejected.",
    "quota": f"Top up your account or wait until the quota is renewed, or {_OTHER_MODEL}.",
    "unavailable": f"Try again in a while, or {_OTHER_MODEL}.",
    "broken_stream": f"Try again, or {_OTHER_MODEL}.",
}


_UNREACHABLE = (
    f"Check your network, the base URL, and whether the server is running; then try again, or {_OTHER_MODEL}."
)


async def explain(error: ModelError, model: str, nearest: NearestModels | None) -> str:
    if isinstance(error, UnknownModel):
        return f"{_sentence(error)} {await _did_you_mean(model, nearest)}"
    advice = _UNREACHABLE if isinstance(error, Unreachable) else _ADVICE.get(error.type, "")
    return f"{_sentence(error)} {advice}" if advice else str(error)


def _sentence(error: ModelError) -> str:
    text = str(error).strip()
    return text if text.endswith((".", "!", "?")) else f"{text}."


async def _did_you_mean(model: str, nearest: NearestModels | None) -> str:
    found = await nearest(model) if nearest is not None else ()
    names = [name for name in found if name != model]
    meant = f"Did you mean {' or '.join(names)}? " if names else ""
    return f"{meant}`assent models` lists the models; choose one with /model or -m."
