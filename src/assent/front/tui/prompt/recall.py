"""Recalls earlier input: up, down, and searching backwards. Pure: it knows no keys and no screen."""

from collections.abc import Iterable

MAX_ENTRIES = 500


class Recall:
    """Entries from the oldest to the newest, followed by a draft, to which moving down returns."""

    def __init__(self, entries: Iterable[str] = ()) -> None:
        self._entries: list[str] = []
        self._at = 0
        self._draft = ""
        for entry in entries:
            self.add(entry)

    def add(self, entry: str) -> None:
        """Adds the newest entry and restarts after it. The same entry twice in a row counts once."""
        if entry.strip() and self._entries[-1:] != [entry]:
            self._entries.append(entry)
            del self._entries[:-MAX_ENTRIES]
        self.leave()

    def leave(self) -> None:
        """Returns to the end and discards the draft."""
        self._at, self._draft = len(self._entries), ""

    def older(self, current: str) -> str | None:
        """The previous entry; None at the oldest. The input at the start becomes the draft."""
        if self._at == 0:
            return None
        if self._at == len(self._entries):
            self._draft = current
        self._at -= 1
        return self._entries[self._at]

    def newer(self) -> str | None:
        """The next entry, or the draft after the newest; None at the draft."""
        if self._at == len(self._entries):
            return None
        self._at += 1
        return self._draft if self._at == len(self._entries) else self._entries[self._at]

    def before(self, other: "Recall") -> None:
        """Puts older entries that arrive late before these. The current position stays."""
        added = other._entries
        if added[-1:] == self._entries[:1]:
            added = added[:-1]
        room = MAX_ENTRIES - len(self._entries)
        added = added[-room:] if room > 0 else []
        self._entries[:0] = added
        self._at += len(added)

    def find(self, query: str, before: int | None = None) -> tuple[int, str] | None:
        """The newest entry before that position that contains the query, ignoring case."""
        wanted = query.casefold()
        for at in reversed(range(len(self._entries) if before is None else before)):
            if wanted in self._entries[at].casefold():
                return at, self._entries[at]
        return None


class Search:
    """Incremental backward search: each letter narrows it, `again` continues to older entries."""

    def __init__(self, recall: Recall, draft: str) -> None:
        self.draft = draft
        """The input before the search."""
        self.query = ""
        self.found: str | None = None
        self._recall = recall
        self._at: int | None = None

    def ask(self, query: str) -> None:
        """Starts from the newest entry again: a shorter query may match a newer entry."""
        self.query, self.found, self._at = query, None, None
        if query:
            self._look(None)

    def again(self) -> None:
        """The next older match; the last one stays if there is none."""
        if self.query and self._at is not None:
            self._look(self._at)

    def _look(self, before: int | None) -> None:
        if match := self._recall.find(self.query, before):
            self._at, self.found = match
