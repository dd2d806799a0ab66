"""The real tools over a real folder, driven by a real scheduler: for tests of what calls of one batch do together."""

import asyncio
import itertools
from pathlib import Path
from typing import Any

from assent.approval import Approval, EditDetails, Mode, Outcome
from assent.commands import Answer
from assent.events import ApprovalRequested, CallRequest, CallStarted, GateKind
from assent.files.approved_files import ApprovedFiles
from assent.files.workspace import Workspace
from assent.policy.policy import Policy
from assent.policy.rules import Rule
from assent.scheduler.batch import Batch
from assent.scheduler.call import Failed, Success, Terminal, ToolCall
from assent.scheduler.scheduler import Scheduler
from assent.scheduler.scheduler_options import SchedulerOptions
from assent.tools.builtin import builtin_tools
from assent.tools.registry import Registry
from assent.tools.support.shell_options import ShellOptions
from assent.tools.tool import AnyTool
from support.doubles import ListJournal

Spec = tuple[str, dict[str, Any]]


def sh(command: str, **more: str) -> Spec:
    return "run_shell_command", {"command": command, **more}


def read(path: str) -> Spec:
    return "read_file", {"file_path": path}


def write(path: str, content: str) -> Spec:
    return "write_file", {"file_path": path, "content": content}


def replace(path: str, old: str, new: str) -> Spec:
    return "replace", {"file_path": path, "old_string": old, "new_string": new}


class ToolsHarness:
    def __init__(
        self,
        folder: Path,
        *,
        mode: Mode = "default",
        gate: GateKind = "batch",
        rules: tuple[Rule, ...] = (),
        tools: tuple[AnyTool, ...] = (),
        attended: bool = True,
        memory: Path | None = None,
        approved: Path | None = None,
    ) -> None:
        """`approved`: where to keep what people have approved for execution."""
        self.folder = folder
        self.journal = ListJournal()
        files = None if approved is None else ApprovedFiles(approved, str(folder))
        self.policy = Policy(rules, mode, roots=(str(folder),), files=files)
        builtin = builtin_tools(Workspace([str(folder)], str(folder)), ShellOptions(terminal=None), memory=memory)
        self.registry = Registry([*builtin, *tools])
        self.gate: GateKind = gate
        self._attended = attended
        self._ids = itertools.count(1)
        self.scheduler = self.opened()

    def opened(self) -> Scheduler:
        """A scheduler as a new process would create it."""
        options = SchedulerOptions(gate=self.gate, attended=self._attended)
        return Scheduler("s", self.registry, self.policy, self.journal, options)

    def schedule(self, *specs: Spec) -> Batch:
        """The calls get the ids c1, c2 … in order."""
        return self.scheduler.schedule(
            [CallRequest(call_id=f"c{next(self._ids)}", tool=tool, args=args, prompt_id="p") for tool, args in specs]
        )

    async def run(self, *specs: Spec) -> list[Terminal]:
        """The results of a batch in which every question gets a yes."""
        return await self.finish(self.schedule(*specs))

    async def finish(self, batch: Batch, outcome: Outcome = "proceed_once") -> list[Terminal]:
        """Every question gets this answer."""
        results = asyncio.ensure_future(batch.results())
        while not results.done():
            await self.settle()
            for call in self.scheduler.waiting():
                await self.answer(call.request.call_id, outcome)
            await asyncio.wait([results], timeout=0.001)
        return results.result()

    async def settle(self) -> None:
        for _ in range(50):
            await asyncio.sleep(0)

    def waiting(self) -> dict[str, Approval]:
        return {call.request.call_id: call.approval for call in self.scheduler.waiting()}

    def shown(self, call_id: str) -> EditDetails:
        """The edit that is waiting for an answer."""
        details = self.waiting()[call_id].details
        assert isinstance(details, EditDetails)
        return details

    async def answer(self, call_id: str, outcome: Outcome = "proceed_once", **more: Any) -> None:
        digest = more.pop("digest", None) or self.waiting()[call_id].digest
        await self.scheduler.answer(Answer(call_id=call_id, outcome=outcome, digest=digest, by="ann", **more))

    def asked(self, call_id: str) -> list[Approval]:
        """Every question about the call, in order."""
        events = self.journal.events
        return [e.approval for e in events if isinstance(e, ApprovalRequested) and e.call_id == call_id]

    def started(self) -> list[str]:
        return [event.call_id for event in self.journal.events if isinstance(event, CallStarted)]

    def text(self, name: str) -> str:
        return (self.folder / name).read_text()


def said(call: ToolCall) -> str:
    """What the model is told."""
    assert isinstance(call, Terminal)
    return str(call.result.response)


def statuses(calls: list[Terminal]) -> list[str]:
    return ["ok" if isinstance(c, Success) else c.failure.type if isinstance(c, Failed) else "no" for c in calls]
