"""Writes what the model is told about the built-in tools as data; see `assent.tools.declared`.

Run it after a change of a built-in tool's name, description, kind or parameters:

    .venv/bin/python scripts/declare_tools.py

With `--check` it only says whether that was forgotten.
"""

import sys
from pathlib import Path

import msgspec

from assent.files.workspace import Workspace
from assent.parts import SearchAnswer
from assent.tools.builtin import builtin_tools
from assent.tools.declared import FILE
from assent.tools.tool import ToolFacts
from assent.tools.web_search import WebSearchTool


def current_facts() -> list[ToolFacts]:
    tools = [*builtin_tools(Workspace(["/"], "/"), memory="/ASSENT.md"), WebSearchTool(_search)]
    return [tool.facts() for tool in tools]


async def _search(query: str) -> SearchAnswer:
    raise NotImplementedError(query)


def main(check: bool) -> int:
    current = msgspec.json.format(msgspec.json.encode(current_facts()), indent=1) + b"\n"
    if not check:
        Path(FILE).write_bytes(current)
        return 0
    if Path(FILE).read_bytes() == current:
        return 0
    print(f"{FILE} is out of date: run scripts/declare_tools.py")
    return 1


if __name__ == "__main__":
    sys.exit(main(check="--check" in sys.argv))
