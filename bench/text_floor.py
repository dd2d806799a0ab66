"""The floor in every wire format: the minimum that a Python program has to do for one prompt and one reply of text.

    FLOOR_URL=http://127.0.0.1:PORT python text_floor.py FORMAT PROMPT

Standard library, no extras: no log, no tools, no retries, no checks.
"""

import asyncio
import json
import os
import sys
from collections.abc import AsyncIterator
from typing import Any

Json = dict[str, Any]
HOST, PORT = os.environ["FLOOR_URL"].removeprefix("http://").split(":")
FORMAT, PROMPT = sys.argv[1:]
HEAD = (
    "POST {path} HTTP/1.1\r\nHost: {host}\r\nContent-Type: application/json\r\n"
    "Authorization: Bearer bench\r\nContent-Length: {length}\r\n\r\n"
)
MESSAGES = [{"role": "user", "content": PROMPT}]
REQUESTS: dict[str, tuple[str, Json]] = {
    "gemini": (
        "/v1beta/models/gemini-2.5-flash:streamGenerateContent?alt=sse",
        {"contents": [{"role": "user", "parts": [{"text": PROMPT}]}]},
    ),
    "messages": ("/v1/messages", {"model": "m", "max_tokens": 32_000, "stream": True, "messages": MESSAGES}),
    "responses": ("/responses", {"model": "m", "stream": True, "input": MESSAGES}),
    "chat": ("/chat/completions", {"model": "m", "stream": True, "messages": MESSAGES}),
}


def text_of(event: Json) -> str:
    match FORMAT:
        case "gemini":
            return event["candidates"][0]["content"]["parts"][0].get("text", "")
        case "messages":
            return event["delta"]["text"] if event["type"] == "content_block_delta" else ""
        case "responses":
            return event["delta"] if event["type"] == "response.output_text.delta" else ""
        case _:
            return event["choices"][0]["delta"].get("content") or "" if event["choices"] else ""


async def events(reader: asyncio.StreamReader) -> AsyncIterator[Json]:
    held = b""
    await reader.readuntil(b"\r\n\r\n")
    while size := int(await reader.readline(), 16):
        held += (await reader.readexactly(size + 2))[:-2]
        while (end := held.find(b"\r\n\r\n")) >= 0:
            data = held[held.index(b"data: ") + len("data: ") : end]
            held = held[end + 4 :]
            if data != b"[DONE]":
                yield json.loads(data)


async def main() -> None:
    path, request = REQUESTS[FORMAT]
    body = json.dumps(request).encode()
    reader, writer = await asyncio.open_connection(HOST, int(PORT), limit=1 << 22)
    writer.write(HEAD.format(path=path, host=HOST, length=len(body)).encode() + body)
    async for event in events(reader):
        sys.stdout.write(text_of(event))
    writer.close()
    sys.stdout.write("\n")


asyncio.run(main())
