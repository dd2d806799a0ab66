"""Sends a command from the command line to a session that runs elsewhere, and says what it waits for.

A server takes commands for its sessions even while they are parked. One on this machine holds a lock while it runs, so
nobody has to wait for it if it does not; a cluster always gets the time to look.
"""

import os
import sys
from collections.abc import Mapping

from assent.app.command_sender import SERVER_TIMEOUT, CommandSender
from assent.app.private_files import take_lock
from assent.app.storage import LOG_VARIABLE
from assent.config import data_folder
from assent.session.log import SessionLog

SERVER_LOCK = "serve.lock"
"""In the data folder; a running server holds it."""


def terminal_sender(log: SessionLog, env: Mapping[str, str]) -> CommandSender:
    return CommandSender(log, served=lambda: may_be_served(env), waiting=_say)


def may_be_served(env: Mapping[str, str]) -> bool:
    """Whether a server may be running that uses our sessions. Those of a log elsewhere may have one anywhere."""
    if env.get(LOG_VARIABLE):
        return True
    try:
        os.close(take_lock(data_folder(env) / SERVER_LOCK))
    except OSError:  # it is taken, or who knows
        return True
    return False


def _say() -> None:
    sys.stderr.write(f"Waiting for the session's server to take it ({SERVER_TIMEOUT:.0f} s at most) …\n")
    sys.stderr.flush()
