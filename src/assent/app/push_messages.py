"""Web push: a message that only one browser can read (RFC 8291), for its push service (RFC 8030), signed by this server
(VAPID, RFC 8292).

The cryptography comes from an extra, `assent[push]`, and is imported when something is sent. Without it, there is no
push, and everything else works.
"""

import base64
import hashlib
import importlib.util
import os
from typing import Any
from urllib.parse import urlsplit

import msgspec
from msgspec import Struct

from assent.app.webhook_formats import Post

WAITING_SECONDS = 24 * 3600
"""How long a push service keeps a message for a browser that is not reachable."""
SIGNATURE_SECONDS = 12 * 3600
RECORD_BYTES = 4096
PADDED_BYTES = 1024
"""All messages have the same length, so that the length reveals nothing."""


class BadSubscription(ValueError):
    """The browser's keys are not valid."""


class PushTarget(Struct, frozen=True):
    """What a browser says about itself when it subscribes; the keys are in base64 for URLs."""

    endpoint: str
    p256dh: str
    auth: str


def is_available() -> bool:
    return importlib.util.find_spec("cryptography") is not None


def encoded(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def decoded(text: str) -> bytes:
    """Raises ValueError."""
    return base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True)


def new_key() -> str:
    from cryptography.hazmat.primitives.asymmetric import ec

    value = ec.generate_private_key(ec.SECP256R1()).private_numbers().private_value
    return encoded(value.to_bytes(32, "big"))


def public_key(key: str) -> str:
    return encoded(_point(_private(key).public_key()))


def check(target: PushTarget) -> None:
    """Raises BadSubscription."""
    try:
        _peer(decoded(target.p256dh))
        secret = decoded(target.auth)
    except ValueError as error:
        raise BadSubscription("the keys of the subscription are not valid") from error
    if len(secret) != 16:
        raise BadSubscription("the secret of the subscription must have 16 bytes")


def push_post(target: PushTarget, message: bytes, topic: str, key: str, contact: str, now: float) -> Post:
    """A later message about the same topic replaces one that was not delivered yet."""
    headers = (
        ("Content-Type", "application/octet-stream"),
        ("Content-Encoding", "aes128gcm"),
        ("TTL", str(WAITING_SECONDS)),
        ("Urgency", "high"),
        ("Topic", encoded(hashlib.sha256(topic.encode()).digest())[:32]),
        ("Authorization", _signature(target.endpoint, key, contact, now)),
    )
    return Post(headers, encrypt(message, decoded(target.p256dh), decoded(target.auth)))


def encrypt(message: bytes, peer: bytes, secret: bytes) -> bytes:
    """One record of `aes128gcm`, with a key of its own."""
    from cryptography.hazmat.primitives.asymmetric import ec
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

    own = ec.generate_private_key(ec.SECP256R1())
    point, salt = _point(own.public_key()), os.urandom(16)
    shared = own.exchange(ec.ECDH(), _peer(peer))
    key = _derived(shared, secret, b"WebPush: info\0" + peer + point, 32)
    nonce = _derived(key, salt, b"Content-Encoding: nonce\0", 12)
    cipher = AESGCM(_derived(key, salt, b"Content-Encoding: aes128gcm\0", 16))
    padded = (message + b"\x02").ljust(PADDED_BYTES, b"\0")
    return salt + RECORD_BYTES.to_bytes(4, "big") + bytes([len(point)]) + point + cipher.encrypt(nonce, padded, None)


def _signature(endpoint: str, key: str, contact: str, now: float) -> str:
    from cryptography.hazmat.primitives.asymmetric import ec
    from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature
    from cryptography.hazmat.primitives.hashes import SHA256

    parts = urlsplit(endpoint)
    claims = {"aud": f"{parts.scheme}://{parts.netloc}", "exp": int(now) + SIGNATURE_SECONDS, "sub": contact}
    token = ".".join(encoded(msgspec.json.encode(each)) for each in ({"typ": "JWT", "alg": "ES256"}, claims))
    numbers = decode_dss_signature(_private(key).sign(token.encode(), ec.ECDSA(SHA256())))
    signed = encoded(b"".join(number.to_bytes(32, "big") for number in numbers))
    return f"vapid t={token}.{signed}, k={public_key(key)}"


def _derived(secret: bytes, salt: bytes, info: bytes, length: int) -> bytes:
    from cryptography.hazmat.primitives.hashes import SHA256
    from cryptography.hazmat.primitives.kdf.hkdf import HKDF

    return HKDF(SHA256(), length, salt, info).derive(secret)


def _private(key: str) -> Any:
    from cryptography.hazmat.primitives.asymmetric import ec

    return ec.derive_private_key(int.from_bytes(decoded(key), "big"), ec.SECP256R1())


def _peer(point: bytes) -> Any:
    from cryptography.hazmat.primitives.asymmetric import ec

    return ec.EllipticCurvePublicKey.from_encoded_point(ec.SECP256R1(), point)


def _point(public: Any) -> bytes:
    from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

    return public.public_bytes(Encoding.X962, PublicFormat.UncompressedPoint)
