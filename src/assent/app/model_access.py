"""Opens a model by its name; the errors that can keep it from being used."""

from collections.abc import AsyncGenerator

from assent.models.model_choice import DeferredModel, open_model
from assent.models.model_protocol import AuthFailed, Chunk, Model, ModelError, Request

__all__ = ("AuthFailed", "DeferredModel", "Model", "ModelError", "NoModel", "open_model")


class NoModel:
    """For a session opened only to carry out one command."""

    name = ""

    async def stream(self, request: Request) -> AsyncGenerator[Chunk, None]:
        raise AssertionError("this session must not call a model")
        yield

    async def close(self) -> None:
        pass
