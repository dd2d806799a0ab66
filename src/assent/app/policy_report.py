"""What `assent policy` shows: rules and grants, why something is allowed, and what earlier calls would get today."""

import argparse
import os
import shlex
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import msgspec
from msgspec import Struct

from assent import exit_codes
from assent.app.identity import me
from assent.app.lookup import NotFound, find_by_start, find_session
from assent.app.policy_replay import Replay
from assent.app.rule_sources import approved_files, kept_grants, trust_store
from assent.app.session_environment import SessionEnvironment, open_environment
from assent.app.storage import open_log, refresh_shared
from assent.app.terminal_sender import terminal_sender
from assent.app.wording import count, one_line, who
from assent.approval import ExecDetails, Grant, Mode
from assent.commands import RevokeGrant
from assent.config import load_settings
from assent.parts import JsonObject
from assent.policy.action import Action
from assent.policy.decision import Verdict
from assent.policy.file_approvals import unapproved_in_words
from assent.policy.policy import Policy
from assent.scheduler.transitions import make_action
from assent.session.log import SessionLog
from assent.session.state import SessionState, fold
from assent.tools.tool import InvalidParams, ToolFailed

BAD_CALL = (InvalidParams, ToolFailed, msgspec.MsgspecError)
"""Raised for a call that is invalid, so it cannot be explained."""


async def run_policy(args: argparse.Namespace) -> int:
    log = open_log(os.environ)
    try:
        await refresh_shared(log)
        for line in await _lines(args, log):
            sys.stdout.write(line + "\n")
        return exit_codes.OK
    finally:
        await log.close()


async def _lines(args: argparse.Namespace, log: SessionLog) -> list[str]:
    match args.action:
        case "list":
            return list(_listed(await _place(args, log)))
        case "explain":
            return list(await _explained(args, await _place(args, log)))
        case "revoke":
            return [await _dropped(*args.words) if len(args.words) == 1 else await _revoked(log, *args.words)]
        case _:
            return await _replayed(args, log)


class Place(Struct, frozen=True):
    """Where something is judged: a folder with its tools and its policy, or those of a session."""

    environment: SessionEnvironment
    policy: Policy
    counted: bool
    """Whether it is a session, which counts how often its grants are used."""


async def _place(args: argparse.Namespace, log: SessionLog) -> Place:
    """The folder of the given session, with its mode and its grants; otherwise this folder."""
    here = os.path.realpath(os.getcwd())
    if args.session is None:
        return _place_of(here, args.mode or "default", None)
    session = (await find_session(log, args.session, here)).id
    state = fold(session, await log.read(session))
    return _place_of(state.folder, args.mode or state.mode, state)


def _place_of(folder: str, mode: Mode, state: SessionState | None) -> Place:
    """Without its servers: nothing is started just to explain a rule."""
    environment = open_environment(os.environ, folder, load_settings(os.environ))
    rules = environment.rules()
    grants = state.grants.values() if state is not None else ()
    uses = state.grant_uses if state is not None else None
    files = approved_files(os.environ, folder)
    keeper = kept_grants(os.environ, folder)
    policy = Policy(rules, mode, grants, roots=(folder,), uses=uses, files=files, keeper=keeper)
    return Place(environment, policy, counted=state is not None)


# --- list ---


def _listed(place: Place) -> Iterator[str]:
    policy = place.policy
    folder = place.environment.folder
    trust = trust_store(os.environ).rules(Path(folder))
    if trust.state in ("untrusted", "changed"):
        yield one_line(
            f"! the configuration of {folder} is {trust.state}: its rules can only restrict; see `assent trust`"
        )
    if not policy.rules:
        yield "No rules of your own. Commands that only read in the folder run; anything else needs approval."
    for rule in policy.rules:
        yield one_line(f"{rule.describe()}{f'  # {rule.note}' if rule.note else ''}")
    for grant in policy.grants.values():
        until = time.strftime("%Y-%m-%d %H:%M", time.localtime(grant.expires_at)) if grant.expires_at else ""
        limits = f", until {until}" if until else ""
        limits += _used(policy.uses.get(grant.id, 0), grant, counted=place.counted)
        yield one_line(f"grant {grant.id} by {who(grant.by)} (call {grant.from_call}){limits}: {grant.reach}")


def _used(times: int, grant: Grant, *, counted: bool) -> str:
    """Uses are counted in each session, so without one nobody knows."""
    if grant.max_uses is not None:
        return f", {times} of {grant.max_uses} uses"
    return f", used {count(times, 'time')} in this session" if counted else ""


# --- explain ---


async def _explained(args: argparse.Namespace, place: Place) -> Iterator[str]:
    if args.tool is None:
        command = args.words[0] if len(args.words) == 1 else shlex.join(args.words)
        return _explained_command(command, place.environment.folder, place.policy)
    return iter(await _explained_call(args.tool, msgspec.json.decode(args.args, type=JsonObject), place))


def _explained_command(command: str, folder: str, policy: Policy) -> Iterator[str]:
    details = policy.assess(ExecDetails(command=command, roots=(), directory=folder, risk="high", risk_reason=""))
    assert isinstance(details, ExecDetails)
    action = Action(
        tool="run_shell_command", args={"command": command}, details=details, main=command, paths=(folder + "/",)
    )
    verdict = policy.judge(action)
    yield from _verdict_lines(verdict)
    found = policy.command_judge(action, details).judgement(built_in=True)
    for part in found.parts:
        yield one_line(f"  {part.decision:<5} `{part.text}`  by {part.by}: {part.why}")
    yield one_line(f"  risk: {details.risk}. {details.risk_reason}")
    if unapproved := policy.unapproved(details):
        yield one_line(f"  files: {unapproved_in_words(unapproved)}.")
    if verdict.sandbox is not None:
        yield f"  It would run as written, in the sandbox `{verdict.sandbox}`."
    if verdict.plan is not None:
        where = "" if verdict.plan.sandbox == "off" else f", in the sandbox `{verdict.plan.sandbox}`"
        yield f"  It would run as exactly these words, without a shell{where}."
        if verdict.plan.writable:
            yield one_line(f"  It may also write to {', '.join(verdict.plan.writable)}.")
        if verdict.plan.sandbox == "network":
            yield one_line(f"  It may connect without asking to {', '.join(verdict.plan.domains) or 'no host'}.")


async def _explained_call(tool: str, args: JsonObject, place: Place) -> list[str]:
    found = place.environment.registry.get(tool)
    if found is None:
        raise NotFound(place.environment.registry.not_found(tool))
    action = await make_action(place.policy, found, args, found.build(args))
    return list(_verdict_lines(place.policy.judge(action)))


def _verdict_lines(verdict: Verdict) -> Iterator[str]:
    yield one_line(f"{verdict.ruling}: {verdict.reason.rstrip('.')}.")
    if verdict.rule:
        yield one_line(f"  decided by {verdict.rule}")


# --- revoke ---


async def _dropped(grant: str) -> str:
    """A grant of earlier sessions that holds here. Sessions that are open keep it until they are opened again, unless
    they run in a cluster."""
    kept = kept_grants(os.environ, os.path.realpath(os.getcwd()))
    found = find_by_start(grant, {one.id: one for one in kept.standing()}, "no grant holds for all sessions here")
    kept.drop(found.id)
    await kept.settled()
    return f"Revoked: {one_line(found.reach)}"


async def _revoked(log: SessionLog, session: str, grant: str) -> str:
    found = await find_session(log, session, os.path.realpath(os.getcwd()))
    state = fold(found.id, await log.read(found.id))
    grant_id = find_by_start(grant, state.grants, f"session {state.session} has no grants").id
    sent = await terminal_sender(log, os.environ).send(found.id, RevokeGrant(grant_id, by=me()), after=state.seq)
    match sent.state:
        case "taken":
            return "Revoked."
        case "refused":
            return f"Not revoked: {one_line(sent.problem)}"
        case _:
            return sent.waits(found.id)


# --- replay ---


async def _replayed(args: argparse.Namespace, log: SessionLog) -> list[str]:
    name = args.words[0] if args.words else "latest"
    session = (await find_session(log, name, os.path.realpath(os.getcwd()))).id
    envelopes = await log.read(session)
    state = fold(session, envelopes)
    place = _place_of(state.folder, state.mode, None)
    there = place.environment
    there.registry.hand_over(state.changes)
    not_started = (
        *(f"mcp_{server.name}_" for server in there.servers),
        *(["discovered_tool_"] if there.commands is not None else ()),
    )
    return await Replay(state, place.policy.rules, there.registry, there.workspace, not_started).lines(envelopes)
