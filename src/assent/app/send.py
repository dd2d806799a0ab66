"""Sends a command to a session from outside and waits until whoever runs it has taken it."""

import asyncio
import getpass
import os
import secrets
from contextlib import suppress
from typing import Literal

from msgspec import Struct

from assent.commands import Command
from assent.events import ApprovalAnswered, CommandTaken
from assent.session.log import SessionLog

PATIENCE = 10.0
"""Seconds that we wait for a running session."""
LOOK_AGAIN = 0.3
"""Seconds after which we look whether it still runs: a process that dies says nothing."""


class Sent(Struct, frozen=True):
    """`recorded`: nobody runs the session; `ended`: who ran it is gone; `busy`: somebody has not taken it yet."""

    state: Literal["taken", "refused", "recorded", "ended", "busy"]
    problem: str = ""

    def waits(self, session: str) -> str:
        """What became of a command that lies in the inbox, in words."""
        if self.state == "busy":
            return "Recorded. The session is busy and takes it when it can."
        meanwhile = "The session ended before it took this. " if self.state == "ended" else ""
        return f"Recorded. {meanwhile}It takes effect when the session goes on: assent --resume {session}"


def me() -> str:
    """Who asks from here: the user and the process."""
    return f"{user()}@pid{os.getpid()}"


def user() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return "somebody"


async def send_and_wait(log: SessionLog, session: str, after: int, command: Command) -> Sent:
    """`after` is the last event that the sender has seen."""
    key = secrets.token_urlsafe(12)
    news = asyncio.Event()
    stop = log.watch(session, news.set)
    try:
        somebody_runs_it = await log.is_open(session)  # before it is put: whoever dies in between must not look absent
        await log.put(session, key, command)
        if not somebody_runs_it and not await log.is_open(session):
            return Sent("recorded")
        async with asyncio.timeout(PATIENCE):
            return await _until_taken(log, session, after, key, news)
    except TimeoutError:
        return Sent("busy")
    finally:
        stop()


async def _until_taken(log: SessionLog, session: str, after: int, key: str, news: asyncio.Event) -> Sent:
    while True:
        running = await log.is_open(session)  # before reading: what it wrote last must not be missed
        events = [envelope.event for envelope in await log.read(session, after)]
        taken = next((event for event in events if isinstance(event, CommandTaken) and event.key == key), None)
        if taken is not None:
            return Sent("refused", taken.problem) if taken.problem else Sent("taken")
        if not running:
            answered = any(isinstance(event, ApprovalAnswered) and event.key == key for event in events)
            return Sent("taken" if answered else "ended")
        with suppress(TimeoutError):
            await asyncio.wait_for(news.wait(), LOOK_AGAIN)
        news.clear()
