"""Garbage of a server is collected when it disturbs nobody."""

import asyncio
import gc
import weakref
from collections.abc import Generator

import pytest

from assent.front.web.gc_tuning import STEP, collect_when_calm


class Loop:
    """Refers to itself, so that only a collection ends it."""

    def __init__(self) -> None:
        self.me = self


@pytest.fixture
def rarely() -> Generator[None]:
    before = gc.get_threshold()
    gc.set_threshold(1_000_000, 1_000, 1_000)  # whatever else the test makes collects nothing
    yield
    gc.set_threshold(*before)


@pytest.mark.usefixtures("rarely")
async def test_it_is_collected_in_a_calm_moment_and_not_before():
    gone, looked, calm = asyncio.Event(), asyncio.Event(), False

    def is_calm() -> bool:
        looked.set()
        return calm

    collecting = asyncio.create_task(collect_when_calm(is_calm, lambda: 0, pause=0))
    await looked.wait()
    loop = Loop()
    watched = weakref.ref(loop, lambda _: gone.set())
    assert (
        len([[number] for number in range(2 * STEP)]) == 2 * STEP
    )  # a step is over, and what was there is no longer new
    del loop
    looked.clear()
    await looked.wait()
    assert watched() is not None
    calm = True
    await gone.wait()
    collecting.cancel()


@pytest.mark.usefixtures("rarely")
async def test_when_next_to_nothing_was_made_since_nothing_is_looked_at(monkeypatch: pytest.MonkeyPatch):
    looks, collected = 0, list[bool]()
    enough = asyncio.Event()

    def is_calm() -> bool:
        nonlocal looks
        looks += 1
        if looks == 20:
            enough.set()
        return True

    gc.collect()
    monkeypatch.setattr(gc, "collect", lambda: collected.append(True))
    collecting = asyncio.create_task(collect_when_calm(is_calm, lambda: 0, pause=0))
    await enough.wait()
    collecting.cancel()
    assert not collected


@pytest.mark.usefixtures("rarely")
async def test_what_ended_leaves_garbage_also_when_nothing_new_was_made():
    gone, ended = asyncio.Event(), 0
    gc.collect()
    collecting = asyncio.create_task(collect_when_calm(lambda: True, lambda: ended, pause=0))
    await asyncio.sleep(0)
    watched = weakref.ref(Loop(), lambda _: gone.set())
    for _ in range(20):
        await asyncio.sleep(0)
    assert watched() is not None
    ended = 1
    await gone.wait()
    collecting.cancel()


@pytest.mark.usefixtures("rarely")
async def test_meanwhile_the_steps_are_small_and_afterwards_all_is_as_before():
    before = gc.get_threshold()
    collecting = asyncio.create_task(collect_when_calm(lambda: False, lambda: 0))
    await asyncio.sleep(0)
    assert gc.get_threshold()[0] == STEP and gc.get_freeze_count() > 0
    collecting.cancel()
    await asyncio.gather(collecting, return_exceptions=True)
    assert (gc.get_threshold(), gc.get_freeze_count()) == (before, 0)
