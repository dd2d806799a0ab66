"""Imports msgspec without typing_extensions and platform, which saves a thirtieth of the time until the first request.

msgspec prefers typing_extensions, if some other package has installed it, to the standard library's `typing`, which has
the same names in every version of Python that Assent runs on. It imports `uuid`, which asks `platform` for nothing but
the name of the system.
"""

import os
import sys
from types import ModuleType


def import_msgspec() -> None:
    """Call it before anything imports msgspec; later it does nothing."""
    if "msgspec" in sys.modules:
        return
    replaced = {name: module for name, module in _substitutes().items() if name not in sys.modules}
    sys.modules.update(replaced)  # pyright: ignore[reportArgumentType, reportCallIssue]
    try:
        import msgspec  # noqa: F401  # pyright: ignore[reportUnusedImport]
    finally:
        for name in replaced:
            del sys.modules[name]


def _substitutes() -> dict[str, ModuleType | None]:
    """None makes an import fail."""
    platform = ModuleType("platform")
    platform.__dict__["system"] = lambda: os.uname().sysname
    return {"typing_extensions": None, "platform": platform}
