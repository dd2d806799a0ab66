"""Plays the tour in a temporary folder. On a terminal the person answers; otherwise the tour answers and says so."""

import os
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

from assent.app.call_states import AwaitingApproval
from assent.app.command_sender import new_key
from assent.app.identity import me
from assent.app.model_access import Model, open_model
from assent.app.opening import NewSession, SessionSetup, open_session
from assent.app.question_text import question_lines
from assent.app.session_log import SessionLog
from assent.app.storage import open_log
from assent.app.style import Style
from assent.commands import Answer
from assent.config import Settings
from assent.events import ApprovalRequested, Envelope
from assent.front.headless.console import Console
from assent.front.headless.inline_questions import Asker, Send, TerminalAsker
from assent.front.headless.one_prompt import HeadlessRun, Run
from assent.front.headless.output_formats import TextOutput
from assent.front.tour.sample_project import PROMPT, SCENARIO, make_project, next_steps


async def tour(*, interactive: bool) -> int:
    scratch, project = make_project()
    style = Style.for_stream(sys.stderr)
    _introduce(project, style, interactive=interactive)
    env = {**os.environ, "ASSENT_HOME": str(scratch / "home")}
    log = open_log(env)
    try:
        code = await _play(log, env, str(project), style, interactive=interactive)
    finally:
        await log.close()
    _say_goodbye(scratch, style)
    return code


async def _play(log: SessionLog, env: Mapping[str, str], project: str, style: Style, *, interactive: bool) -> int:
    setup = SessionSetup(env=env, settings=Settings(), client="tour", open_model=lambda _: _script(env))
    async with await open_session(log, NewSession(project, model="scripted tour"), setup) as client:
        waiting, send = client.runner.waiting, client.send
        console = Console.for_stderr()
        asker: Asker = TourAnswers(waiting, send, style)
        if interactive:
            asker = TerminalAsker(waiting, send, client.type_in, console, me())
        request = Run(prompt=PROMPT, model=None, mode=None, settings=Settings(), asking="wait", folder=project)
        return await HeadlessRun(client, request, TextOutput(console, live=True), asker).until_done()


def _script(env: Mapping[str, str]) -> Model:
    return open_model(f"scripted:{SCENARIO}", env)


class TourAnswers:
    """Answers for the person, and says which answer it gave."""

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
        sys.stderr.write(self._style.green("  ➜ there is no terminal, so the tour answered: yes, once\n"))
        answer = Answer(call_id=call.request.call_id, outcome="proceed_once", digest=call.approval.digest, by="tour")
        await self._send(answer, new_key())


def _introduce(project: Path, style: Style, *, interactive: bool) -> None:
    who = "you answer its questions" if interactive else "the tour answers its questions, because there is no terminal"
    sys.stderr.write(
        f"{style.bold('Assent: a guided tour')}\n"
        f"{style.dim('The model is scripted. Scheduler, tools, approvals and log are real;')}\n"
        f"{style.dim(f'{who}. The project is a copy in {project}.')}\n\n"
        f"{style.cyan('>')} {PROMPT}\n\n"
    )


def _say_goodbye(scratch: Path, style: Style) -> None:
    sys.stderr.write("\n" + "\n".join(next_steps(scratch, style)) + "\n")
