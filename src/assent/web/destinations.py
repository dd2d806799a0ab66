"""Where a program may connect to: a host and a port, and the entries of a `domains` list that cover them.

An entry is a host as in a rule (`example.org` with everything below it, `*.example.org`, `=example.org`, an address),
with a port of its own if it is not about the web: `example.org:5432`. Pure: it resolves nothing.
"""

import re
from collections.abc import Iterable

from msgspec import Struct

from assent.web.addresses import why_not_public
from assent.web.hosts import BadHost, canonical_host, domain_matches, is_address, readable_host, why_local_name
from assent.web.url_text import warnings_about

CONNECT = "connect"
"""The tool that stands for the connections of commands, in rules and questions."""
WEB_PORTS = (80, 443)
"""The ports that an entry without a port covers."""
_SCHEME = "tcp://"
_WITH_PORT = r"(.+?)(?::(\d{1,5}))?"
_BARE_IPV6 = r"=?[0-9a-fA-F:.]*:[0-9a-fA-F:.]*:[0-9a-fA-F:.]*"


class Destination(Struct, frozen=True):
    """A canonical host, and a port."""

    host: str
    port: int

    def __str__(self) -> str:
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"

    @property
    def url(self) -> str:
        """As it is shown in a question, and matched by rules."""
        return f"{_SCHEME}{self}"

    @property
    def entry(self) -> str:
        """The entry of a list that covers exactly this."""
        return f"={self.host}" if self.port in WEB_PORTS else f"={self}"

    def warnings(self) -> tuple[str, ...]:
        """What a person should look at: a name alone can carry data out, to the servers that resolve it."""
        return warnings_about(self.host, readable_host(self.host), "")


def destination(host: str, port: int) -> Destination:
    """Raises BadHost for what is not a host or a port."""
    if not 0 < port < 65536:
        raise BadHost(f"{port} is not a port")
    return Destination(canonical_host(f"[{host}]" if ":" in host and not host.startswith("[") else host), port)


def from_url(url: str) -> Destination | None:
    """None for the address of a page."""
    if not url.startswith(_SCHEME):
        return None
    host, _, port = url.removeprefix(_SCHEME).rpartition(":")
    return destination(host, int(port))


def covers(entry: str, wanted: Destination) -> bool:
    host, port = _split(entry)
    return wanted.port in (WEB_PORTS if port is None else (port,)) and domain_matches(host, wanted.host)


def covers_exactly(entry: str, wanted: Destination) -> bool:
    """It names this host itself, and not only a domain that it belongs to."""
    host, _ = _split(entry)
    return covers(entry, wanted) and domain_matches(f"={host.removeprefix('=').removeprefix('*.')}", wanted.host)


def is_listed(wanted: Destination, entries: Iterable[str], exact: Iterable[str]) -> bool:
    """A suspicious name must be named itself, in `exact`: one below an allowed domain may carry data to its owner."""
    if wanted.warnings():
        return any(covers_exactly(entry, wanted) for entry in exact)
    return any(covers(entry, wanted) for entry in entries)


def check_entry(entry: str) -> str | None:
    """Why an entry covers nothing, or more than anyone could mean."""
    host, port = _split(entry)
    if port is not None and not 0 < port < 65536:
        return f"{port} is not a port"
    try:
        name = canonical_host(host.removeprefix("=").removeprefix("*."))
    except BadHost as error:
        return str(error)
    if "." not in name and ":" not in name and not host.startswith("="):
        return f"{name} has no dot; write `={name}` for a host of this name"
    return None


def why_refused(wanted: Destination, entries: Iterable[str]) -> str | None:
    """The reason if nobody is even asked: an address or a name of this machine or its network that no entry names."""
    if any(covers_exactly(entry, wanted) for entry in entries):
        return None
    return why_not_public(wanted.host) if is_address(wanted.host) else why_local_name(wanted.host)


def why_unreachable(wanted: Destination, addresses: Iterable[str], entries: Iterable[str]) -> str | None:
    """The reason if one of the addresses of a host is not public, and no entry names that address."""
    named = [_split(entry)[0] for entry in entries]
    for address in addresses:
        if not any(domain_matches(host, address) for host in named) and (reason := why_not_public(address)):
            return reason if address == wanted.host else f"{wanted.host} has a local address: {reason}"
    return None


def port_of(entry: str) -> int | None:
    return _split(entry)[1]


def _split(entry: str) -> tuple[str, int | None]:
    """Host and port. An IPv6 address needs no brackets if it has no port."""
    if re.fullmatch(_BARE_IPV6, entry):
        exact = "=" if entry.startswith("=") else ""
        return f"{exact}[{entry.removeprefix('=')}]", None
    found = re.fullmatch(_WITH_PORT, entry)
    if found is None:
        return entry, None
    return found[1], None if found[2] is None else int(found[2])
