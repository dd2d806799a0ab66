"""Locks between processes: one has it, the next is told or waits, and nothing stays open."""

import os
import threading
from pathlib import Path

import pytest

from assent.files import locks
from assent.files.locks import take_lock


def test_a_lock_that_someone_has_is_refused_and_leaves_no_file_open(tmp_path: Path) -> None:
    held = take_lock(tmp_path / "lock")
    before = len(os.listdir("/proc/self/fd"))
    with pytest.raises(BlockingIOError):
        take_lock(tmp_path / "lock")
    assert len(os.listdir("/proc/self/fd")) == before
    os.close(held)
    os.close(take_lock(tmp_path / "lock"))


def test_who_waits_for_a_lock_has_it_when_the_other_lets_go(tmp_path: Path) -> None:
    held = take_lock(tmp_path / "lock")
    taken: list[int] = []
    waiting = threading.Thread(target=lambda: taken.append(take_lock(tmp_path / "lock", wait=True)), daemon=True)
    waiting.start()
    waiting.join(0.2)  # one that does not wait has ended by then, with the lock or with an error
    assert waiting.is_alive()
    os.close(held)
    waiting.join(10)
    assert len(taken) == 1
    os.close(taken[0])


def test_a_lock_whose_file_was_removed_before_it_was_taken_is_taken_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """Between opening and locking, the process that held it releases it and removes the file."""
    path = tmp_path / "a.lock"
    path.touch()
    real = locks.take_lock
    removed: list[Path] = []

    def slow(place: Path) -> int:
        handle = real(place)
        if not removed:
            path.unlink()
            removed.append(path)
        return handle

    monkeypatch.setattr(locks, "take_lock", slow)
    handle = locks.take_removable_lock(path)
    assert path.exists(), "others see the file that we hold"
    monkeypatch.undo()
    with pytest.raises(BlockingIOError):
        locks.take_removable_lock(path)
    locks.remove_lock(path, handle)
    assert not path.exists()
