"""Who acts from this process: the user, as other clients and the log see them."""

import os


def me() -> str:
    """The user and the process."""
    return f"{user()}@pid{os.getpid()}"


def user() -> str:
    """Like `getpass.getuser`, which would also import terminal code."""
    named = (os.environ.get(variable) for variable in ("LOGNAME", "USER", "LNAME", "USERNAME"))
    if name := next(filter(None, named), None):
        return name
    import pwd

    try:
        return pwd.getpwuid(os.getuid()).pw_name
    except (KeyError, OSError):
        return "somebody"
