"""Who belongs to a program that was started, and how much memory they have together."""

import os
import signal
import subprocess
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import pytest

from assent.process.family import Family, nested_mark

_CHILD = "sh -c 'echo $$; read x <&3'"
_READY = "ready"
"""Printed when the processes in between are gone."""
_PARENT = f"exec 3<&0; {_CHILD} & echo {_READY}; wait"
_ORPHAN = f"exec 3<&0; ({_CHILD} &); echo {_READY}; read x"
_SESSION = f"exec 3<&0; setsid {_CHILD} & echo {_READY}; wait"


@contextmanager
def started(command: str, *handed: int) -> Generator[tuple[int, int]]:
    """A leader of a session and the process that it started."""
    leader = subprocess.Popen(
        ["bash", "-c", command], stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True, pass_fds=handed
    )
    with leader:
        assert leader.stdout is not None
        number, ready = sorted(leader.stdout.readline() for _ in range(2))
        assert ready.decode().strip() == _READY
        child = int(number)
        try:
            yield leader.pid, child
        finally:
            os.kill(child, signal.SIGKILL)
            os.killpg(leader.pid, signal.SIGKILL)


def _never(_: str) -> bool:
    return False


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
        rough = family(leader).memory(enough=1 << 50) / os.sysconf("SC_PAGE_SIZE")
        exact = family(leader).memory() / os.sysconf("SC_PAGE_SIZE")
    # The kernel adds up its counters only now and then, so the two files may differ by some pages.
    assert max(resident) < rough < 2 * sum(resident)
    assert 0 < exact < rough, "what they share counts once"


def test_a_neighbour_does_not_belong_to_it() -> None:
    with started(_PARENT) as (leader, child), started(_PARENT) as (other, _):
        assert other not in family(leader).members()
        assert child in family(leader).members()


@pytest.mark.parametrize("end", [0, 1])
def test_one_that_can_write_to_the_pipe_belongs_to_it_and_one_that_can_only_read_does_not(end: int) -> None:
    pipe = os.pipe()
    channel = os.readlink(f"/proc/self/fd/{pipe[end]}")
    with started(_PARENT) as (leader, _), started(_PARENT, pipe[end]) as (holder, _):
        assert (holder in Family(leader, "no such mark", channel).members()) == (end == 1)
    os.close(pipe[0])
    os.close(pipe[1])


def test_we_do_not_belong_to_anyone() -> None:
    assert os.getpid() not in family(os.getpid()).members()


def test_one_that_is_gone_has_no_family() -> None:
    with subprocess.Popen(["true"], start_new_session=True) as ended:
        ended.wait()
    assert family(ended.pid).members() == []


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

    with subprocess.Popen(["sleep", "300"], start_new_session=True) as leader:
        found = family(leader.pid)
        monkeypatch.setattr(os, "listdir", listed)
        monkeypatch.setattr(os.path, "isdir", _never)
        try:
            assert found.members() == [leader.pid]
            assert found.memory() == 0
            assert found.any_alive([])
        finally:
            leader.kill()
    assert found.members() == []
    assert not found.any_alive([os.getpid()])


def test_one_that_lives_is_enough() -> None:
    with started(_PARENT) as (leader, child), subprocess.Popen(["true"]) as ended:
        ended.wait()
        assert family(leader).any_alive([ended.pid, child])


def test_nobody_older_than_a_leader_that_has_ended_already_belongs_to_it() -> None:
    reading, writing = os.pipe()
    channel = os.readlink(f"/proc/self/fd/{writing}")
    with started(f"sleep 300 >&{writing} & {_PARENT}", writing) as (_, older):
        os.close(writing)
        os.close(reading)
        # The clock of the process table has a hundred ticks a second: wait until it shows another one.
        born = int(Path(f"/proc/{older}/stat").read_text().rpartition(")")[2].split()[19])
        while True:
            ended = subprocess.Popen(["true"], start_new_session=True)
            os.waitid(os.P_PID, ended.pid, os.WEXITED | os.WNOWAIT)
            if int(Path(f"/proc/{ended.pid}/stat").read_text().rpartition(")")[2].split()[19]) > born:
                break
            ended.wait()
        found = Family(ended.pid, "no such mark", channel)
        ended.wait()
        assert found.members() == []


def test_a_run_inside_of_another_has_both_marks() -> None:
    assert nested_mark("inner", None) == "inner"
    assert nested_mark("inner", "outer") == "outer:inner"
