"""A call of web_fetch: finds the addresses in the prompt, says exactly which they are, and fetches these.

Addresses are judged as texts before anything is asked. Names are resolved only when the call runs: looking up a name
already tells it to others, so it takes the same leave as the request.
"""

import asyncio
import re

from assent.approval import InfoDetails
from assent.parts import Failure, PlainDisplay
from assent.tools.base import InvalidParams, Invocation, Live, Permit, Resources, ToolFailed, ToolResult
from assent.tools.web_fetch import MOST_URLS, WebFetchTool
from assent.web.fetch import FetchFailed, Moved, Page
from assent.web.urls import Verdict, preview

MODEL_CHARACTERS = 250_000
"""For all pages of a call together."""

_BEGIN = re.compile(r"[a-zA-Z][a-zA-Z0-9+.-]*://")
_AFTER = "<>\"'`.,;:!?*_"
_BLOB = re.compile(r"https://github\.com/([^/?]+/[^/?]+)/blob/([^?]+)(?:\?.*)?")

Outcome = Page | Moved | FetchFailed


def urls_in(prompt: str) -> tuple[Verdict, ...]:
    """The addresses of the text, judged; raises for one that may not be asked, and when there is none."""
    begins = ((word, _BEGIN.search(word)) for word in prompt.split())
    found = list(dict.fromkeys(_bare(word[begin.start() :]) for word, begin in begins if begin))
    if not found:
        raise InvalidParams("prompt must contain at least one address that begins with http:// or https://")
    if len(found) > MOST_URLS:
        raise InvalidParams(f"prompt has {len(found)} addresses; at most {MOST_URLS} can be fetched in one call")
    return tuple({verdict.canonical: verdict for verdict in map(_judged, found)}.values())


def _bare(word: str) -> str:
    """Without the brackets and the punctuation of the sentence after it."""
    word = word.rstrip(_AFTER)
    for opening, closing in ("()", "[]", "{}"):
        while word.endswith(closing) and word.count(closing) > word.count(opening):
            word = word[:-1].rstrip(_AFTER)
    return word


def _judged(url: str) -> Verdict:
    verdict = preview(url)
    if not verdict.allowed:
        raise InvalidParams(f"{verdict.shown} cannot be fetched: {verdict.reason}")
    raw = _BLOB.fullmatch(verdict.canonical)  # the file itself, not GitHub's page around it
    return preview(f"https://raw.githubusercontent.com/{raw[1]}/{raw[2]}") if raw else verdict


class WebFetchInvocation(Invocation):
    def __init__(self, tool: WebFetchTool, prompt: str, verdicts: tuple[Verdict, ...]) -> None:
        self._tool = tool
        self._prompt = prompt
        self._urls = tuple(verdict.canonical for verdict in verdicts)
        self._warnings = tuple(f"{v.host}: {warning}" for v in verdicts for warning in v.warnings)

    def describe(self) -> str:
        return ", ".join(self._urls)

    def resources(self) -> Resources:
        return Resources()

    async def should_confirm(self) -> InfoDetails:
        return InfoDetails(self._prompt, self._urls, self._warnings)

    async def execute(self, permit: Permit, live: Live) -> ToolResult:
        found = dict(zip(self._urls, await asyncio.gather(*map(self._fetch, self._urls)), strict=True))
        shares = _shares([len(o.text) if isinstance(o, Page) else 0 for o in found.values()], MODEL_CHARACTERS)
        sections = [_section(url, outcome, share) for (url, outcome), share in zip(found.items(), shares, strict=True)]
        problems = [_line(url, outcome) for url, outcome in found.items() if not _good(outcome)]
        if not any(isinstance(outcome, Page | Moved) for outcome in found.values()):
            raise ToolFailed("web_fetch_failed", "\n".join(problems))
        failure = Failure("web_fetch_failed", "\n".join(problems)) if len(problems) == len(found) else None
        display = PlainDisplay("\n".join(_line(url, outcome) for url, outcome in found.items()))
        return ToolResult("\n\n".join(sections), display, failure)

    async def _fetch(self, url: str) -> Outcome:
        try:
            return await self._tool.web.fetch(url)
        except FetchFailed as error:
            return error


def _good(outcome: Outcome) -> bool:
    return isinstance(outcome, Moved) or (isinstance(outcome, Page) and outcome.status < 400)


def _line(url: str, outcome: Outcome) -> str:
    """For the person, and for errors."""
    match outcome:
        case Page(status=status, size=size, url=final):
            way = f"{url} → {final}" if final != url else url
            return f"{way} (status {status}, {size:,} bytes)"
        case Moved(url=new):
            return f"{url} has moved to another host: {new}"
        case FetchFailed():
            return f"{url} was not fetched: {outcome}"


def _section(url: str, outcome: Outcome, share: int) -> str:
    line = _line(url, outcome)
    match outcome:
        case Page(text=text):
            cut = f"\n[Cut after {share:,} of {len(text):,} characters.]" if len(text) > share else ""
            return f"--- {line} ---\n{text[:share] or '(empty)'}{cut}"
        case Moved():
            return f"--- {line} ---\nNothing was fetched from there. Call web_fetch again with the new address."
        case _:
            return f"--- {line} ---"


def _shares(sizes: list[int], budget: int) -> list[int]:
    """Each gets what it needs as long as all get it; long ones share what short ones leave."""
    shares, left = [0] * len(sizes), budget
    for rank, index in enumerate(sorted(range(len(sizes)), key=sizes.__getitem__)):
        shares[index] = min(sizes[index], left // (len(sizes) - rank))
        left -= shares[index]
    return shares
