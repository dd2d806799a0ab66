"""Finds the addresses in a model's text and judges them by their text. No DNS lookup happens here."""

import re

from assent.tools.tool import InvalidParams
from assent.web.urls import UrlVerdict, preview

_BEGIN = re.compile(r"[a-zA-Z][a-zA-Z0-9+.-]*://")
_AFTER = "<>\"'`.,;:!?*_"
_BLOB = re.compile(r"https://github\.com/([^/?]+/[^/?]+)/blob/([^?]+)(?:\?.*)?")


def urls_in(prompt: str, most: int) -> tuple[UrlVerdict, ...]:
    """The addresses of the text, judged; raises if one is not allowed or there is none."""
    begins = ((word, _BEGIN.search(word)) for word in prompt.split())
    found = list(dict.fromkeys(_bare(word[begin.start() :]) for word, begin in begins if begin))
    if not found:
        raise InvalidParams("prompt must contain at least one address that starts with http:// or https://")
    if len(found) > most:
        raise InvalidParams(f"prompt contains {len(found)} addresses; at most {most} can be fetched in one call")
    return tuple({verdict.canonical: verdict for verdict in map(_judged, found)}.values())


def _bare(word: str) -> str:
    """Without brackets and the punctuation that follows."""
    word = word.rstrip(_AFTER)
    for opening, closing in ("()", "[]", "{}"):
        while word.endswith(closing) and word.count(closing) > word.count(opening):
            word = word[:-1].rstrip(_AFTER)
    return word


def _judged(url: str) -> UrlVerdict:
    verdict = preview(url)
    if not verdict.allowed:
        raise InvalidParams(f"{verdict.shown} cannot be fetched: {verdict.reason}")
    raw = _BLOB.fullmatch(verdict.canonical)  # the file itself, not GitHub's page around it
    return preview(f"https://raw.githubusercontent.com/{raw[1]}/{raw[2]}") if raw else verdict
