"""Turns an error that no command handles itself into a message and an exit code."""

import os
import sys

from assent import exit_codes
from assent.cli.parsing import BadInput, complain
from assent.cli.streams import discard_output, no_room_left, reader_has_gone
from assent.config import BadSettings


def report_error(error: OSError | ValueError) -> int:
    """Raises it again if a message alone would hide a bug in Assent."""
    match error:
        case BadSettings() | BadInput():
            complain(str(error))
            return exit_codes.INPUT if isinstance(error, BadInput) else exit_codes.CONFIG
        case OSError():
            return _report_system(error)
        case _:
            raise error


def _folder_has_gone() -> bool:
    try:
        os.getcwd()
    except FileNotFoundError:
        return True
    return False


def _report_system(error: OSError) -> int:
    """A failure of the disk, the permissions or the terminal, which a traceback would not explain."""
    if error.filename is not None:
        complain(f"{error.strerror}: {os.fsdecode(error.filename)}")
        return exit_codes.STORAGE
    if isinstance(error, FileNotFoundError) and _folder_has_gone():
        complain("the folder you are in no longer exists; change to another one")
        return exit_codes.INPUT
    if reader_has_gone(error):
        discard_output()
        return 0  # not an error of ours
    if no_room_left(error):
        sys.stderr.write(f"assent: cannot write the output: {error.strerror}\n")
        discard_output()
        return 1
    raise error
