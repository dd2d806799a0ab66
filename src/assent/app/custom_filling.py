"""Fills in the placeholders of a custom command in a session. Its commands and files go through the gate like calls of
the model: the person chose the command, but its words come from a file.
"""

from collections.abc import Awaitable, Callable

from assent.app.custom_commands import CustomCommand, Stopped, expand
from assent.app.wording import safe
from assent.commands import RunTool
from assent.events import CallFinished
from assent.parts import Failure, JsonObject, TerminalDisplay
from assent.scheduler.answers import NOT_ALLOWED
from assent.tools.response import cancel_reason

OUTPUT_LIMIT = 40_000
ENDED_BADLY = ("Exit Code:", "Signal:", "Timed out:")
"""How the first line of a result starts if the command failed."""

Run = Callable[[RunTool], Awaitable[CallFinished | str]]
"""Has the session run a tool and waits for its end; returns the reason if it was not run."""


async def filled(command: CustomCommand, argument: str, run: Run, by: str) -> str:
    """The prompt with everything filled in. Raises Stopped or BadTemplate."""
    gate = _Gate(run, by)
    return await expand(command.prompt, argument, run=gate.run, read=gate.read)


class _Gate:
    """Runs the session's tools for a prompt; each call is judged, approved where needed, and recorded."""

    def __init__(self, run: Run, by: str) -> None:
        self._run, self._by = run, by

    async def run(self, command: str) -> str:
        return command_output(await self._finished("run_shell_command", {"command": command}, f"`{_named(command)}`"))

    async def read(self, path: str) -> str:
        finished = await self._finished("read_file", {"file_path": path}, f"reading {_named(path)}")
        if finished.result.media:
            raise Stopped(f"{_named(path)} is not text.")
        return str(finished.result.response.get("output", ""))

    async def _finished(self, tool: str, args: JsonObject, what: str) -> CallFinished:
        match await self._run(RunTool(tool, args, by=self._by, judged=True)):
            case str(problem):
                raise Stopped(f"{what} was not done: {problem}.")
            case CallFinished(status="success") as finished:
                return finished
            case failed:
                raise Stopped(f"{what} {_ended(failed)}")


def _ended(failed: CallFinished) -> str:
    """How it ended, for a person: the result is written for the model."""
    match failed.failure:
        case None:
            how, reason = "refused" if failed.ran_ms is None else "stopped", cancel_reason(failed.result)
            return f"was {how}." if reason in ("", NOT_ALLOWED) else f"was {how}: {reason}"
        case Failure("policy_violation", message):
            return f"was refused: {message.removeprefix('Tool execution ')}"
        case Failure("approval_unavailable"):
            return "was refused: it needs approval, and nobody can be asked."
        case Failure(message=message):
            return f"failed: {message}"


def _named(text: str) -> str:
    return safe(text, "label")


def command_output(finished: CallFinished) -> str:
    """What the command printed, without colours; if it failed, the last line says so."""
    from assent.process.output_buffer import cut_middle
    from assent.process.plain_text import plain

    for_model = str(finished.result.response.get("output", ""))
    printed = plain(finished.display.text) if isinstance(finished.display, TerminalDisplay) else for_model
    ending = for_model.partition("\n")[0]
    failed = f"\n[{ending}]" if ending.startswith(ENDED_BADLY) else ""
    return cut_middle(printed.rstrip("\n"), OUTPUT_LIMIT) + failed
