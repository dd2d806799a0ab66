"""The thread that commits: what comes close together shares a commit, and what comes alone waits for nobody."""

import asyncio
import sqlite3
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from assent.session import writer
from assent.session.writer import Writer


class Counted:
    """A writer to a file, and the commits that its connection made."""

    def __init__(self, path: Path, gather: float) -> None:
        self.commits = 0
        self._path = path
        self.writer = Writer(str(path), self._connect, lambda: None, gather)

    def _connect(self) -> sqlite3.Connection:
        db = sqlite3.connect(self._path, isolation_level=None, check_same_thread=False)
        db.execute("CREATE TABLE t (n INTEGER)")
        db.set_trace_callback(self._heard)
        return db

    def _heard(self, statement: str) -> None:
        self.commits += statement == "COMMIT"

    def add(self, number: int) -> "asyncio.Future[object]":
        return self.writer.submit(lambda db: db.execute("INSERT INTO t VALUES (?)", (number,)))

    async def numbers(self) -> list[tuple[int]]:
        return await self.writer.submit(lambda db: db.execute("SELECT n FROM t").fetchall(), reads=True)


@pytest.fixture
async def counted(tmp_path: Path) -> AsyncIterator[Counted]:
    counted = Counted(tmp_path / "db", gather=0.2)
    yield counted
    await counted.writer.close()


async def test_what_follows_a_commit_closely_waits_for_more_that_can_share_the_next(
    counted: Counted, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(writer, "RECENTLY", 1_000.0)
    await counted.add(0)
    before = counted.commits
    first = counted.add(1)
    await asyncio.sleep(0.05)  # the thread has taken it up, and waits
    assert not first.done()
    await asyncio.gather(first, counted.add(2), counted.add(3))
    assert counted.commits == before + 1
    assert await counted.numbers() == [(0,), (1,), (2,), (3,)]


async def test_what_comes_after_a_pause_is_committed_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(writer, "RECENTLY", 0.0)
    counted = Counted(tmp_path / "db", gather=1_000.0)
    for number in range(3):
        await counted.add(number)
    assert counted.commits == 3
    await counted.writer.close()


async def test_without_many_who_write_nobody_waits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(writer, "RECENTLY", 1_000.0)
    counted = Counted(tmp_path / "db", gather=0.0)
    for number in range(3):
        await counted.add(number)
    assert counted.commits == 3
    await counted.writer.close()
