"""What all commands share: a parser whose errors use our exit code, and answers that name what is missing."""

import argparse
import sys
from typing import NoReturn

from assent import exits


class Parser(argparse.ArgumentParser):
    """Wrong usage ends with our own exit code; the message says what to type instead."""

    def __init__(self, prog: str, description: str, epilog: str = "") -> None:
        super().__init__(
            prog=prog,
            description=description,
            epilog=epilog,
            formatter_class=argparse.RawDescriptionHelpFormatter,
            allow_abbrev=False,
        )

    def error(self, message: str) -> NoReturn:
        complain(f"{message}\nTry: {self.prog} --help")
        raise SystemExit(exits.INPUT)


def complain(message: str) -> None:
    sys.stderr.write(f"assent: {message}\n")
