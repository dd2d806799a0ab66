"""Which hosts are this machine. A key or a token may be sent unencrypted to these and to no other."""

import re

_OCTET = "(?:0|[1-9][0-9]?|1[0-9][0-9]|2[0-4][0-9]|25[0-5])"
_IPV4 = re.compile(rf"127(?:\.{_OCTET}){{3}}")


def is_loopback(host: str) -> bool:
    """Whether `host`, as `urlsplit` gives it, is surely this machine.

    `localhost`, an address of 127.0.0.0/8 or ::1, in full. No other name: `127.evil.com` belongs to evil.com, and
    `x.localhost` and `localhost.` are looked up by a name server. No other spelling either: what `0x7f.1` or
    `::ffff:127.0.0.1` means differs between systems.
    """
    return host.lower() == "localhost" or _IPV4.fullmatch(host) is not None or (":" in host and _is_ipv6(host))


def _is_ipv6(host: str) -> bool:
    from ipaddress import IPv6Address  # few hosts need it, and the first request waits for every import

    try:
        return IPv6Address(host) == IPv6Address("::1")
    except ValueError:
        return False
