"""MCP servers in a sandbox of their own."""

import os
import sys
from pathlib import Path

import pytest

from assent.mcp_config import BadServer, Servers, read_servers
from assent.sandbox.bubblewrap import bubblewrap
from support.servers import RAW, noted, open_manager, program

pytestmark = pytest.mark.spec("I1")
needs_sandbox = pytest.mark.skipif(sys.platform != "linux" or bubblewrap() is None, reason="needs bubblewrap")


def environment(folder: Path) -> dict[str, str]:
    return {"ASSENT_HOME": str(folder.parent / "home"), "HOME": str(folder), "PATH": os.defpath}


@needs_sandbox
async def test_a_server_runs_in_the_sandbox_of_its_entry(tmp_path: Path):
    folder = tmp_path / "work"
    folder.mkdir()
    needed = [RAW, str(folder), "--"]
    script = f"echo x 2> /dev/null > {tmp_path}/outside; exec {sys.executable} {' '.join(needed[:2])}"
    confined = program("-c", folder, name="srv", command="/bin/sh", args=["-c", script], sandbox="network")
    async with open_manager(folder, confined, env=environment(folder)) as mcp:
        (status,) = mcp.manager.status()
        assert status.state == "ready", status
        (started,) = noted(folder)
        assert int(started.split()[1]) < 20  # as processes are counted in there
    assert not (tmp_path / "outside").exists()


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
