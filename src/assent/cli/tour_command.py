"""`assent tour`: a guided tour that needs no API key."""

import asyncio
import os
import sys

from assent.cli.parsing import Parser


def main(argv: list[str]) -> int:
    parser = Parser(
        "assent tour",
        "A guided tour of a sample project: a scripted model finds a bug, proposes an edit for you to review,\n"
        "and runs the tests. Everything except the model is real. Needs no API key and no network.",
    )
    parser.add_argument("--lines", action="store_true", help="ask line by line, without the full-screen UI")
    parser.add_argument("--web", action="store_true", help="take the tour in the browser; prints an address to open")
    args = parser.parse_args(argv)
    if args.web:
        from assent.front.tour.tour_web import tour_in_browser

        return tour_in_browser()
    here = sys.stdin.isatty() and sys.stderr.isatty()
    if here and sys.stdout.isatty() and not args.lines and os.environ.get("TERM", "dumb") != "dumb":
        from assent.front.tour.tour_screen import tour_on_screen

        return tour_on_screen()
    from assent.front.tour.play import tour

    return asyncio.run(tour(interactive=here))
