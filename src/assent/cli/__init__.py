"""The command line: parses and dispatches. It imports as little as possible, so that `assent --help` is instant."""

import atexit
import gc
import os
import sys
from collections.abc import Sequence
from importlib import import_module

from assent.cli.child_guard import refuse_inside
from assent.cli.streams import discard_output, no_room_left, prepare_streams, reader_has_gone

COMMANDS = (
    *("sessions", "answer", "policy", "trust", "mcp", "undo", "serve", "attach", "tour"),
    *("models", "login", "logout", "sandbox", "log", "audit"),
)
"""Each is a module of this package, imported on demand."""


def main(argv: Sequence[str] | None = None) -> int:
    args = list(sys.argv[1:] if argv is None else argv)
    prepare_streams()
    collect_rarely()
    atexit.register(gc.freeze)  # a last search for garbage would take a tenth of a short run, and free nothing we need
    sys.excepthook = _tell_crash
    try:
        try:
            refused = refuse_inside(args)
            return _dispatch(args) if refused is None else refused
        finally:
            sys.stdout.flush()  # here, where a closed pipe can still be handled
    except KeyboardInterrupt:
        return 130
    except OSError as error:
        return _system_refused(error)
    except ValueError as error:
        return _settings_refused(error)


def _settings_refused(error: ValueError) -> int:
    """Reports settings that cannot be used, wherever a command reads them."""
    from assent.config import BadSettings

    if not isinstance(error, BadSettings):
        raise error
    from assent import exit_codes
    from assent.cli.parsing import complain

    complain(str(error))
    return exit_codes.CONFIG


def _system_refused(error: OSError) -> int:
    """Reports a failure of the disk, the permissions or the terminal, which a traceback would not explain."""
    if error.filename is not None:
        from assent import exit_codes
        from assent.cli.parsing import complain

        complain(f"{error.strerror}: {os.fsdecode(error.filename)}")
        return exit_codes.STORAGE
    if reader_has_gone(error):
        discard_output()
        return 0  # not an error of ours
    if no_room_left(error):
        sys.stderr.write(f"assent: cannot write the output: {error.strerror}\n")
        discard_output()
        return 1
    raise error


def _tell_crash(_: type[BaseException], error: BaseException, __: object) -> None:
    from assent.app.crash import trace_of

    sys.stderr.write(trace_of(error))


def collect_rarely() -> None:
    """Makes garbage collection rarer: nearly everything we create (events, calls, modules) stays alive.

    With the default thresholds, collection takes as much time as the scheduler itself when thousands of calls run. The
    first threshold is above what the imports of a short run create.
    """
    gc.set_threshold(100_000, 20, 50)


def _dispatch(args: list[str]) -> int:
    match args[:1]:
        case ["--version" | "-v"]:
            from assent import __version__

            sys.stdout.write(f"assent {__version__}\n")
            return 0
        case [name] if name in COMMANDS:
            return import_module(f"assent.cli.{name}_command").main(args[1:])
        case [word] if not word.startswith("-") and len(word.split()) == 1:
            from assent.cli.parsing import unknown_command

            return unknown_command(args)
        case _:
            from assent.cli import main_command

            return main_command.main(args)
