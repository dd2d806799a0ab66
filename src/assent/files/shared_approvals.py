"""The files that people have approved for execution, for all nodes of a cluster together.

The path and the content count. A folder that two hosts have with different contents is asked about on each.
"""

from collections.abc import Sequence
from pathlib import Path

from assent.files.approved_files import MAX_APPROVED, ApprovedFiles
from assent.plan import ExecutedFile
from assent.shared_records import SharedRecords

EXECUTED = "executed"
"""The kind of record; its key is the path."""


class SharedApprovals(ApprovedFiles):
    def __init__(self, shared: SharedRecords, folder: str) -> None:
        super().__init__(Path(), folder)
        self._shared = shared

    def approve(self, files: Sequence[ExecutedFile]) -> None:
        known = self._load()
        news = {file.path: file.sha256 for file in files if file.sha256 and known.get(file.path) != file.sha256}
        for path, digest in news.items():
            self._shared.put(EXECUTED, path, digest.encode())
        for path in list(known)[: max(0, len(known) + len(news) - MAX_APPROVED)]:
            self._shared.put(EXECUTED, path, None)

    def _load(self) -> dict[str, str]:
        return {path: digest.decode() for path, digest in self._shared.all(EXECUTED).items()}
