#!/usr/bin/env python3
"""The project's own tools: `tools.py list` prints their declarations, `tools.py call NAME` runs one."""

import json
import sys
from pathlib import Path

TOOLS = [
    {
        "name": "todo_comments",
        "description": "Lists the TODO comments of the project's Python files.",
        "parameters": {"type": "object", "properties": {"word": {"type": "string"}}},
    }
]


def todo_comments(word: str = "TODO") -> str:
    found = (
        f"{path}:{number}: {line.strip()}"
        for path in sorted(Path().rglob("*.py"))
        for number, line in enumerate(path.read_text().splitlines(), start=1)
        if f"# {word}" in line
    )
    return "\n".join(found) or f"There is no {word} comment."


match sys.argv[1:]:
    case ["list"]:
        print(json.dumps(TOOLS))
    case ["call", "todo_comments"]:
        print(todo_comments(**json.load(sys.stdin)))
    case _:
        sys.exit("usage: tools.py list | call NAME")
