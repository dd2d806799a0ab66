"""Programs that know only our OpenAPI document: a generated client and httpx-sse do a whole cycle."""

import asyncio
import os
import shutil
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest

from support.served import Json, Served

PROGRAMS = Path(sys.prefix) / "client" / "bin"
CYCLE = Path(__file__).with_name("generated_cycle.py")
pytestmark = [
    pytest.mark.spec("H2"),
    pytest.mark.timeout(180),
    pytest.mark.skipif(not PROGRAMS.is_dir(), reason="there is no client generator: scripts/setup client"),
]


def run(folder: Path, *command: str) -> str:
    env = os.environ | {"PATH": f"{Path(sys.prefix) / 'bin'}:{os.environ['PATH']}"}
    done = subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


async def test_a_generated_client_and_httpx_sse_do_a_whole_cycle(tmp_path: Path):
    shutil.copy(CYCLE, tmp_path)
    async with Served(tmp_path) as served:
        document = await served.api().http.request("GET", "/openapi.json")
        (tmp_path / "openapi.json").write_bytes(document.body)
        generate = (str(PROGRAMS / "openapi-python-client"), "generate", "--path", "openapi.json", "--meta", "none")
        said = await asyncio.to_thread(run, tmp_path, *generate, "--output-path", "client")
        assert "missing" not in said, said
        where = (f"http://127.0.0.1:{served.server.port}", served.server.token, str(served.folder))
        told = await asyncio.to_thread(run, tmp_path, str(PROGRAMS / "python"), CYCLE.name, *where)
    found: Json = msgspec.json.decode(told.splitlines()[-1])
    assert found["same"], "the same key is the same session"
    assert (found["stale"], found["late"]) == ("urn:assent:digest-differs", "urn:assent:already-decided")
    assert found["taken"]["state"] == "taken" and found["audit"] == ["approval.answered", "ann@127.0.0.1", True]
    assert found["seen"].count("turn.finished") == 2 and found["intact"] == []
    assert (found["removed"], found["left"]) == (204, 0)
