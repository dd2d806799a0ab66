"""A model file as a model: its server starts with the first request, and stops when the model is closed.

Assent talks to it through chat completions. A server that died is started again with the next request.
"""

import asyncio
import contextlib
import json
import os
import secrets
import sys
from collections.abc import AsyncGenerator, Mapping
from importlib.util import find_spec
from pathlib import Path

from assent.models.gguf.gguf_file import GgufFile, read_gguf
from assent.models.model_protocol import BadRequest, Chunk, Request, Transient
from assent.models.openai_chat.chat_model import ChatModel
from assent.models.openai_chat.chat_quirks import Quirks
from assent.models.provider import Access
from assent.models.streaming_client import HttpClient
from assent.process.peer import Peer

LARGEST_WINDOW = 32_768
"""Tokens, unless GGUF_CONTEXT says otherwise: memory grows with the window."""
LOAD_TIMEOUT = 600.0
LOAD_CHECK_INTERVAL = 0.05
_NO_LLAMA = "gguf: models need llama.cpp: install it with `pip install 'assent[local]'`"
_TEMPLATE = Path(__file__).with_name("tool_template.jinja")
_ENVIRONMENT = ("PATH", "HOME", "LANG", "LC_ALL", "TMPDIR", "CUDA_VISIBLE_DEVICES", "LD_LIBRARY_PATH")


def window_of(file: GgufFile, env: Mapping[str, str]) -> int:
    return _number(env, "GGUF_CONTEXT", "tokens") or min(file.window or LARGEST_WINDOW, LARGEST_WINDOW)


def threads_of(env: Mapping[str, str]) -> int:
    """All cores but one, unless told otherwise: a thread that waits for a busy core slows down all the others."""
    return _number(env, "GGUF_THREADS", "threads") or max(1, len(os.sched_getaffinity(0)) - 1)


def _number(env: Mapping[str, str], variable: str, of_what: str) -> int:
    """0: it is not set."""
    wanted = env.get(variable, "").strip()
    if wanted and not wanted.isdecimal():
        raise BadRequest(f"{variable} is {wanted!r}: it must be a number of {of_what}")
    return int(wanted or 0)


def temperature_of(env: Mapping[str, str]) -> float | None:
    """None: up to llama.cpp and the file."""
    wanted = env.get("GGUF_TEMPERATURE", "").strip()
    try:
        temperature = float(wanted) if wanted else None
    except ValueError:
        temperature = -1.0
    if temperature is not None and not 0 <= temperature <= 2:
        raise BadRequest(f"GGUF_TEMPERATURE is {wanted!r}: it must be a number from 0 to 2")
    return temperature


class GgufModel:
    def __init__(self, path: str, env: Mapping[str, str]) -> None:
        """Raises BadRequest for a file that cannot be used, or where llama.cpp is not installed."""
        if not path:
            raise BadRequest("gguf: needs the path of a model file, as in gguf:models/qwen3-4b.gguf")
        self._file = read_gguf(path)
        self._window = window_of(self._file, env)
        self._threads = threads_of(env)
        self._temperature = temperature_of(env)
        if find_spec("xllamacpp") is None:
            raise BadRequest(_NO_LLAMA)
        self.name = f"gguf:{path}"
        self._env = env
        self._peer: Peer | None = None
        self._chat: ChatModel | None = None
        self._starting = asyncio.Lock()

    async def stream(self, request: Request) -> AsyncGenerator[Chunk, None]:
        chat = await self._running()
        async for chunk in chat.stream(request):
            yield chunk

    async def close(self) -> None:
        chat, peer, self._chat, self._peer = self._chat, self._peer, None, None
        if chat is not None:
            await chat.close()
        if peer is not None:
            await peer.close()

    async def _running(self) -> ChatModel:
        async with self._starting:
            if self._peer is not None and self._peer.status() is not None:
                await self.close()
            if self._chat is None:
                self._chat = await self._start()
            return self._chat

    async def _start(self) -> ChatModel:
        argv = [sys.executable, "-I", "-m", "assent.models.gguf.gguf_server"]
        env = {name: self._env[name] for name in _ENVIRONMENT if name in self._env}
        try:
            self._peer = peer = await Peer.start(argv, cwd=os.path.dirname(self._file.path), env=env)
        except OSError as error:
            raise Transient(f"cannot start llama.cpp: {error.strerror}") from error
        key = secrets.token_urlsafe(32)
        address = await self._address(peer, key)
        http = HttpClient(address)
        try:
            async with asyncio.timeout(LOAD_TIMEOUT):
                await self._until_loaded(peer, http)
        except TimeoutError:
            raise BadRequest(f"{self._file.path} was not loaded within {LOAD_TIMEOUT:g} seconds") from None
        finally:
            await http.close()
        access = Access(base_url=f"{address}/v1", provider="gguf", key=key)
        chat = ChatModel(self._file.name, access, Quirks(efforts=()), "")
        chat.name = self.name
        return chat

    async def _address(self, peer: Peer, key: str) -> str:
        await peer.write_line(json.dumps(self._settings(key)).encode())
        line = await _line_of_json(peer)
        if line is None:
            raise await self._cannot_load(peer)
        return json.loads(line)["address"]

    async def _until_loaded(self, peer: Peer, http: HttpClient) -> None:
        while peer.status() is None:
            with contextlib.suppress(Transient):
                async with await http.get("/health", ()) as response:
                    if response.status == 200:
                        return
            await asyncio.sleep(LOAD_CHECK_INTERVAL)
        raise await self._cannot_load(peer)

    async def _cannot_load(self, peer: Peer) -> BadRequest:
        await self.close()
        return BadRequest(f"llama.cpp cannot load {self._file.path}: {_last_words(peer.errors())}")

    def _settings(self, key: str) -> dict[str, str | float | None]:
        return {
            "path": self._file.path,
            "name": self._file.name,
            "key": key,
            "window": self._window,
            "threads": self._threads,
            "temperature": self._temperature,
            "chat_template": "" if self._file.knows_tools else _TEMPLATE.read_text("utf-8"),
        }


async def _line_of_json(peer: Peer) -> bytes | None:
    """llama.cpp may print lines of its own first."""
    while (line := await peer.read_line()) is not None:
        if line.startswith(b'{"address"'):
            return line
    return None


def _last_words(errors: str) -> str:
    lines = [line.strip() for line in errors.splitlines() if line.strip()]
    said = [line for line in lines if "error" in line.lower() or "fail" in line.lower()] or lines
    return said[-1][:500] if said else "it exited without an error message"
