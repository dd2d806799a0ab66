"""Tries commands on a workspace, for tests: one command, what it would do, and what applying it does."""

import os
import secrets
from pathlib import Path

from assent.approval import ExecDetails
from assent.config import CommandLimits
from assent.files.trial_store import TrialStore
from assent.files.workspace import Workspace
from assent.parts import InputWanted, JsonObject
from assent.sandbox.confinement import Confinement
from assent.sandbox.trials import Trials
from assent.tools.shell import ShellInvocation, ShellParams, ShellTool
from assent.tools.support.files import Files
from assent.tools.support.shell_options import ShellOptions
from assent.tools.support.shell_trial import ShellTrial
from assent.tools.tool import Permit, ToolResult, TypeIn
from assent.trial import ShownEffect, Trial
from assent.web.connection_verdict import Access, ConnectionEnd
from assent.web.destinations import Destination

MARK = secrets.token_hex(8)
"""Of this process only: a trial that ends kills whatever has its mark, also in other processes with tests."""


class Quiet:
    """Nobody watches."""

    def __init__(self) -> None:
        self.text = ""

    def output(self, text: str) -> None:
        self.text += text

    def received(self, total: int) -> None: ...

    def process(self, pid: int) -> None: ...

    async def offer(self, wider: JsonObject) -> str | None:
        return None

    async def may_connect(self, number: int, wanted: Destination, entries: tuple[str, ...]) -> Access:
        raise AssertionError("a trial has no network")

    def connection_ended(self, number: int, end: ConnectionEnd) -> None: ...

    def asks(self, wanted: InputWanted | None, type_in: TypeIn) -> None:
        raise AssertionError("nobody types into a trial")


class Workbench:
    """A workspace, a folder for our data beside it, and the shell tool."""

    def __init__(self, folder: Path, limits: CommandLimits | None = None) -> None:
        self.work, self.data = folder / "work", folder / "data"
        self.work.mkdir(exist_ok=True)
        self.store = TrialStore(str(self.data / "trials"))
        confinement = Confinement([str(self.work)], [str(self.data)], str(self.data / "sandbox"), os.environ)
        self.tool = ShellTool(
            Files(Workspace([str(self.work)], str(self.work))),
            ShellOptions(
                limits=limits or CommandLimits(),
                confinement=lambda: confinement,
                trials=self.store.path,
            ),
        )

    @property
    def trials(self) -> Trials:
        found = self.tool.trials
        assert found is not None
        return found

    def write(self, **files: str) -> None:
        for name, text in files.items():
            path = self.work / name.replace("__", "/").replace("_", ".")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)

    def invocation(self, command: str) -> "Tried":
        found = self.tool.invocation(ShellParams(command=command))
        assert isinstance(found, ShellInvocation)
        return Tried(found)

    async def tried(self, command: str) -> "Tried":
        tried = self.invocation(command)
        await tried.triable.try_out(permit(), Quiet())
        return tried

    def leftovers(self) -> list[str]:
        """What is in the folder of trials."""
        return sorted(os.listdir(self.store.path)) if os.path.isdir(self.store.path) else []

    def tree(self) -> dict[str, str]:
        """Every file of the workspace with its content, every link with its target."""
        found: dict[str, str] = {}
        for path in sorted(self.work.rglob("*")):
            name = str(path.relative_to(self.work))
            if path.is_symlink():
                found[name] = f"-> {os.readlink(path)}"
            elif path.is_dir():
                found[name] = "folder"
            else:
                found[name] = path.read_bytes().decode(errors="replace")
        return found


class Tried:
    def __init__(self, invocation: ShellInvocation) -> None:
        self.invocation = invocation

    @property
    def triable(self) -> ShellTrial:
        found = self.invocation.triable()
        assert found is not None
        return found

    async def details(self) -> ExecDetails:
        return await self.invocation.should_confirm()

    async def trial(self) -> Trial:
        found = (await self.details()).trial
        assert found is not None
        return found

    async def effects(self) -> dict[str, ShownEffect]:
        return {effect.path: effect for effect in (await self.trial()).effects}

    async def apply(self, *left_out: int) -> ToolResult:
        trial = await self.trial()
        self.triable.accept(tuple(set(range(trial.parts)) - set(left_out)) if left_out else None)
        return await self.invocation.execute(permit(), Quiet())


def permit() -> Permit:
    return Permit(call_id="c1", digest="", by_person=True, mark=MARK)
