"""Prometheus itself reads our metrics, after a session with a question and an answer."""

import asyncio
import shutil
import subprocess
from pathlib import Path

import pytest

from support.served import Served, until_event, until_waiting

PROMTOOL = shutil.which("promtool")
pytestmark = [
    pytest.mark.spec("N1"),
    pytest.mark.skipif(PROMTOOL is None, reason="promtool is not installed: apt install prometheus"),
]


def checked(metrics: bytes) -> "subprocess.CompletedProcess[bytes]":
    assert PROMTOOL is not None
    return subprocess.run([PROMTOOL, "check", "metrics"], input=metrics, capture_output=True, check=False)


async def test_promtool_has_no_complaint(tmp_path: Path):
    async with Served(tmp_path) as served, served.api() as api:
        session = (await api.create(prompt="go"))["id"]
        (waiting,) = await until_waiting(api, session)
        await api.decide(session, waiting["call_id"], "proceed_once", waiting["approval"]["digest"])
        await until_event(api, session, "turn.finished")
        metrics = (await api.http.request("GET", "/metrics")).body
    assert b"assent_decision_seconds_bucket" in metrics
    done = await asyncio.to_thread(checked, metrics)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    wrong = await asyncio.to_thread(checked, metrics + b'assent_streams{status="x} 1\n')
    assert wrong.returncode != 0
