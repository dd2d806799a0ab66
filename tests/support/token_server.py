"""Google's token endpoint on loopback: it checks what RFC 6749 and RFC 7523 demand, and gives out numbered tokens."""

import asyncio
import base64
from typing import Any
from urllib.parse import parse_qsl

import msgspec
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import padding, rsa

from support.raw_server import Server

EMAIL = "robot@p.iam.gserviceaccount.com"
SCOPE = "https://www.googleapis.com/auth/cloud-platform"
KEY = rsa.generate_private_key(65537, 2048)
PERSON = {"client_id": "id.apps", "client_secret": "s&cret", "refresh_token": "1//refresh"}


def private_key() -> str:
    form = serialization.PrivateFormat.PKCS8
    return KEY.private_bytes(serialization.Encoding.PEM, form, serialization.NoEncryption()).decode()


class TokenServer(Server):
    def __init__(self, lifetime: int = 3600) -> None:
        super().__init__()
        self.lifetime = lifetime
        self.given = 0
        self.fails = 0
        """A status to answer with, instead of a token."""

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/token"

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode().lower()
        assert head.startswith("post /token ") and "content-type: application/x-www-form-urlencoded" in head
        length = next(line.partition(":")[2] for line in head.split("\r\n") if line.startswith("content-length"))
        form = dict(parse_qsl((await reader.readexactly(int(length))).decode(), strict_parsing=True))
        status, answer = self._answer(form)
        data = msgspec.json.encode(answer)
        start = f"HTTP/1.1 {status} X\r\nContent-Type: application/json\r\nContent-Length: {len(data)}\r\n"
        writer.write(f"{start}Connection: close\r\n\r\n".encode() + data)
        await writer.drain()

    def _answer(self, form: dict[str, str]) -> tuple[int, Any]:
        if self.fails:
            return self.fails, {"error": "internal_failure"}
        if why := self._wrong(form):
            return 400, {"error": "invalid_grant", "error_description": why}
        self.given += 1
        return 200, {"access_token": f"ya29.token-{self.given}", "expires_in": self.lifetime, "token_type": "Bearer"}

    def _wrong(self, form: dict[str, str]) -> str:
        match form.get("grant_type"):
            case "refresh_token":
                sent = {name: form.get(name) for name in PERSON}
                return "" if sent == PERSON else "Token has been expired or revoked."
            case "urn:ietf:params:oauth:grant-type:jwt-bearer":
                return self._wrong_assertion(form["assertion"])
            case other:
                return f"unsupported {other}"

    def _wrong_assertion(self, assertion: str) -> str:
        signed, _, signature = assertion.rpartition(".")
        head, claims = (msgspec.json.decode(_decoded(part)) for part in signed.split("."))
        try:
            KEY.public_key().verify(_decoded(signature), signed.encode(), padding.PKCS1v15(), hashes.SHA256())
        except InvalidSignature:
            return "Invalid JWT Signature."
        expected = {"iss": EMAIL, "aud": self.url, "scope": SCOPE}
        wrong = [name for name, value in expected.items() if claims[name] != value]
        if head["alg"] != "RS256" or wrong or not 0 < claims["exp"] - claims["iat"] <= 3600:
            return f"Invalid JWT: {wrong}"
        return ""


def _decoded(text: str) -> bytes:
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
