"""Where the server listens, what it is called there, and which certificate it shows: checked before it starts."""

import re
import socket
import ssl
from urllib.parse import urlsplit

from msgspec import Struct
from msgspec.structs import replace

from assent.front.web.security import Place, place_of
from assent.http.loopback import is_loopback

EVERYWHERE = ("0.0.0.0", "::")
_LAST_PORT = 65_535
_BASE = re.compile(r"(/[A-Za-z0-9._~-]+)*/?")
_NAME = re.compile(r"[A-Za-z0-9._:-]+")


class BadPlace(ValueError):
    """The server cannot listen there; the message says what to do instead."""


class Where(Struct, frozen=True, kw_only=True):
    """Where to listen, as given on the command line."""

    host: str = "127.0.0.1"
    port: int = 8420
    tls_cert: str | None = None
    tls_key: str | None = None
    behind_proxy: str | None = None
    """The URL that clients use, if a proxy in front of us handles TLS. It may have a path."""
    names: tuple[str, ...] = ()
    """Names and addresses that clients use, besides those that we know ourselves."""


def check_place(where: Where) -> None:
    """Beyond this machine, TLS is required: anyone could read an unencrypted token."""
    if not 0 <= where.port <= _LAST_PORT:
        raise BadPlace(f"--port must be a number from 0 to {_LAST_PORT}, not {where.port}")
    if bad := [name for name in where.names if not _NAME.fullmatch(name)]:
        raise BadPlace(f"--name must be a plain name or address, such as laptop.local or 192.168.1.5, not {bad[0]!r}")
    if (where.tls_cert is None) != (where.tls_key is None):
        raise BadPlace("TLS needs both --tls-cert and --tls-key")
    if where.behind_proxy is not None:
        parts = urlsplit(where.behind_proxy)
        if parts.scheme != "https" or not parts.hostname:
            raise BadPlace("--behind-proxy must be the URL that clients use, e.g. https://assent.example.org")
        if not _BASE.fullmatch(parts.path) or parts.query or parts.fragment:
            raise BadPlace(
                "--behind-proxy may have a plain path, e.g. https://example.org/assent, and nothing after it"
            )
    elif where.tls_cert is None and not is_loopback(where.host):
        raise BadPlace(
            f"{where.host} can be reached from other machines: use --tls-cert and --tls-key, or --behind-proxy with "
            "the https URL of a proxy that handles TLS"
        )


def check_certificate(where: Where) -> None:
    """Checks it now, with a clear message; later, a library would raise its own exception."""
    if where.tls_cert is None:
        return
    load_certificate(where, ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER))


def load_certificate(where: Where, context: ssl.SSLContext | None) -> None:
    """New connections get it; those that are open keep theirs. Raises BadPlace, and then the old one stays."""
    if context is None or where.tls_cert is None:
        return
    try:
        ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(where.tls_cert, where.tls_key, password=lambda: "")
        context.load_cert_chain(where.tls_cert, where.tls_key, password=lambda: "")  # nobody can type one
    except OSError as error:
        why = error.strerror or str(error)
        raise BadPlace(f"{where.tls_cert} and {where.tls_key} cannot be used for TLS: {why}") from error


def place_for(where: Where, port: int) -> Place:
    if where.behind_proxy is not None:
        parts = urlsplit(where.behind_proxy)
        place = place_of("https", [parts.hostname or ""], parts.port or 443)
        return replace(place, is_behind_proxy=True, base=parts.path.rstrip("/"))
    names = {where.host, *where.names}
    if is_loopback(where.host) or where.host in EVERYWHERE:
        names |= {"127.0.0.1", "localhost", "::1"}
    if not is_loopback(where.host):
        names.add(socket.gethostname())
    return place_of("https" if where.tls_cert else "http", names, port)


def address_of(where: Where, port: int) -> str:
    """The URL for people and programs."""
    if where.behind_proxy is not None:
        return where.behind_proxy.rstrip("/")
    own = socket.gethostname() if where.host in EVERYWHERE else where.host
    name = where.names[0] if where.names else own
    return f"{'https' if where.tls_cert else 'http'}://{f'[{name}]' if ':' in name else name}:{port}"


def listen(where: Where) -> socket.socket:
    family = socket.AF_INET6 if ":" in where.host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((where.host, where.port))
    except OSError as error:
        listener.close()
        raise BadPlace(f"cannot listen on {where.host} port {where.port}: {error.strerror}") from error
    listener.listen(1024)
    return listener
