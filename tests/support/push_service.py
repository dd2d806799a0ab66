"""A push service on loopback, and a browser's keys: what arrives is decrypted by an implementation that is not ours."""

import base64
import json
import os
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from queue import Queue
from typing import Any, Self

import http_ece
import jwt
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from support.waiting import WAIT_LIMIT


def _url_safe(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


class PushService:
    """Its one subscriber has real keys. Each message is answered with the next of `statuses`, then with 201."""

    def __init__(self, *statuses: int) -> None:
        self._key, self._secret = ec.generate_private_key(ec.SECP256R1()), os.urandom(16)
        self._statuses = list(statuses)
        self._got: Queue[tuple[dict[str, str], bytes]] = Queue()
        service = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["content-length"]))
                service._got.put(({name.lower(): value for name, value in self.headers.items()}, body))
                self.send_response(service._statuses.pop(0) if service._statuses else 201)
                self.end_headers()

            def log_message(self, format: str, *args: Any) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.origin = f"http://127.0.0.1:{self._server.server_port}"

    def __enter__(self) -> Self:
        threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()

    @property
    def subscription(self) -> dict[str, str]:
        point = self._key.public_key().public_bytes(Encoding.X962, PublicFormat.UncompressedPoint)
        return {"endpoint": f"{self.origin}/send/1", "p256dh": _url_safe(point), "auth": _url_safe(self._secret)}

    def next(self) -> tuple[dict[str, str], dict[str, Any]]:
        """The headers and the decrypted message."""
        headers, body = self._got.get(timeout=WAIT_LIMIT)
        text = http_ece.decrypt(body, private_key=self._key, auth_secret=self._secret)  # pyright: ignore
        return headers, json.loads(text)

    @property
    def unread(self) -> int:
        return self._got.qsize()


def verified(header: str) -> tuple[str, dict[str, Any]]:
    """The key and the claims of a VAPID header, if its signature is right."""
    kind, _, rest = header.partition(" ")
    assert kind == "vapid"
    parts = dict(part.strip().split("=", 1) for part in rest.split(","))
    point = base64.urlsafe_b64decode(parts["k"] + "=")
    key = ec.EllipticCurvePublicKey.from_encoded_point(ec.SECP256R1(), point)
    return parts["k"], jwt.decode(parts["t"], key, algorithms=["ES256"], options={"verify_aud": False})
