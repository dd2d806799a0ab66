"""`assent sessions list | show | export | fork`: lists sessions, and shows, exports or forks one."""

import os
import sys
import time
from collections import defaultdict
from collections.abc import Iterable, Mapping

from msgspec import Struct

from assent import exit_codes
from assent.app.answer_words import answer_command
from assent.app.export import event_lines, telemetry_lines
from assent.app.identity import me
from assent.app.lookup import begun_sessions, find_session
from assent.app.output_folders import fork_with_outputs
from assent.app.pricing import Spending, cost_words
from assent.app.question_text import question_lines, scope_in_words
from assent.app.secret_masking import export_masker
from assent.app.session_log import SessionInfo, Unreadable
from assent.app.session_state import fold_readable
from assent.app.storage import open_log
from assent.app.style import Style
from assent.app.wording import attached_words, count, ended_badly, one_line, safe, took, who
from assent.cli.parsing import Parser, complain
from assent.cli.running import run
from assent.config import BadSettings, load_settings, mcp_servers, settings_file
from assent.events import (
    CallFinished,
    CallRequested,
    CallScheduled,
    ConnectionEnded,
    ConnectionRequested,
    Envelope,
    ModelReplied,
    PromptSubmitted,
    TurnFinished,
)
from assent.front.headless.output_formats import call_label
from assent.parts import Text
from assent.secrets.mask import Masker, Unmasked


def main(argv: list[str]) -> int:
    args = _parser().parse_args(argv)
    export = _Export(telemetry=args.telemetry, unmasked=args.unmasked)
    return run(_main(args.action, args.session, export), BadSettings)


class _Export(Struct, frozen=True):
    telemetry: bool
    unmasked: bool

    def lines(self, entries: list[Envelope | Unreadable]) -> Iterable[str]:
        masker = Unmasked() if self.unmasked else _masker()
        if self.telemetry:
            return telemetry_lines((entry for entry in entries if isinstance(entry, Envelope)), masker)
        return event_lines(entries, masker)


def _masker() -> Masker:
    settings = load_settings(os.environ)
    return export_masker(os.environ, settings, mcp_servers(settings.mcp, settings_file(os.environ), "user"))


def _parser() -> Parser:
    parser = Parser(
        "assent sessions",
        "Lists sessions, shows one, exports it as JSON lines, or forks it into a new one.\n"
        "ID can be abbreviated to its first characters; `latest` is the newest session of this folder; for show and\n"
        "export, the newest of all if there is none.",
    )
    parser.add_argument("action", choices=("list", "show", "export", "fork"), nargs="?", default="list")
    parser.add_argument("session", metavar="ID", nargs="?", default="latest")
    parser.add_argument("--telemetry", action="store_true", help="with export: one record per prompt, call and error")
    parser.add_argument("--unmasked", action="store_true", help="with export: include the secrets that are in the log")
    return parser


async def _main(action: str, name: str, export: _Export) -> int:
    log = open_log(os.environ, read_only=action != "fork")
    try:
        if action == "list":
            _write(_list_lines(await begun_sessions(log), await log.spent_by_session()))
            return exit_codes.OK
        here = os.path.realpath(os.getcwd())
        session = (await find_session(log, name, here, only_reads=action != "fork")).id
        if action == "fork":
            _write([await fork_with_outputs(os.environ, log, session, by=me())])
            return exit_codes.OK
        return _tell(action, session, await log.salvage(session), export)
    finally:
        await log.close()


def _tell(action: str, session: str, entries: list[Envelope | Unreadable], export: _Export) -> int:
    """Writes whatever can be read. Unreadable events are shown in their place, and change the exit code."""
    if action == "export":
        _write(export.lines(entries))
    else:
        _write(_show_lines(session, entries, Style.for_stream(sys.stdout)))
    lost = [entry for entry in entries if isinstance(entry, Unreadable)]
    if not lost:
        return exit_codes.OK
    complain(f"{len(lost)} of {len(entries)} events of session {session} cannot be read; the others are shown")
    return exit_codes.STORAGE


def _list_lines(sessions: list[SessionInfo], spent: Mapping[str, Spending]) -> Iterable[str]:
    if not sessions:
        yield 'No sessions yet. Start one with: assent -p "…"'
    for session in sessions:
        when = time.strftime("%Y-%m-%d %H:%M", time.localtime(session.updated_at))
        title = safe(session.title or "(no prompt)", "label") + (" (archived)" if session.archived else "")
        title = f"[{count(session.waiting, 'question')}] {title}" if session.waiting else title
        cost = cost_words(spent.get(session.id, Spending()))
        cost = "no price" if cost == "?" else cost
        yield f"{session.id}  {when}  {session.events:>5} events  {cost:>8}  {safe(session.folder, 'label')}  {title}"


def _show_lines(session: str, entries: list[Envelope | Unreadable], style: Style) -> Iterable[str]:
    state = fold_readable(session, (entry for entry in entries if isinstance(entry, Envelope)))
    yield f"session {state.session} · {safe(state.folder, 'label')} · {state.model} · mode {state.mode}"
    numbers = {call_id: f"{number}:" for number, call_id in enumerate(state.calls, start=1)}
    for entry in entries:
        if isinstance(entry, Unreadable):
            yield style.red(f"  ! event {entry.seq} cannot be read: {safe(entry.problem, 'label')}")
        else:
            yield from _event_lines(entry, defaultdict(lambda: "?:", numbers), style)
    for call in state.waiting():
        yield ""
        yield from question_lines(call, style)
        yield f"  answer with: {answer_command(state.session, call.request.call_id, call.approval)}"
        for number, scope in enumerate(call.approval.scopes if len(call.approval.scopes) > 1 else (), start=1):
            yield style.dim(f"    always --scope {number}: {one_line(scope_in_words(scope))}")


def _event_lines(envelope: Envelope, numbers: Mapping[str, str], style: Style) -> Iterable[str]:
    """`numbers` identifies the call that a line is about: several may run at the same time."""
    match envelope.event:
        case PromptSubmitted(text=text, attached=attached):
            yield f"\n{style.cyan('>')} {safe(text)}"
            if along := attached_words(attached):
                yield style.dim(f"  {along}")
        case ModelReplied(parts=parts):
            for part in parts:
                if isinstance(part, Text):
                    yield safe(part.text, "output")
        case CallRequested(request=request):
            yield f"  ▸ {numbers[request.call_id]} {call_label(request, style)}"
        case CallScheduled() | CallFinished() | ConnectionRequested() | ConnectionEnded() as event:
            yield style.dim(f"    {numbers[event.call_id]} {_progress(event)}")
        case TurnFinished(status=status, failure=failure):
            why = f": {safe(failure.message, 'label')}" if failure else ""
            yield style.dim(f"  — {status}{why}")
        case _:
            pass


def _progress(event: CallScheduled | CallFinished | ConnectionRequested | ConnectionEnded) -> str:
    match event:
        case CallScheduled(decision=decision):
            by = f" by {safe(who(decision.by), 'label')}" if decision.by else ""
            return f"allowed{by}: {safe(decision.reason, 'label')}"
        case CallFinished(status=status, failure=failure):
            why = safe(failure.message, "label") if failure else ended_badly(event)
            after = f" after {time}" if (time := took(event)) else ""
            return f"{status}{after}{why and f': {why}'}"
        case ConnectionRequested(connection=number, host=host, port=port, allowed=allowed, reason=reason):
            verdict = "allowed" if allowed else "refused"
            return safe(f"connection {number} to {host} port {port} {verdict}: {reason}", "label")
        case ConnectionEnded(connection=number, sent=sent, received=received, problem=problem):
            why = safe(problem, "label")
            return f"connection {number}: {sent:,} bytes sent, {received:,} received{why and f': {why}'}"


def _write(lines: Iterable[str]) -> None:
    for line in lines:
        sys.stdout.write(line + "\n")
