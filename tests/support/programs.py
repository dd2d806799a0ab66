"""Programs that a test needs besides Python: `@pytest.mark.needs("git")`.

Where one is not installed the test is skipped and says so; in CI it fails, because nobody reads there what was skipped.
"""

import glob
import os
import shutil
import sys

import pytest

_ALSO_CALLED = {"chromium": ("chromium-browser", "google-chrome")}
_ELSEWHERE = {
    "postgres": "/usr/lib/postgresql/*/bin/postgres",
    "temporal": f"{sys.prefix}/bin/temporal",
}
"""Debian keeps the versions of a server apart, outside the search path; others come as a Python package."""


def find_program(name: str) -> str | None:
    found = next(filter(None, map(shutil.which, (name, *_ALSO_CALLED.get(name, ())))), None)
    return found or max(glob.glob(_ELSEWHERE.get(name, "")), default=None)


def check_programs(item: pytest.Item) -> None:
    wanted = {name for mark in item.iter_markers("needs") for name in mark.args}
    if missing := sorted(name for name in wanted if find_program(name) is None):
        give_up = pytest.skip if os.environ.get("CI", "") in ("", "0", "false") else pytest.fail
        give_up(f"not installed: {', '.join(missing)}; scripts/test-tools installs what it can")
