"""What a call keeps outside the log is kept for other nodes before an event in the log relies on it."""

import pytest

from assent.commands import Submit
from assent.events import CallFinished, CallStarted
from support.session_harness import SessionHarness, call, calls, text


@pytest.mark.spec("M3")
async def test_it_is_kept_before_the_call_starts_and_before_it_is_finished():
    harness = SessionHarness(calls(call("read_note", "c1", text="x")), text("Done."))
    seen: list[tuple[int, int]] = []

    async def settle() -> None:
        seen.append((len(await harness.stored(CallStarted)), len(await harness.stored(CallFinished))))

    harness.options["settle"] = settle
    runner = await harness.open()
    await runner.send(Submit("go", by="ann"))
    await harness.until_done()
    await runner.close()
    assert seen == [(0, 0), (1, 0)]
