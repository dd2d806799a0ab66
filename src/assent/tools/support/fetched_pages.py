"""Describes fetched pages and failures: one line each for the person, one section each for the model."""

from assent.parts import Failure, PlainDisplay
from assent.tools.tool import ToolFailed, ToolResult
from assent.web.fetch import FetchFailed, Moved, Page

MODEL_CHARACTERS = 250_000
"""Characters for all pages of a call together."""

Outcome = Page | Moved | FetchFailed


def report(found: dict[str, Outcome]) -> ToolResult:
    """The result for each address. Raises ToolFailed if none could be fetched."""
    shares = _shares([len(o.text) if isinstance(o, Page) else 0 for o in found.values()], MODEL_CHARACTERS)
    sections = [_section(url, outcome, share) for (url, outcome), share in zip(found.items(), shares, strict=True)]
    problems = [_line(url, outcome) for url, outcome in found.items() if not _good(outcome)]
    if not any(isinstance(outcome, Page | Moved) for outcome in found.values()):
        raise ToolFailed("web_fetch_failed", "\n".join(problems))
    failure = Failure("web_fetch_failed", "\n".join(problems)) if len(problems) == len(found) else None
    display = PlainDisplay("\n".join(_line(url, outcome) for url, outcome in found.items()))
    return ToolResult("\n\n".join(sections), display, failure)


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
            return f"--- {line} ---\nNothing was fetched. Call web_fetch again with the new address."
        case _:
            return f"--- {line} ---"


def _shares(sizes: list[int], budget: int) -> list[int]:
    """Each page gets what it needs if all fit; otherwise long ones share what short ones leave."""
    shares, left = [0] * len(sizes), budget
    for rank, index in enumerate(sorted(range(len(sizes)), key=sizes.__getitem__)):
        shares[index] = min(sizes[index], left // (len(sizes) - rank))
        left -= shares[index]
    return shares
