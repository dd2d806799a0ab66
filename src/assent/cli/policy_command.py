"""`assent policy`: what is allowed here and why, what yesterday's calls would get today, and the gate for measuring."""

import argparse
import sys

from assent import exit_codes
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
        return exit_codes.CONFIG


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
            return exit_codes.INPUT
        case "check" | "check-path" | "check-text" | "check-url":
            from assent.cli.policy_jsonl import answer_lines

            return answer_lines(args.action)
        case "explain" if not args.words and not args.tool:
            complain("say what to explain: assent policy explain -- 'git log | head'")
            return exit_codes.INPUT
        case "revoke" if len(args.words) != 2:
            complain("say which: assent policy revoke SESSION GRANT")
            return exit_codes.INPUT
        case _:
            from assent.app.policy_report import BAD_CALL, run_policy
            from assent.cli.running import run

            return run(run_policy(args), *BAD_CALL)


def _has_lines(args: argparse.Namespace) -> bool:
    """A person who types the word alone would wait for an answer, and we for theirs."""
    return args.jsonl or not sys.stdin.isatty()
