"""`assent undo SESSION [CALL]`: takes back what a call wrote, as a call of its own in that session."""

import argparse
import asyncio
import os
import secrets
import sys
from collections.abc import AsyncGenerator
from typing import cast

from msgspec.structs import replace

from assent import exits
from assent.app.lookup import find_by_start, find_session
from assent.app.send import me
from assent.app.session_environment import open_environment
from assent.app.wording import safe
from assent.cli.parsing import Parser, complain
from assent.cli.running import run
from assent.commands import RunTool
from assent.config import BadSettings, data_folder, load_settings
from assent.events import CallFinished, Envelope
from assent.models.base import Chunk, Request
from assent.parts import DiffDisplay
from assent.policy.rules import BadRule
from assent.session.log import SessionBusy, SessionInfo, SessionLog
from assent.session.runner import Runner
from assent.session.sqlite import SqliteLog
from assent.session.state import SessionState, fold
from assent.tools.undo import NAME

PATIENCE = 10.0
"""Seconds that we wait for a session that another process runs."""


class NothingToUndo(ValueError):
    """The message says why."""


class _NoModel:
    """Nothing is asked of it: only the undo is carried out."""

    name = ""

    async def stream(self, request: Request) -> AsyncGenerator[Chunk, None]:
        raise AssertionError("an undo asks no model")
        yield

    async def close(self) -> None:
        pass


def main(argv: list[str]) -> int:
    parser = Parser(
        "assent undo",
        "Takes back what a call of write_file, replace or save_memory wrote, unless the file changed since.\n"
        "SESSION and CALL may be shortened to their first characters; SESSION may be `latest`.\n"
        "Without CALL it is the newest change that was not taken back yet.",
    )
    parser.add_argument("session", metavar="SESSION")
    parser.add_argument("call", metavar="CALL", nargs="?")
    parser.add_argument("--list", action="store_true", help="show what can be taken back, the newest last")
    return run(_main(parser.parse_args(argv)), NothingToUndo, BadRule, BadSettings)


async def _main(args: argparse.Namespace) -> int:
    log = SqliteLog(data_folder(os.environ))
    try:
        session = await find_session(log, args.session, os.path.realpath(os.getcwd()))
        state = fold(session.id, await log.read(session.id))
        if args.list:
            for call_id in state.undoable():
                sys.stdout.write(safe(f"{call_id}  {state.changes[call_id].path}") + "\n")
            return exits.OK
        return _told(await _undo(log, session, state, _chosen(state, args.call)))
    except TimeoutError:
        sys.stdout.write("Recorded. The session is busy; the change is taken back when its turn is over.\n")
        return exits.BUSY
    finally:
        await log.close()


def _chosen(state: SessionState, name: str | None) -> str:
    if name is not None:
        return find_by_start(name, {call_id: call_id for call_id in state.changes})
    undoable = state.undoable()
    if not undoable:
        raise NothingToUndo(f"session {state.session} has no change that could be taken back")
    return undoable[-1]


async def _undo(log: SessionLog, session: SessionInfo, state: SessionState, call_id: str) -> CallFinished:
    """In whatever process has the session open; in this one, if none has."""
    key = secrets.token_urlsafe(12)
    command = RunTool(NAME, {"call_id": call_id}, by=me())
    try:
        runner = await _open(log, session, key)
    except SessionBusy:
        return await _elsewhere(log, state, key, command)
    async with runner:
        events = runner.subscribe()
        await runner.send(command, key)
        async for envelope in events:
            if _is_end(envelope, key):
                return cast(CallFinished, envelope.event)
    raise runner.failure or AssertionError("a session ends by a failure or by being closed")


async def _open(log: SessionLog, session: SessionInfo, key: str) -> Runner:
    settings, model = load_settings(os.environ), _NoModel()
    environment = open_environment(os.environ, session.folder, settings, session.id, model)
    options = replace(environment.options(settings, model.name, f"undo {me()}"), only=key)
    return await Runner.open(log, session.id, model, environment.registry, options)


async def _elsewhere(log: SessionLog, state: SessionState, key: str, command: RunTool) -> CallFinished:
    """What people run waits for the end of the turn, and so do not we."""
    news = asyncio.Event()
    stop = log.watch(state.session, news.set)
    try:
        await log.put(state.session, key, command)
        async with asyncio.timeout(PATIENCE if state.open_prompt is None else 0):
            while True:
                for envelope in await log.read(state.session, state.seq):
                    if _is_end(envelope, key):
                        return cast(CallFinished, envelope.event)
                await news.wait()
                news.clear()
    finally:
        stop()


def _is_end(envelope: Envelope, key: str) -> bool:
    return isinstance(envelope.event, CallFinished) and envelope.event.call_id == f"person-{key}"


def _told(event: CallFinished) -> int:
    if event.status != "success":
        complain(event.failure.message if event.failure is not None else "cancelled")
        return exits.ERROR
    sys.stdout.write(safe(str(event.result.response.get("output", ""))) + "\n")
    if isinstance(event.display, DiffDisplay):
        sys.stdout.write(safe(event.display.diff))
    return exits.OK
