"""A small app as a person uses it, key by key."""

from typing import Any, Generic, Self, TypeVar

from textual.app import App
from textual.pilot import Pilot

Running = TypeVar("Running", bound=App[None])


class AtKeys(Generic[Running]):
    """`async with AtKeys(app, 40) as it`."""

    def __init__(self, app: Running, width: int) -> None:
        self.app = app
        self._running: Any = app.run_test(size=(width, 20))
        self.pilot: Pilot[None]

    async def __aenter__(self) -> Self:
        self.pilot = await self._running.__aenter__()
        return self

    async def __aexit__(self, *error: Any) -> None:
        await self._running.__aexit__(*error)

    async def type(self, text: str) -> None:
        await self.press(*("space" if char == " " else char for char in text))

    async def press(self, *keys: str) -> None:
        await self.pilot.press(*keys)
