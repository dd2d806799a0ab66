"""Runs a command's coroutine and turns session errors into a message and an exit code."""

import asyncio
from collections.abc import Coroutine
from typing import Any

from assent import exit_codes
from assent.app.crash import mask_log
from assent.app.lookup import NotFound
from assent.app.session_log import LogError, NoSuchSession
from assent.cli.parsing import complain


def run(work: Coroutine[Any, Any, int], *input_errors: type[Exception]) -> int:
    """`input_errors` are the exceptions which mean that the input cannot be used."""
    mask_log()
    try:
        return asyncio.run(work)
    except (NoSuchSession, NotFound, *input_errors) as error:
        complain(str(error))
        return exit_codes.INPUT
    except LogError as error:
        complain(str(error))
        return exit_codes.STORAGE
