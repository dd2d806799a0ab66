"""A call of run_shell_command: one command line for bash, in the workspace, with its output as it comes.

What the command may do is not judged here; `should_confirm` only says what would run. Ending it, with everything that
it started, is the process room's work.
"""

import asyncio
import os
import re
import signal

from assent.approval import ExecDetails
from assent.config import CommandLimits
from assent.files.protected import secrets_below
from assent.parts import TerminalDisplay
from assent.process.environment import command_environment, withheld
from assent.process.launch import pipeline_argv
from assent.process.leftover import end_leftovers
from assent.process.memory import most_memory
from assent.process.output import Excerpt, cut_middle, from_word, omission, until_word
from assent.process.plain import plain
from assent.process.pty import Size
from assent.process.run import Finished, Limits, run
from assent.tools.base import Invocation, Live, Permit, Resources, ToolFailed, ToolResult
from assent.tools.shell import ShellParams, ShellTool
from assent.tools.throttle import Throttle
from assent.tools.whole_output import HEAD, MODEL_CHARACTERS, WholeOutput, output_name

_MB = 1_000_000


class ShellInvocation(Invocation):
    def __init__(self, tool: ShellTool, params: ShellParams) -> None:
        self._tool = tool
        self._params = params
        self._limits = _limits(tool.limits, tool.grace)

    def describe(self) -> str:
        where = f" [in {self._params.dir_path}]" if self._params.dir_path else ""
        why = f" ({' '.join(self._params.description.split())})" if self._params.description else ""
        return f"{self._params.command}{where}{why}"

    async def should_confirm(self) -> ExecDetails:
        """The gate adds what it finds: the programs that are named, the risk and why."""
        return ExecDetails(self._params.command, (), self._directory(), "high", "It was not looked at.")

    def resources(self) -> Resources:
        """Which files a command touches is not known here; whether it only reads is for the gate to say."""
        return Resources(anything="write")

    async def execute(self, permit: Permit, live: Live) -> ToolResult:
        throttle = Throttle(live.output, live.received)
        masked = self._tool.masker.stream(whole_lines=True)
        name = output_name(permit.call_id)
        whole = WholeOutput(self._tool.outputs, name, lambda text: masked.feed(plain(text)))
        try:
            finished = await self._run(permit, live, throttle, whole)
        except OSError as error:
            raise ToolFailed("shell_execute_error", f"The command could not be run: {error}") from error
        except asyncio.CancelledError:
            if whole.path:
                throttle.add(f"\n[all output so far: {whole.path}]\n")
            raise
        finally:
            whole.close()
            throttle.close()
        notes = _passed_over(self._directory()) if permit.plan is not None and permit.plan.sweeps else []
        report = "\n".join([self._for_model(finished, whole), *notes, *self._missed(finished)])
        return ToolResult(report, TerminalDisplay(_for_person(finished), _ended_badly(finished)))

    async def _run(self, permit: Permit, live: Live, throttle: Throttle, whole: WholeOutput) -> Finished:
        """What was allowed by its words runs as these words; the text goes to a shell only by a person's own leave:
        an answer, a mode, or a rule for the whole tool.
        """

        def heard(text: str) -> None:
            throttle.add(text)
            whole.add(text)

        argv = [*_shell(), self._params.command] if permit.plan is None else pipeline_argv(permit.plan)
        return await run(
            argv,
            cwd=self._directory(),
            env=command_environment(self._tool.environment),
            on_start=live.process,
            on_output=heard,
            on_binary=throttle.received,
            limits=self._limits,
            terminal=Size(*self._tool.terminal) if self._tool.terminal else None,
            mark=permit.mark,
        )

    async def end_leftovers(self, mark: str) -> tuple[int, ...]:
        return await end_leftovers(mark)

    def _directory(self) -> str:
        return self._tool.files.folder(self._params.dir_path)

    def _for_model(self, finished: Finished, whole: WholeOutput) -> str:
        """How it ended comes first where it did not end well: nobody reads the last line of a long output."""
        ending = _ending(finished, self._limits)
        output = _text(finished)
        note = whole.note(_length(finished.output))
        sections = [f"Directory: {self._tool.files.shown(self._directory())}"] if self._params.dir_path else []
        sections += [ending] if finished.code != 0 else []
        sections += [note] if note else []
        sections += [f"Output: {output}" if output else "Output: (empty)"]
        sections += [ending]
        if finished.background:
            sections += [f"Background PIDs: {', '.join(map(str, finished.background))}"]
        if finished.survivors:
            sections += [f"Could not be ended: {', '.join(map(str, finished.survivors))}"]
        return "\n".join(sections)

    def _missed(self, finished: Finished) -> list[str]:
        """Variables that the command may have wanted and did not get, so that nobody looks for the reason elsewhere."""
        said = "\n".join([self._params.command, finished.output.text() if finished.code != 0 else ""])
        names = [name for name in withheld(self._tool.environment) if name in said and _is_named(name, said)]
        if not names:
            return []
        return [
            f"Not passed to commands, because they hold secrets: {', '.join(names)}. The user can allow that in the "
            "settings, in `[environment]` with `allow`."
        ]


def _is_named(name: str, text: str) -> bool:
    return re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text) is not None


def _passed_over(folder: str) -> list[str]:
    """A search that is allowed by its words leaves secrets out; who reads the result should know."""
    number = secrets_below(folder)
    return [f"Not searched: {number} file(s) that usually hold secrets (.env, keys and the like)."] if number else []


def _ending(finished: Finished, limits: Limits) -> str:
    match finished:
        case Finished(ended="idle_timeout"):
            return f"Timed out: no output for {limits.idle:g} seconds, so the command was ended."
        case Finished(ended="total_timeout"):
            return f"Timed out: the command ran for {limits.total:g} seconds and was ended."
        case Finished(ended="too_much_output"):
            return f"Stopped: the command printed more than {(limits.output or 0) / _MB:,.0f} MB."
        case Finished(ended="too_much_memory"):
            return f"Stopped: the command took more than {(limits.memory or 0) / _MB:,.0f} MB of memory."
        case Finished(signal=int(number)):
            return f"Signal: {_signal_name(number)} (the command was killed)"
        case _:
            failed = "" if finished.code == 0 else " (the command FAILED)"
            return f"Exit Code: {finished.code}{failed}"


def _ended_badly(finished: Finished) -> str:
    """For the person's line; the model reads a whole sentence."""
    match finished:
        case Finished(ended="idle_timeout" | "total_timeout"):
            return "timed out"
        case Finished(ended="too_much_output"):
            return "too much output"
        case Finished(ended="too_much_memory"):
            return "too much memory"
        case Finished(signal=int(number)):
            return f"killed: {_signal_name(number)}"
        case _:
            return f"exit {finished.code}" if finished.code else ""


def _limits(given: CommandLimits, grace: float) -> Limits:
    return Limits(
        idle=given.idle_seconds or None,
        total=given.total_seconds or None,
        output=given.output_mb * _MB or None,
        memory=most_memory() if given.memory_mb is None else given.memory_mb * _MB or None,
        grace=grace,
    )


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
    first, last = until_word(head[:HEAD]), from_word(tail[max(len(tail) - (MODEL_CHARACTERS - HEAD), 0) :])
    missing = output.omitted + len(head) - len(first) + len(tail) - len(last)
    return first + omission(missing) + last


def _length(output: Excerpt) -> int:
    return len(output.head) + output.omitted + len(output.tail)


def _for_person(finished: Finished) -> str:
    if finished.binary:
        return f"[binary output: {finished.bytes:,} bytes received]\n"
    return finished.output.text()


def _shell() -> list[str]:
    for bash in ("/bin/bash", "/usr/bin/bash", "/usr/local/bin/bash", "/opt/homebrew/bin/bash"):
        if os.access(bash, os.X_OK):
            return [bash, "--noprofile", "--norc", "-c"]
    return ["/bin/sh", "-c"]
