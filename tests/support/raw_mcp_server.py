"""A small hand-written MCP server of the older kind (2025-11-25): starts at once, and misbehaves as its arguments say.

`raw_mcp_server.py FOLDER [garbage|noise|endless|flood|mute|dies|waits|old|stubborn|storm]`. `tools.json` in its folder
is its list of tools; each start is a line in `events`. A call of the tool `again` reports that the list has changed;
`ask` asks the client for everything that a server may ask for and reports the answers. `answers.json` has whole answers
by method, which take precedence.
"""

import json
import os
import signal
import sys
import time
from pathlib import Path
from typing import Any

FOLDER = Path(sys.argv[1])
HOW = sys.argv[2] if len(sys.argv) > 2 else ""


def write(message: dict[str, Any]) -> None:
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    sys.stdout.flush()


def tools() -> list[dict[str, Any]]:
    given = FOLDER / "tools.json"
    return json.loads(given.read_text()) if given.exists() else [{"name": "again", "inputSchema": {"type": "object"}}]


def result(method: str, params: dict[str, Any]) -> dict[str, Any] | None:
    prepared = FOLDER / "answers.json"
    answers: dict[str, Any] = json.loads(prepared.read_text()) if prepared.exists() else {}
    if method in answers:
        with open(FOLDER / "asked", "a") as file:
            file.write(method + "\n")
        return answers[method]
    match method:
        case "initialize":
            about = {"name": "raw", "version": "1"}
            can = {"tools": {"listChanged": True}}
            return {"protocolVersion": "2025-11-25", "capabilities": can, "serverInfo": about}
        case "tools/list":
            return {"tools": tools()}
        case "tools/call":
            return called(params["name"])
        case _:
            return None


def called(name: str) -> dict[str, Any]:
    match name:
        case "again":
            write({"method": "notifications/tools/list_changed"})
        case "crash":
            os._exit(3)
        case "huge":
            return {"content": [{"type": "text", "text": "x" * 3_000_000}]}
        case "ask":
            return {"content": [{"type": "text", "text": json.dumps(asked())}]}
        case "structured":
            return {"content": [], "structuredContent": {"answer": 42}}
        case _:
            pass
    return {"content": [{"type": "text", "text": f"{name} by {os.getpid()}"}]}


REQUESTS: dict[str, dict[str, Any]] = {
    "ping": {},
    "roots/list": {},
    "sampling/createMessage": {"messages": [], "maxTokens": 5},
    "elicitation/create": {"message": "your password?", "requestedSchema": {"type": "object", "properties": {}}},
    "no/such": {},
}


def asked() -> dict[str, Any]:
    """What the client answers to everything that a server may ask; messages that it must ignore come in between."""
    write({"method": "notifications/no_such", "params": {}})
    write({"method": "notifications/progress", "params": {"progressToken": "nobody's", "progress": 1}})
    write({"method": "notifications/cancelled", "params": {"requestId": 99_999}})
    write({"id": 99_999, "result": {}})
    for method, params in REQUESTS.items():
        write({"id": f"s-{method}", "method": method, "params": params})
    answers: dict[str, Any] = {}
    while len(answers) < len(REQUESTS):
        message = json.loads(sys.stdin.readline())
        answers[message["id"].removeprefix("s-")] = message.get("result", message.get("error", {}).get("code"))
    return answers


def misbehave() -> None:
    match HOW:
        case "garbage":
            sys.stdout.write("Welcome!\n\x1b[2J{\n[]\nnull\n")
        case "noise":
            while True:
                sys.stdout.write("noise " * 1000 + "\n")
        case "endless":
            while True:
                sys.stdout.write("x" * 65536)
        case "dies":
            sys.exit("no licence found")
        case "waits":  # for the file `go`
            while not (FOLDER / "go").exists():
                time.sleep(0.01)
            sys.exit("nobody came")
        case "stubborn":
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
        case _:
            pass


def main() -> None:
    with open(FOLDER / "events", "a") as file:
        file.write(f"started {os.getpid()}\n")
    misbehave()
    for line in sys.stdin:
        message = json.loads(line)
        if HOW == "old" and message["method"] == "server/discover":
            sys.exit("expected initialize")
        answer = result(message["method"], message.get("params") or {})
        if HOW == "mute" or "id" not in message:
            continue
        if answer is None:
            write({"id": message["id"], "error": {"code": -32601, "message": "no such method"}})
            continue
        write({"id": message["id"], "result": answer})
        if HOW == "storm" and message["method"] == "tools/list":
            for _ in range(200):
                write({"method": "notifications/tools/list_changed"})
        if HOW == "flood" and message["method"] == "tools/list":
            for number in range(20_000):
                write({"method": "notifications/message", "params": {"level": "info", "data": f"line {number}"}})
    while HOW == "stubborn":
        signal.pause()


main()
