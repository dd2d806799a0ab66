"""Which hosts are this machine. A key or a token may be sent unencrypted to these and to no other."""

from ipaddress import IPv4Address, IPv6Address, ip_address

_IPV6 = IPv6Address("::1")


def is_loopback(host: str) -> bool:
    """Whether `host`, as `urlsplit` gives it, is surely this machine.

    `localhost`, an address of 127.0.0.0/8 or ::1, in full. No other name: `127.evil.com` belongs to evil.com, and
    `x.localhost` and `localhost.` are looked up by a name server. No other spelling either: what `0x7f.1` or
    `::ffff:127.0.0.1` means differs between systems.
    """
    if host.lower() == "localhost":
        return True
    try:
        address = ip_address(host)
    except ValueError:
        return False
    return address.is_loopback if isinstance(address, IPv4Address) else address == _IPV6
