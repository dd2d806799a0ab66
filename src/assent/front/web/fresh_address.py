"""Prints a new address to log in whenever someone presses Enter: each works once, and not for long."""

import asyncio
import sys
from collections.abc import Callable


def print_on_enter(address: Callable[[], str]) -> None:
    """Only on a terminal; elsewhere, nobody presses keys."""
    if sys.stdin.isatty():
        asyncio.get_running_loop().add_reader(sys.stdin, _print_again, address)


def _print_again(address: Callable[[], str]) -> None:
    try:
        line = sys.stdin.readline()
    except OSError:  # the terminal is gone; the server stays
        line = ""
    if line:
        sys.stdout.write(f"{address()}\n")
        sys.stdout.flush()
    else:
        asyncio.get_running_loop().remove_reader(sys.stdin)
