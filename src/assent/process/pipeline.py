"""Runs a plan of the shell gate: lists, pipes, groups, conditions and loops of programs, without a shell.

A small interpreter of the plan's tree; `starter` knows how to start one program. Output and errors go to one
descriptor. It decides nothing: what is not in the plan does not happen.
"""

import os
import signal
import threading
import time
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from assent.plan import Choice, Group, Loop, Stage
from assent.process.expand import as_word
from assent.process.file_limits import Refusal, real_below
from assent.process.jobs import CANCELLED, Jobs
from assent.process.plan_frame import PlanFrame
from assent.process.starter import REFUSED, Started, Starter

if TYPE_CHECKING:
    from assent.plan import Command, Plan, Step

_MAX_ROUNDS = 100_000
_MAX_OUTPUT = 1_000_000  # bytes that may become words


class Pipeline:
    """One run of one plan. `run` blocks; `cancel` may be called from any thread, any number of times."""

    def __init__(self, plan: "Plan", output: int, environment: Mapping[str, str] | None = None) -> None:
        self._plan = plan
        self._output = output
        self._jobs = Jobs()
        given = os.environ if environment is None else environment
        self._starter = Starter(plan, given, self._jobs, self._say, self._output_of)

    def run(self) -> int:
        """The exit code of the last pipeline that ran, as bash would return it."""
        try:
            if (moved := _moved(self._plan)) is not None:
                self._say(f"{moved}: leads out of the workspace")
                return REFUSED
            cwd = self._plan.cwd or os.getcwd()
            return self._steps(
                self._plan.steps, PlanFrame(cwd=cwd, input=self._starter.null, output=self._output, errors=self._output)
            )
        finally:
            self._starter.close()

    def cancel(self) -> None:
        """End the running processes; nothing else starts."""
        self._jobs.cancel()

    def _say(self, text: str) -> None:
        os.write(self._output, (text + "\n").encode(errors="replace"))

    # --- lists and pipes ---

    def _steps(self, steps: "Sequence[Step]", frame: PlanFrame) -> int:
        code = 0
        for step in steps:
            if self._jobs.cancelled:
                return CANCELLED
            if (step.join == "&&" and code != 0) or (step.join == "||" and code == 0):
                continue
            code = frame.status = self._step(step, frame)
        return code

    def _step(self, step: "Step", frame: PlanFrame) -> int:
        begun = time.monotonic()
        code = self._alone(step.stages[0], frame) if len(step.stages) == 1 else self._pipe(step.stages, frame)
        if step.timed:
            os.write(frame.errors, f"real {time.monotonic() - begun:.3f}s\n".encode())
        return int(code == 0) if step.negated else code

    def _alone(self, command: "Command", frame: PlanFrame) -> int:
        if not isinstance(command, Stage):
            return self._compound(command, frame)
        started = self._starter.start(command, frame, 0, alone=True)
        return self._ended([started])[-1]

    def _pipe(self, commands: "Sequence[Command]", frame: PlanFrame) -> int:
        running: list[Started | _BackgroundTask] = []
        group = 0
        incoming = [os.dup(frame.input)]
        for command in commands[:-1]:
            reading, writing = os.pipe()
            inner = frame.copy()
            inner.input, inner.output = incoming[0], writing
            running.append(self._begin(command, inner, group, [*incoming, writing]))
            group = group or _group(running[-1])
            incoming = [reading]
        inner = frame.copy()
        inner.input = incoming[0]
        running.append(self._begin(commands[-1], inner, group, incoming))
        return self._ended(running)[-1]

    def _begin(self, command: "Command", frame: PlanFrame, group: int, owned: list[int]) -> "Started | _BackgroundTask":
        """Starts a part of a pipe, which moves nothing else; `owned` are the ends that are not needed afterwards."""
        if not isinstance(command, Stage):
            return _BackgroundTask(lambda: self._compound(command, frame), owned, self._say)
        try:
            return self._starter.start(command, frame, group, alone=False)
        finally:
            for descriptor in owned:
                os.close(descriptor)

    def _ended(self, running: "Sequence[Started | _BackgroundTask]") -> list[int]:
        codes = [one.wait() for one in running]
        for one in running:
            self._jobs.ended(_group(one))
        return codes

    # --- compound commands ---

    def _compound(self, command: "Group | Loop | Choice", frame: PlanFrame) -> int:
        try:
            with self._redirected(command, frame) as inner:
                return self._inside(command, inner)
        except Refusal as refused:
            return self._starter.refuse(str(refused))

    @contextmanager
    def _redirected(self, command: "Group | Loop | Choice", frame: PlanFrame) -> Generator[PlanFrame]:
        if not command.redirects:
            yield frame
            return
        opened: list[int] = []
        inner = frame.copy()
        try:
            inner.input, inner.output, inner.errors = self._starter.redirected(command.redirects, frame, opened)
            yield inner
            frame.cwd, frame.status = inner.cwd, inner.status
        finally:
            for descriptor in opened:
                os.close(descriptor)

    def _inside(self, command: "Group | Loop | Choice", frame: PlanFrame) -> int:
        match command:
            case Group(subshell=True):
                return self._steps(command.steps, frame.copy())
            case Group():
                return self._steps(command.steps, frame)
            case Choice():
                return self._choice(command, frame)
            case Loop():
                return self._loop(command, frame)

    def _choice(self, choice: "Choice", frame: PlanFrame) -> int:
        for branch in choice.branches:
            if self._steps(branch.condition, frame) == 0:
                return self._steps(branch.steps, frame)
        return self._steps(choice.otherwise, frame)

    def _loop(self, loop: "Loop", frame: PlanFrame) -> int:
        words = self._starter.words_of(loop.words, frame)
        if len(words) > _MAX_ROUNDS:
            raise Refusal(f"a loop over {len(words):,} words; the limit is {_MAX_ROUNDS:,}")
        files = any(part.kind == "glob" for word in loop.words for part in word.parts)
        code = 0
        for word in words:
            frame.items[loop.variable] = f"./{word}" if files and word.startswith("-") else word
            code = self._steps(loop.steps, frame)
        return code

    def _output_of(self, steps: "Sequence[Step]", frame: PlanFrame) -> str:
        """The output of these, as part of a word. Raises Refusal."""
        refused = self._starter.refused
        reading, writing = os.pipe()
        inner = frame.copy()
        inner.output = writing
        work = _BackgroundTask(lambda: self._steps(steps, inner), [writing], self._say)
        try:
            printed = _read_all(reading)
        finally:
            os.close(reading)
            frame.status = work.wait()
        if self._starter.refused > refused:
            raise Refusal("a command was refused, and so is the command that uses its output")
        if len(printed) > _MAX_OUTPUT:
            raise Refusal(f"a command printed more than {_MAX_OUTPUT:,} bytes, too many for the words of another")
        return as_word(printed)


class _BackgroundTask:
    """A part of a plan that runs concurrently, in a thread: its programs are processes of their own."""

    child = 0

    def __init__(self, work: Callable[[], int], owned: list[int], say: Callable[[str], None]) -> None:
        self._work, self._owned, self._say = work, owned, say
        self._code = REFUSED
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self) -> None:
        try:
            self._code = self._work()
        except BrokenPipeError:
            self._code = 128 + signal.SIGPIPE
        except (OSError, Refusal) as error:  # someone must be told
            with suppress(OSError):
                self._say(str(error))
        finally:
            for descriptor in self._owned:
                os.close(descriptor)

    def wait(self) -> int:
        self._thread.join()
        return self._code


def _group(one: "Started | _BackgroundTask") -> int:
    return 0 if isinstance(one.child, int) else one.child.pid


def _read_all(descriptor: int) -> bytes:
    """Reads everything, but not much more than may be used."""
    printed = b""
    while len(printed) <= _MAX_OUTPUT and (piece := os.read(descriptor, 65_536)):
        printed += piece
    return printed


def _moved(plan: "Plan") -> str | None:
    """A path to write that, with links followed, is not where its text says."""
    return next((path for path in plan.writes if not real_below(path, plan.roots)), None)


def main() -> None:
    """The plan is the only argument; its output goes where ours goes."""
    import sys

    import msgspec

    from assent.plan import Plan

    sys.exit(Pipeline(msgspec.json.decode(sys.argv[1], type=Plan), 1).run())
