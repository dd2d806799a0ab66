"""The command line: runs a command, a prompt or the terminal UI. It imports what it needs only when it needs it, so
that `assent --help` is instant."""

import atexit
import gc
import os
import sys
from collections.abc import Sequence
from importlib import import_module

from assent.cli.child_guard import refuse_inside
from assent.cli.streams import prepare_streams

TYPE_CHECKING = False  # type checkers take it for true; `typing` would be a fifth of the time of `assent --version`
if TYPE_CHECKING:
    import argparse

    from assent.config import Settings
    from assent.front.headless.one_prompt import Asking, Run
    from assent.policy.rules import Rule

COMMANDS = (
    *("sessions", "answer", "policy", "trust", "mcp", "undo", "serve", "attach", "tour"),
    *("models", "login", "logout", "sandbox", "log", "audit", "work"),
)
"""Each is a module of this package, imported on demand."""


def main(argv: Sequence[str] | None = None) -> int:
    args = list(sys.argv[1:] if argv is None else argv)
    prepare_streams()
    collect_rarely()
    atexit.register(gc.freeze)  # a last search for garbage would take a tenth of a short run, and free nothing we need
    sys.excepthook = _report_crash
    try:
        try:
            refused = refuse_inside(args)
            return _dispatch(args) if refused is None else refused
        finally:
            sys.stdout.flush()  # here, where a closed pipe can still be handled
    except KeyboardInterrupt:
        return 130
    except (OSError, ValueError) as error:
        from assent.cli.error_reports import report_error

        return report_error(error)


def _report_crash(_: type[BaseException], error: BaseException, __: object) -> None:
    from assent.app.crash import trace_of

    sys.stderr.write(trace_of(error))


def collect_rarely() -> None:
    """Makes garbage collection rarer: nearly everything we create (events, calls, modules) stays alive.

    With the default thresholds, collection takes as much time as the scheduler itself when thousands of calls run. The
    first threshold is above what the imports of a short run create.
    """
    gc.set_threshold(100_000, 20, 50)


def _dispatch(args: list[str]) -> int:
    if args[:1] in (["--version"], ["-v"]):
        from assent import __version__

        sys.stdout.write(f"assent {__version__}\n")
        return 0
    from assent.cli.quick_imports import import_argparse

    import_argparse()
    match args[:1]:
        case [name] if name in COMMANDS:
            return import_module(f"assent.cli.{name}_command").main(args[1:])
        case [word] if not word.startswith("-") and len(word.split()) == 1:
            from assent.cli.parsing import unknown_command

            return unknown_command(args, COMMANDS)
        case _:
            return _without_command(args)


def _without_command(argv: list[str]) -> int:
    """Opens the terminal UI, or runs one prompt and exits."""
    from assent.cli.main_options import build_parser, wants_ui
    from assent.cli.parsing import BadInput

    args = build_parser().parse_args(argv)
    if args.words and args.prompt is not None:
        raise BadInput("give the prompt once: with -p to run it and exit, without -p to start the UI with it")
    if wants_ui(args):
        return _open_terminal(args)
    args.prompt = " ".join(args.words) if args.words else args.prompt
    if args.prompt is None and args.resume is None and sys.stdin.isatty():
        raise BadInput('give a prompt with -p "…", or take the tour: assent tour\nTry: assent --help')
    return _run_prompt(args)


def _open_terminal(args: "argparse.Namespace") -> int:
    from assent.cli.main_options import as_text, chosen_model, given_rules, working_folder
    from assent.cli.parsing import BadInput
    from assent.config import load_settings

    if os.environ.get("TERM", "dumb") == "dumb":
        raise BadInput('this terminal cannot show the UI (TERM is unset or "dumb"); run a single prompt with -p "…"')
    settings = load_settings(os.environ)
    rules, folder = given_rules(args, settings), working_folder()
    from assent.front.tui.local_host import LocalHost
    from assent.front.tui.terminal_app import show_terminal

    host = LocalHost(folder, settings, os.environ, model=chosen_model(args), effort=args.effort, rules=rules)
    prompt = as_text(" ".join(args.words))
    return show_terminal(host, session=args.resume, mode=args.approval_mode, prompt=prompt, terminal=settings.terminal)


def _run_prompt(args: "argparse.Namespace") -> int:
    from assent.cli.quick_imports import import_libraries

    import_libraries()
    from assent.cli.main_options import given_rules, who_is_asked, whole_prompt, working_folder
    from assent.cli.parsing import BadInput
    from assent.config import BadSettings, load_settings

    try:
        settings = load_settings(os.environ)
        rules, folder, asking = given_rules(args, settings), working_folder(), who_is_asked(args.ask)
        prompt = whole_prompt(args.prompt, resuming=args.resume is not None)
    except BadInput as error:
        return _refuse(args, "input", error)
    except BadSettings as error:
        return _refuse(args, "config", error)
    from assent.app.session_log import LogError
    from assent.app.storage import open_log

    try:
        log = open_log(os.environ)  # a thread opens the file while we import the rest
    except LogError as error:
        return _refuse(args, "storage", error)
    import asyncio

    from assent.app.crash import mask_log
    from assent.front.headless.one_prompt import run

    mask_log()
    return asyncio.run(run(_request(args, settings, rules, prompt, folder, asking), log))


def _refuse(args: "argparse.Namespace", kind: str, error: Exception) -> int:
    """Reports a failure before there is a session; whoever reads the output still gets a result."""
    from assent.front.headless.output_formats import make_output
    from assent.front.headless.summary import failed
    from assent.parts import Failure

    summary = failed(Failure(kind, str(error)))
    make_output(args.output_format).finish(summary)
    return summary.exit_code()


def _request(
    args: "argparse.Namespace",
    settings: "Settings",
    rules: "tuple[Rule, ...]",
    prompt: str | None,
    folder: str,
    asking: "Asking",
) -> "Run":
    from assent.cli.main_options import as_text, chosen_model
    from assent.front.headless.one_prompt import Run

    return Run(
        prompt=prompt,
        model=chosen_model(args),
        mode=args.approval_mode,
        effort=args.effort,
        settings=settings,
        rules=rules,
        output=args.output_format,
        asking=asking,
        resume=args.resume,
        folder=folder,
        typed=as_text(args.prompt or ""),
    )
