"""Filling in a custom command beside a headless run: whatever happens, the run learns of it."""

import asyncio
from typing import Any, cast

import pytest

from assent.app.custom_commands import CustomCommand
from assent.app.session_log import LogError
from assent.front.headless.custom_prompt import CustomPrompt, Filling
from support.waiting import WAIT_LIMIT

pytestmark = pytest.mark.spec("G6")


class Client:
    me = "ann"


async def test_an_error_while_it_is_sent_ends_the_run_and_is_kept():
    gave_up = asyncio.Event()

    async def submit(text: str) -> None:
        raise LogError(f"the disk is full: {text}")

    command = CustomCommand("next", "", "Then {{args}}.", "next.toml")
    filling = Filling(CustomPrompt(command, "rest", "piped "), cast(Any, Client()), submit, gave_up.set)
    filling.begin()
    async with asyncio.timeout(WAIT_LIMIT):
        await gave_up.wait()
    assert str(filling.error) == "the disk is full: piped Then rest."


async def test_what_was_stopped_before_it_began_never_begins():
    sent: list[str] = []

    async def submit(text: str) -> None:
        sent.append(text)

    filling = Filling(CustomPrompt(CustomCommand("x", "", "X", ""), "", ""), cast(Any, Client()), submit, lambda: None)
    filling.stop()
    filling.begin()
    await asyncio.sleep(0)
    assert not filling.begun and sent == []
