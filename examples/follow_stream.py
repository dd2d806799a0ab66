"""Reads `-o stream-json`, prints one line for each call, and then the result.

    assent -p "tidy up the imports" -o stream-json | python examples/follow_stream.py

Every line is one event. Durable events have a `seq` that starts at 1 and has no gaps. The last line is always the
result.
"""

import json
import sys
from collections.abc import Iterable


def follow(lines: Iterable[str]) -> int:
    tools: dict[str, str] = {}
    for line in lines:
        match json.loads(line):
            case {"type": "call.requested", "request": {"call_id": call, "tool": tool}}:
                tools[call] = tool
            case {"type": "call.finished", "call_id": call, "status": status}:
                print(f"{tools[call]}: {status}")
            case {"type": "result", "status": status, "response": response}:
                print(f"{status}: {response}")
                return 0 if status == "success" else 1
            case _:
                pass
    print("The stream was cut off: there is no result.")
    return 1


if __name__ == "__main__":
    sys.exit(follow(sys.stdin))
