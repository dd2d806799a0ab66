"""`assent policy`: what is allowed here and why, what yesterday's calls would get today, and the gate for measuring."""

import argparse
import sys
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import msgspec

from assent import exits
from assent.cli.parsing import Parser, complain
from assent.config import BadSettings
from assent.policy.rules import BadRule

EPILOG = """\
  assent policy list [--session ID]          the rules that hold here, or in a session, with its grants
  assent policy explain -- 'git log | head'  which rule decides each part of a command, and why
  assent policy explain --tool write_file --args '{"file_path": "a", "content": "x"}'
  assent policy revoke SESSION GRANT         takes a grant back
  assent policy replay [SESSION]             what each call of a session would get with today's rules,
                                             with the mode and the grants that it had then
  assent policy check --jsonl                {"command", "allow": […]} lines in, decisions out
  assent policy check-path --jsonl           {"roots", "cwd", "path", "op"} lines in, verdicts out
  assent policy check-text --jsonl           {"text", "context"} lines in, safe texts out
  assent policy check-url --jsonl            {"url", "addresses"} lines in, verdicts out"""


def main(argv: list[str]) -> int:
    words, command = (argv[: argv.index("--")], argv[argv.index("--") + 1 :]) if "--" in argv else (argv, [])
    args = _parser().parse_args(words)
    args.words += command
    try:
        return _act(args)
    except (BadRule, BadSettings) as error:
        complain(str(error))
        return exits.CONFIG


def _parser() -> Parser:
    parser = Parser("assent policy", "What Assent may do without asking, and why.", EPILOG)
    actions = ("list", "explain", "revoke", "replay", "check", "check-path", "check-text", "check-url")
    parser.add_argument("action", nargs="?", choices=actions, default="list")
    parser.add_argument("words", nargs="*", metavar="WORD", help="a command, or a session and a grant")
    parser.add_argument(
        "--session", metavar="ID", help="with list and explain: the folder, mode and grants of this session"
    )
    parser.add_argument("--mode", choices=("default", "auto_edit", "yolo", "plan"), help="with explain: in this mode")
    parser.add_argument("--tool", help="with explain: another tool than the shell")
    parser.add_argument("--args", default="{}", metavar="JSON", help="with --tool: its arguments")
    parser.add_argument("--jsonl", action="store_true", help="read requests and write answers as JSON lines")
    return parser


def _act(args: argparse.Namespace) -> int:
    match args.action:
        case "check" | "check-path" | "check-text" | "check-url" if args.words or not _has_lines(args):
            complain("this reads JSON lines; about one command ask: assent policy explain -- 'git log | head'")
            return exits.INPUT
        case "check" | "check-path" | "check-text" | "check-url":
            return _lines(_checker(args.action))
        case "explain" if not args.words and not args.tool:
            complain("say what to explain: assent policy explain -- 'git log | head'")
            return exits.INPUT
        case "revoke" if len(args.words) != 2:
            complain("say which: assent policy revoke SESSION GRANT")
            return exits.INPUT
        case _:
            from assent.cli.running import run
            from assent.front.policy import BAD_CALL, run_policy

            return run(run_policy(args), *BAD_CALL)


# --- measuring the gate ---


def _has_lines(args: argparse.Namespace) -> bool:
    """A person who types the word alone would wait for an answer, and we for theirs."""
    return args.jsonl or not sys.stdin.isatty()


def _checker(action: str) -> Callable[[dict[str, Any]], dict[str, Any]]:
    match action:
        case "check":
            from assent.policy.shell import check

            return check
        case "check-path":
            from assent.files.workspace import check_path

            return check_path
        case "check-text":
            from assent.screen import check_text

            return check_text
        case _:
            from assent.web.urls import check_url_line

            return check_url_line


def _lines(check: Callable[[dict[str, Any]], dict[str, Any]]) -> int:
    """One answer a line, also for a line that cannot be used: whoever counts must not lose step."""
    for answer in _answers(check, sys.stdin.buffer):
        sys.stdout.buffer.write(answer + b"\n")
        sys.stdout.buffer.flush()
    return exits.OK


def _answers(check: Callable[[dict[str, Any]], dict[str, Any]], lines: Iterable[bytes]) -> Iterator[bytes]:
    for line in lines:
        if line.strip():
            yield _encoded(_answer(check, line))


def _answer(check: Callable[[dict[str, Any]], dict[str, Any]], line: bytes) -> dict[str, Any]:
    import json  # it keeps lone surrogates, which msgspec refuses and a hostile line may have

    try:
        request = json.loads(line)
        if not isinstance(request, dict):
            raise ValueError("a line must be a JSON object")
        return check(request)  # pyright: ignore[reportUnknownArgumentType]
    except Exception as error:
        return {"error": f"{type(error).__name__}: {error}", "decision": "ask"}


def _encoded(answer: dict[str, Any]) -> bytes:
    try:
        return msgspec.json.encode(answer)
    except (msgspec.MsgspecError, UnicodeEncodeError):
        import json

        return json.dumps(answer).encode()
