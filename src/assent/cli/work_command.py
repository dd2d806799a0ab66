"""`assent work`: runs sessions for the servers of a cluster."""

import argparse
import asyncio
import os
import sys
from typing import TYPE_CHECKING

from assent import exit_codes
from assent.cli import engine_options
from assent.cli.parsing import BadInput, Parser, complain

if TYPE_CHECKING:  # imported only when needed
    from assent.app.worker_setup import WorkerSetup

EPILOG = """\
  assent work --store postgresql://… --engine temporal://…                        every worker has every workspace
  assent work --store postgresql://… --engine temporal://… --workspace-host build1   this worker has those of build1

On SIGTERM, running turns may finish or reach their next question, for at most --drain seconds; the sessions then
continue on other workers. docs/scaling.md describes how to set up a cluster."""


def main(argv: list[str]) -> int:
    args = build_parser().parse_args(argv)
    from assent.app.session_log import LogError

    try:
        return _work(args)
    except LogError as error:
        complain(str(error))
        return exit_codes.STORAGE


def build_parser() -> Parser:
    parser = Parser("assent work", "Runs sessions for the servers of a cluster.", EPILOG)
    add = parser.add_argument
    add("--store", "--log", metavar="URL", help=engine_options.LOG_HELP)
    engine_options.add_to(parser)
    add(
        "--workspace-host",
        metavar="HOST",
        default="",
        help="run only sessions whose folders --workspaces assigns to this host (default: those assigned to no host)",
    )
    engine_options.add_root(parser)
    add(
        "--drain",
        type=float,
        default=60.0,
        metavar="SECONDS",
        help="how long to wait for running turns when stopping (default: 60)",
    )
    add(
        "--listen",
        metavar="HOST[:PORT]",
        default="127.0.0.1",
        help="the address in the private network where servers connect for live text (default: this machine only)",
    )
    add("--probe", metavar="HOST:PORT", help="serve /healthz, /readyz and /metrics at this address (default: off)")
    add("--address", metavar="URL", default="", help="the URL of the page, for links in webhooks")
    return parser


def _work(args: argparse.Namespace) -> int:
    from assent.app.storage import LOG_VARIABLE
    from assent.app.worker_setup import WorkerSetup
    from assent.config import load_settings

    env = dict(os.environ) | ({} if args.store is None else {LOG_VARIABLE: args.store})
    engine, workspaces = engine_options.chosen(args, env)
    if not engine:
        raise BadInput("name the engine to work for: --engine temporal://HOST:PORT/NAMESPACE")
    setup = WorkerSetup(
        env=env,
        settings=load_settings(env),
        engine=engine,
        workspaces=workspaces,
        host=args.workspace_host,
        roots=_roots(args.root, env),
        drain=args.drain,
        listen=_place("--listen", args.listen),
        probe=None if args.probe is None else _place("--probe", args.probe),
        address=args.address,
    )
    asyncio.run(_until_stopped(setup))
    return exit_codes.OK


def _place(option: str, text: str) -> tuple[str, int]:
    host, colon, port = text.rpartition(":")
    if not colon or text.endswith("]"):
        host, port = text, "0"
    if not host or not port.isascii() or not port.isdigit() or int(port) > 65_535:
        raise BadInput(f"{option} must be HOST or HOST:PORT, not {text!r}")
    return host.strip("[]"), int(port)


def _roots(given: list[str], env: dict[str, str]) -> tuple[str, ...]:
    roots = [os.path.realpath(os.path.expanduser(root)) for root in given]
    if missing := [root for root in roots if not os.path.isdir(root)]:
        raise BadInput(f"--root must be an existing folder, not {missing[0]}")
    return tuple(roots) or (os.path.realpath(env.get("HOME") or "/"), os.path.realpath(os.getcwd()))


async def _until_stopped(setup: "WorkerSetup") -> None:
    from assent.app.stop_signals import on_stop_signal
    from assent.app.worker_setup import work

    stop = asyncio.Event()

    def interrupted() -> None:
        _say("stopping; sessions continue on other workers (a second signal exits at once)")
        stop.set()

    on_stop_signal(interrupted)
    await work(setup, stop, _say)


def _say(text: str) -> None:
    sys.stderr.write(f"assent work: {text}\n")
    sys.stderr.flush()
