"""Asks for approval on the terminal, one question at a time, while everything else goes on.

An answer may come from anywhere; if another client is faster, the question closes and says who answered. Input typed
before a question appears never answers it, and an empty or unclear line is not an answer.
"""

import asyncio
import os
import sys
from collections.abc import Awaitable, Callable, Coroutine
from typing import Protocol

from assent.app.call_states import AwaitingApproval
from assent.app.command_sender import new_key
from assent.app.question_text import is_yes_or_no, offered_keys, option_lines, question_lines, spoken_answers
from assent.app.text_editor import EditorFailed, edit_text
from assent.app.wording import safe, who
from assent.approval import Approval, AskDetails, EditDetails
from assent.commands import Answer, Command
from assent.events import (
    ApprovalAnswered,
    ApprovalRequested,
    CallFinished,
    CallInput,
    CallScheduled,
    CommandTaken,
    Envelope,
)
from assent.front.headless.console import Console
from assent.front.headless.inline_input import InlineInput, TypeIn

Send = Callable[[Command, str], Awaitable[str]]
"""With the key under which the command will be reported as taken."""


class Asker(Protocol):
    """Answers questions: receives every event, and sends answers as commands."""

    def start(self, leave: Callable[[], None]) -> None:
        """`leave` ends the run and leaves its questions open."""
        ...

    def stop(self) -> None: ...

    async def event(self, envelope: Envelope) -> None: ...


class TerminalAsker:
    """Asks on a terminal: pass it every event; it prints to stderr and reads lines from stdin."""

    def __init__(
        self, waiting: Callable[[], list[AwaitingApproval]], send: Send, type_in: TypeIn, console: Console, me: str
    ) -> None:
        self._waiting = waiting
        self._input = InlineInput(type_in, console)
        self._send = send
        self._console = console
        self._style = console.style
        self._me = me
        self._asking: AwaitingApproval | None = None
        self._sent = ""
        """The key of an answer that is not yet taken. It is known before the answer is on its way: nothing is asked
        meanwhile, and the answer may be taken before the sender hears that it was recorded."""
        self._tasks: set[asyncio.Task[None]] = set()
        self._listening = False
        self._leave: Callable[[], None] | None = None

    def start(self, leave: Callable[[], None]) -> None:
        self._leave = leave
        asyncio.get_running_loop().add_reader(sys.stdin.fileno(), self._readable)
        self._listening = True
        self._next()

    def stop(self) -> None:
        self._input.close()
        self._console.close_question()
        if self._listening:
            asyncio.get_running_loop().remove_reader(sys.stdin.fileno())
            self._listening = False
        for task in self._tasks:
            task.cancel()

    # --- events ---

    async def event(self, envelope: Envelope) -> None:
        self._input.event(envelope)
        match envelope.event:
            case ApprovalRequested() | CallInput():
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
                    self._console.say(self._style.red(f"not accepted: {safe(problem, 'label')}"))
                self._close()
            case _:
                pass

    def _is_asked(self, call_id: str) -> bool:
        return self._asking is not None and self._asking.request.call_id == call_id

    def _close(self) -> None:
        self._asking = None
        self._console.close_question()
        self._next()

    # --- asking ---

    def _next(self) -> None:
        if self._asking is not None or self._sent or not self._listening or self._input.is_open:
            return
        calls = [call for call in self._waiting() if not call.answered_by and call.tried_by is None]
        if calls:
            self._show(calls[0], len(calls))
        else:
            self._input.show()

    def _show(self, call: AwaitingApproval, how_many: int) -> None:
        self._asking = call
        self._console.open_question()
        self._console.say("")
        for line in question_lines(call, self._style):
            self._console.say(line)
        for line in option_lines(call.approval):
            self._console.say(f"    {line}")
        if how_many > 1:
            self._console.say(self._style.dim(f"  ({how_many - 1} more to follow)"))
        _flush_input()
        self._prompt(call)

    def _prompt(self, call: AwaitingApproval) -> None:
        self._console.prompt(f"  your answer [{', '.join(_keys(call.approval))}]: ")

    def _readable(self) -> None:
        line = os.read(sys.stdin.fileno(), 4096).decode(errors="replace")
        if line:
            self._console.entered()
        if self._input.is_open and (line or os.isatty(sys.stdin.fileno())):
            self._begin(self._input.take(line or None))
        elif not line:
            self._no_more_input()
        elif self._asking is not None:
            self._take(self._asking, line)

    def _no_more_input(self) -> None:
        """Ctrl-D at a question ends the run and leaves it open; without a question it does nothing."""
        if not os.isatty(sys.stdin.fileno()):  # the terminal is gone: nobody can be asked any more
            self.stop()
        elif self._asking is not None and self._leave is not None:
            self._console.close_question()
            self._leave()

    def _take(self, call: AwaitingApproval, line: str) -> None:
        key, _, reason = line.strip().partition(" ")
        key, scope = _scope(key.lower(), call.approval)
        answers, details = None, call.approval.details
        if is_yes_or_no(details) and key in ("y", "n") and not reason:
            key, reason = "y", "Yes" if key == "y" else "No"
        outcome = offered_keys(call.approval).get(key)
        if isinstance(details, AskDetails) and outcome == "proceed_once":
            answers, reason = spoken_answers(details.questions, reason), ""
            outcome = outcome if answers is not None else None
        if outcome is None or (reason and outcome != "cancel"):
            self._console.say(f"  please answer with one of: {', '.join(_keys(call.approval))}")
            self._prompt(call)
            return
        answer = Answer(
            call_id=call.request.call_id,
            outcome=outcome,
            digest=call.approval.digest,
            reason=reason,
            answers=answers,
            scope=scope,
            by=self._me,
        )
        if outcome == "modify_with_editor":
            self._begin(self._edit(call, answer))
        else:
            self._answer(answer)

    def _answer(self, answer: Answer) -> None:
        self._console.close_question()
        self._asking, self._sent = None, new_key()
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

    async def _edit(self, call: AwaitingApproval, answer: Answer) -> None:
        """Opens the person's editor on the proposal; the question is then asked again with the edited content."""
        details = call.approval.details
        assert isinstance(details, EditDetails)
        asyncio.get_running_loop().remove_reader(sys.stdin.fileno())
        try:
            content = await edit_text(details.path, details.new)
        except EditorFailed as error:
            self._console.say(self._style.red(f"  {safe(str(error), 'label')}"))
            content = None
        finally:
            asyncio.get_running_loop().add_reader(sys.stdin.fileno(), self._readable)
        if content is None or content == details.new:
            self._console.say("  nothing was changed")
            self._prompt(call)
            return
        edited = Answer(
            call_id=answer.call_id, outcome=answer.outcome, digest=answer.digest, content=content, by=self._me
        )
        self._answer(edited)


def _keys(approval: Approval) -> list[str]:
    """All keys that may be typed, with one for each wider scope."""
    keys = list(offered_keys(approval))
    if is_yes_or_no(approval.details):
        keys.insert(1, "n")
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


def _flush_input() -> None:
    """Discards what was typed before the question appeared."""
    import termios

    termios.tcflush(sys.stdin.fileno(), termios.TCIFLUSH)
