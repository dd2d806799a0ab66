"""One headless run: opens or creates a session, sends the prompt, shows what happens, ends with exactly one result."""

import asyncio
import os
import signal
import sys
import time
from typing import TYPE_CHECKING, Literal

from msgspec import Struct
from msgspec.structs import replace

from assent import exit_codes
from assent.app.call_states import AwaitingApproval, Executing, Validating
from assent.app.command_sender import new_key
from assent.app.identity import me
from assent.app.lookup import NotFound, find_session
from assent.app.model_access import ModelError
from assent.app.opening import LocalClient, NewSession, SessionSetup, open_session
from assent.app.rule_sources import BadFlag, BadRule, Rule
from assent.app.session_environment import SessionEnvironment
from assent.app.session_log import LogError, NoSuchSession, SessionBusy, SessionLog
from assent.app.wording import safe
from assent.approval import Mode
from assent.commands import CancelCall, CancelTurn, SetEffort, SetMode, Submit, Withdraw
from assent.config import BadSettings, Settings
from assent.events import (
    ApprovalRequested,
    CallFinished,
    CallRequested,
    CommandTaken,
    Envelope,
    PromptSubmitted,
    TurnFinished,
)
from assent.front.headless.console import Console
from assent.front.headless.output_formats import Output, make_output
from assent.front.headless.summary import Summariser, failed
from assent.parts import Effort, Failure

if TYPE_CHECKING:  # the code that asks is imported only if someone can be asked
    from assent.app.mcp_prompts import PromptServers
    from assent.app.opening import Subscription
    from assent.front.headless.custom_prompt import CustomPrompt, Filling
    from assent.front.headless.inline_questions import Asker
    from assent.front.headless.thinking_line import ThinkingLine

Asking = Literal["inline", "wait", "refuse"]
CTRL_C = "The user pressed Ctrl-C."


class Run(Struct, frozen=True, kw_only=True):
    """What to do, as given on the command line."""

    prompt: str | None
    """All of it: standard input, followed by what was typed."""
    model: str | None
    """None: the session's own when resuming, otherwise the one from the settings."""
    mode: Mode | None
    settings: Settings
    effort: Effort | None = None
    rules: tuple[Rule, ...] = ()
    output: str = "text"
    asking: Asking = "refuse"
    resume: str | None = None
    folder: str = ""
    typed: str = ""
    """The part of the prompt that was typed; it may name a prompt of a server."""


async def run(request: Run, log: SessionLog) -> int:
    """Closes the log at the end."""
    console = Console.for_stderr()
    output = make_output(request.output, console, waits=request.asking == "wait")
    try:
        return await _run(request, log, output, console)
    except ModelError as error:
        return _failed(output, Failure(error.type, str(error)))
    except SessionBusy as error:
        return _failed(output, Failure("busy", str(error)))
    except (NoSuchSession, NotFound, BadFlag) as error:
        return _failed(output, Failure("input", str(error)))
    except (BadRule, BadSettings) as error:
        return _failed(output, Failure("config", str(error)))
    except LogError as error:
        return _failed(output, Failure("storage", str(error)))
    finally:
        await log.close()


def _failed(output: Output, failure: Failure, session: str = "") -> int:
    summary = failed(failure, session)
    output.finish(summary)
    return summary.exit_code()


async def _run(request: Run, log: SessionLog, output: Output, console: Console) -> int:
    resumed = await find_session(log, request.resume, request.folder) if request.resume is not None else None
    filled = _Filled(request, request.folder if resumed is None else resumed.folder)
    setup = SessionSetup(
        env=os.environ,
        settings=request.settings,
        client=f"headless {me()}",
        rules=request.rules,
        attended=request.asking != "refuse",
        watched=sys.stderr.isatty(),
        typing=request.asking == "inline",
        prepare=filled.prepare,
    )
    session = resumed or NewSession(request.folder, request.mode, effort=request.effort)
    async with await open_session(log, session, setup, model=request.model) as client:
        asker = _terminal_asker(client, console, request.output) if request.asking == "inline" else None
        thinking = _thinking_line(client, console) if request.output == "text" and console.redraws else None
        request = replace(request, prompt=filled.prompt)
        if resumed is not None:
            _say_where(client, request)
        return await HeadlessRun(client, request, output, asker, thinking, filled.custom).until_done()


def _thinking_line(client: LocalClient, console: Console) -> "ThinkingLine":
    from assent.front.headless.thinking_line import ThinkingLine

    state = client.runner.state
    return ThinkingLine(console, lambda: state.open_prompt is not None and not state.pending())


class _Filled:
    """The prompt as it is sent: the name of an MCP server's prompt is replaced by its text, which needs the servers. A
    custom command is filled in by the session.
    """

    def __init__(self, request: Run, folder: str) -> None:
        self.prompt = request.prompt
        self.custom: CustomPrompt | None = None
        self._typed, self._folder = request.typed, folder

    async def prepare(self, environment: SessionEnvironment) -> None:
        await environment.ready(_notice)
        if self.prompt is not None and self._typed.startswith("/"):
            await self._fill(self.prompt.removesuffix(self._typed), environment.mcp)

    async def _fill(self, before: str, servers: "PromptServers | None") -> None:
        from assent.front.headless.custom_prompt import find_custom, why_text

        self.custom = find_custom(os.environ, self._folder, self._typed, before, _notice)
        if self.custom is not None:
            return
        text = await self._expanded(servers)
        self.prompt = before + text
        if text == self._typed and (why := why_text(text)):
            _notice(why)

    async def _expanded(self, servers: "PromptServers | None") -> str:
        from assent.app.mcp_prompts import NoText, expand_prompt

        try:
            return await expand_prompt(servers, self._typed)
        except NoText as error:
            raise NotFound(str(error)) from error


def _say_where(client: LocalClient, request: Run) -> None:
    """Somebody who resumes a session may not know it by its id."""
    state = client.runner.state
    if state.folder != request.folder:
        _notice(f"This session works in {state.folder}.")
    if state.mode == "yolo" and request.mode is None:
        _notice("This session is in yolo mode: everything runs without asking.")


def _notice(text: str) -> None:
    Console.for_stderr().prose(safe(text))


def _terminal_asker(client: LocalClient, console: Console, output: str) -> "Asker":
    from assent.front.headless.inline_questions import TerminalAsker

    shows = output == "text" and sys.stderr.isatty()
    return TerminalAsker(client.runner.waiting, client.send, client.type_in, console, client.me, shows_output=shows)


def _fill(custom: "CustomPrompt", run: "HeadlessRun", client: LocalClient) -> "Filling":
    from assent.front.headless.custom_prompt import Filling

    return Filling(custom, client, run.submit, run.end)


def _is_tried(call: object) -> bool:
    """A trial may end with an answer by rule."""
    return isinstance(call, AwaitingApproval) and call.tried_by is not None


class HeadlessRun:
    """Follows one session until its prompt is answered."""

    def __init__(
        self,
        client: LocalClient,
        request: Run,
        output: Output,
        asker: "Asker | None" = None,
        thinking: "ThinkingLine | None" = None,
        custom: "CustomPrompt | None" = None,
    ) -> None:
        """`custom`: what the prompt is made of, if it names a custom command."""
        self._runner = runner = client.runner
        self._request = request
        self._output = output
        self._summariser = Summariser(runner.session, time.monotonic())
        self._asker = asker
        self._thinking = thinking
        self._awaited: str | None = runner.state.open_prompt
        """The prompt whose end we are waiting for."""
        self._key: str | None = None
        self._questions = bool(runner.state.waiting())
        self._told: set[str] = set()
        """The approvals that the output has."""
        self._events: Subscription | None = None
        self._left = False
        self._interrupts = 0
        self._cancelling: asyncio.Task[None] | None = None
        self._withdrawn = False
        """Ctrl-C came before our prompt could begin."""
        self._filling = None if custom is None else _fill(custom, self, client)

    async def until_done(self) -> int:
        known, prompts = self._runner.state.seq, self._runner.state.prompts
        asked = {call.approval.id for call in self._runner.state.waiting()}
        self._events = self._runner.subscribe()
        for call in self._runner.state.pending():
            self._output.known(call.request)
            self._summariser.known(call.request)
        self._handle_signals()
        await self._runner.caught_up()
        if self._request.prompt is None and self._awaited is None and self._runner.state.prompts == prompts:
            return _failed(self._output, Failure("input", self._nothing_to_do()), self._runner.session)
        ticking = asyncio.create_task(self._thinking.run()) if self._thinking is not None else None
        try:
            await self._follow(self._events, known, asked)
        finally:
            if self._filling is not None:
                self._filling.outcomes.close()
            if ticking is not None and self._thinking is not None:
                ticking.cancel()
                self._thinking.clear()
            if self._asker is not None:
                self._asker.stop()
        if self._filling is not None and self._filling.error is not None:
            raise self._filling.error
        if self._filling is not None and self._filling.problem and not self._interrupts:
            return _failed(self._output, Failure("input", self._filling.problem), self._runner.session)
        return self._finish_waiting() if self._left else self._finish()

    def _nothing_to_do(self) -> str:
        session, held = self._runner.session, self._runner.state.held
        left = f", but its queue is held; open it in a terminal with `assent --resume {session}`, or" if held else ";"
        return f"session {session} has nothing left to do{left} give it a prompt with -p"

    async def _follow(self, events: "Subscription", known: int, asked: set[str]) -> None:
        self._leave_if_nobody_can_answer()
        if not self._left:
            await self._begin()
        await self._show_opening(known)
        self._announce_waiting(asked)
        self._output.flush()
        async for envelope in events:
            if await self._show(envelope):
                break
            if events.caught_up:
                self._output.flush()

    def _leave_if_nobody_can_answer(self) -> None:
        """Questions from an earlier run stay open: they are not refused just because nobody is here now."""
        if self._questions and self._request.asking == "refuse":
            pending = self._runner.state.pending()
            still_moving = any(isinstance(call, Validating | Executing) or _is_tried(call) for call in pending)
            if self._runner.state.waiting() and not still_moving:
                self._leave()

    def _leave(self) -> None:
        """Ends the run and leaves its questions open; they wait in the log. What a custom command asks is cancelled:
        nobody would send the prompt after the answer.
        """
        if self._filling is not None and self._filling.begun:
            self._interrupted()
            return
        self._left = True
        self.end()

    def end(self) -> None:
        if self._events is not None:
            self._events.close()

    async def _show_opening(self, until: int) -> None:
        """Shows the events from before we subscribed: a stream starts with the session's creation or its opening."""
        after = 0 if self._request.resume is None else self._runner.opened_at - 1
        for envelope in await self._runner.read(after):
            if envelope.seq <= until:
                self._tell(envelope)

    def _tell(self, envelope: Envelope) -> None:
        if isinstance(envelope.event, ApprovalRequested):
            self._told.add(envelope.event.approval.id)
        if self._thinking is not None:
            self._thinking.heard(envelope.event)
        self._output.event(envelope)

    def _announce_waiting(self, asked: set[str]) -> None:
        """Tells whoever reads the stream which questions of earlier runs still wait. They have been judged again: if
        one was asked anew, the stream has that, or will have it."""
        for call in self._runner.waiting():
            if call.approval.id in asked - self._told:
                args = call.request.args if call.edited else None
                event = ApprovalRequested(call.request.call_id, call.approval, args, call.request.about)
                self._tell(Envelope(0, time.time(), self._runner.session, event))

    async def _begin(self) -> None:
        if self._request.mode is not None and self._request.mode != self._runner.state.mode:
            await self._runner.send(SetMode(self._request.mode, by=me()))
        if self._request.effort is not None and self._request.effort != self._runner.state.effort:
            await self._runner.send(SetEffort(self._request.effort, by=me()))
        if self._filling is not None:
            self._fill_unless_busy()
        elif self._request.prompt is not None:
            await self.submit(self._request.prompt)
        if self._asker is not None:
            self._asker.start(self._leave)

    async def submit(self, text: str) -> None:
        self._key = new_key()  # first: the events may come before `send` returns
        await self._runner.send(Submit(text, by=me()), self._key)

    def _fill_unless_busy(self) -> None:
        """After an earlier turn, which Ctrl-C may still cancel: then nothing of our prompt has begun."""
        if self._filling is not None and self._runner.state.open_prompt is None:
            self._filling.begin()

    @property
    def _fills(self) -> bool:
        """Whether a custom command is still to be filled in and sent."""
        return self._filling is not None and not self._filling.sent

    async def _show(self, envelope: Envelope) -> bool:
        """Passes the event to everyone concerned; returns whether it was the last one."""
        self._tell(envelope)
        if self._asker is not None:
            await self._asker.event(envelope)
        if not envelope.seq:  # only announced, as every piece of text is: nothing to count, and never the last
            return False
        self._summariser.event(envelope)
        if self._filling is not None:
            self._filling.outcomes.tell(envelope)
        match envelope.event:
            case CallRequested(request=request) if self._fills and self._interrupts:
                await self._runner.send(CancelCall(request.call_id, CTRL_C, by=me()))
            case PromptSubmitted(prompt_id=prompt_id, key=key) if key == self._key or self._request.prompt is None:
                self._awaited = prompt_id
            case CommandTaken(key=key, problem="withdrawn") if key == self._key:
                self._withdrawn = True
            case ApprovalRequested() | CallFinished() | CommandTaken():
                self._questions = self._questions or isinstance(envelope.event, ApprovalRequested)
                self._leave_if_nobody_can_answer()
            case TurnFinished(prompt_id=prompt_id):
                self._fill_unless_busy()
                return self._withdrawn or (prompt_id == self._awaited and self._key_seen())
            case _:
                pass
        return False

    def _key_seen(self) -> bool:
        return not self._fills and (self._key is None or self._withdrawn or self._key in self._runner.state.keys)

    def _finish(self) -> int:
        failure = self._runner.failure
        summary = self._summariser.finish(time.monotonic())
        if failure is not None:
            summary.status, summary.error = "error", Failure("storage", str(failure))
        elif self._withdrawn:
            summary.status = "cancelled"
        self._output.finish(summary)
        if refused := self._summariser.refusal():
            _notice(refused)
        return summary.exit_code()

    def _finish_waiting(self) -> int:
        self._summariser.summary.status = "waiting"
        self._output.finish(self._summariser.finish(time.monotonic()))
        calls = ", ".join(call.request.call_id for call in self._runner.state.waiting())
        session = self._runner.session
        Console.for_stderr().prose(
            f"Calls are waiting for an answer, and nobody here can give it: {calls}\n"
            f"Review them with `assent sessions show {session}`, answer with `assent answer {session} CALL OUTCOME`, "
            f"then continue with `assent --resume {session}`."
        )
        return exit_codes.WAITING

    # --- signals ---

    def _handle_signals(self) -> None:
        loop = asyncio.get_running_loop()
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(number, self._interrupted)
        if signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:
            loop.add_signal_handler(signal.SIGHUP, self._hung_up)

    def _hung_up(self) -> None:
        """The terminal was closed: calls that wait for an answer keep waiting, anything else is cancelled."""
        if self._runner.state.waiting():
            self._leave()
        else:
            self._interrupted()

    def _interrupted(self) -> None:
        """The first time, cancels the turn and keeps what was done. After that, exits at once; the log has it all."""
        self._interrupts += 1
        if self._interrupts > 1:
            if self._asker is not None:
                self._asker.stop()  # it may have hidden what is typed
            os._exit(exit_codes.CANCELLED)
        if self._filling is not None and self._fills:
            self._filling.stop()
            self._withdrawn = True
        self._cancelling = asyncio.create_task(self._cancel())

    async def _cancel(self) -> None:
        """Our prompt may still wait for the end of an earlier turn; then it must not begin after that."""
        if self._key is not None:
            await self._runner.send(Withdraw(self._key, by=me()))
        await self._runner.send(CancelTurn(CTRL_C, by=me()))
        for call in self._runner.state.pending() if self._fills else ():
            await self._runner.send(CancelCall(call.request.call_id, CTRL_C, by=me()))
