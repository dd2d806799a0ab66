"""Thoughts that a server leaves in the text, between `<think>` and `</think>`. Pure.

Only at the beginning of a reply, where models put them: further on, such tags are part of the text. The stream may
split a tag anywhere, so what may be the beginning of one is held back.
"""

from assent.models.model_protocol import TextChunk, ThoughtChunk

_TAGS = {"<think>": "</think>", "<thinking>": "</thinking>"}


class ThinkTags:
    def __init__(self) -> None:
        self._held = ""
        self._close = ""
        """The tag that ends the thought; empty outside of one."""
        self._at_start = False
        """Whether nothing of the thought has arrived yet: it usually begins on its own line."""
        self._in_text = False
        """Whether text has begun: no tag counts after that."""
        self._thought = False
        """Whether there was a thought: blank lines after it are not text."""

    @property
    def in_text(self) -> bool:
        """Whether everything from here on is text."""
        return self._in_text

    def feed(self, text: str) -> list[TextChunk | ThoughtChunk]:
        if self._in_text:
            return [TextChunk(text)]
        chunks: list[TextChunk | ThoughtChunk] = []
        text = self._held + text
        self._held = ""
        while text:
            text = self._think(text, chunks) if self._close else self._look(text, chunks)
        return chunks

    def end(self) -> list[TextChunk | ThoughtChunk]:
        """What was held back, at the end of the reply."""
        held, self._held = self._held, ""
        if self._close:
            return [ThoughtChunk(held)] if held else []
        text = held.lstrip() if self._thought else held
        return [TextChunk(text)] if text else []

    def _look(self, text: str, chunks: list[TextChunk | ThoughtChunk]) -> str:
        """Outside of a thought, before any text. Returns what remains to be read."""
        bare = text.lstrip()
        for tag, close in _TAGS.items():
            if bare.startswith(tag):
                self._close, self._thought = close, True
                self._at_start = True
                return bare[len(tag) :]
        if any(tag.startswith(bare) for tag in _TAGS):
            self._held = text
        else:
            self._in_text = True
            chunks.append(TextChunk(bare if self._thought else text))
        return ""

    def _think(self, text: str, chunks: list[TextChunk | ThoughtChunk]) -> str:
        thought, closed, rest = text.partition(self._close)
        if not closed:
            kept = _partial(text, self._close)
            thought, self._held = text[: len(text) - kept], text[len(text) - kept :]
        if self._at_start:
            thought = thought.lstrip("\n")
            self._at_start = not thought
        if thought:
            chunks.append(ThoughtChunk(thought))
        if closed:
            self._close = ""
        return rest


def _partial(text: str, tag: str) -> int:
    """How much of the end of the text may be the beginning of the tag."""
    return next((size for size in range(min(len(tag) - 1, len(text)), 0, -1) if text.endswith(tag[:size])), 0)
