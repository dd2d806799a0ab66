"""Host names: one spelling for each, and whether a domain rule covers one.

Names are compared label by label, never as text: `example.com` has nothing to do with `evilexample.com` or
`example.com.evil.org`. It knows nothing about URLs and resolves nothing.
"""

import re

from assent.web.addresses import parse_ipv4

_LABEL = r"[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?"
_LOCAL = ("localhost", "local", "internal", "intranet", "localdomain", "lan", "onion", "arpa")


class BadHost(ValueError):
    """The text is not a host that may be contacted; says why."""


def canonical_host(text: str) -> str:
    """The canonical spelling: lower case, punycode, addresses dotted or compressed and without brackets."""
    if text.startswith("["):
        return _ipv6(text)
    if len(text) > 253:
        raise BadHost("the host name is too long")
    name = _to_ascii(text).lower().removesuffix(".")
    labels = name.split(".")
    if "" in labels:
        raise BadHost("the host name has an empty part")
    if wrong := next((label for label in labels if not re.fullmatch(_LABEL, label)), None):
        raise BadHost(f"the host name has an invalid part ({wrong[:40]!r})")
    _check_punycode(labels)
    try:
        return parse_ipv4(name) or name
    except ValueError as error:
        raise BadHost(str(error)) from None


def is_address(host: str) -> bool:
    """Whether a canonical host is an address and needs no resolver."""
    return ":" in host or host.replace(".", "").isdigit()


def why_local_name(host: str) -> str | None:
    """The reason if a canonical name only has a meaning in some local network."""
    if is_address(host):
        return None
    if "." not in host or host.rpartition(".")[2] in _LOCAL:
        return f"{host} is a name for this machine or a local network"
    return None


def readable_host(host: str) -> str:
    """The letters that punycode stands for."""
    return host.encode().decode("idna") if "xn--" in host else host


def domain_matches(rule: str, host: str) -> bool:
    """Whether a rule covers a host.

    `example.com` covers itself and everything below it, `*.example.com` only what is below, `=example.com`
    only itself. An address covers itself. A top-level domain (`com`) covers nothing, nor does text that is
    not a host.
    """
    exact, below = rule.startswith("="), rule.startswith("*.")
    try:
        wanted = canonical_host(rule.removeprefix("=").removeprefix("*."))
        found = canonical_host(f"[{host}]" if ":" in host and not host.startswith("[") else host)
    except BadHost:
        return False
    if found == wanted:
        return not below
    if exact or "." not in wanted:
        return False
    return found.split(".")[-len(wanted.split(".")) :] == wanted.split(".")


def _ipv6(text: str) -> str:
    from ipaddress import IPv6Address  # few hosts are of this kind

    if not re.fullmatch(r"\[[0-9a-fA-F:.]+\]", text):
        raise BadHost("the address in brackets is invalid")
    try:
        return str(IPv6Address(text[1:-1]))
    except ValueError:
        raise BadHost("the address in brackets is invalid") from None


def _to_ascii(text: str) -> str:
    if text.isascii():
        return text
    try:
        return text.encode("idna").decode("ascii")
    except UnicodeError:
        raise BadHost("the host name cannot be written in punycode") from None


def _check_punycode(labels: list[str]) -> None:
    """Punycode that stands for nothing, or for another spelling, would show one name and contact another."""
    for label in labels:
        if not label.startswith("xn--"):
            continue
        try:
            again = label.encode().decode("idna").encode("idna").decode("ascii")
        except UnicodeError:
            again = ""
        if again != label:
            raise BadHost(f"{label} does not stand for a name")
