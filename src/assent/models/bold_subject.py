"""Thoughts as Gemini and GPT write them: a subject in **bold**, followed by a description."""

import re

LONGEST_SUBJECT = 200
"""In a thought that arrives in pieces, longer bold text is not a subject."""
_SUBJECT = re.compile(r"\*\*(.*?)\*\*", re.DOTALL)


def split_subject(text: str) -> tuple[str, str]:
    """Return the subject, which is the first bold text, and the rest."""
    found = _SUBJECT.search(text)
    if found is None:
        return "", text  # it may be a fragment, whose spaces matter
    description = text[: found.start()] + text[found.end() :]
    return found.group(1).strip(), description.strip()


def join_subject(subject: str, description: str) -> str:
    return f"**{subject}**\n\n{description}" if subject else description


class SubjectSplitter:
    """The same for thoughts in pieces: returns a subject as soon as it is complete, and the rest as it arrives.

    A thought may have several parts, which the provider numbers; a subject stands at the beginning of a part.
    """

    def __init__(self) -> None:
        self._part: int | None = None
        self._held = ""
        """The beginning of a part that may become a subject."""
        self._gap = ""
        """What separates the part from the previous one if it has no subject."""
        self._at_start = self._after_subject = False

    def feed(self, text: str, part: int) -> list[tuple[str, str]]:
        """Return pairs of a subject, which begins a new thought, and a text; either may be empty."""
        if part == self._part:
            return self._split(text)
        gap = "" if self._part is None else "\n\n"
        held = self.end()
        self._part, self._gap, self._at_start, self._after_subject = part, gap, True, False
        return [*held, *self._split(text)]

    def end(self) -> list[tuple[str, str]]:
        """What was held back."""
        held, self._held, self._part = self._held, "", None
        return [("", self._gap + held)] if held else []

    def _split(self, text: str) -> list[tuple[str, str]]:
        if self._at_start:
            return self._look_for_subject(self._held + text)
        if self._after_subject:
            text = text.lstrip()
            self._after_subject = not text
        return [("", text)]

    def _look_for_subject(self, text: str) -> list[tuple[str, str]]:
        beginning = text.lstrip()
        found = _SUBJECT.match(beginning)
        if found is None and _may_be_subject(beginning):
            self._held = text
            return []
        self._held, self._at_start = "", False
        if found is None:
            return [("", self._gap + text)]
        rest = beginning[found.end() :].lstrip()
        self._after_subject = not rest
        return [(found.group(1).strip(), rest)]


def _may_be_subject(text: str) -> bool:
    return len(text) < LONGEST_SUBJECT and (text.startswith("**") or "**".startswith(text))
