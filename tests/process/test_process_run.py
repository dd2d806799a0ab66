"""Programs run to their end, and what they say is kept within bounds."""

import asyncio
import os
import sys
import threading
from collections.abc import AsyncIterator, Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from assent.process.ancestry import MARKER
from assent.process.family import Family
from assent.process.pty import Channel, Size
from assent.process.run_program import ProcessFinished, ProcessLimits, run
from support.waiting import WAIT_LIMIT

BASH = ["bash", "--noprofile", "--norc", "-c"]


async def sh(command: str, cwd: Path, **options: object) -> ProcessFinished:
    return await run([*BASH, command], cwd=str(cwd), **options)  # pyright: ignore[reportArgumentType]


def open_descriptors() -> set[str]:
    return set(os.listdir("/proc/self/fd"))


@pytest.fixture(autouse=True)
async def nothing_fails_where_nobody_hears() -> AsyncIterator[None]:
    heard: list[dict[str, object]] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: heard.append(context))
    yield
    assert heard == []


@pytest.mark.parametrize("terminal", [None, Size()])
async def test_output_exit_code_and_both_streams_in_the_order_they_were_written(
    tmp_path: Path, terminal: Size | None
) -> None:
    result = await sh("echo one; echo two >&2; echo three; exit 3", tmp_path, terminal=terminal)
    assert (result.output.text(), result.code, result.signal) == ("one\ntwo\nthree\n", 3, None)
    assert result.ended == "exited"


async def test_a_program_killed_by_a_signal_has_no_exit_code(tmp_path: Path) -> None:
    result = await sh("kill -SEGV $$", tmp_path)
    assert (result.code, result.signal) == (None, 11)


async def test_it_starts_in_the_given_folder_with_nothing_to_read(tmp_path: Path) -> None:
    result = await sh("pwd; cat; readlink /proc/self/fd/0", tmp_path)
    assert result.output.text() == f"{tmp_path}\n/dev/null\n"


async def test_it_gets_the_variables_that_it_is_given(tmp_path: Path) -> None:
    result = await run(["/usr/bin/env"], cwd=str(tmp_path), env={"A": "b"})
    assert {line.partition("=")[0] for line in result.output.text().splitlines()} == {"A", MARKER}


async def test_a_program_that_is_not_there_raises_and_leaves_no_descriptor(tmp_path: Path) -> None:
    before = open_descriptors()
    with pytest.raises(FileNotFoundError):
        await run(["/no/such/program"], cwd=str(tmp_path))
    assert open_descriptors() == before


async def test_a_terminal_is_a_terminal_but_not_the_controlling_one(tmp_path: Path) -> None:
    result = await sh("test -t 1 && echo tty; stty size <&1; : </dev/tty", tmp_path, terminal=Size(101, 33))
    text = result.output.text()
    assert text.startswith("tty\n")
    assert "No such device or address" in text, "someone who asks the terminal for a password must fail at once"


async def test_a_pager_on_the_terminal_does_not_wait_for_keys(tmp_path: Path) -> None:
    command = "head -c 1 <&2 || echo cannot read; echo done"
    result = await sh(command, tmp_path, terminal=Size(), limits=ProcessLimits(total=WAIT_LIMIT))
    assert result.ended == "exited"
    assert "done\n" in result.output.text()


async def test_bytes_that_are_no_utf8_become_replacement_characters(tmp_path: Path) -> None:
    result = await sh(r"printf 'a\xffb\xe2\x82'", tmp_path)
    assert result.output.text() == "a\ufffdb\ufffd"


async def test_a_character_written_in_two_halves_arrives_whole(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "go")
    pieces: list[str] = []

    def heard(text: str) -> None:
        pieces.append(text)
        if "1" in text:
            with open(tmp_path / "go", "w") as go:
                go.write("\n")

    result = await sh(r"printf '1\xe2'; read < go; printf '\x82\xac'", tmp_path, on_output=heard)
    assert pieces == ["1", "€"]
    assert result.output.text() == "1€"


async def test_binary_output_is_counted_not_kept(tmp_path: Path) -> None:
    counts: list[int] = []
    result = await sh("head -c 100000 /dev/zero", tmp_path, on_binary=counts.append)
    assert result.binary
    assert result.bytes == 100_000
    assert result.output.text() == ""
    assert counts == sorted(counts) and counts[-1] == 100_000


@pytest.mark.parametrize("terminal", [None, Size()])
async def test_twenty_megabytes_are_counted_and_cut_in_the_middle(tmp_path: Path, terminal: Size | None) -> None:
    command = "echo first; yes 0123456789abcde | head -c 20000000; echo; echo last"
    result = await sh(command, tmp_path, terminal=terminal, limits=ProcessLimits(keep=1000))
    assert result.bytes == 20_000_000 + len("first\n\nlast\n")
    assert result.output.head.startswith("first\n") and result.output.tail.endswith("\nlast\n")
    kept = len(result.output.head) + len(result.output.tail)
    assert 1000 - 2 * len("0123456789abcde\r\n") <= kept <= 1000, "no cut goes through a word"
    assert result.output.omitted == result.bytes - kept
    assert f"... [{result.bytes - kept:,} characters omitted] ..." in result.output.text()


async def test_every_byte_of_a_terminal_arrives_even_when_the_writer_ends_at_once(tmp_path: Path) -> None:
    for _ in range(20):
        result = await sh("seq 2000", tmp_path, terminal=Size())
        assert result.bytes == sum(len(f"{n}\n") for n in range(1, 2001))


async def test_an_endless_writer_in_front_of_head_ends(tmp_path: Path) -> None:
    result = await sh("yes | head -n 3", tmp_path)
    assert (result.output.text(), result.code) == ("y\ny\ny\n", 0)


@pytest.mark.parametrize("terminal", [None, Size()])
async def test_a_background_child_that_holds_the_output_does_not_hold_the_call(
    tmp_path: Path, terminal: Size | None
) -> None:
    result = await sh("sleep 300 & echo $!", tmp_path, terminal=terminal)
    child = int(result.output.text())
    try:
        assert result.background == (child,)
        assert result.code == 0
    finally:
        os.kill(child, 9)


async def test_a_background_child_that_let_go_of_the_output_is_not_mentioned(tmp_path: Path) -> None:
    result = await sh("sleep 300 > /dev/null 2>&1 & echo $!", tmp_path)
    os.kill(int(result.output.text()), 9)
    assert result.background == ()


async def test_after_one_that_left_a_child_at_its_output_the_next_is_heard_at_once(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "go")
    left = await sh("sleep 300 & echo $!", tmp_path)
    os.kill(int(left.output.text()), 9)

    def heard(_: str) -> None:
        (tmp_path / "go").write_text("\n")

    # It gets the descriptor that the one before had.
    result = await sh("echo x; read < go", tmp_path, on_output=heard, limits=ProcessLimits(total=WAIT_LIMIT))
    assert (result.ended, result.output.text()) == ("exited", "x\n")


async def test_silence_after_the_end_is_not_a_timeout(tmp_path: Path) -> None:
    def wait(pid: int) -> None:
        while Path(f"/proc/{pid}").exists():  # its end is told before it leaves the table
            pass

    result = await sh("sleep 300 & echo $!", tmp_path, on_start=wait, limits=ProcessLimits(idle=0.01, drain=0.1))
    os.kill(int(result.output.text()), 9)
    assert result.ended == "exited"


async def test_a_writer_faster_than_any_reader_does_not_stop_the_clock(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def endless(_: Channel) -> bytes:
        return b"y\n"

    monkeypatch.setattr(Channel, "read", endless)
    result = await sh("echo x; sleep 300", tmp_path, limits=ProcessLimits(total=0.02))
    assert result.ended == "total_timeout"


@pytest.fixture
async def timers(monkeypatch: pytest.MonkeyPatch) -> list[asyncio.TimerHandle]:
    timers: list[asyncio.TimerHandle] = []
    loop = asyncio.get_running_loop()
    later = loop.call_later

    def remember(delay: float, callback: Callable[..., object], *args: object) -> asyncio.TimerHandle:
        timers.append(later(delay, callback, *args))
        return timers[-1]

    monkeypatch.setattr(loop, "call_later", remember)
    return timers


async def test_no_timer_outlives_the_program(tmp_path: Path, timers: list[asyncio.TimerHandle]) -> None:
    await sh("true", tmp_path, limits=ProcessLimits(idle=3600, total=3601, memory=1 << 50, look=3602))
    assert len(timers) == 4, "three limits, and how long a start may take"
    assert all(timer.cancelled() for timer in timers)


async def test_a_look_at_the_memory_that_ends_after_the_program_is_the_last(
    tmp_path: Path, timers: list[asyncio.TimerHandle], monkeypatch: pytest.MonkeyPatch
) -> None:
    os.mkfifo(tmp_path / "looks")
    over = threading.Event()

    def look(_: Family, _enough: int) -> int:
        (tmp_path / "looks").write_text("")
        over.wait()
        return 0

    monkeypatch.setattr(Family, "memory", look)
    loop = asyncio.get_running_loop()
    loop.set_default_executor(ThreadPoolExecutor(1))
    await sh("read < looks", tmp_path, limits=ProcessLimits(memory=1, look=0.01))
    before = len(timers)
    over.set()
    await loop.run_in_executor(None, int)  # the only thread does one after the other
    assert len(timers) == before


async def test_output_of_a_process_substitution_that_ends_a_little_later_is_kept(tmp_path: Path) -> None:
    result = await sh("echo hello > >(tr a-z A-Z)", tmp_path, limits=ProcessLimits(drain=WAIT_LIMIT))
    assert result.output.text() == "HELLO\n"


async def test_when_the_output_ends_after_the_program_nobody_waits_any_longer(tmp_path: Path) -> None:
    command = "(while kill -0 $$ 2> /dev/null; do :; done; echo late) &"  # until the end of the first is noticed
    result = await sh(command, tmp_path, limits=ProcessLimits(drain=3600))
    assert (result.output.text(), result.background) == ("late\n", ())


async def test_a_background_flood_is_cut_off(tmp_path: Path) -> None:
    result = await sh("yes & echo $!", tmp_path, limits=ProcessLimits(drain=0.01))
    assert result.ended == "exited"


@pytest.mark.parametrize(("then", "ended"), [("", "exited"), ("sleep 300", "total_timeout")])
async def test_what_was_printed_before_the_end_is_read_whoever_is_busy_until_then(
    then: str, ended: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("assent.process.run_program._BLOCKS_AT_ONCE", 0)
    os.mkfifo(tmp_path / "printed")

    def wait(_: int) -> None:
        (tmp_path / "printed").read_text()

    command = f"echo x; : > printed; {then}"
    result = await sh(command, tmp_path, on_start=wait, limits=ProcessLimits(total=0.1 if then else None))
    assert (result.ended, result.output.text()) == (ended, "x\n")


@pytest.mark.spec("D7")
async def test_silence_for_too_long_ends_it(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "printed")

    def wait(_: int) -> None:
        (tmp_path / "printed").read_text()

    command = "echo started; : > printed; sleep 300"
    result = await sh(command, tmp_path, on_start=wait, limits=ProcessLimits(idle=0.01))
    assert result.ended == "idle_timeout"
    assert result.output.text() == "started\n"


@pytest.mark.spec("D7")
async def test_output_keeps_the_idle_timeout_away_but_not_the_total_one(tmp_path: Path) -> None:
    command = "while :; do echo .; read -t 0.02 < idle; done"
    os.mkfifo(tmp_path / "idle")
    keep_open = os.open(tmp_path / "idle", os.O_RDWR)
    try:
        result = await sh(command, tmp_path, limits=ProcessLimits(idle=5, total=0.3))
    finally:
        os.close(keep_open)
    assert result.ended == "total_timeout"


@pytest.mark.spec("D7")
async def test_the_idle_timeout_does_not_run_while_a_person_is_asked(tmp_path: Path) -> None:
    looked = list[bool]()

    def is_held_up() -> bool:
        looked.append(True)
        if len(looked) == 5:
            (tmp_path / "answered").touch()
        return True

    command = "until test -e answered; do sleep 0.01; done; echo over"
    result = await sh(command, tmp_path, limits=ProcessLimits(idle=0.01), is_held_up=is_held_up)
    assert (result.ended, result.output.text()) == ("exited", "over\n")


@pytest.mark.spec("D7")
async def test_the_idle_timeout_counts_from_the_last_output(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    os.mkfifo(tmp_path / "go")
    gate = os.open(tmp_path / "go", os.O_RDWR | os.O_NONBLOCK)  # open at both ends: nobody waits for the other
    loop = asyncio.get_running_loop()
    clock, hours = loop.time, [0]
    monkeypatch.setattr(loop, "time", lambda: clock() + 3600 * hours[-1])

    def heard(_: str) -> None:
        hours.append(hours[-1] + 2)
        loop.call_later(0, os.write, gate, b"\n")  # after all that was to happen in these hours

    try:
        command = "echo x; read < go; echo y; read < go"
        result = await sh(command, tmp_path, on_output=heard, limits=ProcessLimits(idle=3 * 3600))
    finally:
        os.close(gate)
    assert (result.ended, result.output.text()) == ("exited", "x\ny\n")


@pytest.mark.spec("I6")
async def test_too_much_output_ends_it(tmp_path: Path) -> None:
    result = await sh("yes", tmp_path, limits=ProcessLimits(output=1_000_000, total=WAIT_LIMIT))
    assert result.ended == "too_much_output"
    assert result.bytes > 1_000_000


async def test_as_much_output_as_it_may_print_does_not_end_it(tmp_path: Path) -> None:
    result = await sh("echo x", tmp_path, limits=ProcessLimits(output=2))
    assert (result.ended, result.output.text()) == ("exited", "x\n")


@pytest.mark.spec("I6")
async def test_the_memory_of_all_that_it_started_counts_together(tmp_path: Path) -> None:
    hungry = f'{sys.executable} -c "x = bytearray(40_000_000); import time; time.sleep(300)"'
    result = await sh(f"{hungry} & {hungry}", tmp_path, limits=ProcessLimits(memory=80_000_000, look=0.05))
    assert result.ended == "too_much_memory"
    assert result.survivors == ()


async def test_files_that_are_in_memory_only_count_as_well(tmp_path: Path) -> None:
    hoarding = 'import os; os.write(os.memfd_create("x"), bytes(90_000_000)); import time; time.sleep(300)'
    result = await sh(f"{sys.executable} -c '{hoarding}'", tmp_path, limits=ProcessLimits(memory=80_000_000, look=0.05))
    assert result.ended == "too_much_memory"


async def test_memory_that_several_share_counts_once(tmp_path: Path) -> None:
    script = "\n".join(
        (
            "import mmap, os, sys",
            "shared = mmap.mmap(-1, 50_000_000)",
            "for _ in range(6):",
            "    if not os.fork():",
            "        shared.write(b'x' * 50_000_000)",
            "        print('ready', flush=True)",
            "        sys.stdin.read()",
            "        os._exit(0)",
        )
    )
    keeper, theirs = os.pipe()
    child = await asyncio.create_subprocess_exec(
        sys.executable,
        "-c",
        f"{script}\nos.wait()",
        stdin=keeper,
        stdout=asyncio.subprocess.PIPE,
        start_new_session=True,
    )
    assert child.stdout is not None
    for _ in range(6):
        await child.stdout.readline()
    family = Family(child.pid, "no mark", "no channel")
    assert family.memory(1 << 40) > 300_000_000
    assert 50_000_000 < family.memory(200_000_000) < 200_000_000
    os.close(theirs)
    os.close(keeper)
    await child.communicate()


@pytest.mark.spec("I6")
async def test_a_command_within_its_memory_runs_to_its_end(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "looked")
    looked: list[int] = []

    def look(family: Family, enough: int) -> int:
        looked.append(1)
        if len(looked) == 3:  # and only then it may end
            os.close(os.open(tmp_path / "looked", os.O_WRONLY))
        return 1_000

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Family, "memory", look)
        result = await sh("read x < looked; echo done", tmp_path, limits=ProcessLimits(memory=1_000, look=0.01))
    assert (result.ended, result.output.text()) == ("exited", "done\n")


@pytest.mark.spec("D1")
async def test_programs_run_at_the_same_time(tmp_path: Path) -> None:
    for name in ("a", "b"):
        os.mkfifo(tmp_path / name)
    # Each waits for the other; one after the other they would never end.
    both = asyncio.gather(
        sh("echo x > a; cat b", tmp_path, limits=ProcessLimits(total=WAIT_LIMIT)),
        sh("cat a; echo y > b", tmp_path, limits=ProcessLimits(total=WAIT_LIMIT)),
    )
    assert [result.output.text() for result in await both] == ["y\n", "x\n"]


async def test_nothing_is_left_open_after_many_runs(tmp_path: Path) -> None:
    await sh("true", tmp_path)
    before = open_descriptors()
    for terminal in (None, Size()):
        for _ in range(5):
            await sh("echo x", tmp_path, terminal=terminal)
            await sh("sleep 300", tmp_path, terminal=terminal, limits=ProcessLimits(total=0.02))
    assert open_descriptors() == before


async def test_without_process_descriptors_a_thread_notices_the_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delattr(os, "pidfd_open")
    result = await sh("echo x; exit 4", tmp_path)
    assert (result.output.text(), result.code) == ("x\n", 4)


async def test_a_listener_that_fails_ends_the_program_and_is_heard_of(tmp_path: Path) -> None:
    def broken(_: str) -> None:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await sh("yes", tmp_path, on_output=broken, limits=ProcessLimits(total=WAIT_LIMIT))


@pytest.mark.spec("D6")
async def test_without_a_process_table_one_that_has_ended_is_not_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def unknown(_: Family) -> None:
        return None

    def anyone(family: Family, _: list[int]) -> bool:
        return bool(family.members())

    monkeypatch.setattr(Family, "_young", unknown)
    monkeypatch.setattr(Family, "any_alive", anyone)
    result = await sh("exec sleep 300", tmp_path, limits=ProcessLimits(total=0.02))
    assert (result.ended, result.signal, result.survivors) == ("total_timeout", 15, ())
