"""Events of sessions that workers run: the log and the bus tell a server the same, each at its own pace."""

import pytest

from assent.events import Envelope, PromptSubmitted, SessionCreated, TextDelta, from_wire
from assent.front.web.feeds import Feed, Feeds
from assent.session.memory_log import MemoryLog

pytestmark = pytest.mark.spec("M2")
CREATED = SessionCreated(folder="/w", model="model", mode="default", version="0")


def prompt(seq: int) -> Envelope:
    return Envelope(seq, 1.0, "s", PromptSubmitted(f"p{seq}", "hi", "ann"))


def delta(text: str) -> Envelope:
    return Envelope(0, 1.0, "s", TextDelta("p2", text))


async def opened() -> tuple[MemoryLog, Feeds, Feed]:
    log = MemoryLog()
    await log.create("s", 1.0, CREATED)
    feeds = Feeds(log, lambda _: None)
    return log, feeds, await feeds.open("s")


def lines(feed: Feed) -> list[Envelope]:
    feed.flush()
    return [from_wire(line.removeprefix(b"data: ")) for line in feed.since(0, 100) or []]


async def test_an_event_that_the_log_and_the_bus_both_tell_appears_once():
    log, feeds, feed = await opened()
    await log.append(await log.acquire("s"), [prompt(2), prompt(3)])
    feeds.on_remote_event(prompt(2), 2)
    await feed.pull()
    feeds.on_remote_event(prompt(3), 3)
    assert lines(feed) == [prompt(2), prompt(3)]


async def test_an_event_that_the_bus_lost_is_read_from_the_log():
    log, feeds, feed = await opened()
    await log.append(await log.acquire("s"), [prompt(2), prompt(3)])
    feeds.on_remote_event(prompt(3), 3)
    await feed.pull()
    assert lines(feed) == [prompt(2), prompt(3)]


async def test_text_that_comes_after_the_log_has_told_what_became_of_it_is_left_out():
    log, feeds, feed = await opened()
    await log.append(await log.acquire("s"), [prompt(2), prompt(3)])
    feeds.on_remote_event(prompt(2), 2)
    feeds.on_remote_event(delta("early"), 2)
    assert lines(feed) == [prompt(2), delta("early")]
    await feed.pull()
    feeds.on_remote_event(delta("late"), 2)
    feeds.on_remote_event(delta("new"), 3)
    assert lines(feed) == [prompt(2), delta("early"), prompt(3), delta("new")]


async def test_text_that_is_still_being_joined_comes_before_what_the_log_tells_next():
    log, feeds, feed = await opened()
    await log.append(await log.acquire("s"), [prompt(2), prompt(3)])
    feeds.on_remote_event(prompt(2), 2)
    feeds.on_remote_event(delta("early"), 2)
    await feed.pull()
    assert lines(feed) == [prompt(2), delta("early"), prompt(3)]


async def test_sessions_that_nobody_watches_cost_nothing():
    _, feeds, feed = await opened()
    feeds.on_remote_event(Envelope(2, 1.0, "other", CREATED), 2)
    assert lines(feed) == []
