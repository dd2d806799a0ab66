"""The kernel's table of TCP connections: which socket of this machine is at the other end of a connection.

The kernel is asked for exactly one (sock_diag), because printing the table takes milliseconds. If that finds nothing,
which may also mean that it is not supported, the table is read. Nothing is sent to anyone.
"""

import os
import socket
import struct
import sys
from ipaddress import ip_address

from msgspec import Struct

Address = tuple[str, int]
_TABLES = {"/proc/self/net/tcp": 4, "/proc/self/net/tcp6": 16}
"""With the length of the addresses in them."""
_UID, _INODE = 4, 6
"""Field positions in a line of these tables, after the two addresses."""
_MAPPED = bytes(10) + b"\xff\xff"
"""The prefix of an IPv4 address in an IPv6 one."""

_SOCK_DIAG, _BY_FAMILY, _REQUEST = 4, 20, 1
_HEAD = struct.Struct("=IHHII")
_QUESTION = struct.Struct("=BBBxI")
_SOCKET = struct.Struct("!HH16s16s")
_ONE_OF = struct.Struct("=III")
"""The interface, and a cookie of two numbers."""
_REST = struct.Struct("=12x12xII")
"""The same again, three irrelevant numbers, the user and the inode."""
_ANY = 0xFFFFFFFF


class End(Struct, frozen=True):
    """A socket of this machine, and the user who created it. Its number is 0 if it was closed."""

    inode: int
    uid: int


def available() -> bool:
    return os.path.exists(next(iter(_TABLES)))


def far_end(client: Address, server: Address) -> End | None:
    """The client's socket; None if it is not on this machine, or gone without a trace."""
    return _asked(client, server) or _listed(client, server)


def is_here(host: str) -> bool:
    """Whether an address belongs to this machine: only then can one listen on it."""
    try:
        with socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET) as trial:
            trial.bind((host, 0))
    except OSError:
        return False
    return True


def _asked(client: Address, server: Address) -> End | None:
    source, target = _packed(client), _packed(server)
    family = socket.AF_INET if len(source) == len(target) == 4 else socket.AF_INET6
    one = _SOCKET.pack(client[1], server[1], source.ljust(16, b"\0"), target.ljust(16, b"\0"))
    question = _QUESTION.pack(family, socket.IPPROTO_TCP, 0, _ANY) + one + _ONE_OF.pack(0, _ANY, _ANY)
    try:
        with socket.socket(socket.AF_NETLINK, socket.SOCK_DGRAM, _SOCK_DIAG) as kernel:
            kernel.send(_HEAD.pack(_HEAD.size + len(question), _BY_FAMILY, _REQUEST, 1, 0) + question)
            return _answer(kernel.recv(4096), one)
    except (OSError, AttributeError, struct.error):
        return None


def _answer(data: bytes, one: bytes) -> End | None:
    """It may also report a listener at that address."""
    at = _HEAD.size + 4
    if _HEAD.unpack_from(data)[1] != _BY_FAMILY or data[at : at + len(one)] != one:
        return None
    uid, inode = _REST.unpack_from(data, at + len(one))
    return End(inode, uid)


def _listed(client: Address, server: Address) -> End | None:
    for path, size in _TABLES.items():
        wanted = b" %s %s " % (_written(client, size), _written(server, size))
        try:
            with open(path, "rb") as file:
                _, _, rest = file.read().partition(wanted)
        except OSError:
            continue  # no IPv6 here
        if rest:
            fields = rest.split(None, _INODE + 1)
            return End(int(fields[_INODE]), int(fields[_UID]))
    return None


def _written(address: Address, size: int) -> bytes:
    """The format of the tables: words in host byte order. An IPv6 socket may carry IPv4."""
    packed = _packed(address)
    packed = _MAPPED + packed if len(packed) < size else packed
    words = (int.from_bytes(packed[at : at + 4], sys.byteorder) for at in range(0, len(packed), 4))
    return b"%s:%04X" % (b"".join(b"%08X" % word for word in words), address[1])


def _packed(address: Address) -> bytes:
    return ip_address(address[0].partition("%")[0]).packed.removeprefix(_MAPPED)
