"""The kernel's counters tell whether something was sent that had no way out."""

from pathlib import Path

import pytest

from assent.process import network_counters
from assent.process.network_counters import NetworkCounters, counts

SNMP = b"Ip: Forwarding OutNoRoutes\nIp: 2 3\nUdp: InDatagrams NoPorts\nUdp: 0 1\n"
SNMP6 = b"Ip6OutNoRoutes                  \t0\nUdp6NoPorts                     \t4\n"


def test_both_ways_in_which_the_kernel_writes_them_are_read():
    assert counts(SNMP + SNMP6) == {
        (b"Ip:", b"Forwarding"): 2,
        (b"Ip:", b"OutNoRoutes"): 3,
        (b"Udp:", b"InDatagrams"): 0,
        (b"Udp:", b"NoPorts"): 1,
        (b"Ip6OutNoRoutes", b""): 0,
        (b"Udp6NoPorts", b""): 4,
    }
    assert counts(b"") == {} and counts(b"nonsense\n") == {}


@pytest.mark.parametrize(
    ("server", "no_routes", "no_ports", "missed"),
    [
        ("192.0.2.53", 1, 0, True),
        ("192.0.2.53", 0, 1, False),
        ("127.0.0.53", 0, 1, True),
        ("127.0.0.53", 0, 0, False),
    ],
)
def test_a_lookup_at_a_server_of_this_machine_needs_no_route(
    server: str, no_routes: int, no_ports: int, missed: bool, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
):
    text = f"Ip: OutNoRoutes\nIp: {no_routes}\nUdp: NoPorts\nUdp: {no_ports}\n".encode()
    (tmp_path / "resolv.conf").write_text(f"# ours\nsearch example.org\nnameserver {server}\n")
    monkeypatch.setattr(network_counters, "_RESOLVERS", str(tmp_path / "resolv.conf"))

    def read(_: int) -> bytes:
        return text

    monkeypatch.setattr(network_counters, "_read", read)
    counters = NetworkCounters(1)
    assert counters.missed() is missed
    counters.close()


def test_of_a_process_that_has_ended_nothing_is_known():
    counters = NetworkCounters(1 << 30)
    assert not counters.missed()
    counters.close()
