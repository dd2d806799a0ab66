"""Plays the tour in a scratch folder. On a terminal the person answers; without one it answers itself and says so."""

import sys
from collections.abc import Callable
from pathlib import Path

from assent.commands import Answer
from assent.config import Settings
from assent.events import ApprovalRequested, Envelope
from assent.files.workspace import Workspace
from assent.front.headless.ask import Asker, Send, TerminalAsker
from assent.front.headless.output import TextOutput
from assent.front.headless.run import HeadlessRun, Run
from assent.front.question import question_lines
from assent.front.send import me
from assent.front.style import Style
from assent.front.tour.project import PROMPT, SCENARIO, make_project, next_steps
from assent.models.scripted import ScriptedModel
from assent.scheduler.call import AwaitingApproval
from assent.session.options import Options
from assent.session.runner import Runner, create_session
from assent.session.sqlite import SqliteLog
from assent.tools.builtin import builtin_tools
from assent.tools.registry import Registry


async def tour(*, interactive: bool) -> int:
    scratch, project = make_project()
    style = Style.for_stream(sys.stderr)
    _introduce(project, style, interactive=interactive)
    log = SqliteLog(scratch / "home")
    try:
        code = await _play(log, str(project), style, interactive=interactive)
    finally:
        await log.close()
    _say_goodbye(scratch, style)
    return code


async def _play(log: SqliteLog, project: str, style: Style, *, interactive: bool) -> int:
    model = ScriptedModel.from_file(SCENARIO)
    session = await create_session(log, project, "scripted tour", "default")
    registry = Registry(builtin_tools(Workspace([project], project)))
    async with await Runner.open(log, session, model, registry, Options(client="tour")) as runner:
        asker: Asker = (
            TerminalAsker(runner.waiting, runner.send, style, me())
            if interactive
            else TourAnswers(runner.waiting, runner.send, style)
        )
        request = Run(prompt=PROMPT, model=None, mode=None, settings=Settings(), asking="wait", folder=project)
        return await HeadlessRun(runner, request, TextOutput(style, live=True), asker).until_done()


class TourAnswers:
    """Answers in the person's place, and says which answer it gave."""

    def __init__(self, waiting: Callable[[], list[AwaitingApproval]], send: Send, style: Style) -> None:
        self._waiting = waiting
        self._send = send
        self._style = style

    def start(self, leave: Callable[[], None]) -> None:
        pass

    def stop(self) -> None:
        pass

    async def event(self, envelope: Envelope) -> None:
        if not isinstance(envelope.event, ApprovalRequested):
            return
        for call in self._waiting():
            if call.request.call_id == envelope.event.call_id:
                await self._answer(call)

    async def _answer(self, call: AwaitingApproval) -> None:
        for line in question_lines(call, self._style):
            sys.stderr.write(line + "\n")
        sys.stderr.write(self._style.green("  ➜ no terminal here, so the tour answered: yes, once\n"))
        await self._send(
            Answer(call_id=call.request.call_id, outcome="proceed_once", digest=call.approval.digest, by="tour")
        )


def _introduce(project: Path, style: Style, *, interactive: bool) -> None:
    who = "you answer its questions" if interactive else "the tour answers its questions, because there is no terminal"
    sys.stderr.write(
        f"{style.bold('Assent: a guided tour')}\n"
        f"{style.dim('The model is a script. Scheduler, tools, approvals and log are the real ones;')}\n"
        f"{style.dim(f'{who}. The project is a copy in {project}.')}\n\n"
        f"{style.cyan('>')} {PROMPT}\n\n"
    )


def _say_goodbye(scratch: Path, style: Style) -> None:
    sys.stderr.write("\n" + "\n".join(next_steps(scratch, style)) + "\n")
