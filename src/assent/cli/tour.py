"""`assent tour`: see it work, without a key."""

import asyncio
import sys

from assent.cli.parsing import Parser


def main(argv: list[str]) -> int:
    Parser(
        "assent tour",
        "A guided tour on a sample project: a scripted model finds a bug, proposes an edit that you see and answer,\n"
        "and runs the tests. Everything but the model is real. Needs no key and no network.",
    ).parse_args(argv)
    from assent.front.tour.tour import tour

    return asyncio.run(tour(interactive=sys.stdin.isatty() and sys.stderr.isatty()))
