"""Imports msgspec without typing_extensions, which saves a fiftieth of the time until the first request.

msgspec prefers it, if some other package has installed it, to the standard library's `typing`, which has the same names
in every version of Python that Assent runs on.
"""

import sys

UNNEEDED = "typing_extensions"


def import_msgspec() -> None:
    """Call it before anything imports msgspec; later it does nothing."""
    if UNNEEDED in sys.modules or "msgspec" in sys.modules:
        return
    sys.modules[UNNEEDED] = None  # pyright: ignore[reportArgumentType]  (makes an import fail)
    try:
        import msgspec  # noqa: F401  # pyright: ignore[reportUnusedImport]
    finally:
        del sys.modules[UNNEEDED]
