"""Commands in the sandbox `network`: where they may connect to, who is asked, and what is recorded."""

import os
import sys
from pathlib import Path

import pytest

from assent.approval import InfoDetails
from assent.events import ApprovalRequested, CallFinished, ConnectionEnded
from assent.policy.rules import Rule
from assent.sandbox.bubblewrap import bubblewrap
from assent.scheduler.connection_gate import MAX_QUESTIONS, MAX_WAIT
from support.local_hosts import PUBLIC
from support.network_scene import SHELL, network_scene

pytestmark = [
    pytest.mark.spec("I1"),
    pytest.mark.skipif(sys.platform != "linux" or bubblewrap() is None, reason="needs bubblewrap"),
]


CODED = "0a1b2c3d4e5f6789" * 2
"""It looks like data on its way out."""


def connect(ruling: str, domain: str) -> Rule:
    return Rule(ruling=ruling, tool="connect", domain=domain)  # type: ignore[arg-type]


async def test_a_host_that_a_rule_allows_is_reached_and_recorded(tmp_path: Path):
    async with network_scene(tmp_path, connect("allow", "example.org")) as net:
        await net.start("curl -sS http://api.example.org/x").results()
        assert "asked for /x" in net.output()
        assert net.requested() == [("api.example.org", 80, True)]
        (ended,) = net.harness.recorded(ConnectionEnded)
        assert ended.address == "127.0.0.1" and ended.sent > 20 and ended.received > 40 and not ended.problem
        assert net.hosts.dialled == [(PUBLIC, 80)]
        assert "[network: api.example.org:80, 1 connection, " in net.output()


async def test_an_unknown_host_is_a_question_and_the_command_waits_for_its_answer(tmp_path: Path):
    async with network_scene(tmp_path) as net:
        batch = net.start("curl -sS http://packages.example.org/x")
        asked = (await net.question()).approval
        assert asked.details == InfoDetails(
            "`curl -sS http://packages.example.org/x` wants to connect to packages.example.org:80",
            ("tcp://packages.example.org:80",),
        )
        assert net.hosts.resolved == [], "no name is looked up before the answer"
        await net.answer("proceed_once")
        await batch.results()
        assert "asked for /x" in net.output()


async def test_a_no_refuses_the_connection_and_tells_the_model(tmp_path: Path):
    async with network_scene(tmp_path) as net:
        batch = net.start(
            "curl -sS http://packages.example.org/x || echo failed: $?; curl -sS http://packages.example.org/y"
        )
        await net.answer("cancel")
        await batch.results()
        assert "User did not allow" in net.output()
        assert len(net.harness.recorded(ApprovalRequested)) == 1, "the answer holds for the whole command"
        assert "The sandbox refused the connection to packages.example.org:80" in net.told()
        assert net.hosts.resolved == []


async def test_with_nobody_to_ask_an_unknown_host_is_refused(tmp_path: Path):
    async with network_scene(tmp_path, attended=False) as net:
        await net.start("curl -sS http://packages.example.org/x").results()
        assert net.requested() == [("packages.example.org", 80, False)]
        assert "nobody can be asked" in net.told()


async def test_a_question_is_withdrawn_when_the_command_ends(tmp_path: Path):
    async with network_scene(tmp_path) as net:
        batch = net.start("curl -sS http://packages.example.org/x & until [ -e over ]; do sleep 0.05; done")
        asked = await net.question()
        (tmp_path / "work/over").touch()
        await batch.results()
        ends = {event.call_id: event for event in net.harness.recorded(CallFinished)}
        assert ends[asked.call_id].status == "cancelled"
        assert "The command that wanted to connect has ended." in str(ends[asked.call_id].result)


# --- who decides ---


@pytest.mark.parametrize(
    ("rules", "command", "requested"),
    [
        ((connect("allow", "example.org"), connect("deny", "bad.example.org")), "bad.example.org", False),
        ((connect("allow", "*.example.org"),), "example.org", False),
        ((connect("allow", "=example.org"),), "a.example.org", False),
        ((connect("allow", "example.org:8080"),), "a.example.org:8080", True),
        ((connect("allow", "example.org"),), "a.example.org:8080", False),
        ((connect("allow", "example.org"),), f"{CODED}.example.org", False),
        ((connect("allow", f"={CODED}.example.org"),), f"{CODED}.example.org", True),
        ((Rule(ruling="allow", tool="web_fetch", domain="example.org"),), "a.example.org", False),
    ],
)
async def test_rules_decide_with_nobody_to_ask(tmp_path: Path, rules: tuple[Rule, ...], command: str, requested: bool):
    async with network_scene(tmp_path, *rules, attended=False) as net:
        await net.start(f"curl -sS http://{command}/").results()
        assert [allowed for _, _, allowed in net.requested()] == [requested]


async def test_a_rule_for_a_command_lists_its_domains(tmp_path: Path):
    words = Rule(
        ruling="allow", tool=SHELL, command=("curl",), sandbox="network", domains=("example.org", "=b.example.net")
    )
    async with network_scene(tmp_path, words, attended=False, whole=False) as net:
        await net.start("curl -sS http://a.example.org/1").results()
        assert "asked for /1" in net.output()
        assert net.requested() == [("a.example.org", 80, True)]


async def test_always_holds_for_the_next_command(tmp_path: Path):
    async with network_scene(tmp_path) as net:
        batch = net.start("curl -sS http://a.example.org/x")
        await net.answer("proceed_always")
        await batch.results()
        await net.start("curl -sS http://a.example.org/y http://b.example.org/ -m 1", "next").results()
        assert net.requested()[:2] == [("a.example.org", 80, True)] * 2
        hosts = [event.approval.details for event in net.harness.recorded(ApprovalRequested)]
        assert [details.urls for details in hosts if isinstance(details, InfoDetails)] == [
            ("tcp://a.example.org:80",),
            ("tcp://b.example.org:80",),
        ]


async def test_connections_to_the_same_host_share_one_question(tmp_path: Path):
    async with network_scene(tmp_path) as net:
        batch = net.start("for n in 1 2 3; do curl -sS http://a.example.org/$n & done; wait")
        await net.until(lambda: len(net.harness.recorded(ApprovalRequested)) == 1)
        await net.answer("proceed_once")
        await batch.results()
        assert net.requested() == [("a.example.org", 80, True)] * 3
        assert len(net.harness.recorded(ApprovalRequested)) == 1


@pytest.mark.parametrize(
    "address", ["127.0.0.1", "169.254.169.254", "10.1.2.3", "[::1]", "[fe80::1]", "localhost", "nas.local"]
)
async def test_nobody_is_asked_about_this_machine_or_its_network(tmp_path: Path, address: str):
    async with network_scene(tmp_path) as net:
        await net.start(f"curl -sS --noproxy '' http://{address}/").results()
        assert [allowed for _, _, allowed in net.requested()] == [False], net.told()
        assert net.harness.recorded(ApprovalRequested) == [] and net.hosts.dialled == []


async def test_a_local_address_that_a_rule_names_is_reached(tmp_path: Path):
    async with network_scene(tmp_path, connect("allow", "127.0.0.1")) as net:
        await net.start("curl -sS --noproxy '' http://127.0.0.1/x").results()
        assert "asked for /x" in net.output()


# --- no other way out ---


@pytest.mark.parametrize(
    "command",
    [
        "env -u http_proxy -u all_proxy -u HTTP_PROXY -u ALL_PROXY curl -sS -m 5 http://example.org/",
        "curl -sS -m 5 --noproxy '*' http://93.184.216.34/",
        "getent hosts example.org",
        "python3 -c 'import socket; socket.create_connection((\"93.184.216.34\", 80), 5)'",
        'python3 -c \'import socket; socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b"x", ("9.9.9.9", 53))\'',
    ],
)
async def test_past_the_proxy_there_is_nothing(tmp_path: Path, command: str):
    async with network_scene(tmp_path, connect("allow", "example.org")) as net:
        await net.start(f"{command} && echo got through").results()
        assert "got through" not in net.output()
        assert (net.requested(), net.hosts.resolved, net.hosts.dialled) == ([], [], [])


async def test_the_door_to_the_proxy_opens_once(tmp_path: Path):
    knock = "import socket; s = socket.socket(socket.AF_UNIX); s.connect('/run/assent-network'); print('open')"
    async with network_scene(tmp_path) as net:
        await net.start(f'python3 -c "{knock}"; ls -A /run').results()
        assert "open" not in net.output() and "Connection refused" in net.output()
        assert os.listdir(tmp_path / "data/sandbox") in (["closed", "empty"], ["empty", "closed"])


@pytest.mark.parametrize(
    "command",
    [
        "python3 -c 'import urllib.request as u; print(u.urlopen(\"http://a.example.org/x\").read())'",
        "wget -qO- http://a.example.org/x || curl -sS http://a.example.org/x",
        "curl -sS --socks5-hostname 127.0.0.1:3128 http://a.example.org/x",
        "curl -sS --proxytunnel http://a.example.org/x",
        "curl -sS -d @/etc/hostname -H 'Transfer-Encoding: chunked' http://a.example.org/x",
        """python3 -c '
import socket
s = socket.create_connection(("127.0.0.1", 3128))
s.sendall(b"CONNECT a.example.org:80 HTTP/1.1\\r\\nHost: a\\r\\n\\r\\nGET /x HTTP/1.1\\r\\nHost: a\\r\\n\\r\\n")
while data := s.recv(4096): print(data)
'""",
    ],
)
async def test_ordinary_clients_find_the_proxy(tmp_path: Path, command: str):
    async with network_scene(tmp_path, connect("allow", "example.org")) as net:
        await net.start(command).results()
        assert "asked for /x" in net.output(), net.output()


async def test_signals_and_pipes_mean_to_a_command_what_they_always_do(tmp_path: Path):
    async with network_scene(tmp_path) as net:
        await net.start("yes | head -1; python3 -c 'import signal; print(signal.getsignal(2))'; exit 7").results()
        assert net.output().startswith("y") and "default_int_handler" in net.output()
        assert "7" in net.told()


async def test_an_answer_to_a_changed_question_allows_nothing(tmp_path: Path):
    async with network_scene(tmp_path) as net:
        batch = net.start("curl -sS http://a.example.org/x")
        asked = await net.question()
        changed = {"host": "b.example.org", "port": 80, "command": "curl -sS http://a.example.org/x"}
        await net.harness.answer(asked.call_id, "proceed_once", args=changed)
        await batch.results()
        assert net.requested() == [("a.example.org", 80, False)] and net.hosts.dialled == []


async def test_a_question_about_a_host_waits_for_a_bounded_time(tmp_path: Path):
    async with network_scene(tmp_path) as net:
        batch = net.start("curl -sS -m 60 http://a.example.org/x")
        asked = await net.question()
        assert asked.approval.expires_at == net.harness.now + MAX_WAIT
        net.harness.scheduler.cancel_call("run", "enough")
        await batch.results()


async def test_a_command_cannot_ask_without_end(tmp_path: Path):
    async with network_scene(tmp_path) as net:
        hosts = " ".join(f"http://h{number}.example.org/" for number in range(MAX_QUESTIONS + 3))
        batch = net.start(f"for url in {hosts}; do curl -sS -m 60 $url & done; wait")
        await net.until(lambda: len(net.requested()) == 3)
        assert [allowed for _, _, allowed in net.requested()] == [False] * 3
        assert len(net.harness.recorded(ApprovalRequested)) == MAX_QUESTIONS
        net.harness.scheduler.cancel_call("run", "enough")
        await batch.results()
        assert net.harness.scheduler.waiting() == []
