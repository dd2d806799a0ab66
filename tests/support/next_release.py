"""The release after this one, for tests of upgrades: this release, with everything changed that a release may change
while nodes of both run side by side. See docs/scaling.md.
"""

import shutil
from pathlib import Path
from typing import NamedTuple

import assent

VERSION = "99.0.0"
TABLE = "added_later"


class Change(NamedTuple):
    file: str
    before: str
    after: str


CHANGES = (
    Change("__init__.py", f'"{assent.__version__}"', f'"{VERSION}"'),
    Change(
        "postgres/postgres_schema.py",
        "CURRENT = len(VERSIONS)",
        f'VERSIONS += ("CREATE TABLE {TABLE} (id bigint); '
        "ALTER TABLE sessions ADD COLUMN added_later text NOT NULL DEFAULT ''; "
        "ALTER TABLE inbox ADD COLUMN added_later text NOT NULL DEFAULT ''; "
        "ALTER TABLE approvals ADD COLUMN added_later text NOT NULL DEFAULT ''\",)\n"
        "CURRENT = len(VERSIONS)",
    ),
    Change(
        "temporal/session_workflow.py", "    failures: int = 0\n", "    failures: int = 0\n    added_later: int = 1\n"
    ),
    Change(
        "temporal/session_workflow.py", '    detail: str = ""\n', '    detail: str = ""\n    added_later: int = 1\n'
    ),
    Change(
        "temporal/session_workflow.py",
        "    session: str\n    token: int\n",
        "    session: str\n    token: int\n    added_later: int = 1\n",
    ),
    Change(
        "events.py",
        "    failure: Failure | None = None\n    usage: Usage = Usage()\n",
        "    failure: Failure | None = None\n    usage: Usage = Usage()\n"
        '    added_later: str = msgspec.field(default_factory=lambda: "by the next release")\n',
    ),
)


def make_next_release(folder: Path) -> Path:
    """What `PYTHONPATH` must be to run it."""
    package = folder / "assent"
    shutil.copytree(Path(assent.__file__).parent, package, ignore=shutil.ignore_patterns("__pycache__"))
    for change in CHANGES:
        _apply(change, package / change.file)
    return folder


def _apply(change: Change, file: Path) -> None:
    text = file.read_text()
    assert text.count(change.before) == 1, f"{change.file} no longer contains {change.before!r} once"
    file.write_text(text.replace(change.before, change.after))
