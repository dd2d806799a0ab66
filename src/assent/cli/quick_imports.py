"""Imports libraries without what they rarely need, which saves a twentieth of the time until the first request.

- msgspec prefers typing_extensions, if some other package has installed it, to the standard library's `typing`, which
  has the same names in every version of Python that Assent runs on. It imports `uuid`, which asks `platform` for
  nothing but the name of the system.
- urllib.parse checks addresses in brackets with `ipaddress`.
- argparse looks for translations of its own few words; Assent speaks English.
"""

import os
import sys
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from importlib import import_module
from types import ModuleType


def import_argparse() -> None:
    """Call it before anything imports argparse; later it does nothing."""
    if "argparse" not in sys.modules:
        with _instead({"gettext": _module("gettext", gettext=str, ngettext=_ngettext)}):
            import argparse  # noqa: F401  # pyright: ignore[reportUnusedImport]


def import_libraries() -> None:
    """msgspec and urllib.parse; the same holds for them."""
    if "msgspec" not in sys.modules:
        platform = _module("platform", system=lambda: os.uname().sysname)
        with _instead({"typing_extensions": None, "platform": platform}):
            import msgspec  # noqa: F401  # pyright: ignore[reportUnusedImport]
    if "urllib.parse" not in sys.modules:
        with _instead({"ipaddress": _Later("ipaddress")}):
            import urllib.parse  # noqa: F401  # pyright: ignore[reportUnusedImport]


class _Later(ModuleType):
    """Imports the module of this name when something of it is needed."""

    def __getattr__(self, name: str) -> object:
        return getattr(import_module(self.__name__), name)


@contextmanager
def _instead(modules: Mapping[str, ModuleType | None]) -> Generator[None, None, None]:
    """What is imported here gets these modules, unless the real ones are loaded. None makes an import fail."""
    replaced = {name: module for name, module in modules.items() if name not in sys.modules}
    sys.modules.update(replaced)  # pyright: ignore[reportArgumentType, reportCallIssue]
    try:
        yield
    finally:
        for name in replaced:
            del sys.modules[name]


def _module(name: str, **contents: object) -> ModuleType:
    module = ModuleType(name)
    module.__dict__.update(contents)
    return module


def _ngettext(one: str, many: str, n: int) -> str:
    return one if n == 1 else many
