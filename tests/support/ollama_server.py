"""A server that speaks Ollama's protocol in front of real weights, because Ollama itself is not in a package index.

It answers `/api/tags`, `/api/ps`, `/api/show` and `/api/version` as Ollama does, and passes `/v1/…` on to llama.cpp,
which Ollama runs, too.
"""

import json
import threading
import urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self

from support.llama_server import KEY, NAME, LlamaServer

MODEL = "smollm2:135m"
DETAILS = {"format": "gguf", "family": "llama", "families": ["llama"], "parameter_size": "134.52M"}
ENTRY = {"name": MODEL, "model": MODEL, "size": 98_000_000, "digest": "9077fe9d2ae1", "details": DETAILS}
ANSWERS: dict[str, Any] = {
    "/api/version": {"version": "0.14.2"},
    "/api/tags": {"models": [ENTRY]},
    "/api/ps": {"models": [ENTRY | {"context_length": 8_192}]},
    "/api/show": {"details": DETAILS, "capabilities": ["completion", "tools"], "parameters": "num_ctx 8192"},
    "/v1/models": {"object": "list", "data": [{"id": MODEL, "object": "model", "owned_by": "library"}]},
}


class OllamaServer:
    """On a port of its own; `host` is what OLLAMA_HOST is set to."""

    def __init__(self, llama: LlamaServer) -> None:
        handler = type("Handler", (_Handler,), {"backend": llama.url})
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self.host = f"127.0.0.1:{self._server.server_port}"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()


class _Handler(BaseHTTPRequestHandler):
    backend = ""

    def do_GET(self) -> None:
        self._answer()

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if self.path == "/v1/chat/completions":
            self._pass_on(body | {"model": NAME})
        else:
            self._answer()

    def _answer(self) -> None:
        found = self.path in ANSWERS
        data = json.dumps(ANSWERS[self.path] if found else {"error": "not found"}).encode()
        self._begin(200 if found else 404, "application/json")
        self.wfile.write(data)

    def _pass_on(self, body: dict[str, Any]) -> None:
        headers = {"Content-Type": "application/json", "Authorization": f"Bearer {KEY}"}
        request = urllib.request.Request(f"{self.backend}{self.path}", json.dumps(body).encode(), headers)
        with urllib.request.urlopen(request) as reply:
            self._begin(reply.status, reply.headers["Content-Type"])
            while block := reply.read1():
                self.wfile.write(block)
                self.wfile.flush()

    def _begin(self, status: int, kind: str) -> None:
        """HTTP/1.0: the end of the connection ends the body."""
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.end_headers()

    def log_message(self, format: str, *args: Any) -> None:
        """Nobody reads it."""
