"""Splits a thought into a subject in **bold** and the description around it."""

import re

_SUBJECT = re.compile(r"\*\*(.*?)\*\*", re.DOTALL)


def parse_thought(text: str) -> tuple[str, str]:
    """(subject, description): the first bold text, and the rest."""
    found = _SUBJECT.search(text)
    if found is None:
        return "", text.strip()
    description = text[: found.start()] + text[found.end() :]
    return found.group(1).strip(), description.strip()
