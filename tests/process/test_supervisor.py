"""No command outlives the process that started it, whatever it did to get away."""

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

import assent
from assent.process import leftover_processes, process_table, supervisor_client
from assent.process.leftover_processes import end_leftovers
from assent.process.run_program import ProcessLimits, run
from assent.process.supervisor import READY
from support.processes import alive
from support.waiting import WAIT_LIMIT, until

# Out of the session, without our environment, without any descriptor of ours, deaf to the polite signals.
ESCAPE = """
import os, signal, sys
if os.fork(): os._exit(0)
os.setsid()
if os.fork(): os._exit(0)
for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT): signal.signal(number, signal.SIG_IGN)
os.closerange(0, 256)
out = os.open(sys.argv[1], os.O_WRONLY)
os.write(out, b"%d\\n" % os.getpid())
os.close(out)
while True: signal.pause()
"""
WAYS = {
    "plain": "echo $$ > pids; sleep 300",
    "background": "sleep 300 & echo $$ $! > pids; wait",
    "deaf": "trap '' TERM HUP INT; echo $$ > pids; while :; do sleep 300; done",
    "session": "setsid sleep 300 & echo $$ $! > pids; wait",
    "orphan": "(setsid sleep 300 & echo $! > pids); sleep 300",
    "escape": f"env -i {sys.executable} -I -S escape.py pids; sleep 300",
    "stopped": "bash -c 'echo $$ > pids; kill -STOP $$'; sleep 300",
    "stops its keeper": "echo $$ > pids; kill -STOP $PPID; sleep 300",
    "kills its keeper": "trap '' TERM; echo $$ > pids; kill -KILL $PPID; sleep 300",
}
ASSENT = """
import asyncio, os, sys
from assent.process.run_program import run
lock = open(sys.argv[2] + "/lock", "w")
os.set_inheritable(lock.fileno(), True)
asyncio.run(run(["bash", "-c", sys.argv[1]], cwd=sys.argv[2]))
"""
SOURCE = str(Path(assent.__file__).resolve().parents[1])


def read_pids(folder: Path) -> list[int]:
    """Waits until the command has told them."""
    with open(folder / "pids") as file:
        return [int(pid) for pid in file.readline().split()]


async def told_pids(folder: Path) -> list[int]:
    return await asyncio.to_thread(read_pids, folder)


@pytest.fixture
def folder(tmp_path: Path) -> Generator[Path]:
    os.mkfifo(tmp_path / "pids")
    (tmp_path / "escape.py").write_text(ESCAPE)
    yield tmp_path
    for pid in process_table.all_pids():  # whatever a failing test left
        with suppress(OSError):
            if os.readlink(f"/proc/{pid}/cwd").startswith(str(tmp_path)):
                os.kill(pid, signal.SIGKILL)


@contextmanager
def assent_runs(command: str, folder: Path) -> Generator["subprocess.Popen[bytes]"]:
    """A process of ours that runs a command, as Assent does."""
    env = os.environ | {"PYTHONPATH": SOURCE}
    with subprocess.Popen([sys.executable, "-c", ASSENT, command, str(folder)], env=env) as process:
        try:
            yield process
        finally:
            process.kill()


def supervisor_of(pid: int) -> int:
    """The newest: one that was killed may not have been collected yet."""
    return max(
        child
        for child in process_table.below(pid)
        if process_table.words(child)[-1:] == [b"assent-supervisor"] and parent(child) == pid
    )


async def stop(pid: int) -> None:
    """Also one that has ended and was not collected yet."""
    os.kill(pid, signal.SIGSTOP)
    await until(lambda: (fields := process_table.line(pid)) and fields[process_table.STATE] in (b"T", b"Z"))


def parent(pid: int) -> int:
    fields = process_table.line(pid)
    return int(fields[process_table.PARENT]) if fields else 0


# --- we die ---


@pytest.mark.spec("D6")
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGQUIT, signal.SIGHUP], ids=lambda n: n.name)
@pytest.mark.parametrize("way", WAYS)
async def test_when_we_are_killed_the_command_goes_with_us(folder: Path, way: str, number: signal.Signals) -> None:
    with assent_runs(WAYS[way], folder) as process:
        pids = await told_pids(folder)
        everyone = [*process_table.below(process.pid), *pids]
        os.kill(process.pid, number)
        process.wait()
        await until(lambda: not any(map(alive, everyone)))


@pytest.mark.spec("D6")
@pytest.mark.parametrize("way", WAYS)
async def test_cancelling_ends_those_who_left_nothing_to_be_found_by(folder: Path, way: str) -> None:
    task = asyncio.create_task(run(["bash", "-c", WAYS[way]], cwd=str(folder), limits=ProcessLimits(grace=0.05)))
    pids = await told_pids(folder)
    task.cancel()
    await asyncio.wait([task])
    await until(lambda: not any(map(alive, pids)))


@pytest.mark.spec("D6")
async def test_a_timeout_ends_them_too(folder: Path) -> None:
    pids: list[int] = []

    def wait(_: int) -> None:  # it has got away before its time is over
        pids.extend(read_pids(folder))

    limits = ProcessLimits(idle=0.01, grace=0)
    ended = (await run(["bash", "-c", WAYS["escape"]], cwd=str(folder), on_start=wait, limits=limits)).ended
    assert ended == "idle_timeout"
    assert not any(map(alive, pids))


async def test_the_polite_signal_comes_first_when_we_are_killed(folder: Path) -> None:
    os.mkfifo(folder / "never")
    command = "trap 'echo cleaned > end; exit' TERM; echo $$ > pids; while :; do read -t 60 < never; done"
    with assent_runs(command, folder) as process:
        (pid,) = await told_pids(folder)
        process.kill()
        await until(lambda: not alive(pid))
    assert (folder / "end").read_text() == "cleaned\n"


# --- who looks after the commands ---


async def test_the_supervisor_has_a_session_of_its_own_and_nothing_of_ours(folder: Path) -> None:
    with assent_runs("echo $$ > pids; sleep 300", folder) as process:
        (command,) = await told_pids(folder)
        supervisor = supervisor_of(process.pid)
        assert os.getsid(supervisor) == supervisor
        assert Path(f"/proc/{supervisor}/environ").read_bytes().replace(b"\0", b"") == b""
        for pid in (supervisor, parent(command)):
            held = {os.readlink(f"/proc/{pid}/fd/{fd}") for fd in os.listdir(f"/proc/{pid}/fd")}
            assert {name for name in held if not name.startswith(("socket:", "pipe:"))} <= {"/dev/null"}


async def test_nobody_but_the_command_holds_its_output(folder: Path) -> None:
    result = await run(["bash", "-c", "exec 1>&- 2>&-; true"], cwd=str(folder), limits=ProcessLimits(drain=60))
    assert result.background == ()


async def test_the_supervisor_goes_when_we_are_done(folder: Path) -> None:
    with assent_runs("echo $$ > pids; read < pids", folder) as process:
        await told_pids(folder)
        others = process_table.below(process.pid)
        assert len(others) > 2
        (folder / "pids").write_text("\n")
        assert process.wait() == 0
        await until(lambda: not any(map(alive, others)))


async def test_what_a_command_left_in_the_background_goes_on_without_us(folder: Path) -> None:
    with assent_runs("sleep 300 > /dev/null 2>&1 & echo $! > pids", folder) as process:
        (left,) = await told_pids(folder)
        assert process.wait() == 0
    assert alive(left)
    reaper = parent(left)
    assert process_table.words(reaper)[-1] == b"assent-supervisor", "it still can be told whose child it is"
    os.kill(left, signal.SIGKILL)
    await until(lambda: not alive(reaper))


async def test_when_the_supervisor_was_killed_what_runs_goes_on_and_the_next_command_gets_another(folder: Path) -> None:
    os.mkfifo(folder / "go")
    first = asyncio.create_task(run(["bash", "-c", "echo $$ > pids; read < go; exit 7"], cwd=str(folder)))
    await told_pids(folder)
    supervisor = supervisor_of(os.getpid())
    os.kill(supervisor, signal.SIGKILL)
    await until(lambda: not alive(supervisor))
    assert (await run(["echo", "second"], cwd=str(folder))).output.text() == "second\n"
    await asyncio.to_thread((folder / "go").write_text, "\n")
    assert (await first).code == 7


async def test_a_command_that_kills_its_reaper_is_ended_and_counts_as_killed(folder: Path) -> None:
    def go(_: int) -> None:
        (folder / "pids").write_text("\n")

    command = "sleep 300 & echo $!; read < pids; kill -KILL $PPID; sleep 300"
    result = await run(["bash", "-c", command], cwd=str(folder), on_start=go)
    assert (result.code, result.signal) == (None, 9)
    left = int(result.output.text())
    await until(lambda: not alive(left))


async def test_nothing_is_left_of_many_commands_but_the_supervisor(folder: Path) -> None:
    await run(["true"], cwd=str(folder))
    supervisor = supervisor_of(os.getpid())
    kept = {
        pid for pid in process_table.below(supervisor) if parent(pid) == supervisor
    }  # earlier tests may have left some
    before = set(os.listdir("/proc/self/fd"))
    await asyncio.gather(*(run(["true"], cwd=str(folder)) for _ in range(30)))
    assert set(os.listdir("/proc/self/fd")) == before
    await until(lambda: len(set(process_table.below(supervisor)) - kept) <= READY)


async def test_a_reaper_whose_command_left_nothing_serves_again(folder: Path) -> None:
    """A fork for each command would be the dearest part of it. One that took long may find its seat taken."""
    reapers: list[str] = []
    async with asyncio.timeout(WAIT_LIMIT):
        while len({*reapers}) == len(reapers):
            reapers.append((await run(["bash", "-c", "echo $PPID"], cwd=str(folder))).output.text())


async def test_a_reaper_that_stays_with_what_a_command_left_serves_nobody_else(folder: Path) -> None:
    result = await run(["bash", "-c", "sleep 300 > /dev/null 2>&1 & echo $! $PPID"], cwd=str(folder))
    left, reaper = map(int, result.output.text().split())
    others = {(await run(["bash", "-c", "echo $PPID"], cwd=str(folder))).output.text() for _ in range(10)}
    assert parent(left) == reaper
    assert f"{reaper}\n" not in others
    os.kill(left, signal.SIGKILL)


async def test_the_loop_goes_on_while_a_command_is_started(folder: Path) -> None:
    """With the supervisor stopped no start comes to an end, and nothing else may wait for it."""
    await run(["true"], cwd=str(folder))
    supervisor = supervisor_of(os.getpid())
    await stop(supervisor)  # first: it would wake those who were stopped, fork others, and collect those who ended
    reapers = [pid for pid in process_table.below(supervisor) if parent(pid) == supervisor]
    for pid in reapers:
        await stop(pid)
    task = asyncio.create_task(run(["echo", "late"], cwd=str(folder)))
    try:
        for _ in range(100):
            await asyncio.sleep(0)
        assert not task.done()
    finally:
        for pid in (*reapers, supervisor):
            os.kill(pid, signal.SIGCONT)
    assert (await task).output.text() == "late\n"


async def test_one_who_is_cancelled_while_it_starts_ends_what_was_started(folder: Path) -> None:
    started: list[int] = []
    task = asyncio.create_task(run(["sleep", "300"], cwd=str(folder), on_start=started.append))
    await asyncio.sleep(0)
    task.cancel()
    await asyncio.wait([task])
    assert task.cancelled()
    assert started
    assert not any(map(alive, started))


async def test_a_request_that_no_socket_holds_at_once_arrives_whole(folder: Path) -> None:
    env = {f"V{number}": "x" * 100_000 for number in range(12)}
    code = "import os; print(sum(map(len, os.environ.values())) >= 1_200_000)"
    result = await run([sys.executable, "-S", "-c", code], cwd=str(folder), env=env)
    assert result.output.text() == "True\n"


async def test_one_who_is_cancelled_twice_while_it_starts_hears_of_it_once(folder: Path) -> None:
    started: list[int] = []

    async def impatient() -> str:
        try:
            await run(["sleep", "300"], cwd=str(folder), on_start=started.append)
        except asyncio.CancelledError:
            await asyncio.sleep(0)  # not cancelled again
            return "cancelled"
        return "over"

    task = asyncio.create_task(impatient())
    await asyncio.sleep(0)
    task.cancel()
    task.cancel()
    assert await task == "cancelled"
    assert not any(map(alive, started))


def test_the_supervisor_imports_little_because_the_first_command_may_wait_for_it() -> None:
    code = f"import sys; sys.path.insert(0, {SOURCE!r}); import assent.process.supervisor; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-I", "-S", "-c", code], capture_output=True, text=True, check=True)
    slow = {"collections", "contextlib", "ctypes", "enum", "functools", "re", "signal", "socket", "typing", "asyncio"}
    assert slow & {*done.stdout.split()} == set()


async def test_the_supervisor_can_be_started_before_it_is_needed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(supervisor_client, "_door", None)
    supervisor_client.prepare()
    await until(lambda: supervisor_client._door is not None)  # pyright: ignore[reportPrivateUsage]
    assert (await run(["echo", "first"], cwd="/")).output.text() == "first\n"


# --- as it is without a supervisor ---


async def test_words_variables_folder_and_signals_arrive_as_they_are(folder: Path) -> None:
    odd = "ä \n \udcff'\""
    code = "import os, signal, sys; print(sys.argv[1:] == [os.environ['ODD']], os.getcwd(), signal.getsignal(13))"
    env = {"PATH": os.environ["PATH"], "ODD": odd}
    result = await run([sys.executable, "-S", "-c", code, odd], cwd=str(folder), env=env)
    assert result.output.text() == f"True {folder} 1\n"
    # Without signals 32 and 33, which the C library keeps for itself and ignores here.
    show = ["sed", "-nE", r"s/^(SigIgn:\t.{7})../\1../; /^(Sig(Blk|Ign)|Umask):/p", "/proc/self/status"]
    plain = await asyncio.to_thread(subprocess.run, show, capture_output=True, text=True, check=True)
    assert (await run(show, cwd="/")).output.text() == plain.stdout


@pytest.mark.parametrize(
    ("argv", "cwd", "error"),
    [
        (["/no/such/program"], "/", FileNotFoundError),
        (["no-such-program"], "/", FileNotFoundError),
        (["/etc/passwd"], "/", PermissionError),
        (["true"], "/no/such/folder", FileNotFoundError),
    ],
)
async def test_a_program_that_cannot_be_started_is_reported_by_name(
    argv: list[str], cwd: str, error: type[OSError]
) -> None:
    with pytest.raises(error) as caught:
        await run(argv, cwd=cwd)
    assert caught.value.filename == (cwd if cwd != "/" else argv[0])


async def test_where_no_supervisor_can_be_had_commands_run_as_before(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(supervisor_client, "AVAILABLE", False)
    assert (await run(["bash", "-c", "echo $PPID; exit 3"], cwd=str(folder))).output.text() == f"{os.getpid()}\n"
    task = asyncio.create_task(run(["bash", "-c", WAYS["background"]], cwd=str(folder)))
    pids = await told_pids(folder)
    task.cancel()
    await asyncio.wait([task])
    assert not any(map(alive, pids))


async def test_a_large_request_goes_through(folder: Path) -> None:
    text = "x" * 120_000
    result = await run(["printenv", "LARGE"], cwd=str(folder), env={"PATH": os.environ["PATH"], "LARGE": text})
    assert result.output.text() == text + "\n"


# --- found again by another process ---


@pytest.mark.parametrize("way", WAYS)
async def test_what_another_process_left_is_found_by_its_mark_and_ended(folder: Path, way: str) -> None:
    mark = os.urandom(8).hex()
    task = asyncio.create_task(run(["bash", "-c", WAYS[way]], cwd=str(folder), mark=mark))
    pids = await told_pids(folder)
    assert await end_leftovers(mark, max_wait=WAIT_LIMIT) == ()
    assert not any(map(alive, pids))
    task.cancel()
    await asyncio.wait([task])


async def test_where_nothing_is_left_that_is_known_at_once(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mark = os.urandom(8).hex()
    await run(["true"], cwd=str(folder), mark=mark)
    await until(lambda: not _is_held(mark))  # its reaper hears a moment later that nobody waits
    looks = 0

    def look(mark: str, keeper: Any) -> list[int]:
        nonlocal looks
        looks += 1
        return living(mark, keeper)

    living = leftover_processes._living  # pyright: ignore[reportPrivateUsage]
    monkeypatch.setattr(leftover_processes, "_living", look)
    assert await end_leftovers(mark) == ()
    assert looks == 1


def _is_held(mark: str) -> bool:
    with leftover_processes._MarkHolder(mark) as holder:  # pyright: ignore[reportPrivateUsage]
        return holder.is_there()


def _refused(_: list[int], __: int) -> None:
    """Nothing happens."""


async def test_what_cannot_be_ended_is_named(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mark = os.urandom(8).hex()
    task = asyncio.create_task(run(["bash", "-c", WAYS["plain"]], cwd=str(folder), mark=mark))
    (pid,) = await told_pids(folder)
    with monkeypatch.context() as patch:
        patch.setattr(leftover_processes, "_send", _refused)  # as if it were someone else's
        assert pid in await end_leftovers(mark, max_wait=0.1)
    task.cancel()
    await asyncio.wait([task])


MISSED = """
import os
from assent.process import reaper

pid = os.posix_spawn("/bin/sleep", ["sleep", "1000"], {})
seen = iter([[], [], [pid]])
reaper.end(lambda: next(seen, []), 0.0, any_left=reaper._has_children)
print(pid, list(seen))
"""


def test_a_family_has_not_ended_as_long_as_the_kernel_knows_of_a_child() -> None:
    """The process table may miss a child whose parent exits while it is read."""
    done = subprocess.run([sys.executable, "-c", MISSED], capture_output=True, check=True, timeout=WAIT_LIMIT)
    pid, rest = done.stdout.split(maxsplit=1)
    assert not alive(int(pid)) and rest.strip() == b"[]"
