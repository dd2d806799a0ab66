"""Sends a command to a session from outside and waits until whoever runs it has taken it."""

import asyncio
import getpass
import os
import secrets
from typing import Literal

from msgspec import Struct

from assent.commands import Command
from assent.events import CommandTaken
from assent.session.log import SessionLog

PATIENCE = 10.0
"""Seconds that we wait for a running session."""


class Sent(Struct, frozen=True):
    """`recorded`: nobody runs the session now; `busy`: somebody does and has not taken it yet."""

    state: Literal["taken", "refused", "recorded", "busy"]
    problem: str = ""


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
        await log.put(session, key, command)
        if not await log.is_open(session):
            return Sent("recorded")
        async with asyncio.timeout(PATIENCE):
            return await _until_taken(log, session, after, key, news)
    except TimeoutError:
        return Sent("busy")
    finally:
        stop()


async def _until_taken(log: SessionLog, session: str, after: int, key: str, news: asyncio.Event) -> Sent:
    while (taken := await _taken(log, session, after, key)) is None:
        await news.wait()
        news.clear()
    return Sent("refused", taken.problem) if taken.problem else Sent("taken")


async def _taken(log: SessionLog, session: str, after: int, key: str) -> CommandTaken | None:
    events = (envelope.event for envelope in await log.read(session, after))
    return next((event for event in events if isinstance(event, CommandTaken) and event.key == key), None)
