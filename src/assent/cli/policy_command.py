"""`assent policy`: shows what is allowed here and why, replays a session under today's rules, and measures the gate."""

import argparse
import sys

from assent import exit_codes
from assent.cli.parsing import Parser, complain
from assent.config import BadSettings
from assent.policy.rules import BadRule

EPILOG = """\
  assent policy list [--session ID]          list the rules that apply here, or in a session with its grants
  assent policy explain -- 'git log | head'  show which rule decides each part of a command, and why
  assent policy explain --tool write_file --args '{"file_path": "a", "content": "x"}'
  assent policy revoke [SESSION] GRANT       revoke a grant of a session, or one that holds for all sessions here
  assent policy replay [SESSION]             show what today's rules would decide for each call of a session,
                                             with the mode and the grants it had then
  assent policy check --jsonl                read {"command", "allow": […]} lines, write decisions
  assent policy check-path --jsonl           read {"roots", "cwd", "path", "op"} lines, write verdicts
  assent policy check-text --jsonl           read {"text", "context"} lines, write safe texts
  assent policy check-url --jsonl            read {"url", "addresses"} lines, write verdicts"""


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
    parser = Parser("assent policy", "Shows what Assent may do without asking, and why.", EPILOG)
    actions = ("list", "explain", "revoke", "replay", "check", "check-path", "check-text", "check-url")
    parser.add_argument("action", nargs="?", choices=actions, default="list")
    parser.add_argument("words", nargs="*", metavar="WORD", help="a command, or a session and a grant")
    parser.add_argument(
        "--session", metavar="ID", help="with list and explain: use the folder, mode and grants of this session"
    )
    parser.add_argument(
        "--mode",
        choices=("default", "auto_edit", "auto_try", "contained", "yolo", "plan"),
        help="with explain: judge in this mode",
    )
    parser.add_argument("--tool", help="with explain: a tool other than the shell")
    parser.add_argument("--args", default="{}", metavar="JSON", help="with --tool: its arguments")
    parser.add_argument("--jsonl", action="store_true", help="read requests and write answers as JSON lines")
    return parser


def _act(args: argparse.Namespace) -> int:
    match args.action:
        case "check" | "check-path" | "check-text" | "check-url" if args.words or not _has_lines(args):
            complain("this reads JSON lines; to ask about a single command: assent policy explain -- 'git log | head'")
            return exit_codes.INPUT
        case "check" | "check-path" | "check-text" | "check-url":
            from assent.cli.policy_jsonl import answer_lines

            return answer_lines(args.action)
        case "explain" if not args.words and not args.tool:
            complain("give a command to explain: assent policy explain -- 'git log | head'")
            return exit_codes.INPUT
        case "revoke" if len(args.words) not in (1, 2):
            complain("give a grant, after its session if it has one: assent policy revoke [SESSION] GRANT")
            return exit_codes.INPUT
        case _:
            from assent.app.policy_report import BAD_CALL, run_policy
            from assent.cli.running import run

            return run(run_policy(args), *BAD_CALL)


def _has_lines(args: argparse.Namespace) -> bool:
    """Whether there are lines to read. On a terminal, the person and Assent would wait for each other."""
    return args.jsonl or not sys.stdin.isatty()
