"""May this web address be fetched? Judges the text of a URL and where its host leads.

http and https only; one spelling; the host is resolved once, by a resolver that is passed in, and every address must be
public. The caller must dial one of `addresses` and nothing else, with `host` as name, so that a second DNS answer does
not matter. Every redirect is judged again (`redirect`), at most five, and never from https to http.

Ports: 80 and 443; from 1024 up with a warning, except those of other services. Nothing here opens a connection, and a
warning refuses nothing: the gate asks a person about it.
"""

import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

import msgspec

from assent.http.head import DEFAULT_PORTS, authority
from assent.screen.chars import HIDDEN, mark
from assent.web.addresses import why_not_public
from assent.web.hosts import BadHost, canonical_host, is_address, readable_host, why_local_name
from assent.web.url_text import decoded, encode_rest, warnings_about

Resolver = Callable[[str], Awaitable[Sequence[str]]]

MAX_REDIRECTS = 5
_MAX_LENGTH = 8192
_UNUSABLE = re.compile(rf"[ \t\n]|{HIDDEN}")
_URL = re.compile(r"(https?)://([^/?#]*)([^#]*)(?:#.*)?", re.IGNORECASE | re.DOTALL)
_AUTHORITY = re.compile(r"(\[[^\]]*\]|[^:\[\]]*)(?::([0-9]{1,5}))?")
# The "bad ports" of the Fetch standard from 1024 up, and databases: they may interpret a request as their own protocol.
_OTHER_SERVICES = frozenset(
    {
        1719,
        1720,
        1723,
        2049,
        3659,
        4045,
        4190,
        5060,
        5061,
        6000,
        6566,
        6665,
        6666,
        6667,
        6668,
        6669,
        6679,
        6697,
        10080,
    }
    | {2375, 2376, 3306, 3389, 5432, 5900, 6379, 9200, 11211, 27017}
)


class UrlVerdict(msgspec.Struct, frozen=True, kw_only=True):
    """The judgement of one URL.

    `canonical` is what to request, `addresses` is where; `shown` is what a person must see first, `warnings` is
    what a person should be asked about even if a rule allows the host. `hops` counts the redirects so far.
    """

    allowed: bool
    canonical: str
    host: str
    addresses: tuple[str, ...]
    reason: str
    shown: str
    warnings: tuple[str, ...] = ()
    hops: int = 0


class Target(msgspec.Struct, frozen=True):
    """A parsed URL in its canonical spelling."""

    scheme: str
    host: str
    port: int
    rest: str

    @property
    def authority(self) -> str:
        return authority(self.scheme, self.host, self.port)

    @property
    def canonical(self) -> str:
        return f"{self.scheme}://{self.authority}{self.rest}"


class BadUrl(ValueError):
    """The text is not a URL that may be fetched; says why."""


def preview(url: str) -> UrlVerdict:
    """The verdict as far as the text goes. No DNS lookup happens: a name can carry data out like a request."""
    try:
        target = parse(url)
    except (BadUrl, BadHost) as error:
        return _refused(url, str(error))
    return judge(target, [target.host] if is_address(target.host) else [], unresolved=True)


async def check_url(url: str, resolve: Resolver) -> UrlVerdict:
    """The verdict on a URL as someone wrote it. `resolve` returns a name's addresses or raises `OSError`."""
    try:
        target = parse(url)
    except (BadUrl, BadHost) as error:
        return _refused(url, str(error))
    if is_address(target.host):
        return judge(target, [target.host])
    try:
        return judge(target, await resolve(target.host))
    except OSError as error:
        return judge(target, [], f"{target.host} was not found ({error.strerror or error})")


async def redirect(previous: UrlVerdict, location: str, resolve: Resolver) -> UrlVerdict:
    """The verdict on a redirect; `previous` is the verdict on the URL that was fetched."""
    if not previous.allowed:
        return _refused(location, "the previous page was not allowed")
    if previous.hops >= MAX_REDIRECTS:
        return _refused(location, f"more than {MAX_REDIRECTS} redirects")
    if reason := _why_unusable(location):
        return _refused(location, reason)
    from urllib.parse import urljoin

    verdict = await check_url(urljoin(previous.canonical, location), resolve)
    if previous.canonical.startswith("https:") and verdict.canonical.startswith("http:"):
        return _refused(location, "a redirect from https to http")
    return msgspec.structs.replace(verdict, hops=previous.hops + 1)


def check_url_line(request: Mapping[str, Any]) -> dict[str, Any]:
    """`{"url", "addresses"}` to `{"allowed", "canonical", "host", "reason", "warnings"}`, for JSON lines."""
    url = str(request.get("url", ""))
    try:
        target = parse(url)
        own = [target.host] if is_address(target.host) else [str(a) for a in request.get("addresses") or ()]
        verdict = judge(target, own)
    except (BadUrl, BadHost) as error:
        verdict = _refused(url, str(error))
    found = {name: getattr(verdict, name) for name in ("allowed", "canonical", "host", "reason")}
    return {**found, "warnings": list(verdict.warnings)}


def parse(url: str) -> Target:
    """Parse a URL; raises `BadUrl` or `BadHost`."""
    if reason := _why_unusable(url):
        raise BadUrl(reason)
    match = _URL.fullmatch(url)
    if match is None:
        raise BadUrl("only http and https addresses can be fetched")
    scheme, authority, rest = match[1].lower(), match[2], match[3]
    if "@" in authority:
        raise BadUrl("the address contains a user name, which can make it look like another host")
    if "%" in authority:
        raise BadUrl("the host contains a %")
    parts = _AUTHORITY.fullmatch(authority)
    if parts is None or not parts[1]:
        raise BadUrl("the address has no usable host and port")
    return Target(scheme, canonical_host(parts[1]), _port(scheme, parts[2]), encode_rest(rest))


def judge(target: Target, addresses: Sequence[str], missing: str = "", *, unresolved: bool = False) -> UrlVerdict:
    """The verdict on a well-formed URL whose host has these addresses: every one must be public."""
    reason = why_local_name(target.host) or next(filter(None, map(why_not_public, addresses)), None)
    if not addresses and not unresolved:
        reason = reason or missing or f"{target.host} has no address"
    unusual_port = target.port not in (80, 443)
    return UrlVerdict(
        allowed=reason is None,
        canonical=target.canonical,
        host=target.host,
        addresses=tuple(addresses) if reason is None else (),
        reason=reason or "public",
        shown=decoded(target.canonical, target.host, readable_host(target.host)),
        warnings=((f"unusual port {target.port}",) if unusual_port else ())
        + warnings_about(target.host, readable_host(target.host), target.rest),
    )


def _why_unusable(url: str) -> str | None:
    if not url or len(url) > _MAX_LENGTH:
        return "the address is empty" if not url else "the address is too long"
    if found := _UNUSABLE.search(url):
        return f"the address contains a space, a control character or a hidden one ({mark(found.group())})"
    return "the address contains a backslash, which programs interpret differently" if "\\" in url else None


def _port(scheme: str, text: str | None) -> int:
    port = int(text) if text else DEFAULT_PORTS[scheme]
    if port in (80, 443) or (1024 <= port <= 65535 and port not in _OTHER_SERVICES):
        return port
    raise BadUrl(f"port {port} is not for web pages")


def _refused(url: str, reason: str) -> UrlVerdict:
    from assent.screen import make_safe

    return UrlVerdict(
        allowed=False,
        canonical="",
        host="",
        addresses=(),
        reason=reason,
        shown=make_safe(url[:_MAX_LENGTH], "prompt").text,
    )
