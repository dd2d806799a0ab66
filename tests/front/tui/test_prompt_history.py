"""The history of the input, from the log."""

import pytest

from assent.events import Envelope, PromptSubmitted, SessionCreated
from assent.front.tui.history import prompts_of
from assent.session.memory_log import MemoryLog


@pytest.mark.spec("G1")
async def test_the_history_has_each_prompt_once_in_a_row_and_no_blank_ones():
    log = MemoryLog()
    await log.create("s", 1.0, SessionCreated(folder="/w", model="model", mode="default", version="0"))
    fence = await log.acquire("s")
    asked = enumerate(["one", "one", " ", "two", "one"], start=2)
    await log.append(fence, [Envelope(seq, float(seq), "s", PromptSubmitted("p", text, "ann")) for seq, text in asked])
    assert await prompts_of(log, "/w") == ["one", "two", "one"]
    assert await prompts_of(log, "/w", most=1) == ["one"]
