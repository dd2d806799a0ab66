"""A model whose key comes from a command and may expire, like a cloud's tokens: when refused, it gets a new one.

It knows neither the command nor the provider: its creator passes a function that opens the model with a new key.
"""

import asyncio
from collections.abc import AsyncGenerator, Callable

from assent.models.model_protocol import AuthFailed, Chunk, Model, Request, Searching
from assent.parts import SearchAnswer


class RenewedModel:
    def __init__(self, model: Model, reopen: Callable[[], Model]) -> None:
        """`reopen` may take its time, and raises ModelError."""
        self._model = model
        self._reopen = reopen
        self._before: list[Model] = []
        """Closed at the end only: a reply may still be coming from one of them."""
        self._renewing = asyncio.Lock()

    @property
    def name(self) -> str:
        return self._model.name

    async def stream(self, request: Request) -> AsyncGenerator[Chunk, None]:
        model, begun = self._model, False
        try:
            async for chunk in model.stream(request):
                begun = True
                yield chunk
            return
        except AuthFailed:
            if begun:
                raise
        async for chunk in (await self._renewed(model)).stream(request):
            yield chunk

    async def close(self) -> None:
        for model in (*self._before, self._model):
            await model.close()

    async def _renewed(self, refused: Model) -> Model:
        async with self._renewing:
            if self._model is refused:  # otherwise another request has already replaced it
                self._model = await asyncio.to_thread(self._reopen)
                self._before.append(refused)
            return self._model


class SearchingRenewedModel(RenewedModel):
    async def search(self, query: str) -> SearchAnswer:
        model = self._model
        try:
            return await _searching(model).search(query)
        except AuthFailed:
            return await _searching(await self._renewed(model)).search(query)


def renewed(model: Model, reopen: Callable[[], Model]) -> RenewedModel:
    return (SearchingRenewedModel if isinstance(model, Searching) else RenewedModel)(model, reopen)


def _searching(model: Model) -> Searching:
    assert isinstance(model, Searching)
    return model
