"""Is an address on the public internet? And is a host name an address in disguise?

`ipaddress` is not enough: in Python 3.11 `is_private` is False for 100.64/10, NAT64 and 6to4, and `is_global` is True
for multicast. The networks are listed here, and addresses that embed another one (v4-mapped, NAT64, 6to4, Teredo,
ISATAP) are as public as the embedded one. Pure: it resolves nothing and opens nothing.
"""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ipaddress import IPv4Address, IPv6Address, IPv6Network

_NOT_PUBLIC_4 = """
    0.0.0.0/8 10.0.0.0/8 100.64.0.0/10 127.0.0.0/8 168.63.129.16/32 169.254.0.0/16 172.16.0.0/12 192.0.0.0/24
    192.0.2.0/24 192.31.196.0/24 192.52.193.0/24 192.88.99.0/24 192.168.0.0/16 192.175.48.0/24 198.18.0.0/15
    198.51.100.0/24 203.0.113.0/24 224.0.0.0/4 240.0.0.0/4
"""  # 168.63.129.16 answers for the host inside every Azure machine
_PUBLIC_6 = "2000::/3"
_NOT_PUBLIC_6 = "2001::/23 2001:db8::/32 2620:4f:8000::/48 3fff::/20"
_NUMBER = r"0x[0-9a-f]*|[0-9]+"


def parse_ipv4(host: str) -> str | None:
    """The dotted address if a host is one in any notation of `inet_aton`: 127.1, 0177.0.0.1, 0x7f000001,
    2130706433.

    Raises `ValueError` for what ends like a number but is none of these: no such name exists, and programs
    disagree.
    """
    parts = host.split(".")
    if not re.fullmatch(_NUMBER, parts[-1]):
        return None
    numbers = [_number(part) for part in parts]
    *first, last = numbers
    if len(numbers) > 4 or any(number > 255 for number in first) or last >= 256 ** (5 - len(numbers)):
        raise ValueError(f"{host} looks like an address but is not one")
    value = last + sum(number << (24 - 8 * index) for index, number in enumerate(first))
    return ".".join(str(value >> shift & 255) for shift in (24, 16, 8, 0))


def _number(text: str) -> int:
    if not re.fullmatch(_NUMBER, text) or len(text) > 16:
        raise ValueError(f"{text} is not part of an address")
    if text.startswith("0x"):
        return int(text[2:] or "0", 16)
    return int(text, 8 if text.startswith("0") else 10)


def why_not_public(address: str) -> str | None:
    """The reason if an address is not on the public internet; None if it is."""
    from ipaddress import IPv4Address, ip_address

    try:
        parsed = ip_address(address)
    except ValueError:
        return f"{address} is not an address"
    if isinstance(parsed, IPv4Address):
        return _why_not_public_4(parsed)
    if getattr(parsed, "scope_id", None):
        return f"{address} is local to this machine's network"
    return _why_not_public_6(parsed)


def _why_not_public_4(address: IPv4Address) -> str | None:
    value = int(address)
    for first, last, network in _networks_4():
        if first <= value <= last:
            return f"{address} is not on the public internet ({network})"
    return None


def _why_not_public_6(address: IPv6Address) -> str | None:
    carried = _carried(address)
    for inner in carried:
        if reason := _why_not_public_4(inner):
            return f"{address} leads to {reason}"
    public, not_public = _networks_6()
    if (carried and not _is_isatap(address)) or (address in public and not any(address in n for n in not_public)):
        return None
    return f"{address} is not on the public internet"


def _carried(address: IPv6Address) -> list[IPv4Address]:
    """The IPv4 addresses that packets to this one would go to."""
    from ipaddress import IPv4Address

    value = int(address)
    low = IPv4Address(value & 0xFFFFFFFF)
    if address.ipv4_mapped is not None or value >> 32 == 0x0064FF9B_00000000_00000000:
        return [low]
    if address.sixtofour is not None:
        return [address.sixtofour]
    if address.teredo is not None:
        return list(address.teredo)
    return [low] if _is_isatap(address) else []


def _is_isatap(address: IPv6Address) -> bool:
    return int(address) >> 32 & 0xFDFFFFFF == 0x00005EFE


@cache
def _networks_4() -> tuple[tuple[int, int, str], ...]:
    from ipaddress import IPv4Network

    networks = [IPv4Network(text) for text in _NOT_PUBLIC_4.split()]
    return tuple((int(n.network_address), int(n.broadcast_address), str(n)) for n in networks)


@cache
def _networks_6() -> tuple[IPv6Network, tuple[IPv6Network, ...]]:
    from ipaddress import IPv6Network

    return IPv6Network(_PUBLIC_6), tuple(IPv6Network(text) for text in _NOT_PUBLIC_6.split())
