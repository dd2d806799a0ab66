"""run_shell_command: one command line for bash, in the workspace, with its output as it comes.

What the command may do is not judged here; `should_confirm` only says what would run. Ending it, with everything that
it started, is the process room's work.
"""

import os
import signal
from collections.abc import Iterable
from typing import Annotated

from msgspec import Meta, Struct

from assent.approval import ExecDetails
from assent.parts import TerminalDisplay
from assent.process.environment import child_environment
from assent.process.output import Excerpt, cut_middle, omission
from assent.process.plain import plain
from assent.process.pty import Size
from assent.process.run import Finished, Limits, run
from assent.tools.base import InvalidParams, Invocation, Live, Permit, Resources, Tool, ToolFailed, ToolResult
from assent.tools.files import Files
from assent.tools.shell_risk import risk, roots
from assent.tools.throttle import Throttle

MODEL_CHARACTERS = 40_000
_HEAD = MODEL_CHARACTERS // 5
DEFAULT_LIMITS = Limits(idle=300.0, total=None)


class ShellParams(Struct, frozen=True, forbid_unknown_fields=True):
    command: Annotated[str, Meta(description="The exact command line, run as `bash -c COMMAND`.")]
    description: Annotated[
        str, Meta(description="One short sentence for the user: what the command does and why. No line breaks.")
    ] = ""
    dir_path: Annotated[
        str, Meta(description="Folder to run it in, relative to the workspace root or absolute. Default: the root.")
    ] = ""


class ShellTool(Tool[ShellParams]):
    name = "run_shell_command"
    display_name = "Shell"
    description = (
        "Runs a command with bash in the workspace and returns its output (stdout and stderr together) and its exit "
        "code. There is no input: use flags that keep programs from asking. Each call is a new shell; `cd` and "
        "variables do not carry over. Processes started with `&` keep running only if their output is redirected."
    )
    kind = "execute"
    can_update_output = True
    main_argument = "command"
    params = ShellParams

    def __init__(
        self,
        files: Files,
        *,
        limits: Limits = DEFAULT_LIMITS,
        terminal: Size | None = Size(),  # noqa: B008  (frozen)
        pass_environment: Iterable[str] = (),
    ) -> None:
        self.files = files
        self.limits = limits
        self.terminal = terminal
        self.pass_environment = tuple(pass_environment)

    def invocation(self, params: ShellParams) -> "ShellInvocation":
        if not params.command.strip():
            raise InvalidParams("command must not be empty")
        if "\0" in params.command:
            raise InvalidParams("command must not contain a NUL character")
        return ShellInvocation(self, params)


class ShellInvocation(Invocation):
    def __init__(self, tool: ShellTool, params: ShellParams) -> None:
        self._tool = tool
        self._params = params

    def describe(self) -> str:
        where = f" [in {self._params.dir_path}]" if self._params.dir_path else ""
        why = f" ({' '.join(self._params.description.split())})" if self._params.description else ""
        return f"{self._params.command}{where}{why}"

    async def should_confirm(self) -> ExecDetails:
        directory = self._directory()
        command = self._params.command
        level, reason = risk(command, directory, self._tool.files.root_of(directory))
        return ExecDetails(command, roots(command), directory, level, reason)

    def resources(self) -> Resources:
        """A command may touch anything in the workspace."""
        return Resources(writes=tuple(root.rstrip("/") + "/" for root in self._tool.files.workspace.roots))

    async def execute(self, permit: Permit, live: Live) -> ToolResult:
        throttle = Throttle(live.output)
        try:
            finished = await self._run(live, throttle)
        except OSError as error:
            raise ToolFailed("shell_execute_error", f"The command could not be started: {error}") from error
        finally:
            throttle.close()
        return ToolResult(self._for_model(finished), TerminalDisplay(_for_person(finished)))

    async def _run(self, live: Live, throttle: Throttle) -> Finished:
        return await run(
            [*_shell(), self._params.command],
            cwd=self._directory(),
            env=child_environment(also=self._tool.pass_environment),
            on_start=live.process,
            on_output=throttle.add,
            limits=self._tool.limits,
            terminal=self._tool.terminal,
        )

    def _directory(self) -> str:
        return self._tool.files.folder(self._params.dir_path)

    def _for_model(self, finished: Finished) -> str:
        """How it ended comes first where it did not end well: nobody reads the last line of a long output."""
        ending = _ending(finished, self._tool.limits)
        output = _text(finished)
        sections = [f"Directory: {self._tool.files.shown(self._directory())}"] if self._params.dir_path else []
        sections += [ending] if finished.code != 0 else []
        sections += [f"Output: {output}" if output else "Output: (empty)"]
        sections += [ending]
        if finished.background:
            sections += [f"Background PIDs: {', '.join(map(str, finished.background))}"]
        if finished.survivors:
            sections += [f"Could not be ended: {', '.join(map(str, finished.survivors))}"]
        return "\n".join(sections)


def _ending(finished: Finished, limits: Limits) -> str:
    match finished:
        case Finished(ended="idle_timeout"):
            return f"Timed out: no output for {limits.idle:g} seconds, so the command was ended."
        case Finished(ended="total_timeout"):
            return f"Timed out: the command ran for {limits.total:g} seconds and was ended."
        case Finished(signal=int(number)):
            return f"Signal: {_signal_name(number)} (the command was killed)"
        case _:
            failed = "" if finished.code == 0 else " (the command FAILED)"
            return f"Exit Code: {finished.code}{failed}"


def _signal_name(number: int) -> str:
    try:
        return f"{number} {signal.Signals(number).name}"
    except ValueError:
        return str(number)


def _text(finished: Finished) -> str:
    if finished.binary:
        return f"(binary, {finished.bytes:,} bytes; send it to a file or through a program that prints text)"
    return _cut(finished.output).rstrip("\n")


def _cut(output: Excerpt) -> str:
    if not output.omitted:
        return cut_middle(plain(output.head + output.tail), MODEL_CHARACTERS)
    head, tail = plain(output.head), plain(output.tail)
    first, last = head[:_HEAD], tail[max(len(tail) - (MODEL_CHARACTERS - _HEAD), 0) :]
    missing = output.omitted + len(head) - len(first) + len(tail) - len(last)
    return first + omission(missing) + last


def _for_person(finished: Finished) -> str:
    if finished.binary:
        return f"[binary output: {finished.bytes:,} bytes received]\n"
    return finished.output.text()


def _shell() -> list[str]:
    for bash in ("/bin/bash", "/usr/bin/bash", "/usr/local/bin/bash", "/opt/homebrew/bin/bash"):
        if os.access(bash, os.X_OK):
            return [bash, "--noprofile", "--norc", "-c"]
    return ["/bin/sh", "-c"]
