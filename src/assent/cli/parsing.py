"""What all commands share: a parser whose errors use our exit code, and answers that name what is missing."""

import argparse
import os
import sys
from typing import NoReturn

from assent import exit_codes


class _Formatter(argparse.RawDescriptionHelpFormatter):
    """Finds the terminal's width itself: argparse would import shutil for it, and at every start, not only for help."""

    def __init__(self, prog: str) -> None:
        super().__init__(prog, width=_columns() - 2)


def _columns() -> int:
    if (set_by_user := os.environ.get("COLUMNS", "")).isdigit():
        return int(set_by_user) or 80
    try:
        return os.get_terminal_size(1).columns or 80
    except OSError:
        return 80


class Parser(argparse.ArgumentParser):
    """Wrong usage ends with our own exit code; the message says what to type instead."""

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
    """What was given cannot be used; the message says why."""


def complain(message: str) -> None:
    from assent.screen import make_safe  # what it complains of may come from anywhere

    sys.stderr.write(f"assent: {make_safe(message, 'prompt').text}\n")


def unknown_command(words: list[str]) -> int:
    """A prompt without -p is the likeliest reason."""
    complain(
        f"there is no command {words[0]!r}; what the model shall do goes behind -p: "
        f"assent -p {_quoted(' '.join(words))}\nTry: assent --help"
    )
    return exit_codes.INPUT


def _quoted(text: str) -> str:
    import shlex

    return shlex.quote(text) if len(text) <= 60 else '"…"'
