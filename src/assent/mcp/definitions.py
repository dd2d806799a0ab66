"""What a server says about its tools, as we accept it: a safe name, safe text, a digest; or the reason for refusing it.

Two tools that map to the same name are both refused: nobody should have to guess which one was meant.
"""

import functools
import hashlib
import re
from collections import Counter
from collections.abc import Callable, Sequence

import msgspec
from msgspec import Struct

from assent.mcp.schemas import BadSchema, clean_schema
from assent.parts import JsonObject
from assent.screen import make_safe

NAME_LIMIT = 64
PROJECT_PREFIX = "discovered_tool_"
DESCRIPTION_LIMIT = 4_000
TOOLS_LIMIT = 500
_UNNAMED = re.compile(r"[^A-Za-z0-9_-]")
_encoder = msgspec.json.Encoder(order="deterministic")


class Offer(Struct, frozen=True):
    """A tool in the server's own words."""

    tool: str
    description: str = ""
    schema: JsonObject = {}
    title: str = ""
    read_only: bool = False
    """The server's hint; believed only if the server is trusted."""


class Definition(Struct, frozen=True, kw_only=True):
    name: str
    """For the model and the rules: `mcp_<server>_<tool>`."""
    tool: str
    """The server's own name for it."""
    title: str
    description: str
    schema: JsonObject
    read_only: bool
    digest: str
    """Of everything the server said about it."""


class Refusal(Struct, frozen=True):
    tool: str
    reason: str


def model_name(server: str, tool: str) -> str:
    """Names that models accept: letters, digits, `_` and `-`. A long one is cut, and its digest keeps it unique."""
    return _fitting(f"mcp_{server}_", tool)


def project_name(tool: str) -> str:
    """The same for a tool of the project's own command."""
    return _fitting(PROJECT_PREFIX, tool)


def _fitting(prefix: str, tool: str) -> str:
    name = f"{prefix}{_UNNAMED.sub('_', tool)}"
    if len(name) <= NAME_LIMIT:
        return name
    return f"{name[: NAME_LIMIT - 9]}_{hashlib.sha256(tool.encode(errors='surrogatepass')).hexdigest()[:8]}"


def define(
    server: str, offers: Sequence[Offer], named: Callable[[str], str] | None = None
) -> tuple[list[Definition], list[Refusal]]:
    """`named` makes the names for the model, if the tools do not come from a server."""
    named = named or functools.partial(model_name, server)
    looked_at = offers[:TOOLS_LIMIT]
    counts = Counter(_folded(named, offer) for offer in looked_at)
    taken = [_define(named, offer, alone=counts[_folded(named, offer)] == 1) for offer in looked_at]
    refused = [one for one in taken if isinstance(one, Refusal)]
    if len(offers) > TOOLS_LIMIT:
        refused.append(Refusal(f"{len(offers) - TOOLS_LIMIT} others", f"the limit is {TOOLS_LIMIT} tools"))
    return [one for one in taken if isinstance(one, Definition)], refused


def _folded(named: Callable[[str], str], offer: Offer) -> str:
    """Names that differ only in case would look alike to a person."""
    return named(offer.tool).lower()


def _define(named: Callable[[str], str], offer: Offer, *, alone: bool) -> Definition | Refusal:
    if not offer.tool.strip():
        return Refusal(offer.tool, "it has no name")
    if not alone:
        return Refusal(offer.tool, "another tool would have the same name")
    try:
        schema = clean_schema(offer.schema)
    except BadSchema as error:
        return Refusal(offer.tool, str(error))
    return Definition(
        name=named(offer.tool),
        tool=offer.tool,
        title=make_safe(offer.title or offer.tool, "label").text,
        description=_prose(offer.description),
        schema=schema,
        read_only=offer.read_only,
        digest=hashlib.sha256(_encoder.encode(offer)).hexdigest(),
    )


def _prose(text: str) -> str:
    safe = make_safe(text[: 4 * DESCRIPTION_LIMIT], "prompt").text.strip()
    return safe if len(safe) <= DESCRIPTION_LIMIT else f"{safe[:DESCRIPTION_LIMIT]}… (cut)"
