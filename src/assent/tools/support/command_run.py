"""Runs one command with a permit: as its words or through a shell, in its sandbox and within its limits.

Everything it needs from `assent.process` is imported here, so this module is imported with the first command.
"""

import functools
import os
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from assent.process.approved_launch import approved_contents, gated
from assent.process.command_limits import limit_words
from assent.process.environment import command_environment
from assent.process.launch import pipeline_argv
from assent.process.memory_limit import most_memory
from assent.process.pty import Size
from assent.process.run_program import Keeping, ProcessFinished, ProcessLimits, run
from assent.process.spawn import Launcher
from assent.tools.support.command_sandbox import CommandSandbox
from assent.tools.support.network_access import NetworkAccess, proxied
from assent.tools.tool import Permit

if TYPE_CHECKING:
    from assent.process.terminal_input import Keyboard
    from assent.sandbox.confinement import Confined
    from assent.tools.shell import ShellTool

_MB = 1_000_000


def _ignore(_: int) -> None: ...


class Listener(Struct, frozen=True):
    """Receives what happens to a running command: its process, its output, and how many bytes of binary output there
    were."""

    on_start: Callable[[int], None]
    on_output: Callable[[str], None]
    on_binary: Callable[[int], None] = _ignore


class _Start(Struct, frozen=True):
    argv: Sequence[str]
    env: dict[str, str]
    launcher: Launcher | None


class CommandRun:
    def __init__(self, tool: "ShellTool", sandbox: CommandSandbox, command: str) -> None:
        self._tool, self._sandbox, self._command = tool, sandbox, command

    @functools.cached_property
    def limits(self) -> ProcessLimits:
        given = self._tool.limits
        return ProcessLimits(
            idle=given.idle_seconds or None,
            total=given.total_seconds or None,
            input=given.input_seconds or None,
            processes=given.processes or None,
            output=given.output_mb * _MB or None,
            memory=most_memory() if given.memory_mb is None else given.memory_mb * _MB or None,
            grace=self._tool.grace,
        )

    async def run(
        self,
        permit: Permit,
        confined: "Confined | None",
        access: NetworkAccess,
        cwd: str,
        listener: Listener,
        *,
        timed: bool = True,
        keyboard: "Keyboard | None" = None,
        keeping: Keeping | None = None,
    ) -> ProcessFinished:
        """`timed`: the time limits apply. `keyboard`: a person can type into it. `keeping`: they can keep it. Raises
        OSError or FileChanged.
        """
        start = self._start(permit, confined, typing=keyboard is not None)
        sandbox_port = None if confined is None else confined.sandbox_port
        async with proxied(sandbox_port, access, self._tool.resolve, self._tool.dial):
            return await run(
                start.argv,
                cwd=cwd,
                env=start.env,
                launcher=start.launcher,
                unchanged=permit.unchanged,
                on_start=listener.on_start,
                on_output=listener.on_output,
                on_binary=listener.on_binary,
                limits=self.limits if timed else replace(self.limits, idle=None, total=None),
                terminal=Size(*self._tool.terminal) if self._tool.terminal else None,
                mark=permit.mark,
                is_held_up=lambda: access.is_waiting,
                keyboard=keyboard,
                keeping=keeping,
            )

    def _start(self, permit: Permit, confined: "Confined | None", *, typing: bool) -> _Start:
        """A command allowed by its words runs as these words; its text goes to a shell only with the person's own
        approval: an answer, a mode, or a rule for the whole tool.
        """
        plain = command_environment(self._tool.environment, typing=typing)
        env = plain if confined is None else self._sandbox.environment(plain, permit, confined)
        added = {name: value for name, value in env.items() if plain.get(name) != value}
        plan = None if permit.plan is None else replace(permit.plan, unchanged=permit.unchanged, variables=added)
        argv = [*_shell(), self._command] if plan is None else pipeline_argv(plan)
        given = self._tool.limits
        limited = limit_words(given.file_mb, given.open_files, 0 if confined is None else given.processes)
        contents = approved_contents(permit.unchanged) if confined is None else confined.contents
        before = [*limited, *([] if plan is None else argv[:1])]
        launcher = gated(None if confined is None else confined.launcher, contents, before)
        return _Start([*limited, *argv], env, launcher)


def _shell() -> list[str]:
    for bash in ("/bin/bash", "/usr/bin/bash", "/usr/local/bin/bash", "/opt/homebrew/bin/bash"):
        if os.access(bash, os.X_OK):
            return [bash, "--noprofile", "--norc", "-c"]
    return ["/bin/sh", "-c"]
