"""Which proxy, if any, the environment names for a host: HTTPS_PROXY, HTTP_PROXY, ALL_PROXY and NO_PROXY.

The lower-case forms take precedence, as in curl. This machine is never reached through a proxy. Nothing here connects.
"""

from collections.abc import Mapping
from urllib.parse import unquote, urlsplit

from msgspec import Struct

from assent.http.loopback import is_loopback
from assent.models.model_protocol import BadRequest


class Proxy(Struct, frozen=True):
    host: str
    port: int
    login: str | None = None
    """`user:password`, to be sent only to the proxy."""


def proxy_for(url: str, env: Mapping[str, str]) -> Proxy | None:
    parts = urlsplit(url)
    host = (parts.hostname or "").lower()
    port = parts.port or (443 if parts.scheme == "https" else 80)
    if is_loopback(host) or host.endswith(".localhost") or _excluded(host, port, _read(env, "no_proxy")[1]):
        return None
    for name in (f"{parts.scheme}_proxy", "all_proxy"):
        variable, value = _read(env, name)
        if value:
            return _parse(variable, value)
    return None


def _read(env: Mapping[str, str], name: str) -> tuple[str, str]:
    for variable in (name, name.upper()):
        if value := env.get(variable, "").strip():
            return variable, value
    return name, ""


def _parse(variable: str, value: str) -> Proxy:
    parts = urlsplit(value if "://" in value else f"http://{value}")
    try:
        port = parts.port or 80
    except ValueError:
        port = 0
    if parts.scheme != "http" or not parts.hostname or not port:
        # The message does not repeat the value: it may contain a password.
        raise BadRequest(f"{variable} must have the form http://host:port; only HTTP proxies are supported")
    login = f"{unquote(parts.username)}:{unquote(parts.password or '')}" if parts.username else None
    return Proxy(parts.hostname, port, login)


def _excluded(host: str, port: int, no_proxy: str) -> bool:
    return any(_matches(host, port, entry.strip().lower()) for entry in no_proxy.split(","))


def _matches(host: str, port: int, entry: str) -> bool:
    """`*`, a host and its subdomains (with or without a leading dot), a network, or one of these with a port."""
    if not entry:
        return False
    if entry == "*" or entry == host:
        return True
    if "/" in entry:
        return _in_network(host, entry)
    name, colon, wanted = entry.rpartition(":")
    if colon and wanted.isdigit():
        if int(wanted) != port:
            return False
        entry = name
    name = entry.removeprefix("*").removeprefix(".").strip("[]")
    return host == name or host.endswith(f".{name}")


def _in_network(host: str, entry: str) -> bool:
    from ipaddress import ip_address, ip_network

    try:
        return ip_address(host) in ip_network(entry, strict=False)
    except ValueError:
        return False
