"""Walking through what was entered before: up, down, and searching backwards. Pure: it knows no keys and no screen."""

from collections.abc import Iterable

MOST_ENTRIES = 500


class Recall:
    """Entries from the oldest to the newest, and a draft after them, to which the way down leads back."""

    def __init__(self, entries: Iterable[str] = ()) -> None:
        self._entries: list[str] = []
        self._at = 0
        self._draft = ""
        for entry in entries:
            self.add(entry)

    def add(self, entry: str) -> None:
        """The newest from now on; the walk starts anew behind it. The same twice in a row counts once."""
        if entry.strip() and self._entries[-1:] != [entry]:
            self._entries.append(entry)
            del self._entries[:-MOST_ENTRIES]
        self.leave()

    def leave(self) -> None:
        """Back to the end, the draft forgotten."""
        self._at, self._draft = len(self._entries), ""

    def older(self, current: str) -> str | None:
        """The entry before; None at the oldest. What is in the input when the walk begins is the draft."""
        if self._at == 0:
            return None
        if self._at == len(self._entries):
            self._draft = current
        self._at -= 1
        return self._entries[self._at]

    def newer(self) -> str | None:
        """The entry after, or the draft behind the newest; None when already there."""
        if self._at == len(self._entries):
            return None
        self._at += 1
        return self._draft if self._at == len(self._entries) else self._entries[self._at]

    def before(self, other: "Recall") -> None:
        """Puts older entries before these, as when they come late. The walk stays where it is."""
        added = other._entries
        if added[-1:] == self._entries[:1]:
            added = added[:-1]
        room = MOST_ENTRIES - len(self._entries)
        added = added[-room:] if room > 0 else []
        self._entries[:0] = added
        self._at += len(added)

    def find(self, query: str, before: int | None = None) -> tuple[int, str] | None:
        """The newest entry with these letters, among those before that place; letters in any case."""
        wanted = query.casefold()
        for at in reversed(range(len(self._entries) if before is None else before)):
            if wanted in self._entries[at].casefold():
                return at, self._entries[at]
        return None


class Search:
    """Searching backwards while typing what to look for: each letter narrows, `again` goes on to older entries."""

    def __init__(self, recall: Recall, draft: str) -> None:
        self.draft = draft
        """What was in the input before."""
        self.query = ""
        self.found: str | None = None
        self._recall = recall
        self._at: int | None = None

    def ask(self, query: str) -> None:
        """From the newest entry again: a letter less may have been further up."""
        self.query, self.found, self._at = query, None, None
        if query:
            self._look(None)

    def again(self) -> None:
        """The next older one; the last that was found stays when there is none."""
        if self.query and self._at is not None:
            self._look(self._at)

    def _look(self, before: int | None) -> None:
        if match := self._recall.find(self.query, before):
            self._at, self.found = match
