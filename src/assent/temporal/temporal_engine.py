"""The port `SessionEngine` for a server that runs no session itself: it wakes them through Temporal.

Commands are in the log before anyone is woken. If waking fails, or this process dies before it, the workers find the
command when they sweep (`session_worker.py`).
"""

import asyncio
from collections.abc import Callable, Coroutine
from contextlib import suppress
from datetime import timedelta
from typing import TYPE_CHECKING

from temporalio.client import Client, WorkflowFailureError, WorkflowHandle
from temporalio.exceptions import CancelledError
from temporalio.service import RPCError, RPCStatusCode

from assent.session.engine import CANNOT_OPEN, Activity
from assent.session.log import LogUnavailable, NoSuchSession, SessionBusy, SessionLog
from assent.session.server_clients import WORK
from assent.session.state import SessionState
from assent.temporal.session_workflow import NUDGE, WORKFLOW, SessionWorkflow, Supervised
from assent.temporal.temporal_address import RPC_TIMEOUT, TemporalAddress

if TYPE_CHECKING:
    from assent.mcp.offers import PromptServers

QUEUE = "assent"
"""Where workflows run, and the sessions whose workspace every worker has."""
OPEN_SECONDS = 10.0
"""How long a session may take to be opened somewhere before the caller is told."""
POLL_SECONDS = 0.3
TASK_TIMEOUT = timedelta(seconds=2)
"""For a step of a workflow; one that a frozen worker received is given to another one after that."""

Handle = WorkflowHandle[object, str]


def queue_of_host(host: str) -> str:
    """The task queue of the workers that have the workspaces of a host."""
    return f"{QUEUE}@{host}" if host else QUEUE


class TemporalEngine:
    """`host_of` says which host has a folder; empty: all of them do."""

    shared = WORK
    open_sessions = 0
    parked = 0
    calm = True

    def __init__(self, log: SessionLog, address: TemporalAddress, host_of: Callable[[str], str]) -> None:
        self._log, self.address, self._host_of = log, address, host_of
        self._client: Client | None = None
        self._connecting = asyncio.Lock()
        self._nudges: set[asyncio.Task[None]] = set()
        self._draining = False
        self.problems: dict[str, str] = {}

    # --- the port ---

    async def start(self) -> None:
        await self._connected()

    async def ensure(self, session: str) -> None:
        changed = asyncio.Event()
        stop = self._log.watch(session, changed.set)  # first: what changes while we look must not be missed
        try:
            if await self._log.is_open(session):
                return  # whoever has it reads the inbox
            if self._draining:
                raise SessionBusy("the server is shutting down; try again when it is back")
            await self._until_open(session, await self._signal(session), changed)
        finally:
            stop()
        self.problems.pop(session, None)

    def nudge(self, session: str) -> None:
        if not self._draining:
            self._spawn(self._nudged(session))

    async def cancel(self, session: str) -> None:
        handle = (await self._connected()).get_workflow_handle_for(SessionWorkflow.run, workflow_id(session))
        try:
            await handle.cancel(rpc_timeout=RPC_TIMEOUT)
            await handle.result()
        except WorkflowFailureError as error:
            if not isinstance(error.cause, CancelledError):
                raise
        except RPCError as error:
            if error.status is not RPCStatusCode.NOT_FOUND:  # it has ended long ago
                raise self._unreachable(error) from error

    async def drain(self) -> None:
        """Sessions run elsewhere, and keep running."""
        self._draining = True
        for task in list(self._nudges):
            task.cancel()
        await asyncio.gather(*self._nudges, return_exceptions=True)

    def activity(self, session: str) -> Activity:
        return "absent"

    def state(self, session: str) -> SessionState | None:
        return None

    def problem(self, session: str) -> str:
        return self.problems.get(session, "")

    def servers(self, session: str) -> "PromptServers | None":
        return None

    async def type_in(self, session: str, call_id: str, number: int, text: str | None) -> str:
        return "the session does not run in this server; type your input where it runs"

    # --- waking ---

    async def wake(self, session: str) -> None:
        """Makes sure that the session will be opened; does not wait for it."""
        await self._signal(session)

    async def _nudged(self, session: str) -> None:
        try:
            await self.ensure(session)
        except (SessionBusy, NoSuchSession):
            pass
        except CANNOT_OPEN as error:
            self.problems[session] = str(error)

    def _spawn(self, work: Coroutine[None, None, None]) -> None:
        task = asyncio.create_task(work)
        self._nudges.add(task)
        task.add_done_callback(self._nudges.discard)

    async def _signal(self, session: str) -> Handle:
        """Starts the workflow of the session, or tells the one that runs."""
        queue = queue_of_host(self._host_of((await self._log.info(session)).folder))
        try:
            return await (await self._connected()).start_workflow(
                WORKFLOW,
                Supervised(session, queue),
                id=workflow_id(session),
                task_queue=QUEUE,
                result_type=str,
                start_signal=NUDGE,
                task_timeout=TASK_TIMEOUT,
                rpc_timeout=RPC_TIMEOUT,
            )
        except (RPCError, RuntimeError) as error:  # RuntimeError: there has not been a connection yet
            raise self._unreachable(error) from error

    async def _until_open(self, session: str, handle: Handle, changed: asyncio.Event) -> None:
        try:
            async with asyncio.timeout(OPEN_SECONDS):
                if not await self._opens_soon(session, changed):
                    await self._opens_or_ends(session, handle, changed)
        except TimeoutError:
            raise LogUnavailable("no worker has opened it yet; it will run when there is one") from None

    async def _opens_soon(self, session: str, changed: asyncio.Event) -> bool:
        """Nearly every session does; so only the others cost a request for the result of the workflow."""
        deadline = asyncio.get_running_loop().time() + POLL_SECONDS
        while True:
            try:
                async with asyncio.timeout_at(deadline):
                    await changed.wait()
            except TimeoutError:
                return False
            if await self._is_open(session, changed):
                return True

    async def _opens_or_ends(self, session: str, handle: Handle, changed: asyncio.Event) -> None:
        result = asyncio.create_task(handle.result())
        try:
            while not await self._is_open(session, changed):
                if result.done():
                    return _raise_problem(result)
                await _first(result, changed.wait(), asyncio.sleep(POLL_SECONDS))
        finally:
            result.cancel()
            await asyncio.gather(result, return_exceptions=True)

    async def _is_open(self, session: str, changed: asyncio.Event) -> bool:
        changed.clear()  # first, for the same reason
        return await self._log.is_open(session)

    async def _connected(self) -> Client:
        async with self._connecting:
            if self._client is None:
                self._client = await self.address.connect(lazy=True)
        return self._client

    def _unreachable(self, error: Exception) -> LogUnavailable:
        return LogUnavailable(f"the engine at {self.address} cannot be reached: {error}")


def workflow_id(session: str) -> str:
    return f"assent-{session}"


def _raise_problem(result: "asyncio.Task[str]") -> None:
    """If the workflow is over without a problem, the session was open for a moment and had nothing to do."""
    with suppress(WorkflowFailureError, RPCError):  # the workflow was ended by hand; the next nudge starts another
        if problem := result.result():
            raise LogUnavailable(problem)


async def _first(task: "asyncio.Task[str]", *others: Coroutine[None, None, object]) -> None:
    """Waits for the first of them; ends the others, except for the task."""
    waiting = [asyncio.create_task(other) for other in others]
    try:
        await asyncio.wait([task, *waiting], return_when=asyncio.FIRST_COMPLETED)
    finally:
        for each in waiting:
            each.cancel()
        await asyncio.gather(*waiting, return_exceptions=True)
