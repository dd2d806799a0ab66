"""What people have approved for execution: the port through which the policy asks, and its answer in words.

The application provides it, because the policy opens no file. Imports nothing from the shell gate.
"""

from collections.abc import Sequence
from typing import Protocol

from assent.approval import UnapprovedFile
from assent.plan import ExecutedFile

Alternatives = tuple[str, ...]
"""Absolute paths, of which the first that is a file counts."""


class FileApprovals(Protocol):
    """What people have approved for execution. The app provides it: the policy opens no file."""

    def look(self, candidates: Sequence[Alternatives]) -> tuple[ExecutedFile, ...]:
        """Those that exist, with their content."""
        ...

    def unapproved(self, files: Sequence[ExecutedFile]) -> tuple[UnapprovedFile, ...]: ...

    def approve(self, files: Sequence[ExecutedFile]) -> None: ...


def unapproved_in_words(files: Sequence[UnapprovedFile]) -> str:
    """Why a permission that a person gave earlier does not cover them."""
    changed = [file.path for file in files if file.changed]
    new = [file.path for file in files if not file.changed]
    have, they = ("has", "it") if len(changed) == 1 else ("have", "them")
    said = [f"{_listed(changed)} {have} changed since you approved {they}"] if changed else []
    said += [f"it runs {_listed(new)}, which you have not approved yet"] if new else []
    return "; ".join(said)


def _listed(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
