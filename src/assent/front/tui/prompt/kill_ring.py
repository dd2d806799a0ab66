"""Text that was deleted with Ctrl-W, Ctrl-U, Ctrl-K and the like, for Ctrl-Y and Alt-Y to insert again. Pure."""

MAX_KILLS = 30


class KillRing:
    def __init__(self) -> None:
        self._kills: list[str] = []
        self._place = 0

    def kill(self, text: str, *, before: bool, continues: bool) -> None:
        """`before`: the text was before the cursor; `continues`: the key before this one deleted, too."""
        if not text:
            return
        if continues and self._kills:
            last = self._kills.pop()
            text = text + last if before else last + text
        self._kills = [*self._kills, text][-MAX_KILLS:]
        self._place = len(self._kills) - 1

    def newest(self) -> str:
        self._place = len(self._kills) - 1
        return self._kills[-1] if self._kills else ""

    def earlier(self) -> str:
        """The one before the last one returned; after the oldest, the newest again."""
        if not self._kills:
            return ""
        self._place = (self._place - 1) % len(self._kills)
        return self._kills[self._place]
