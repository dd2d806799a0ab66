"""The floor: the minimum that a Python program has to do to hold such a conversation. Standard library, no extras.

It asks, streams, runs shell commands and sends their output back until no call is left; it has no log, no approvals, no
retries, no checks. Its argument is the prompt; the provider is on loopback, in GOOGLE_GEMINI_BASE_URL.
"""

import asyncio
import json
import os
import sys
from collections.abc import AsyncIterator
from typing import Any

HOST, PORT = os.environ["GOOGLE_GEMINI_BASE_URL"].removeprefix("http://").split(":")
HEAD = (
    "POST /v1beta/models/gemini-2.5-flash:streamGenerateContent?alt=sse HTTP/1.1\r\n"
    "Host: {host}\r\nContent-Type: application/json\r\nx-goog-api-key: {key}\r\nContent-Length: {length}\r\n\r\n"
)
SHELL = {
    "name": "run_shell_command",
    "description": "Runs a command.",
    "parametersJsonSchema": {"type": "object", "properties": {"command": {"type": "string"}}},
}
KEEP = 40_000
Json = dict[str, Any]


async def ask(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, contents: list[Json]) -> AsyncIterator[Json]:
    """The events of one reply."""
    body = json.dumps({"contents": contents, "tools": [{"functionDeclarations": [SHELL]}]}).encode()
    head = HEAD.format(host=HOST, key=os.environ["GEMINI_API_KEY"], length=len(body))
    writer.write(head.encode() + body)
    await reader.readuntil(b"\r\n\r\n")
    held = b""
    while size := int(await reader.readline(), 16):
        held += (await reader.readexactly(size + 2))[:-2]
        while (end := held.find(b"\r\n\r\n")) >= 0:
            yield json.loads(held[len("data: ") : end])
            held = held[end + 4 :]
    await reader.readline()


async def shell(call: Json) -> Json:
    process = await asyncio.create_subprocess_exec(
        "/bin/bash", "-c", call["args"]["command"], stdin=-3, stdout=-1, stderr=-2, limit=1 << 20
    )
    assert process.stdout is not None
    kept = b""
    while block := await process.stdout.read(1 << 20):
        kept = (kept + block)[:KEEP]
    await process.wait()
    response = {"output": kept.decode(errors="replace")}
    return {"functionResponse": {"id": call.get("id"), "name": call["name"], "response": response}}


async def main(prompt: str) -> None:
    contents: list[Json] = [{"role": "user", "parts": [{"text": prompt}]}]
    reader, writer = await asyncio.open_connection(HOST, int(PORT), limit=1 << 22)
    while True:
        parts: list[Json] = []
        async for event in ask(reader, writer, contents):
            for part in event["candidates"][0]["content"]["parts"]:
                sys.stdout.write(part.get("text", ""))
                parts.append(part)
        contents.append({"role": "model", "parts": parts})
        calls = [part["functionCall"] for part in parts if "functionCall" in part]
        if not calls:
            break
        contents.append({"role": "user", "parts": await asyncio.gather(*map(shell, calls))})
    writer.close()
    sys.stdout.write("\n")


asyncio.run(main(sys.argv[1]))
