"""Who belongs to a program that was started, and how much memory they have together."""

import os
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from assent.process.family import Family, nested_mark

_CHILD = "sh -c 'echo $$; exec sleep 300'"
_PARENT = f"{_CHILD} & wait"
_ORPHAN = f"({_CHILD} &); read x"
_SESSION = f"setsid {_CHILD} & wait"


@contextmanager
def started(command: str) -> Iterator[tuple[int, int]]:
    """A leader of a session and the process that it started."""
    leader = subprocess.Popen(
        ["bash", "-c", command], stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True
    )
    with leader:
        assert leader.stdout is not None
        child = int(leader.stdout.readline())
        try:
            yield leader.pid, child
        finally:
            os.kill(child, signal.SIGKILL)
            os.killpg(leader.pid, signal.SIGKILL)


def family(leader: int) -> Family:
    """Nobody has its mark or holds its pipe."""
    return Family(leader, "no such mark", "no such pipe")


@pytest.mark.parametrize("command", [_PARENT, _ORPHAN, _SESSION])
def test_children_orphans_of_the_session_and_children_with_a_session_belong_to_it(command: str) -> None:
    with started(command) as (leader, child):
        assert family(leader).members() == sorted([leader, child])


@pytest.mark.spec("I6")
@pytest.mark.parametrize("command", [_PARENT, _ORPHAN, _SESSION])
def test_their_memory_is_added_up(command: str) -> None:
    with started(command) as (leader, child):
        resident = [int(Path(f"/proc/{pid}/statm").read_text().split()[1]) for pid in (leader, child)]
        found = family(leader).memory() / os.sysconf("SC_PAGE_SIZE")
    # The kernel adds up its counters only now and then, so the two files may differ by some pages.
    assert max(resident) < found < 2 * sum(resident)


def test_a_neighbour_does_not_belong_to_it() -> None:
    with started(_PARENT) as (leader, child), started(_PARENT) as (other, _):
        assert other not in family(leader).members()
        assert child in family(leader).members()


def test_the_dead_that_nobody_has_collected_do_not_count() -> None:
    with subprocess.Popen(["true"], start_new_session=True) as ended:
        os.waitid(os.P_PID, ended.pid, os.WEXITED | os.WNOWAIT)
        found = family(ended.pid)
        assert found.members() == []
        assert found.memory() == 0
        assert not found.any_alive([ended.pid])


@pytest.mark.parametrize("names", [None, ["self", "meminfo"]])
def test_without_a_process_table_only_the_group_is_known(
    names: list[str] | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    def listed(_: str) -> list[str]:
        if names is None:
            raise FileNotFoundError
        return names

    with started(_PARENT) as (leader, _):
        found = family(leader)
        monkeypatch.setattr(os, "listdir", listed)
        monkeypatch.setattr(os.path, "isdir", lambda _: False)
        assert found.members() == [leader]
        assert found.memory() == 0
        assert found.any_alive([])
    assert found.members() == []
    assert not found.any_alive([os.getpid()])


def test_a_run_inside_of_another_has_both_marks() -> None:
    assert nested_mark("inner", None) == "inner"
    assert nested_mark("inner", "outer") == "outer:inner"
