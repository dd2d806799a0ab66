"""`assent undo SESSION [CALL]`: undoes a call's file change, as a call of its own in that session."""

import argparse
import os
import sys

from assent import exit_codes
from assent.app.applied_trials import applied_places, in_one_line
from assent.app.call_names import whole_name
from assent.app.command_sender import COMMAND_TIMEOUT, CommandSender, Sent, new_key, run_alone
from assent.app.identity import me
from assent.app.lookup import find_by_start, find_session
from assent.app.model_access import NoModel
from assent.app.opening import LocalClient, SessionSetup, open_session
from assent.app.person_calls import undo_command
from assent.app.session_log import SessionBusy, SessionInfo, SessionLog
from assent.app.session_state import SessionState, fold
from assent.app.storage import open_log
from assent.app.wording import safe
from assent.cli.parsing import Parser, complain
from assent.cli.running import run
from assent.config import BadSettings, load_settings
from assent.events import CallFinished
from assent.parts import DiffDisplay
from assent.policy.rules import BadRule


class NothingToUndo(ValueError):
    """There is nothing to undo; the message says why."""


def main(argv: list[str]) -> int:
    parser = Parser(
        "assent undo",
        "Undoes what a call wrote, or what a trial applied, unless the files have changed since.\n"
        "SESSION and CALL can be abbreviated to their first characters; SESSION can be `latest`,\n"
        "and CALL the number of a call in `assent sessions show`.\n"
        "Without CALL, undoes the newest change that has not been undone yet; run again, the one before it.\n"
        "To make an undone change again, undo the call that undid it: --list shows its id.",
    )
    parser.add_argument("session", metavar="SESSION")
    parser.add_argument("call", metavar="CALL", nargs="?", help="--list shows which calls can be undone")
    parser.add_argument(
        "--list",
        action="store_true",
        help="list the changes that can be undone, newest last, and the undone ones that can be made again",
    )
    return run(_main(parser.parse_args(argv)), NothingToUndo, BadRule, BadSettings)


async def _main(args: argparse.Namespace) -> int:
    log = open_log(os.environ)
    try:
        session = await find_session(log, args.session, os.path.realpath(os.getcwd()))
        state = fold(session.id, await log.read(session.id))
        if args.list:
            return _list(state)
        return _told(await _undo(log, session, state, _chosen(state, args.call)), session.id)
    finally:
        await log.close()


def _list(state: SessionState) -> int:
    for call_id in state.undoable():
        sys.stdout.write(safe(f"{call_id}  {_what(state, call_id)}") + "\n")
    for change, undo in state.redoable().items():
        line = f"{undo}  {_what(state, change)}  (undone; to make the change again, undo this call)"
        sys.stdout.write(safe(line) + "\n")
    if not (state.undoable() or state.redoable()):
        sys.stderr.write(f"{_nothing(state)}\n")
    return exit_codes.OK


def _what(state: SessionState, call_id: str) -> str:
    """The path of the file; for a trial, what it changed, and in which folder."""
    change = state.changes[call_id]
    places = applied_places(os.environ, [change]).get(change.effects, ())
    return f"{change.path}: {in_one_line(places)}" if places else change.path


def _nothing(state: SessionState) -> str:
    nothing = f"session {state.session} has no change that can be undone"
    if not (redoable := state.redoable()):
        return nothing
    change, undo = list(redoable.items())[-1]
    again = f"To make the newest one again, {safe(_what(state, change), 'label')}:"
    return f"{nothing}: all have been undone already.\n{again} assent undo {state.session} {undo}"


def _chosen(state: SessionState, name: str | None) -> str:
    if name is not None:
        return find_by_start(
            whole_name(name, state.calls), {call_id: call_id for call_id in state.changes}, _nothing(state)
        )
    undoable = state.undoable()
    if not undoable:
        raise NothingToUndo(_nothing(state))
    return undoable[-1]


async def _undo(log: SessionLog, session: SessionInfo, state: SessionState, call_id: str) -> CallFinished | Sent:
    """Undoes it in the process that has the session open; in this one, if none has."""
    key = new_key()
    command = undo_command(call_id, me())
    try:
        client = await _open(log, session, key)
    except SessionBusy:
        max_wait = COMMAND_TIMEOUT if state.open_prompt is None else 0  # a person's call waits for the end of the turn
        return await CommandSender(log).run(session.id, command, key, after=state.seq, max_wait=max_wait)
    async with client:
        return await run_alone(client, command, key)


async def _open(log: SessionLog, session: SessionInfo, key: str) -> LocalClient:
    setup = SessionSetup(
        env=os.environ,
        settings=load_settings(os.environ),
        client=f"undo {me()}",
        only=key,
        open_model=lambda _: NoModel(),
    )
    return await open_session(log, session, setup)


def _told(event: CallFinished | Sent, session: str) -> int:
    if isinstance(event, Sent):
        return _not_yet(event, session)
    if event.status != "success":
        complain(event.failure.message if event.failure is not None else "cancelled")
        return exit_codes.ERROR
    sys.stdout.write(safe(str(event.result.response.get("output", ""))) + "\n")
    if isinstance(event.display, DiffDisplay):
        sys.stdout.write(safe(event.display.diff))
    return exit_codes.OK


def _not_yet(sent: Sent, session: str) -> int:
    match sent.state:
        case "refused":
            complain(sent.problem)
            return exit_codes.ERROR
        case "busy":
            sys.stdout.write("Recorded. The session is busy; the change will be undone when its turn is over.\n")
        case _:
            sys.stdout.write(sent.waits(session) + "\n")
    return exit_codes.BUSY
