"""`reasoning_details`: thoughts, in pieces, with what the provider behind a router needs back. Pure.

The pieces of one block have the same type and index. They are joined, kept as JSON in the signature of a thought, and
sent back unchanged.
"""

from typing import Any, cast

import msgspec

from assent.parts import JsonObject

_GROWING = ("text", "summary")
_WORDS = ("text", "content", "summary", "thinking", "reasoning")
"""Where an object that is a thought has its text."""


def thought_text(thought: Any) -> str:
    """The text of a thought: usually a string, but a few servers send an object, or a list of them. An object without
    text is not a thought: some servers repeat the setting of the request.
    """
    match thought:
        case str():
            return thought
        case list():
            return "".join(map(thought_text, cast(list[Any], thought)))
        case dict():
            said = cast(JsonObject, thought)
            return next((text for word in _WORDS if (text := thought_text(said.get(word)))), "")
        case _:
            return ""


class ReasoningDetails:
    def __init__(self) -> None:
        self._blocks: list[tuple[JsonObject, dict[str, list[str]]]] = []

    def add(self, details: list[JsonObject]) -> str:
        """Returns the new text."""
        return "".join(self._add(detail) for detail in details)

    def signature(self) -> str:
        """All blocks as JSON; empty if there are none."""
        blocks = [
            block | {field: "".join(pieces) for field, pieces in growing.items()} for block, growing in self._blocks
        ]
        return msgspec.json.encode(blocks).decode() if blocks else ""

    def _add(self, detail: JsonObject) -> str:
        if not self._blocks or not _goes_on(self._blocks[-1][0], detail):
            self._blocks.append(({}, {}))
        block, growing = self._blocks[-1]
        words = {field: text for field in _GROWING if isinstance(text := detail.get(field), str)}
        for field, text in words.items():
            growing.setdefault(field, []).append(text)
        block |= {name: value for name, value in detail.items() if name not in words and value is not None}
        return "".join(words.values())


def _goes_on(block: JsonObject, detail: JsonObject) -> bool:
    """Encrypted data is never split, so another piece is another block."""

    def key(of: JsonObject) -> tuple[Any, Any]:
        return of.get("type"), of.get("index")

    return key(block) == key(detail) and not ("data" in block and detail.get("data") is not None)
