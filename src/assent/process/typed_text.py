"""Removes what a person typed from the output that follows: a program may print it again, as an echo or in a message.

It works on a stream, so it holds back the end of the text if that may be the beginning of something typed.
"""

MARK = "[typed by the user]"
_SHORTEST = 3
"""Shorter texts occur everywhere; the terminal itself does not echo them."""
_COMMON = frozenset(("yes", "no", "all", "none", "quit", "skip"))


class TypedText:
    def __init__(self) -> None:
        self._typed: list[str] = []
        self._held = ""

    def add(self, text: str) -> None:
        if len(text) >= _SHORTEST and text.lower() not in _COMMON and text not in self._typed:
            self._typed.append(text)
            self._typed.sort(key=len, reverse=True)

    def feed(self, text: str) -> str:
        """The text without what was typed, up to what may be its beginning."""
        if not self._typed:
            return text
        text = self._held + text
        for typed in self._typed:
            text = text.replace(typed, MARK)
        kept = len(text) - self._unfinished(text)
        self._held = text[kept:]
        return text[:kept]

    def flush(self) -> str:
        """What was held back: nothing follows it."""
        held, self._held = self._held, ""
        return held

    def _unfinished(self, text: str) -> int:
        """How many characters at the end may be the beginning of something typed."""
        ends = (size for typed in self._typed for size in range(len(typed) - 1, 0, -1) if text.endswith(typed[:size]))
        return max(ends, default=0)
