"""A thought as Gemini writes it: a subject in **bold** with a description around it."""

import re

_SUBJECT = re.compile(r"\*\*(.*?)\*\*", re.DOTALL)


def split_subject(text: str) -> tuple[str, str]:
    """Return the subject, which is the first bold text, and the rest."""
    found = _SUBJECT.search(text)
    if found is None:
        return "", text.strip()
    description = text[: found.start()] + text[found.end() :]
    return found.group(1).strip(), description.strip()


def join_subject(subject: str, description: str) -> str:
    return f"**{subject}**\n\n{description}" if subject else description
