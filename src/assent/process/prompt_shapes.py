"""Recognizes the last line of a program's output as a question to the person, by its shape."""

import re

_ENDS_LIKE_A_PROMPT = re.compile(r"[:?>\])$#%]\s*\Z")
_PROGRESS = re.compile(r"(?:\d\s*%|[\[(][\s#=>.*█▓▒░▏▎▍▌▋▊▉-]*[\])])\s*\Z")
"""A percentage or a progress bar: it ends like a prompt, but only reports."""
_SECRET = re.compile(r"pass(?:word|phrase|code)|\bpin\b|\botp\b|\btoken\b|\bsecret\b|verification code|\bkey\b", re.I)
_NO_SECRET = re.compile(r"\by(?:es)?\W+n(?:o)?\b|user ?name|\blogin\b|\be-?mail\b", re.I)


def is_prompt(line: str) -> bool:
    return bool(_ENDS_LIKE_A_PROMPT.search(line)) and not _PROGRESS.search(line)


def wants_secret(line: str) -> bool:
    return bool(_SECRET.search(line)) and not _NO_SECRET.search(line)
