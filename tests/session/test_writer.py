"""The thread that commits: what comes close together shares a commit, and what comes alone waits for nobody."""

import asyncio
import sqlite3
import threading
import time
from pathlib import Path
from types import SimpleNamespace

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


class Held:
    """In place of `time.sleep`: says that someone waits, and lets the test say for how long."""

    def __init__(self) -> None:
        self.waits, self.go = threading.Event(), threading.Event()

    def __call__(self, seconds: float) -> None:
        self.waits.set()
        assert self.go.wait(10)


async def test_what_follows_a_commit_closely_waits_for_more_that_can_share_the_next(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    held = Held()
    monkeypatch.setattr(writer, "RECENT_SECONDS", 1_000.0)
    monkeypatch.setattr(writer, "time", SimpleNamespace(sleep=held, monotonic=time.monotonic))
    counted = Counted(tmp_path / "db", gather=0.2)
    await counted.add(0)
    before = counted.commits
    first = counted.add(1)
    assert await asyncio.to_thread(held.waits.wait, 10)
    others = [counted.add(2), counted.add(3)]
    assert not first.done()
    held.go.set()
    await asyncio.gather(first, *others)
    assert counted.commits == before + 1
    assert await counted.numbers() == [(0,), (1,), (2,), (3,)]
    await counted.writer.close()


@pytest.mark.parametrize(
    ("recently", "gather"), [(0.0, 1_000.0), (1_000.0, 0.0)], ids=["after a pause", "where few write"]
)
async def test_what_comes_alone_is_committed_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, recently: float, gather: float
):
    monkeypatch.setattr(writer, "RECENT_SECONDS", recently)
    counted = Counted(tmp_path / "db", gather)
    for number in range(3):
        await counted.add(number)
    assert counted.commits == 3
    await counted.writer.close()
