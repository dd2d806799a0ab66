"""`kill -9` while decisions are recorded: the audit and the events never disagree, and the chain goes on."""

import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from support.audit_witness import compare, verify

WRITER = Path(__file__).with_name("audit_writer.py")
KILLS = 5


def killed_after(folder: Path, session: str, decisions: int) -> list[str]:
    """The calls whose answers the writer knew to be durable."""
    writer = subprocess.Popen([sys.executable, str(WRITER), str(folder), session], stdout=subprocess.PIPE, text=True)
    assert writer.stdout is not None
    with writer.stdout:
        known = [writer.stdout.readline() for _ in range(decisions)]
        writer.kill()
        known += writer.stdout.readlines()
    writer.wait()
    return [line.split()[1] for line in known if line.endswith("\n")]


@pytest.mark.spec("N2")
@pytest.mark.spec("J2")
async def test_after_each_kill_every_decision_has_its_record_and_the_chain_continues(tmp_path: Path):
    records = 0
    for kill in range(KILLS):
        known = killed_after(tmp_path, f"s{kill}", 1 + 7 * kill)
        count = compare(tmp_path / "assent.db")
        assert count > records
        assert await verify(tmp_path) == ()
        with closing(sqlite3.connect(tmp_path / "assent.db")) as db:
            answered = "SELECT json_extract(CAST(data AS TEXT), '$.call_id') FROM audit WHERE kind = ? AND session = ?"
            recorded = {call for (call,) in db.execute(answered, ("approval.answered", f"s{kill}"))}
        assert recorded >= set(known), "an answer that was durable has no record"
        records = count


def test_the_comparison_notices_a_record_without_its_decision_and_the_reverse(tmp_path: Path):
    killed_after(tmp_path, "s", 2)
    for statement in ("DELETE FROM events WHERE seq = 4", "DELETE FROM audit WHERE kind = 'session.created'"):
        with closing(sqlite3.connect(tmp_path / "assent.db", isolation_level=None)) as db:
            db.executescript(f"BEGIN; DROP TRIGGER IF EXISTS audit_kept; {statement}; COMMIT")
        with pytest.raises(AssertionError, match="recorded"):
            compare(tmp_path / "assent.db")
