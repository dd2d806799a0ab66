"""What all commands share: an argument parser with our exit codes, and error messages."""

import argparse
import sys
from collections.abc import Sequence
from typing import NoReturn

from assent import exit_codes
from assent.terminal_width import columns


class _Formatter(argparse.RawDescriptionHelpFormatter):
    """Finds the terminal's width itself: argparse would import shutil for it at every start, not only for help."""

    def __init__(self, prog: str) -> None:
        super().__init__(prog, width=columns(1) - 2)


class Parser(argparse.ArgumentParser):
    """Exits with our own code on wrong usage, and says how to get help."""

    def __init__(self, prog: str, description: str, epilog: str = "") -> None:
        super().__init__(
            prog=prog,
            description=description,
            epilog=epilog,
            formatter_class=_Formatter,
            allow_abbrev=False,
        )

    def error(self, message: str) -> NoReturn:
        complain(f"{message}\nTry: {self.prog} --help")
        raise SystemExit(exit_codes.INPUT)


class BadInput(ValueError):
    """The input cannot be used; the message says why."""


def at_least_one(text: str) -> int:
    """For options that count something."""
    try:
        number = int(text)
    except ValueError:
        number = 0
    if number < 1:
        raise argparse.ArgumentTypeError(f"must be a whole number, at least 1, not {text!r}")
    return number


def complain(message: str) -> None:
    from assent.screen import make_safe  # the message may quote untrusted text

    sys.stderr.write(f"assent: {make_safe(message, 'prompt').text}\n")


def unknown_command(words: list[str], commands: Sequence[str]) -> int:
    """Reports an unknown command: maybe a mistyped one, or a prompt that is a single word or lacks quotes."""
    import difflib

    prompt = _quoted(" ".join(words))
    near = difflib.get_close_matches(words[0], commands, 1)
    meant = f"; did you mean {near[0]!r}?" if near else ""
    start = f"-- {prompt}" if len(words) == 1 else prompt  # quotes around one word change nothing
    complain(
        f"unknown command {words[0]!r}{meant}\n"
        f"To start with this as the prompt: assent {start}\n"
        f"To run only this prompt:          assent -p {prompt}\n"
        "Try: assent --help"
    )
    return exit_codes.INPUT


def _quoted(text: str) -> str:
    import shlex

    return shlex.quote(text) if len(text) <= 60 else '"…"'
