"""Decides endlessly, in a process of its own that a test kills; prints a line for each durable decision."""

import asyncio
import sys
from pathlib import Path

from assent.approval import Approval, Decision, InfoDetails
from assent.audit import AuditEntry
from assent.events import (
    ApprovalAnswered,
    ApprovalRequested,
    CallRequest,
    CallRequested,
    CallScheduled,
    CallStarted,
    DurableEvent,
    Envelope,
    SessionCreated,
)
from assent.session.log import Fence
from assent.session.sqlite_log import SqliteLog

CREATED = SessionCreated(folder="/w", model="m", mode="default", version="0", by="ann@pid1")


def deeds(call: str) -> list[list[DurableEvent]]:
    """Each list is one append."""
    request = CallRequest(call_id=call, tool="run_shell_command", args={}, prompt_id="p")
    question = Approval(id=f"a-{call}", digest="d", details=InfoDetails("x"), options=("cancel",), why="")
    answer = ApprovalAnswered(call_id=call, approval_id=f"a-{call}", outcome="proceed_once", by="bob@10.0.0.7")
    free = CallRequest(call_id=f"free-{call}", tool="run_shell_command", args={}, prompt_id="p")
    allowed = Decision(source="rule", reason="a rule")
    return [
        [CallRequested(request), ApprovalRequested(call, question)],
        [answer, CallRequested(free), CallScheduled(free.call_id, allowed), CallStarted(free.call_id, "d")],
    ]


async def main(folder: str, session: str) -> None:
    log = SqliteLog(Path(folder))
    await log.create(session, 1.0, CREATED)
    await asyncio.gather(_decide(log, await log.acquire(session), session), _log_in(log))


async def _decide(log: SqliteLog, fence: Fence, session: str) -> None:
    seq, call = (await log.heads())[session], 0
    while True:
        call += 1
        for events in deeds(f"c{call}"):
            await log.append(fence, [Envelope(seq + at, 2.0, session, event) for at, event in enumerate(events, 1)])
            seq += len(events)
        sys.stdout.write(f"{session} c{call}\n")
        sys.stdout.flush()


async def _log_in(log: SqliteLog) -> None:
    while True:
        await log.audit.record(AuditEntry(kind="login.succeeded", ts=3.0, by="eve@10.0.0.8"))


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
