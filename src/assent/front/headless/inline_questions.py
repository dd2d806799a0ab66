"""Asks for approval on the terminal, one question at a time, while everything else goes on.

An answer may come from anywhere; if another client is faster, the question closes and says who answered. Input typed
before a question appears never answers it, and an empty or unclear line is not an answer. If someone is typing when a
question is due, it appears when they have stopped: a line counts as a whole or not at all.
"""

import asyncio
import os
import signal
import sys
from collections.abc import Awaitable, Callable, Coroutine
from typing import Protocol

from msgspec import Struct

from assent.app.call_states import AwaitingApproval
from assent.app.command_sender import new_key
from assent.app.question_text import no_always_in_words, offered_keys, option_lines, question_lines
from assent.app.spoken_answers import NoAnswer
from assent.app.style import Style
from assent.app.text_editor import EditorFailed, edit_text
from assent.app.wording import safe, who
from assent.approval import Approval, AskDetails, EditDetails, Outcome
from assent.commands import Answer, Command
from assent.events import (
    ApprovalAnswered,
    ApprovalRequested,
    CallFinished,
    CallInput,
    CallScheduled,
    CommandTaken,
    Envelope,
    TrialStarted,
)
from assent.front.headless.asked_parts import AskedParts, Declined, NextPart
from assent.front.headless.console import Console
from assent.front.headless.inline_input import InlineInput, TypeIn
from assent.front.headless.terminal_keys import TerminalKeys

Send = Callable[[Command, str], Awaitable[str]]
"""With the key under which the command will be reported as taken."""
QUIET = 0.6
"""Seconds without a key after which someone has stopped typing."""
_DROPPED = "  what you had typed before was not used; if it was meant for this, type it again"


class Asker(Protocol):
    """Answers questions: receives every event, and sends answers as commands."""

    def start(self, leave: Callable[[], None]) -> None:
        """`leave` ends the run and leaves its questions open."""
        ...

    def stop(self) -> None: ...

    async def event(self, envelope: Envelope) -> None: ...


class _Asked(Struct, frozen=True):
    """The open question."""

    call: AwaitingApproval
    parts: AskedParts | None
    """For what the model asks."""

    @property
    def call_id(self) -> str:
        return self.call.request.call_id


class TerminalAsker:
    """Asks on a terminal: pass it every event; it prints to stderr and reads lines from stdin."""

    def __init__(
        self,
        waiting: Callable[[], list[AwaitingApproval]],
        send: Send,
        type_in: TypeIn,
        console: Console,
        me: str,
        *,
        shows_output: bool = False,
    ) -> None:
        """`shows_output`: what commands print is shown here while they run."""
        self._waiting = waiting
        self._input = InlineInput(type_in, console)
        self._keys = TerminalKeys()
        self._send = send
        self._console = console
        self._style = console.style
        self._me = me
        self._shows_output = shows_output
        self._just_tried: set[str] = set()
        """Calls whose trial has printed its output here since they were last asked about."""
        self._asking: _Asked | None = None
        self._again: Callable[[str], None] | None = None
        """Shows the open question once more, or its next part."""
        self._sent = ""
        """The key of an answer that is not yet taken. It is known before the answer is on its way: nothing is asked
        meanwhile, and the answer may be taken before the sender hears that it was recorded."""
        self._tasks: set[asyncio.Task[None]] = set()
        self._listening = False
        self._leave: Callable[[], None] | None = None
        self._hides = sys.stdout.isatty()
        """Whether what is typed without a prompt stays hidden; a program that shows our output, such as a pager, may
        need the echo."""
        self._quiet: asyncio.TimerHandle | None = None
        self._early = 0.0
        """When a line was typed that nothing had asked for."""
        self._dropped = False
        """Whether that, or half a line, was dropped just before the next question."""

    def start(self, leave: Callable[[], None]) -> None:
        self._leave = leave
        self._listen()
        self._next()
        self._set_echo()

    def stop(self) -> None:
        self._input.close()
        self._console.close_question()
        if self._quiet is not None:
            self._quiet.cancel()
        if self._listening:
            self._stop_listening()
            self._keys.give_back()
        for task in self._tasks:
            task.cancel()

    def _listen(self) -> None:
        loop = asyncio.get_running_loop()
        loop.add_reader(self._keys.terminal, self._readable)
        loop.add_signal_handler(signal.SIGCONT, self._continued)
        self._heed_stops()
        self._listening = True

    def _stop_listening(self) -> None:
        """Nothing is asked until it listens again."""
        loop = asyncio.get_running_loop()
        loop.remove_reader(self._keys.terminal)
        for number in (signal.SIGCONT, signal.SIGTSTP):
            loop.remove_signal_handler(number)
        self._listening = False

    # --- events ---

    async def event(self, envelope: Envelope) -> None:
        self._input.event(envelope)
        match envelope.event:
            case CallInput():
                self._hides = True  # the next line may be a secret again
                self._next()
            case TrialStarted(call_id=call_id) if self._shows_output:
                self._just_tried.add(call_id)
            case ApprovalRequested():
                self._next()
            case ApprovalAnswered(call_id=call_id, by=by) if self._is_asked(call_id):
                if by != self._me:
                    self._console.say(f"answered by {safe(who(by), 'label')}")
                self._close()
            case CallScheduled(call_id=call_id) | CallFinished(call_id=call_id) if self._is_asked(call_id):
                self._console.say("no longer needed")
                self._close()
            case CommandTaken(key=key, problem=problem) if key == self._sent:
                self._sent = ""
                if problem:
                    self._console.tell(f"not accepted: {safe(problem, 'label')}", self._style.red)
                self._close()
            case _:
                pass
        self._set_echo()

    def _is_asked(self, call_id: str) -> bool:
        return self._asking is not None and self._asking.call_id == call_id

    def _close(self) -> None:
        self._asking = self._again = None
        self._console.close_question()
        self._next()

    # --- asking ---

    def _next(self) -> None:
        """Asks the next question, once nobody is typing any more."""
        if (ask := self._due()) is None:
            return
        if self._is_typing():
            self._wait_until_quiet()
        else:
            note, self._dropped, self._again = _DROPPED if self._dropped else "", False, None
            ask(note)

    def _due(self) -> Callable[[str], None] | None:
        """What asks the next question, if one is due. It takes a note for the person."""
        if self._sent or not self._listening or self._quiet is not None:
            return None
        if self._again is not None or self._asking is not None:
            return self._again
        if self._input.is_open:
            return self._input.hide if self._input.turns_secret() else None
        if calls := [call for call in self._waiting() if not call.answered_by and call.tried_by is None]:
            return lambda note: self._open(calls[0], len(calls), note)
        return self._input.show if self._input.is_wanted else None

    def _is_typing(self) -> bool:
        """Forgets what has been typed so far."""
        recently = bool(self._early) and asyncio.get_running_loop().time() - self._early < QUIET
        return self._keys.drop() or recently

    def _wait_until_quiet(self) -> None:
        self._dropped = True
        self._quiet = asyncio.get_running_loop().call_later(QUIET, self._is_quiet)
        self._set_echo()

    def _is_quiet(self) -> None:
        self._quiet = None
        self._next()
        self._set_echo()

    def _open(self, call: AwaitingApproval, how_many: int, note: str) -> None:
        details = call.approval.details
        parts = AskedParts(details.questions) if isinstance(details, AskDetails) else None
        self._asking = _Asked(call, parts)
        self._console.open_question()
        self._show(self._asking, how_many, note)

    def _show(self, asked: _Asked, how_many: int = 1, note: str = "") -> None:
        self._console.say("")
        output = asked.call_id not in self._just_tried
        self._just_tried.discard(asked.call_id)
        for line in question_lines(asked.call, self._prose_style(), parts=False, output=output):
            self._console.say(line)
        for line in asked.parts.keys() if asked.parts is not None else option_lines(asked.call.approval):
            self._console.tell(f"    {line}")
        if how_many > 1:
            self._console.say(self._style.dim(f"  ({how_many - 1} more to follow)"))
        self._show_part(asked, note)

    def _show_part(self, asked: _Asked, note: str = "") -> None:
        for line in asked.parts.lines(self._prose_style()) if asked.parts is not None else ():
            self._console.say(f"  {line}")
        self._prompt(asked, note)

    def _prompt(self, asked: _Asked, note: str = "") -> None:
        if note:
            self._console.tell(note, self._style.yellow)
        keys = f"your answer [{', '.join(_keys(asked.call.approval))}]: "
        self._console.prompt(f"  {keys if asked.parts is None else asked.parts.prompt()}")

    def _ask_again(self, asked: _Asked, why: str) -> None:
        self._console.tell(f"  {why}")
        self._again = lambda note: self._prompt(asked, note)
        self._next()

    def _prose_style(self) -> Style:
        """For the window as wide as it is now."""
        return Style(self._style.colour, self._console.width)

    def _set_echo(self) -> None:
        """What is typed appears only if something asks for it."""
        if self._listening:
            self._keys.show(not self._hides or self._is_shown())

    def _is_shown(self) -> bool:
        open_input = self._input.is_open and not self._input.is_secret
        return self._quiet is None and (self._asking is not None or open_input)

    def _heed_stops(self) -> None:
        if signal.getsignal(signal.SIGTSTP) is not signal.SIG_IGN:
            asyncio.get_running_loop().add_signal_handler(signal.SIGTSTP, self._stopped)

    def _stopped(self) -> None:
        """At Ctrl-Z, the shell gets the terminal with its echo: not every shell switches that on by itself."""
        self._keys.show(True)
        asyncio.get_running_loop().remove_signal_handler(signal.SIGTSTP)
        os.kill(os.getpid(), signal.SIGTSTP)
        self._heed_stops()
        self._set_echo()  # nothing is stopped if no shell is there to continue it

    def _continued(self) -> None:
        """After Ctrl-Z and `fg`, the question is shown again."""
        if not self._keys.is_ours():
            return
        self._keys.resume(not self._hides or self._is_shown())
        if self._asking is not None:
            self._show(self._asking)
        elif self._input.is_open:
            self._input.prompt()

    # --- typing ---

    def _readable(self) -> None:
        line = self._keys.read()
        if line is None:
            return
        if line and self._keys.echoes:
            self._console.entered()
        if self._quiet is not None or not (self._input.is_open or self._asking is not None):
            self._early = asyncio.get_running_loop().time()
            if not line:
                self._no_more_input()
        elif self._input.is_open and (line or os.isatty(self._keys.terminal)):
            self._begin(self._input.take(line or None))
        elif not line:
            self._no_more_input()
        elif self._asking is not None:
            self._take(self._asking, line)
        self._set_echo()

    def _no_more_input(self) -> None:
        """Ctrl-D at a question ends the run and leaves it open; without a question it does nothing."""
        if not os.isatty(self._keys.terminal):  # the terminal is gone: nobody can be asked any more
            self.stop()
        elif self._asking is not None and self._leave is not None:
            self._console.close_question()
            self._leave()

    def _take(self, asked: _Asked, line: str) -> None:
        if asked.parts is not None:
            self._take_words(asked, asked.parts, line)
            return
        key, _, reason = line.strip().partition(" ")
        key, scope = _scope(key.lower(), asked.call.approval)
        outcome = offered_keys(asked.call.approval).get(key)
        if outcome is None or (reason and outcome != "cancel"):
            approval = asked.call.approval
            why = f"{no_always_in_words(approval)} " if key == "a" and approval.no_always else ""
            self._ask_again(asked, f"{why}please answer with one of: {', '.join(_keys(approval))}")
            return
        if outcome == "modify_with_editor":
            self._begin(self._edit(asked))
        else:
            self._answer(self._answer_to(asked, outcome=outcome, reason=reason, scope=scope))

    def _take_words(self, asked: _Asked, parts: AskedParts, line: str) -> None:
        """An answer to what the model asks, or to a part of it."""
        try:
            taken = parts.take(line)
        except NoAnswer as error:
            self._ask_again(asked, safe(str(error), "label"))
            return
        match taken:
            case NextPart(said=said):
                if said:
                    self._console.say(self._style.dim(f"  → {safe(said, 'label')}"))
                self._again = lambda note: self._show_part(asked, note)
                self._next()
            case Declined(reason=reason):
                self._answer(self._answer_to(asked, outcome="cancel", reason=reason))
            case answers:
                self._answer(self._answer_to(asked, outcome="proceed_once", answers=answers))

    def _answer_to(
        self,
        asked: _Asked,
        *,
        outcome: Outcome,
        reason: str = "",
        scope: str = "",
        answers: tuple[str, ...] | None = None,
        content: str | None = None,
    ) -> Answer:
        return Answer(
            call_id=asked.call_id,
            outcome=outcome,
            digest=asked.call.approval.digest,
            reason=reason,
            answers=answers,
            scope=scope,
            content=content,
            by=self._me,
        )

    def _answer(self, answer: Answer) -> None:
        self._console.close_question()
        self._asking, self._again, self._sent = None, None, new_key()
        self._begin(self._deliver(answer, self._sent))

    async def _deliver(self, answer: Answer, key: str) -> None:
        try:
            await self._send(answer, key)
        except BaseException:
            self._sent = ""  # nobody will take it
            raise

    def _begin(self, job: Coroutine[None, None, None]) -> None:
        task = asyncio.create_task(job)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _edit(self, asked: _Asked) -> None:
        """Opens the person's editor on the proposal; the question is then asked again with the edited content.

        Meanwhile, the editor has the terminal.
        """
        details = asked.call.approval.details
        assert isinstance(details, EditDetails)
        self._stop_listening()
        content, problem = await _edited(details)
        self._listen()
        if self._asking is not asked:
            self._console.prose("  your change was not used: the question was closed meanwhile", self._style.yellow)
            self._next()
        elif content == details.new:
            self._ask_again(asked, problem or "nothing was changed")
        else:
            self._answer(self._answer_to(asked, outcome="modify_with_editor", content=content))
        self._set_echo()


async def _edited(details: EditDetails) -> tuple[str, str]:
    """The same content if the editor fails, and why it did."""
    try:
        return await edit_text(details.path, details.new), ""
    except EditorFailed as error:
        return details.new, safe(str(error), "label")


def _keys(approval: Approval) -> list[str]:
    """All keys that may be typed, with one for each wider scope."""
    keys = list(offered_keys(approval))
    if "a" in keys:
        place = keys.index("a") + 1
        keys[place:place] = [f"a{number}" for number in range(2, len(approval.scopes) + 1)]
    return keys


def _scope(key: str, approval: Approval) -> tuple[str, str]:
    """`a2` is "always" with the second scope."""
    number = key.removeprefix("a")
    if key.startswith("a") and number.isdecimal() and 1 <= int(number) <= len(approval.scopes):
        return "a", approval.scopes[int(number) - 1].id
    return key, ""
