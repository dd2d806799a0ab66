"""The command line: parse, dispatch. Imports as little as possible, so that `assent --help` is instant."""

import gc
import sys
from collections.abc import Sequence

COMMANDS = ("sessions", "answer", "tour")


def main(argv: Sequence[str] | None = None) -> int:
    args = list(sys.argv[1:] if argv is None else argv)
    if args in (["--version"], ["-v"]):
        from assent import __version__

        sys.stdout.write(f"assent {__version__}\n")
        return 0
    collect_rarely()
    try:
        return _dispatch(args)
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:  # whoever read our output has gone; that is no error of ours
        return 0


def collect_rarely() -> None:
    """Looks for garbage in cycles less often: nearly all that we make (events, calls, modules) stays, and is looked at.

    With the usual thresholds that takes as much time as the scheduler itself where thousands of calls are under way.
    """
    gc.set_threshold(50_000, 20, 50)


def _dispatch(args: list[str]) -> int:
    match args[:1]:
        case ["sessions"]:
            from assent.cli import sessions

            return sessions.main(args[1:])
        case ["answer"]:
            from assent.cli import answer

            return answer.main(args[1:])
        case ["tour"]:
            from assent.cli import tour

            return tour.main(args[1:])
        case _:
            from assent.cli import prompt

            return prompt.main(args)
