"""Tells whether a command tried to use the network of a sandbox that has none.

Each sandbox has a network of its own, with nothing but a loopback, and the kernel counts what it could not send there.
So nobody has to guess from the output, which a program may keep to itself. Like the reaper that uses it, it imports
next to nothing.
"""

import os

_FILES = (b"snmp", b"snmp6")
_NO_ROUTE = ((b"Ip:", b"OutNoRoutes"), (b"Ip6OutNoRoutes", b""))
_NO_PORT = ((b"Udp:", b"NoPorts"), (b"Udp6NoPorts", b""))
_RESOLVERS = "/etc/resolv.conf"


class NetworkCounters:
    """Of the network that this process is in. They can be read after its end; then they must be closed."""

    def __init__(self, pid: int) -> None:
        self._files = list[int]()
        for name in _FILES:
            try:
                self._files.append(os.open(b"/proc/%d/net/%s" % (pid, name), os.O_RDONLY | os.O_CLOEXEC))
            except OSError:  # it has ended, or this kernel has no such file
                continue

    def missed(self) -> bool:
        """Whether something was sent that had no way out, or a name was looked up where nobody answers."""
        counted = counts(b"".join(map(_read, self._files)))
        if any(counted.get(key) for key in _NO_ROUTE):
            return True
        return any(counted.get(key) for key in _NO_PORT) and _resolves_on_loopback()

    def close(self) -> None:
        while self._files:
            os.close(self._files.pop())


def counts(text: bytes) -> dict[tuple[bytes, bytes], int]:
    """By protocol and name. For IPv4, the kernel writes a line of names and one of numbers; for IPv6, one of each."""
    found = dict[tuple[bytes, bytes], int]()
    names = list[bytes]()
    for line in text.splitlines():
        first, *rest = line.split()
        if first.endswith(b":") and names[:1] == [first]:
            found.update({(first, name): int(number) for name, number in zip(names[1:], rest, strict=False)})
        elif not first.endswith(b":") and len(rest) == 1:
            found[first, b""] = int(rest[0])
        names = [first, *rest]
    return found


def _read(fd: int) -> bytes:
    try:
        return os.pread(fd, 65_536, 0)
    except OSError:
        return b""


def _resolves_on_loopback() -> bool:
    """Names are looked up at a server of this machine, so that no packet needs a route."""
    try:
        with open(_RESOLVERS, "rb") as file:
            words = [line.split() for line in file]
    except OSError:
        return False
    return any(one[:1] == [b"nameserver"] and one[1:2] and one[1].startswith((b"127.", b"::1")) for one in words)
