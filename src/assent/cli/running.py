"""Runs the work of a command and turns what can go wrong with sessions into words and an exit code."""

import asyncio
from collections.abc import Coroutine
from typing import Any

from assent import exit_codes
from assent.app.crash import mask_log
from assent.app.lookup import NotFound
from assent.app.session_log import LogError, NoSuchSession
from assent.cli.parsing import complain


def run(work: Coroutine[Any, Any, int], *input_errors: type[Exception]) -> int:
    """`input_errors` are those that say that what was typed cannot be used."""
    mask_log()
    try:
        return asyncio.run(work)
    except (NoSuchSession, NotFound, *input_errors) as error:
        complain(str(error))
        return exit_codes.INPUT
    except LogError as error:
        complain(str(error))
        return exit_codes.STORAGE
