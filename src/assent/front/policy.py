"""What `assent policy` shows: rules and grants, why something is allowed, and what older calls would get today."""

import argparse
import os
import shlex
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import msgspec

from assent import exits
from assent.approval import ExecDetails, Mode
from assent.commands import RevokeGrant
from assent.config import data_folder
from assent.events import CallScheduled, Envelope
from assent.front.lookup import NotFound, find_by_start, find_session
from assent.front.rules import collect_rules, trust_store
from assent.front.send import me, send_and_wait
from assent.front.tools import session_tools
from assent.parts import JsonObject
from assent.policy.action import Action
from assent.policy.policy import Policy
from assent.policy.verdict import Verdict
from assent.scheduler.call import Terminal, ToolCall
from assent.scheduler.steps import make_action
from assent.screen import make_safe
from assent.session.log import SessionLog
from assent.session.sqlite import SqliteLog
from assent.session.state import SessionState, fold
from assent.tools.base import InvalidParams, ToolFailed
from assent.tools.registry import Registry

BAD_CALL = (InvalidParams, ToolFailed, msgspec.MsgspecError)
"""What a call that is to be explained may be refused with."""


async def run_policy(args: argparse.Namespace) -> int:
    log = SqliteLog(data_folder(os.environ))
    try:
        for line in await _lines(args, log):
            sys.stdout.write(line + "\n")
        return exits.OK
    finally:
        await log.close()


async def _lines(args: argparse.Namespace, log: SessionLog) -> list[str]:
    match args.action:
        case "list":
            return list(_listed(await _policy(args, log)))
        case "explain":
            return list(await _explained(args, await _policy(args, log)))
        case "revoke":
            return [await _revoked(log, *args.words)]
        case _:
            return list(await _replayed(args, log))


def _registry(folder: str) -> Registry:
    return session_tools(os.environ, folder, "")


async def _policy(args: argparse.Namespace, log: SessionLog) -> Policy:
    folder = os.path.realpath(os.getcwd())
    state: SessionState | None = None
    if args.session is not None:
        session = (await find_session(log, args.session, folder)).id
        state = fold(session, await log.read(session))
        folder = state.folder
    return _policy_for(folder, args.mode, state)


def _policy_for(folder: str, mode: Mode, state: SessionState | None) -> Policy:
    rules = collect_rules(os.environ, folder, _registry(folder).names())
    grants = state.grants.values() if state is not None else ()
    return Policy(rules, mode, grants, roots=(folder,), uses=state.grant_uses if state is not None else None)


# --- list ---


def _listed(policy: Policy) -> Iterator[str]:
    folder = os.path.realpath(os.getcwd())
    trust = trust_store(os.environ).rules(Path(folder))
    if trust.state in ("untrusted", "changed"):
        yield f"! the configuration of this folder is {trust.state}: its rules only tighten (see `assent trust`)"
    if not policy.rules:
        yield "No rules of your own. Commands that only read inside the folder run; changes and other commands ask."
    for rule in policy.rules:
        yield _safe(f"{rule.describe()}{f'  # {rule.note}' if rule.note else ''}")
    for grant in policy.grants.values():
        until = time.strftime("%Y-%m-%d %H:%M", time.localtime(grant.expires_at)) if grant.expires_at else ""
        limits = f", until {until}" if until else ""
        used = policy.uses.get(grant.id, 0)
        limits += f", {used} of {grant.max_uses} uses" if grant.max_uses is not None else f", used {used} times"
        yield _safe(f"grant {grant.id} by {grant.by or 'somebody'} (call {grant.from_call}){limits}: {grant.reach}")


# --- explain ---


async def _explained(args: argparse.Namespace, policy: Policy) -> Iterator[str]:
    if args.tool is None:
        command = args.words[0] if len(args.words) == 1 else shlex.join(args.words)
        return _explained_command(command, policy)
    return iter(await _explained_call(args.tool, msgspec.json.decode(args.args, type=JsonObject), policy))


def _explained_command(command: str, policy: Policy) -> Iterator[str]:
    folder = os.path.realpath(os.getcwd())
    details = policy.assess(ExecDetails(command, (), folder, "high", ""))
    assert isinstance(details, ExecDetails)
    action = Action("run_shell_command", {"command": command}, details, main=command, paths=(folder + "/",))
    verdict = policy.judge(action)
    yield from _verdict_lines(verdict)
    found = policy.command_judge(action, details).judgement(built_in=True)
    for part in found.parts:
        yield _safe(f"  {part.decision:<5} `{part.text}`  by {part.by}: {part.why}")
    yield _safe(f"  risk: {details.risk}. {details.risk_reason}")
    if verdict.plan is not None:
        yield "  It would run as exactly these words, without a shell."


async def _explained_call(tool: str, args: JsonObject, policy: Policy) -> list[str]:
    registry = _registry(os.path.realpath(os.getcwd()))
    found = registry.get(tool)
    if found is None:
        raise NotFound(registry.not_found(tool))
    return list(_verdict_lines(policy.judge(await make_action(policy, found, args, found.build(args)))))


def _verdict_lines(verdict: Verdict) -> Iterator[str]:
    yield _safe(f"{verdict.ruling}: {verdict.reason}.")
    if verdict.rule:
        yield _safe(f"  decided by {verdict.rule}")


# --- revoke ---


async def _revoked(log: SessionLog, session: str, grant: str) -> str:
    found = await find_session(log, session, os.path.realpath(os.getcwd()))
    state = fold(found.id, await log.read(found.id))
    grant_id = find_by_start(grant, state.grants).id
    sent = await send_and_wait(log, found.id, state.seq, RevokeGrant(grant_id, by=me()))
    return {"taken": "Revoked.", "refused": f"Not revoked: {sent.problem}"}.get(
        sent.state, f"Recorded. It takes effect when the session goes on: assent --resume {found.id}"
    )


# --- replay ---


async def _replayed(args: argparse.Namespace, log: SessionLog) -> Iterator[str]:
    name = args.words[0] if args.words else "latest"
    session = (await find_session(log, name, os.path.realpath(os.getcwd()))).id
    envelopes = await log.read(session)
    state = fold(session, envelopes)
    policy = _policy_for(state.folder, state.mode, None)
    registry = _registry(state.folder)
    then = _decisions(envelopes)
    lines = [await _replay(call, then, policy, registry) for call in state.calls.values()]
    changed = sum(line.startswith("!") for line in lines)
    return iter([*lines, f"{len(lines)} calls, {changed} would be judged differently now"])


def _decisions(envelopes: list[Envelope]) -> dict[str, str]:
    """How each call came to run: `allow` by itself, or by a person after a question."""
    return {
        envelope.event.call_id: "ask" if envelope.event.decision.source == "person" else "allow"
        for envelope in envelopes
        if isinstance(envelope.event, CallScheduled)
    }


async def _replay(call: ToolCall, then: dict[str, str], policy: Policy, registry: Registry) -> str:
    request = call.request
    before = then.get(request.call_id, "refused")
    label = _safe(f"{request.tool} {next((v for v in request.args.values() if isinstance(v, str)), '')}")
    tool = registry.get(request.tool)
    if tool is None or not isinstance(call, Terminal):
        return f"  {before:<7} → (not judged)  {label}"
    try:
        verdict = policy.judge(await make_action(policy, tool, request.args, tool.build(request.args)))
    except (InvalidParams, ToolFailed) as error:
        return f"  {before:<7} → (cannot be judged now: {_safe(str(error))})  {label}"
    mark = "!" if before != "refused" and verdict.ruling != before else " "
    return f"{mark} {before:<7} → {verdict.ruling:<5} {label}: {_safe(verdict.reason)}"


def _safe(text: str) -> str:
    return make_safe(text, "prompt").text.replace("\n", " ")
