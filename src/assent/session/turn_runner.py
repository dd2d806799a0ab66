"""The work of an open session: its turn, or a compression in its place, and the tools that a person runs.

It knows how work begins, ends and continues after a crash; where commands come from is the runner's business.
"""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from assent.agent.ending import Ending
from assent.agent.loop import AgentLoop
from assent.commands import RunTool, Submit, person_call_id
from assent.events import Attached, CallRequest, ChatCompressed, CommandTaken, PromptSubmitted
from assent.parts import Call
from assent.scheduler.ids import CallIds
from assent.scheduler.lazy_scheduler import LazyScheduler
from assent.scheduler.refusals import Parked, Refused
from assent.session.compaction import Compaction
from assent.session.context_files import ContextFiles
from assent.session.journal import SessionJournal
from assent.session.state import SessionState
from assent.session.steering import Steering, mentioned

if TYPE_CHECKING:
    from assent.scheduler.batch import Batch
    from assent.session.titling import Titler

SHOW_QUEUED_AFTER = 0.3
"""Seconds before anyone is told that the mentions of a prompt are still being read."""


class TurnRunner:
    def __init__(
        self,
        state: SessionState,
        journal: SessionJournal,
        scheduler: LazyScheduler,
        loop: AgentLoop,
        *,
        compaction: Compaction,
        context_files: ContextFiles,
        ids: CallIds,
        steering: Steering,
        titler: "Titler | None",
        mentions: Callable[[str], Awaitable[tuple[Attached, ...]] | None],
        changed: Callable[[], None],
    ) -> None:
        """`mentions` reads what a prompt mentions, if anything; `changed` has the inbox read again."""
        self._state, self._journal, self._scheduler, self._loop = state, journal, scheduler, loop
        self._compaction, self._context_files, self._ids = compaction, context_files, ids
        self._steering = steering
        self._titler, self._mentions, self._changed = titler, mentions, changed
        self._turn: asyncio.Task[None] | None = None
        self._compacting: asyncio.Task[ChatCompressed] | None = None
        """A compression requested by a person; `_turn` then waits for it."""
        self._reading: dict[str, asyncio.Future[tuple[Attached, ...]]] = {}
        """Prompts whose mentions are being read, by key: they are still in the inbox."""
        self._local: set[asyncio.Task[None]] = set()
        """Batches that do not belong to the turn: tools run by a person."""

    # --- state for the inbox ---

    @property
    def in_turn(self) -> bool:
        return self._turn is not None

    @property
    def runs_tools(self) -> bool:
        """Whether a person's tools are running."""
        return bool(self._local)

    @property
    def reading(self) -> bool:
        """Whether prompts that are still in the inbox are being prepared."""
        return bool(self._reading)

    @property
    def only_waits(self) -> bool:
        """Nothing is in progress."""
        return self._scheduler.only_waits if self._turn or self._local else True

    def has_read(self, key: str) -> bool:
        """Whether this prompt is on its way into the log."""
        return self._steering.is_heard(key) or (key in self._reading and self._reading[key].done())

    def forget(self, key: str) -> bool:
        """Drops a prompt that waits to be read, or whose mentions are still being read; False if it is too late."""
        if not self._steering.forget(key):
            return False
        reading = self._reading.get(key)
        if reading is not None and not reading.cancel():
            return False
        self._reading.pop(key, None)
        return True

    # --- turns ---

    async def begin(self, command: Submit, key: str) -> None:
        """Reading the mentions may take long; the inbox does not wait for it."""
        reading = self._mentions(command.text)
        if reading is None:
            turn = self._run_turn(await self._submit(command, key))
        else:
            self._reading[key] = asyncio.ensure_future(reading)
            turn = self._read_and_run(command, key)
        self._turn = asyncio.create_task(turn, name="turn")

    def steer(self, command: Submit | RunTool, key: str) -> None:
        """If the prompt asks for it, the model reads it before the next request of the turn that is running."""
        if self.in_turn and isinstance(command, Submit) and command.steer:
            self._steering.add(command, key)

    async def _submit(self, command: Submit, key: str, attached: tuple[Attached, ...] = ()) -> str:
        prompt_id = f"{self._state.session}########{self._state.prompts}"
        submitted = PromptSubmitted(prompt_id, command.text, command.by, key, attached)
        await self._journal.record(submitted, CommandTaken(key, command.by))
        if self._titler is not None:
            self._titler.begin()
        return prompt_id

    async def _read_and_run(self, command: Submit, key: str) -> None:
        """If reading is cancelled, the prompt is recorded without its mentions; if the session closes meanwhile, it
        stays in the inbox; and it may be withdrawn.
        """
        reading = self._reading[key]
        if not (await asyncio.wait([reading], timeout=SHOW_QUEUED_AFTER))[0]:
            self._changed()  # from now on it is shown in the queue
            await asyncio.wait([reading])
        prompt_id = ""
        with self._journal.guarding():
            if key in self._reading and not self._loop.closing:
                prompt_id = await self._submit(command, key, mentioned(reading))
        self._reading.pop(key, None)
        self._changed()
        if prompt_id:
            await self._run_turn(prompt_id)
        else:
            self._turn = None
            self._loop.never_began()

    async def _run_turn(self, prompt_id: str, unfinished: "Batch | None" = None, ended: Ending | None = None) -> None:
        try:
            with suppress(Parked), self._journal.guarding():
                await self._loop.run(prompt_id, unfinished, ended)
        finally:
            self._turn = None
            self._steering.clear()  # what was not read in time is the next prompt
            self._changed()

    def compress(self, by: str, key: str) -> None:
        """For a person; it starts and ends like a turn."""
        self._compacting = self._compaction.begin(by, key)
        self._turn = asyncio.create_task(self._until_compacted(self._compacting, by, key), name="room")

    async def _until_compacted(self, making: "asyncio.Task[ChatCompressed]", by: str, key: str) -> None:
        try:
            with self._journal.guarding():
                await self._compaction.finish(making, by, key)
        finally:
            self._turn = self._compacting = None
            self._changed()

    def check_rewind(self, prompt_id: str) -> None:
        """Raises Refused if the conversation cannot go back to this prompt now."""
        if self._turn is not None:
            raise Refused("a turn is running; stop it first")
        if not self._state.conversation.can_rewind(prompt_id):
            raise Refused("the conversation no longer has this prompt: it was compressed, or you went back further")

    def cancel(self, reason: str) -> None:
        if self._turn is None:
            raise Refused("there is nothing to cancel")
        self._stop(self._turn, reason)

    def _stop(self, turn: "asyncio.Task[None]", reason: str) -> None:
        if self._compacting is not None:
            self._compacting.cancel()  # not the turn: cancelled before its first step, it would never end
        else:
            self._stop_reading()
            self._loop.cancel(turn, reason)

    def _stop_reading(self) -> None:
        for reading in self._reading.values():
            reading.cancel()

    # --- tools run by a person ---

    def run_tool(self, command: RunTool, key: str) -> None:
        initiator = "command" if command.judged else "person"
        prompt_id = self._state.open_prompt or ""
        request = self._ids.request(person_call_id(key), command.tool, command.args, prompt_id, initiator)
        self._keep(self._scheduler.schedule(request))

    def _keep(self, batch: "Batch") -> None:
        self._keep_task(self._until_settled(batch))

    def _keep_task(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(work)
        self._local.add(task)
        task.add_done_callback(self._local_is_over)

    async def _until_settled(self, batch: "Batch") -> None:
        with suppress(Parked), self._journal.guarding():
            await self._context_files.settled(await batch.results())

    def _local_is_over(self, task: "asyncio.Task[None]") -> None:
        self._local.discard(task)
        self._changed()

    # --- opening and closing ---

    def pick_up(self) -> None:
        """Continues where an earlier process stopped. Calls that had started are not run again."""
        newest = self._state.newest_calls() if self._state.open_prompt is not None else ()
        of_turn = {call.call_id for call in newest}
        batch = self._again(newest) if newest else None
        others = [call for call in self._state.pending() if call.request.call_id not in of_turn]
        orphans = [call for call in others if call.request.parent]
        strays = [call for call in others if not call.request.parent]
        if orphans:
            self._keep_task(self._scheduler.withdraw(orphans))
        if strays:
            self._keep(self._scheduler.restore(strays))
        if self._state.open_prompt is not None:
            turn = self._run_turn(self._state.open_prompt, batch, self._state.unrecorded_end)
            self._turn = asyncio.create_task(turn, name="turn")

    def _again(self, newest: tuple[Call, ...]) -> "Batch":
        known = [self._state.calls[call.call_id] for call in newest if call.call_id in self._state.calls]
        if known:
            return self._scheduler.restore(known)
        prompt_id = self._state.open_prompt or ""
        return self._scheduler.schedule(
            [CallRequest(call_id=c.call_id, tool=c.name, args=c.args, prompt_id=prompt_id) for c in newest]
        )

    async def park(self) -> None:
        """Stops what is running; what waits for a person stays in the log as it is."""
        self._loop.closing = True
        if self._turn is not None and not self._scheduler.busy:
            self._stop(self._turn, "Assent was closed.")
        self._stop_reading()
        await self._scheduler.park()

    async def over(self) -> None:
        """Waits until nothing is running. A title that has not arrived by now is not waited for."""
        if self._titler is not None:
            await self._titler.close()
        tasks = [task for task in (self._turn, *self._local) if task is not None]
        await asyncio.gather(*tasks, return_exceptions=True)
