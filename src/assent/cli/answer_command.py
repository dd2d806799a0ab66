"""`assent answer SESSION CALL OUTCOME`: answers a waiting call from another terminal."""

import argparse
import asyncio
import os
import sys
from collections.abc import Iterator
from pathlib import Path

import msgspec

from assent import exit_codes
from assent.app.answer_words import OF_TRIALS, SHORT_OUTCOMES
from assent.app.call_names import whole_name
from assent.app.call_states import AwaitingApproval
from assent.app.command_sender import Sent
from assent.app.identity import me
from assent.app.lookup import find_by_start, find_session, untaken_answer
from assent.app.question_text import question_lines, scope_in_words, tried
from assent.app.session_log import SessionLog
from assent.app.session_state import SessionState, fold
from assent.app.storage import open_log
from assent.app.style import Style
from assent.app.terminal_sender import terminal_sender
from assent.app.wording import one_line, short_quotes, who
from assent.approval import OUTCOMES, Outcome
from assent.cli.parsing import Parser, at_least_one, complain
from assent.cli.running import run
from assent.commands import Answer
from assent.events import ApprovalRequested, CallFinished, CallStarted
from assent.parts import JsonObject

APPROVES = ("proceed_once", "proceed_always", "proceed_always_server", "proceed_always_tool", "run_directly")
LONGEST_CHECK = 1.0
"""Seconds to see what becomes of a yes: the session looks at the files once more before the call runs."""


class BadAnswer(ValueError):
    """The answer cannot be given; the message says why."""


class AskedAgain(Exception):
    """The answer was taken, but what it approved has changed; the message says why."""


def main(argv: list[str]) -> int:
    args = _parser().parse_args(argv)
    try:
        return run(_answer(args), BadAnswer)
    except AskedAgain as again:  # the command line was right, as it is when the session refuses an answer
        complain(str(again))
        return exit_codes.ERROR


def _parser() -> Parser:
    parser = Parser(
        "assent answer",
        "Answers a call that is waiting for approval, in any of your sessions.\n"
        "SESSION and CALL can be abbreviated to their first characters; SESSION can be `latest`,\n"
        "and CALL the number of a call in `assent sessions show`.",
        "outcomes:\n  yes (proceed_once), always (proceed_always), server (proceed_always_server),\n"
        "  tool (proceed_always_tool), try (try_first: run it in a copy of the workspace first), no (cancel)\n"
        "after a trial:\n  apply (proceed_once), direct (run_directly), try (again), discard (cancel)",
    )
    parser.add_argument("session", metavar="SESSION")
    parser.add_argument("call", metavar="CALL", help="`assent sessions show` lists the calls that are waiting")
    parser.add_argument("outcome", metavar="OUTCOME", type=_outcome, help="see below")
    parser.add_argument("--reason", default="", help="with `no`: the reason, for the model")
    parser.add_argument(
        "--say", action="append", metavar="TEXT", help="your answer to the model's question; repeat for each question"
    )
    parser.add_argument("--content", metavar="FILE", help="approve, but write the content of this file instead")
    parser.add_argument("--args", metavar="JSON", help="approve, but with these arguments instead")
    parser.add_argument(
        "--without", type=int, action="append", metavar="N", help="with `apply`: leave out the part with this number"
    )
    parser.add_argument("--scope", type=int, default=1, metavar="N", help="with `always`: use the N-th scope offered")
    parser.add_argument("--minutes", type=_positive, metavar="N", help="with `always`: for N minutes only")
    parser.add_argument("--uses", type=at_least_one, metavar="N", help="with `always`: for N calls only")
    return parser


def _outcome(text: str) -> str:
    if text not in SHORT_OUTCOMES and text not in OUTCOMES:
        raise argparse.ArgumentTypeError(
            f"{text!r} is not an answer; say yes, no, always or try (assent answer --help)"
        )
    return text


def _positive(text: str) -> float:
    number = float(text)
    if not 0 < number < float("inf"):
        raise argparse.ArgumentTypeError(f"must be more than 0, not {text!r}")
    return number


async def _answer(args: argparse.Namespace) -> int:
    log = open_log(os.environ)
    try:
        session = (await find_session(log, args.session, os.path.realpath(os.getcwd()))).id
        state = fold(session, await log.read(session))
        call = _find_call(state, args.call)
        await _check_unanswered(log, session, call)
        command = _command(args, call)
        for line in (*question_lines(call, Style.for_stream(sys.stderr)), *_reach(command, call)):
            sys.stderr.write(line + "\n")
        sent = await terminal_sender(log, os.environ).send(session, command, after=state.seq)
        alone = len(state.waiting()) == 1  # otherwise it runs after the other questions are answered
        if sent.state == "taken" and alone and command.outcome in APPROVES:
            await _check_not_asked_again(log, session, call.request.call_id, state.seq)
        return _told(sent, session)
    finally:
        await log.close()


def _find_call(state: SessionState, name: str) -> AwaitingApproval:
    name = whole_name(name, state.calls)
    waiting = {call.request.call_id: call for call in state.waiting() if not call.answered_by}
    named = [one for one in state.calls if one.startswith(name)]
    known = state.calls if name in named or (named and not waiting.keys() & set(named)) else waiting
    call = find_by_start(name, known, f"nothing waits for an answer in session {state.session}")
    call_id = call.request.call_id
    if isinstance(call, AwaitingApproval) and not call.answered_by:
        return call
    by = state.answered_by.get(call_id)
    if by is not None:
        raise BadAnswer(f"call {call_id} has already been answered by {who(by)}")
    raise BadAnswer(f"call {call_id} is not waiting for an answer")


async def _check_unanswered(log: SessionLog, session: str, call: AwaitingApproval) -> None:
    if (answer := await untaken_answer(log, session, call.request.call_id)) is not None:
        raise BadAnswer(f"an answer from {who(answer.by)} is already recorded: {answer.outcome}")


async def _check_not_asked_again(log: SessionLog, session: str, call_id: str, after: int) -> None:
    changed = asyncio.Event()
    stop = log.watch(session, changed.set)
    try:
        async with asyncio.timeout(LONGEST_CHECK):
            while not await _runs(log, session, call_id, after):
                await changed.wait()
                changed.clear()
    except TimeoutError:  # it waits for its turn
        pass
    finally:
        stop()


async def _runs(log: SessionLog, session: str, call_id: str, after: int) -> bool:
    """Whether the call has started, or is over."""
    for envelope in await log.read(session, after):
        match envelope.event:
            case ApprovalRequested(call_id=one, approval=approval) if one == call_id:
                why = one_line(short_quotes(approval.why))
                raise AskedAgain(f"it did not run and needs a new answer, because {why}")
            case CallStarted(call_id=one) | CallFinished(call_id=one) if one == call_id:
                return True
            case _:
                pass
    return False


def _command(args: argparse.Namespace, call: AwaitingApproval) -> Answer:
    outcome: Outcome = SHORT_OUTCOMES.get(args.outcome) or args.outcome
    if args.outcome in OF_TRIALS and tried(call.approval.details) is None:
        raise BadAnswer(f"`{args.outcome}` is for a command that was tried; this one was not, or could not be tried")
    return Answer(
        call_id=call.request.call_id,
        outcome=outcome,
        digest=call.approval.digest,
        reason=args.reason,
        content=None if args.content is None else _content(args.content),
        args=None if args.args is None else _arguments(args.args),
        hunks=None if args.without is None else _without(args.without, call),
        answers=None if args.say is None else tuple(args.say),
        scope=_scope(args.scope, call),
        grant_seconds=args.minutes * 60 if args.minutes is not None else None,
        grant_uses=args.uses,
        by=me(),
    )


def _without(numbers: list[int], call: AwaitingApproval) -> tuple[int, ...]:
    trial = tried(call.approval.details)
    if trial is None:
        raise BadAnswer("--without is for a command that was tried")
    if wrong := [number for number in numbers if not 0 <= number < trial.parts]:
        raise BadAnswer(f"there is no part {wrong[0]}; the parts have numbers from 0 to {trial.parts - 1}")
    return tuple(number for number in range(trial.parts) if number not in numbers)


def _reach(command: Answer, call: AwaitingApproval) -> Iterator[str]:
    """What an "always" covers: by default, the first scope offered."""
    if command.outcome == "proceed_always":
        scopes = call.approval.scopes
        yield from (
            f"  always: {one_line(scope_in_words(one))}" for one in scopes if one.id == (command.scope or scopes[0].id)
        )


def _scope(number: int, call: AwaitingApproval) -> str:
    scopes = call.approval.scopes
    if number == 1 or not scopes:
        return ""
    if not 1 <= number <= len(scopes):
        raise BadAnswer(f"--scope must be between 1 and {len(scopes)}")
    return scopes[number - 1].id


def _content(path: str) -> str:
    try:
        return Path(path).read_bytes().decode()
    except (OSError, UnicodeDecodeError) as error:
        raise BadAnswer(f"cannot read {path}: {error}") from error


def _arguments(text: str) -> JsonObject:
    try:
        return msgspec.json.decode(text, type=JsonObject)
    except msgspec.MsgspecError as error:
        raise BadAnswer(f"--args is not a JSON object: {error}") from error


def _told(sent: Sent, session: str) -> int:
    match sent.state:
        case "taken":
            sys.stdout.write("Answered.\n")
        case "refused":
            complain(f"the answer was not accepted: {sent.problem}")
            return exit_codes.ERROR
        case _:
            sys.stdout.write(sent.waits(session) + "\n")
    return exit_codes.OK
