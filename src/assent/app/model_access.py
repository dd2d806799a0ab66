"""From the name of a model to a model, and what can keep it from being used."""

from collections.abc import AsyncGenerator

from assent.models.model_choice import DeferredModel, open_model
from assent.models.model_protocol import AuthFailed, Chunk, Model, ModelError, Request

__all__ = ("AuthFailed", "DeferredModel", "Model", "ModelError", "NoModel", "open_model")


class NoModel:
    """For a session that is opened only to carry out one command."""

    name = ""

    async def stream(self, request: Request) -> AsyncGenerator[Chunk, None]:
        raise AssertionError("nothing is asked of a model here")
        yield

    async def close(self) -> None:
        pass
