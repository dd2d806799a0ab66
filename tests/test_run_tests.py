"""`make test`: progress while it runs, failures at once and in full at the end, and nothing left after Ctrl-C."""

import os
import re
import shlex
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from support.processes import alive
from support.waiting import WAIT_LIMIT, until

SCRIPTS = Path(__file__).resolve().parents[1] / "scripts"
START = """
import sys
sys.path.insert(0, sys.argv[1])
import run_tests
folder, *more = sys.argv[2:]
parts = {"good": [folder + "/test_good.py", *more], "other": [folder + "/test_other.py"]}
sys.exit(run_tests.main(parts, pause=0))
"""
GOOD = "def test_one(): pass\ndef test_two(): pass\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "test_good.py").write_text(GOOD)
    (tmp_path / "pytest.ini").write_text("[pytest]\n")
    return tmp_path


def start(folder: Path, other: str, *more: str, out: int = subprocess.PIPE) -> "subprocess.Popen[str]":
    (folder / "test_other.py").write_text(other)
    argv = [sys.executable, "-c", START, str(SCRIPTS), str(folder), *more]
    env = os.environ | {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}  # they would take most of the time
    return subprocess.Popen(argv, env=env, stdout=out, text=True, start_new_session=True)


@pytest.mark.parametrize("workers", [(), ("-p", "xdist.plugin", "-n2")], ids=["one process", "workers"])
def test_a_line_now_and_then_without_control_characters_and_the_times_at_the_end(
    folder: Path, workers: tuple[str, ...]
):
    with start(folder, GOOD, *workers) as process:
        shown, _ = process.communicate(timeout=WAIT_LIMIT)
    *progress, good, other, total = shown.splitlines()
    assert process.returncode == 0
    assert re.fullmatch(r"good +\d:\d\d  2 passed", good) and re.fullmatch(r"other +\d:\d\d  2 passed", other)
    assert re.fullmatch(r"all passed +\d:\d\d", total)
    assert re.fullmatch(r"\d:\d\d · good \d/[?2] · other \d/[?2]", progress[-1])
    assert "\x1b" not in shown and "\r" not in shown


def test_a_failure_is_named_at_once_and_shown_in_full_at_the_end(folder: Path):
    os.mkfifo(folder / "go")
    wait = f"def test_waits():\n    open({str(folder / 'go')!r}).close()\n"
    with start(folder, f"def test_fails():\n    assert 1 == 2\n{wait}") as process:
        assert process.stdout is not None
        early = next(line for line in process.stdout if line.startswith("FAILED"))
        (folder / "go").write_text("")  # only now the part can end
        late = process.stdout.read()
    assert process.returncode == 1
    assert early.endswith("test_other.py::test_fails\n")
    assert "E       assert 1 == 2" in late and "--- other" in late and "--- good" not in late
    assert re.search(r"^other +\d:\d\d  1 passed, 1 failed$", late, re.MULTILINE)


def test_programs_of_the_tests_can_be_interrupted_in_a_background_job_under_nohup_too(folder: Path):
    signals = ("SIGINT", "SIGQUIT", "SIGHUP")
    asked = " or ".join(f"signal.getsignal(signal.{name}) == signal.SIG_IGN" for name in signals)
    ignore = "trap '' INT QUIT HUP; exec " + f"{sys.executable} -c {shlex.quote(START)} {SCRIPTS} {folder}"
    (folder / "test_other.py").write_text(f"import signal\ndef test_none_is_ignored(): assert not ({asked})\n")
    shown = subprocess.run(["bash", "-c", ignore], capture_output=True, text=True, check=False)
    assert re.search(r"^other +\d:\d\d  1 passed$", shown.stdout, re.MULTILINE), shown.stdout


def test_why_tests_were_skipped_is_told_although_all_others_passed(folder: Path):
    skipped = "import pytest\n@pytest.mark.parametrize('n', range(3))\ndef test_skips(n): pytest.skip('no moon')\n"
    with start(folder, skipped) as process:
        shown, _ = process.communicate(timeout=WAIT_LIMIT)
    assert process.returncode == 0
    assert "SKIPPED 3: no moon\n" in shown
    assert re.search(r"^other +\d:\d\d  3 skipped$", shown, re.MULTILINE)


def test_a_part_that_cannot_even_begin_fails_and_says_why(folder: Path):
    with start(folder, "import no_such_module\n") as process:
        shown, _ = process.communicate(timeout=WAIT_LIMIT)
    assert process.returncode == 1
    assert "No module named 'no_such_module'" in shown and "failed " in shown.splitlines()[-1]


def test_a_part_that_was_killed_says_so_although_a_test_failed_before(folder: Path):
    killed = "import os\ndef test_fails(): assert 0\ndef test_is_killed(): os.kill(os.getpid(), 9)\n"
    with start(folder, killed) as process:
        shown, _ = process.communicate(timeout=WAIT_LIMIT)
    assert process.returncode == 1
    assert re.search(r"^other +\d:\d\d  1 failed \(killed by SIGKILL\)$", shown, re.MULTILINE)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
async def test_ctrl_c_ends_the_parts_and_what_they_started(folder: Path, number: signal.Signals):
    os.mkfifo(folder / "pids")
    script = f"""
import os, subprocess
def test_starts():
    child = subprocess.Popen(["sleep", "300"], start_new_session=True)
    with open({str(folder / "pids")!r}, "w") as file:
        print(os.getpid(), child.pid, file=file)
    child.wait()
"""
    with start(folder, script) as process:
        pids = [int(pid) for pid in (folder / "pids").read_text().split()]
        process.send_signal(number)
        shown, _ = process.communicate(timeout=WAIT_LIMIT)
    assert process.returncode == 130 and "interrupted" in shown
    await until(lambda: not any(map(alive, pids)))


def test_on_a_terminal_one_line_changes(folder: Path):
    ours, theirs = os.openpty()
    with start(folder, GOOD, out=theirs) as process:
        os.close(theirs)
        shown = "".join(iter(lambda: _read(ours), ""))
    os.close(ours)
    assert process.returncode == 0
    assert "\r\x1b[K0:0" in shown and "all passed" in shown


def _read(terminal: int) -> str:
    try:
        return os.read(terminal, 65536).decode()
    except OSError:  # everyone has left it
        return ""
