"""Who acts from this process: the user, as other clients and the log see them."""

import getpass
import os


def me() -> str:
    """The user and the process."""
    return f"{user()}@pid{os.getpid()}"


def user() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return "somebody"
