"""Prompts that the model reads in the middle of a turn: as soon as its current calls are over.

They stay in the inbox until then; one that is not read in time is an ordinary prompt. Which prompts ask for this is the
runner's business.
"""

import asyncio
from collections.abc import Awaitable, Callable

from assent.commands import Submit
from assent.events import Attached, CommandTaken, PromptSubmitted
from assent.session.journal import SessionJournal

Mentions = Callable[[str], Awaitable[tuple[Attached, ...]] | None]
"""Reads what a prompt mentions, if anything."""


class Steering:
    def __init__(self, journal: SessionJournal, mentions: Mentions) -> None:
        self._journal = journal
        self._mentions = mentions
        self._waiting: dict[str, Submit] = {}
        """By key."""
        self._heard: dict[str, asyncio.Task[None]] = {}
        """Those on their way into the log."""

    def add(self, command: Submit, key: str) -> None:
        self._waiting[key] = command

    def is_heard(self, key: str) -> bool:
        return key in self._heard

    def forget(self, key: str) -> bool:
        """Drops a prompt that is not to be read; False if it is too late."""
        self._waiting.pop(key, None)
        return key not in self._heard

    def clear(self) -> None:
        """The turn is over: what was not read in time is the next prompt."""
        self._waiting.clear()

    async def interject(self, prompt_id: str) -> None:
        """Called at a safe point of the turn: no call is open, and no request is on its way."""
        while self._waiting:
            key = next(iter(self._waiting))
            command = self._waiting[key]
            attached = await self._read(command.text)
            if self._waiting.pop(key, None) is None:
                continue  # withdrawn meanwhile
            submitted = PromptSubmitted(prompt_id, command.text, command.by, key, attached)
            self._heard[key] = asyncio.create_task(self._record(submitted))
            await asyncio.shield(self._heard[key])

    async def _record(self, submitted: PromptSubmitted) -> None:
        """If the turn is cancelled meanwhile, the prompt is recorded all the same, and must not be taken twice."""
        try:
            await self._journal.record(submitted, CommandTaken(submitted.key, submitted.by))
        finally:
            self._heard.pop(submitted.key, None)

    async def _read(self, text: str) -> tuple[Attached, ...]:
        reading = self._mentions(text)
        if reading is None:
            return ()
        done = asyncio.ensure_future(reading)
        try:
            await asyncio.wait([done])
        finally:
            done.cancel()
        return mentioned(done)


def mentioned(reading: "asyncio.Future[tuple[Attached, ...]]") -> tuple[Attached, ...]:
    """Whatever goes wrong with the mentions, the prompt itself is not lost."""
    if reading.cancelled():
        return ()
    if (error := reading.exception()) is not None:
        return (Attached("its mentions", problem=f"{type(error).__name__}: {error}"),)
    return reading.result()
