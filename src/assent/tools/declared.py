"""What the model is told about the built-in tools, as data, so that the first request need not wait for their code.

`scripts/declare_tools.py` writes the file from the tools themselves; a test fails if it is out of date.
"""

import os
from functools import cache

import msgspec

from assent.tools.tool import ToolFacts

FILE = os.path.join(os.path.dirname(__file__), "declarations.json")
SEARCH = "web_search"
"""Offered only with a model that can search."""
PLAN = "propose_plan"
"""Offered in plan mode only."""


def builtin_facts() -> list[ToolFacts]:
    """Those that every session has."""
    return [facts for facts in _all_facts() if facts.name != SEARCH]


def search_facts() -> list[ToolFacts]:
    return [facts for facts in _all_facts() if facts.name == SEARCH]


@cache
def _all_facts() -> list[ToolFacts]:
    """Read once: all sessions of a server share them, and nobody changes them."""
    with open(FILE, "rb") as file:
        return msgspec.json.decode(file.read(), type=list[ToolFacts])
