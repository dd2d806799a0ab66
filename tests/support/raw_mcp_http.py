"""A small hand-written MCP server over HTTP with sessions (2025-11-25): `raw_mcp_http.py FOLDER PORT [HOW …]`.

It forgets its sessions when it exits, as real ones do. HOW: `400` or `404` is how it refuses an unknown session,
`stream` answers calls with an event stream, `ids` gives its events ids, `get` offers a stream for its own messages,
`sse` is the older transport (GET /mcp returns the stream), `status=N` answers every call with that status. Its tools:
echo; wait, which never answers; bad, which returns its own error.
"""

import json
import queue
import sys
import threading
import uuid
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

FOLDER, PORT, HOW = Path(sys.argv[1]), int(sys.argv[2]), set(sys.argv[3:])
UNKNOWN = 404 if "404" in HOW else 400
STATUS = next((int(how.partition("=")[2]) for how in HOW if how.startswith("status=")), 0)
sessions: dict[str, "queue.Queue[bytes]"] = {}


def note(line: str) -> None:
    with open(FOLDER / "events", "a") as file:
        file.write(line + "\n")


def result(method: str, params: dict[str, Any]) -> dict[str, Any] | None:
    match method:
        case "initialize":
            about = {"name": "raw", "version": "1"}
            version = "2024-11-05" if "sse" in HOW else "2025-11-25"
            return {"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": about}
        case "tools/list":
            names = ("echo", "wait", "bad")
            return {"tools": [{"name": name, "inputSchema": {"type": "object"}} for name in names]}
        case "tools/call":
            note(f"call {params['name']}")
            if params["name"] == "wait":
                threading.Event().wait()
            return {"content": [{"type": "text", "text": json.dumps(params.get("arguments"))}]}
        case "ping":
            return {}
        case _:
            return None


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, format: str, *args: object) -> None:
        pass

    def do_POST(self) -> None:
        message: dict[str, Any] = json.loads(self.rfile.read(int(self.headers["content-length"])))
        method: str = message["method"]
        params: dict[str, Any] = message.get("params", {})
        if "sse" in HOW:
            self.post_for_stream(message, method, params)
        elif method == "initialize":
            session = uuid.uuid4().hex
            sessions[session] = queue.Queue()
            note("initialize")
            self.answer(message, result(method, params), session)
        elif self.headers.get("mcp-session-id") not in sessions:
            error = {"code": -32001, "message": "Session not found"}
            self.reply(UNKNOWN, {"jsonrpc": "2.0", "id": None, "error": error})
        elif "id" not in message:
            self.reply(202, None)
        elif method == "tools/call" and STATUS:
            self.reply(STATUS, None)
        elif method == "tools/call" and params["name"] == "bad":
            self.reply(200, {"jsonrpc": "2.0", "id": message["id"], "error": {"code": -32000, "message": "no paper"}})
        elif method == "tools/call" and "stream" in HOW:
            self.stream(message, params)
        else:
            self.answer(message, result(method, params))

    def answer(self, message: dict[str, Any], found: dict[str, Any] | None, session: str = "") -> None:
        body = {"jsonrpc": "2.0", "id": message["id"]}
        error = {"code": -32601, "message": "no such method"}
        self.reply(200, body | ({"error": error} if found is None else {"result": found}), session)

    def stream(self, message: dict[str, Any], params: dict[str, Any]) -> None:
        self.begin_stream()
        if "ids" in HOW:
            self.wfile.write(b"id: 1\ndata:\n\n")
            self.wfile.flush()
        body = {"jsonrpc": "2.0", "id": message["id"], "result": result("tools/call", params)}
        self.wfile.write(b"event: message\ndata: " + json.dumps(body).encode() + b"\n\n")

    def post_for_stream(self, message: dict[str, Any], method: str, params: dict[str, Any]) -> None:
        """The answer goes to the stream of the session in the address."""
        waiting = sessions.get(self.path.partition("session_id=")[2])
        if waiting is None:
            self.reply(405 if "?" not in self.path else UNKNOWN, None)
            return
        self.reply(202, None)
        if "id" in message:
            found = result(method, params)
            error = {"code": -32601, "message": "no such method"}
            body: dict[str, Any] = {"jsonrpc": "2.0", "id": message["id"]}
            waiting.put(json.dumps(body | ({"error": error} if found is None else {"result": found})).encode())

    def do_GET(self) -> None:
        session = self.headers.get("mcp-session-id", "")
        if "sse" in HOW:
            session = uuid.uuid4().hex
            sessions[session] = queue.Queue()
            self.begin_stream()
            self.wfile.write(f"event: endpoint\ndata: /messages?session_id={session}\n\n".encode())
        elif "get" not in HOW:
            self.reply(405, None)
            return
        elif session not in sessions:
            self.reply(UNKNOWN, None)
            return
        else:
            self.begin_stream()
        self.wfile.flush()
        while True:
            self.wfile.write(b"event: message\ndata: " + sessions[session].get() + b"\n\n")
            self.wfile.flush()

    def do_DELETE(self) -> None:
        note("deleted" if sessions.pop(self.headers.get("mcp-session-id", ""), None) else "unknown deleted")
        self.reply(200, None)

    def begin_stream(self) -> None:
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("connection", "close")
        self.end_headers()
        self.close_connection = True

    def reply(self, status: int, body: dict[str, Any] | None, session: str = "") -> None:
        data = b"" if body is None else json.dumps(body).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        if session:
            self.send_header("mcp-session-id", session)
        self.end_headers()
        self.wfile.write(data)


class Server(ThreadingHTTPServer):
    daemon_threads = True
    allow_reuse_address = True
    request_queue_size = 64


with Server(("127.0.0.1", PORT), Handler) as server:
    (FOLDER / "port").write_text(str(server.server_address[1]))
    server.serve_forever()
