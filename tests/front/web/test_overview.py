"""What is told of the lists: to their owner alone, soon, and nothing that happens meanwhile is forgotten."""

import asyncio
from collections.abc import Callable

import msgspec

from assent.approval import Approval, InfoDetails
from assent.events import ApprovalRequested, CallFinished, CallInput, Envelope, Event, SessionCreated, TurnFinished
from assent.front.web.overview import Overview
from assent.front.web.waiting_inputs import WaitingInputs
from assent.parts import InputWanted, Result
from assent.session.log import LogUnavailable
from assent.session.memory_log import MemoryLog
from support.waiting import until

ASKED = ApprovalRequested("c", Approval(id="a", digest="d", details=InfoDetails("look"), options=(), why="why"))
ENDED = TurnFinished("p", "completed")


class GuardedLog(MemoryLog):
    """Counts only while its door is open, and fails when it is told to."""

    def __init__(self) -> None:
        super().__init__()
        self.door = asyncio.Event()
        self.door.set()
        self.counts = 0
        self.broken = False

    async def count_waiting(self, owner: str | None = None) -> dict[str, int]:
        self.counts += 1
        await self.door.wait()
        if self.broken:
            raise LogUnavailable("the disk is full")
        return await super().count_waiting(owner)


class OverviewHarness:
    """A session each of ann and bob, and how often they were told."""

    def __init__(self) -> None:
        self.log = GuardedLog()
        self.inputs = WaitingInputs(self.log)
        self.overview = Overview(self.log, self.inputs)
        self.told = {"ann": 0, "bob": 0}
        self.stops = {owner: self.overview.watch(owner, self._teller(owner)) for owner in self.told}

    def _teller(self, owner: str) -> Callable[[], None]:
        def tell() -> None:
            self.told[owner] += 1

        return tell

    async def open(self) -> "OverviewHarness":
        for owner in self.told:
            await self.log.create(
                f"of-{owner}", 1.0, SessionCreated(folder="/w", model="m", mode="default", version="0", owner=owner)
            )
        return self

    def happens(self, owner: str, event: Event) -> None:
        envelope = Envelope(2, 1.0, f"of-{owner}", event)
        for part in (self.inputs, self.overview):
            part.on_event(envelope)

    def waiting(self, owner: str) -> int:
        return msgspec.json.decode(self.overview.line(owner))["waiting"]

    def numbers(self, owner: str) -> tuple[int, int]:
        line = msgspec.json.decode(self.overview.line(owner))
        return line["sessions"], line["approvals"]


async def test_only_the_owner_is_told_and_nobody_else_can_see_that_something_happened():
    harness = await OverviewHarness().open()
    before = {owner: harness.overview.line(owner) for owner in harness.told}
    harness.happens("ann", ASKED)
    await until(lambda: harness.told["ann"])
    assert harness.told == {"ann": 1, "bob": 0}
    assert harness.overview.line("bob") == before["bob"] and harness.overview.line("ann") != before["ann"]


async def test_the_approvals_have_a_number_of_their_own():
    harness = await OverviewHarness().open()
    sessions, approvals = harness.numbers("ann")
    harness.happens("ann", ENDED)
    await until(lambda: harness.told["ann"] == 1)
    assert harness.numbers("ann") == (sessions + 1, approvals)
    harness.happens("ann", ENDED)
    harness.happens("ann", ASKED)
    harness.happens("ann", ENDED)
    await until(lambda: harness.told["ann"] == 2)
    assert harness.numbers("ann") == (sessions + 2, approvals + 1)


async def test_a_question_that_comes_while_others_are_counted_is_told_too():
    harness = await OverviewHarness().open()
    approvals = harness.numbers("ann")[1]
    harness.log.door.clear()
    harness.happens("ann", ENDED)
    await until(lambda: harness.log.counts)
    harness.happens("ann", ASKED)
    harness.log.door.set()
    await until(lambda: harness.told["ann"] == 2)
    assert harness.numbers("ann")[1] == approvals + 1


async def test_what_could_not_be_counted_is_told_with_the_next_change_to_all():
    harness = await OverviewHarness().open()
    before = {owner: harness.numbers(owner) for owner in harness.told}
    harness.log.broken = True
    harness.happens("ann", ASKED)
    await until(lambda: harness.log.counts)
    harness.log.broken = False
    harness.happens("bob", ENDED)
    await until(lambda: harness.told["ann"] and harness.told["bob"])
    assert all(harness.numbers(owner) > before[owner] for owner in before)


async def test_whoever_deletes_a_session_sees_it_gone_and_whoever_left_is_told_nothing():
    harness = await OverviewHarness().open()
    harness.stops["bob"]()
    harness.happens("ann", ENDED)
    await harness.log.delete("of-ann")
    harness.overview.touch("ann", approvals=True)
    harness.overview.touch("bob")
    sessions, approvals = harness.numbers("ann")
    await until(lambda: harness.told["ann"])
    assert harness.numbers("ann") == (sessions + 1, approvals + 1)
    assert harness.told["bob"] == 0


async def test_a_command_that_waits_for_input_counts_until_it_was_typed_or_the_command_ended():
    harness = await OverviewHarness().open()
    for number, end in enumerate(
        (CallInput("c"), CallFinished(call_id="c", status="cancelled", result=Result("c", "run_note", {})))
    ):
        harness.happens("ann", CallInput("c", InputWanted("Password: ", number)))
        await until(lambda: harness.waiting("ann") == 1)
        assert harness.waiting("bob") == 0
        harness.happens("ann", end)
        await until(lambda: harness.waiting("ann") == 0)


async def test_what_another_process_changed_is_told_to_all():
    harness = await OverviewHarness().open()
    harness.overview.touch_all()
    await until(lambda: harness.told == {"ann": 1, "bob": 1})
