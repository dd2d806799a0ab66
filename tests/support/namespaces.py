"""Machines of their own for parts of a cluster: network namespaces on one bridge, whose links can be taken away.

Needs root and `ip` (iproute2). Addresses are from 198.18.0.0/15, which is for tests of networks and leads nowhere.
"""

import asyncio
import ctypes
import os
import shutil
import socket
import subprocess
from pathlib import Path

CLONE_NEWNET = 0x40000000
_libc = ctypes.CDLL(None, use_errno=True)


def possible() -> bool:
    """Whether this process may create namespaces."""
    if os.getuid() != 0 or shutil.which("ip") is None or shutil.which("nsenter") is None:
        return False
    name = f"assent-probe-{os.getpid()}"
    made = subprocess.run(["ip", "netns", "add", name], check=False, capture_output=True).returncode == 0
    if made:
        _ip("netns", "del", name)
    return made


class Network:
    """A bridge. The machine itself is on it, too, with the last address."""

    def __init__(self) -> None:
        mark = os.getpid()
        self._mark = f"{mark:x}"
        self._prefix = f"198.{18 + (mark >> 8 & 1)}.{mark & 255}"
        self._bridge = f"as{self._mark}"
        self.address = f"{self._prefix}.254"
        self._places: list[Place] = []

    def start(self) -> None:
        _ip("link", "add", self._bridge, "type", "bridge")
        _ip("addr", "add", f"{self.address}/24", "dev", self._bridge)
        _ip("link", "set", self._bridge, "up")

    def place(self) -> "Place":
        number = len(self._places) + 1
        made = Place(f"as{self._mark}-{number}", f"{self._prefix}.{number}")
        self._places.append(made)
        made.join(self._bridge)
        return made

    def end(self) -> None:
        for place in self._places:
            place.end()
        _ip("link", "del", self._bridge)


class Place:
    """A namespace with one link to the bridge."""

    def __init__(self, name: str, address: str) -> None:
        self.name, self.address = name, address
        self.launcher = ("nsenter", f"--net=/run/netns/{name}")
        """Starts a program there."""

    def join(self, bridge: str) -> None:
        _ip("netns", "add", self.name)
        _ip("link", "add", self.name, "type", "veth", "peer", "name", "eth0", "netns", self.name)
        _ip("link", "set", self.name, "master", bridge, "up")
        _ip("-n", self.name, "link", "set", "lo", "up")
        _ip("-n", self.name, "addr", "add", f"{self.address}/24", "dev", "eth0")
        _ip("-n", self.name, "link", "set", "eth0", "up")

    def cut(self) -> None:
        """From everyone. Connections stay open; what is sent is lost until the link is back."""
        _ip("link", "set", self.name, "down")

    def heal(self) -> None:
        _ip("link", "set", self.name, "up")

    def lose(self, address: str) -> None:
        """Nothing gets from here to this address. What comes from there still arrives: half a partition."""
        _ip("-n", self.name, "route", "add", "blackhole", f"{address}/32")

    def find(self, address: str) -> None:
        _ip("-n", self.name, "route", "del", "blackhole", f"{address}/32")

    async def dial(self, port: int) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        """A connection to what listens on loopback there, whatever became of its link."""
        opened = self._socket()
        try:
            await asyncio.get_running_loop().sock_connect(opened, ("127.0.0.1", port))
        except BaseException:
            opened.close()
            raise
        return await asyncio.open_connection(sock=opened)

    def _socket(self) -> socket.socket:
        """A socket belongs to the namespace in which it was made."""
        home = os.open("/proc/thread-self/ns/net", os.O_RDONLY)
        there = os.open(f"/run/netns/{self.name}", os.O_RDONLY)
        try:
            _enter(there)
            try:
                made = socket.socket()
            finally:
                _enter(home)
        finally:
            os.close(home)
            os.close(there)
        made.setblocking(False)
        return made

    def end(self) -> None:
        if Path(f"/run/netns/{self.name}").exists():
            _ip("netns", "del", self.name)


def _enter(namespace: int) -> None:
    if _libc.setns(namespace, CLONE_NEWNET):
        raise OSError(ctypes.get_errno(), "setns")


def _ip(*arguments: str) -> None:
    subprocess.run(["ip", *arguments], check=True, stdin=subprocess.DEVNULL, capture_output=True)
