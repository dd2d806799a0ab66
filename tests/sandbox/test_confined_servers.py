"""MCP servers in a sandbox of their own."""

import os
import sys
import threading
from collections.abc import Generator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from assent.mcp_config import BadServer, Servers, read_servers
from assent.sandbox.bubblewrap import bubblewrap
from support.servers import RAW, noted, open_manager, program, raw_server_in

pytestmark = pytest.mark.spec("I1")
needs_sandbox = pytest.mark.skipif(sys.platform != "linux" or bubblewrap() is None, reason="needs bubblewrap")


def environment(folder: Path) -> dict[str, str]:
    return {"ASSENT_HOME": str(folder.parent / "home"), "HOME": str(folder), "PATH": os.defpath}


@needs_sandbox
async def test_a_server_runs_in_the_sandbox_of_its_entry(tmp_path: Path):
    folder = tmp_path / "work"
    folder.mkdir()
    script = f"echo x 2> /dev/null > {tmp_path}/outside; exec {sys.executable} {raw_server_in(folder)} {folder}"
    confined = program("-c", folder, name="srv", command="/bin/sh", args=["-c", script], sandbox="network")
    async with open_manager(folder, confined, env=environment(folder)) as mcp:
        (status,) = mcp.manager.status()
        assert status.state == "ready", status
        (started,) = noted(folder)
        assert int(started.split()[1]) < 20  # as processes are counted in there
    assert not (tmp_path / "outside").exists()


DIALS = """
import os, sys, urllib.request
os.environ.pop("no_proxy"), os.environ.pop("NO_PROXY")
for host in ("127.0.0.1:{allowed}", "127.0.0.1:{other}", "attacker.example"):
    try:
        text = urllib.request.urlopen(f"http://{{host}}/", timeout=20).read().decode()
    except Exception as error:
        text = getattr(error, "code", type(error).__name__)
    print(host.partition(":")[2] or host, text, file=open("{work}/dialled", "a"))
import socket
try:
    socket.create_connection(("127.0.0.1", {allowed}), 5)
except OSError as error:
    print("direct", type(error).__name__, file=open("{work}/dialled", "a"))
os.execv(sys.executable, [sys.executable, *sys.argv[1:]])
"""


class Hello(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b"hello")

    def log_message(self, format: str, *args: object) -> None: ...


@contextmanager
def listening() -> Generator[int]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Hello)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield server.server_port
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@needs_sandbox
@pytest.mark.spec("C3")
async def test_a_server_reaches_only_the_hosts_of_its_entry(tmp_path: Path):
    folder = tmp_path / "work"
    folder.mkdir()
    with listening() as allowed, listening() as other:
        script = DIALS.format(allowed=allowed, other=other, work=folder)
        args = ["-c", script, raw_server_in(folder), str(folder)]
        confined = program(
            "-c",
            folder,
            name="srv",
            command=sys.executable,
            args=args,
            sandbox="network",
            domains=[f"127.0.0.1:{allowed}"],
        )
        async with open_manager(folder, confined, env=environment(folder)) as mcp:
            (status,) = mcp.manager.status()
            assert status.state == "ready", status
            log = "\n".join(mcp.manager.log("srv"))
    dialled = (folder / "dialled").read_text().split("\n")
    assert dialled == [f"{allowed} hello", f"{other} 403", "attacker.example 403", "direct ConnectionRefusedError", ""]
    assert "no connection to attacker.example:80: it is not in `domains` of this server" in log


def test_domains_need_the_network():
    with pytest.raises(BadServer, match="`domains` are only for a server with"):
        read_servers(Servers({"a": {"command": "x", "sandbox": "workspace", "domains": ["a.example"]}}), "f", "user")


async def test_a_server_whose_domains_are_not_hosts_does_not_start(tmp_path: Path):
    confined = program(RAW, tmp_path, sandbox="network", domains=["com"])
    async with open_manager(tmp_path, confined, env=environment(tmp_path)) as mcp:
        (status,) = mcp.manager.status()
        assert status.state != "ready" and "`com` in `domains` is not a host" in str(status)
    assert noted(tmp_path) == []


async def test_a_server_does_not_start_without_its_sandbox(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("assent.sandbox.confinement.bubblewrap", lambda: None)
    confined = program(RAW, tmp_path, sandbox="workspace")
    async with open_manager(tmp_path, confined, env=environment(tmp_path)) as mcp:
        (status,) = mcp.manager.status()
        assert status.state != "ready" and "there is no sandbox for it" in str(status)
    assert noted(tmp_path) == []


def test_only_a_program_can_have_a_sandbox():
    with pytest.raises(BadServer, match="`sandbox` is for a program that Assent starts"):
        read_servers(Servers({"a": {"url": "https://a.example/mcp", "sandbox": "workspace"}}), "f", "user")
