"""A program that runs without asking opens the files that were looked at, and waits for no pipe."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Generator
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path

import pytest
from msgspec.structs import replace

from assent.policy.shell import judge, rules
from assent.process import file_limits, starter
from assent.process.landlock import available
from assent.process.launch import pipeline_argv
from assent.process.pipeline import Pipeline
from support.waiting import WAIT_LIMIT

_ALLOW = [
    *("cat", "head", "wc", "grep", "sort", "diff", "sed", "jq", "ls", "find", "tac", "cd", "xargs", "timeout", "rg"),
    *("echo", "git", "stat", "file", "sha256sum", "nice", "env"),
]
_FLIP = """
import os, sys
link, first, second = sys.argv[1:]
print(flush=True)
while True:
    for target in (first, second):
        os.symlink(target, link + ".new")
        os.replace(link + ".new", link)
"""
_FLIP_FILE = """
import os, sys
name, good, bad = sys.argv[1:]
print(flush=True)
while True:
    os.link(good, name + ".new")
    os.replace(name + ".new", name)
    os.symlink(bad, name + ".new")
    os.replace(name + ".new", name)
"""

kept_by_kernel = pytest.mark.skipif(not available(), reason="this kernel has no Landlock")


def run(command: str, folder: Path, *, inside: bool = True) -> tuple[int, str]:
    plan = judge(command, rules(_ALLOW), cwd=str(folder), roots=[str(folder)]).plan
    assert plan is not None, command
    with open(folder.parent / "output", "w+b") as output:
        code = Pipeline(replace(plan, inside=inside), output.fileno()).run()
        output.seek(0)
        return code, output.read().decode()


@contextmanager
def flipping(script: str, *words: str) -> Generator[None]:
    """Another process exchanges a name without a pause."""
    with subprocess.Popen([sys.executable, "-c", script, *words], stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.readline()
        try:
            yield
        finally:
            process.kill()


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}:{os.environ['PATH']}")  # there is the rg of our own
    inside = tmp_path / "work"
    (inside / "real").mkdir(parents=True)
    (inside / "real" / "data.txt").write_text("inside\n")
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "data.txt").write_text("OUTSIDE\n")
    return inside


_THROUGH_A_LINK = [
    *("cat sub/data.txt", "head -1 sub/data.txt", "grep . sub/data.txt", "cat < sub/data.txt", "cat sub/*.txt"),
    *("cd sub && cat data.txt", "grep -r . sub", "find sub/ -name '*.txt' -exec cat {} +", "sed -n p sub/data.txt"),
    *("ls sub && cat sub/data.txt", "timeout 9 cat sub/data.txt", "for f in sub/*.txt; do cat $f; done"),
    *("diff sub/data.txt a", "rg . sub", "cat $(find sub/ -name data.txt)", "find sub/ -name '*.txt' | xargs cat"),
]


@kept_by_kernel
@pytest.mark.spec("C8")
@pytest.mark.parametrize(
    ("command", "inside"),
    [
        *((command, True) for command in _THROUGH_A_LINK),
        *((command, False) for command in _THROUGH_A_LINK[:-1]),  # `xargs` looks at names that come through a pipe
    ],
)
def test_no_link_that_is_flipped_meanwhile_leads_out_of_the_workspace(folder: Path, command: str, inside: bool) -> None:
    (folder / "a").write_text("a\n")
    link = folder / "sub"
    link.symlink_to("real")
    assert "inside" in run(command, folder, inside=inside)[1]
    with flipping(_FLIP, str(link), "real", str(folder.parent / "outside")):
        shown = [run(command, folder, inside=inside)[1] for _ in range(12)]
    assert not any("OUTSIDE" in one for one in shown)


@kept_by_kernel
@pytest.mark.spec("C8")
@pytest.mark.parametrize("command", ["cat a.txt", "cat *.txt", "wc a.txt", "grep . a.txt", "sort a.txt", "cat < a.txt"])
def test_no_file_that_is_flipped_meanwhile_becomes_a_secret(folder: Path, command: str) -> None:
    (folder / ".env").write_text("TOKEN=hidden\n")
    (folder / "good").write_text("good\n")
    (folder / "a.txt").write_text("good\n")
    assert run(command, folder)[0] == 0
    with flipping(_FLIP_FILE, str(folder / "a.txt"), str(folder / "good"), str(folder / ".env")):
        shown = [run(command, folder, inside=True)[1] for _ in range(25)]
    assert not any("hidden" in one or " 13 " in one for one in shown)


@kept_by_kernel
@pytest.mark.parametrize(
    "command",
    [
        *("cat real/data.txt", "wc -l real/data.txt", "ls -la", "ls -R", "find . -type f", "cat real/*", "rg inside"),
        *(
            "cat real/data.txt | tac",
            "sort real/data.txt",
            "stat real/data.txt",
            pytest.param("file real/data.txt", marks=pytest.mark.needs("file")),
            "diff real real",
        ),
        *(
            "grep -rn inside .",
            "grep inside real/data.txt",
            "cat < real/data.txt",
            "sed -n 1p real/data.txt",
            pytest.param("jq . x.json", marks=pytest.mark.needs("jq")),
        ),
        *(
            "find . -name '*.txt' | xargs cat",
            "find . -name '*.txt' -exec wc -l {} +",
            "cat /dev/null",
            "cat - < x.json",
        ),
        *("cd real && cat data.txt", "timeout 9 head -1 real/data.txt", "cat <<< a", "cat /dev/stdin <<< a"),
        *(
            "sha256sum -c sums",
            "timeout -s KILL 9 cat real/data.txt",
            "nice -n 5 cat real/data.txt",
            "env LC_ALL=C cat x.json",
        ),
    ],
)
def test_ordinary_commands_do_not_notice(folder: Path, command: str) -> None:
    (folder / "x.json").write_text("{}\n")
    digest = sha256((folder / "real" / "data.txt").read_bytes()).hexdigest()
    (folder / "sums").write_text(f"{digest}  real/data.txt\n")
    said = subprocess.run(
        ["bash", "-c", command], cwd=folder, stdin=subprocess.DEVNULL, stdout=-1, stderr=-2, check=False
    )
    code, shown = run(command, folder, inside=command not in ("cat /dev/null", "cat /dev/stdin <<< a"))
    assert (code, sorted(shown.splitlines())) == (said.returncode, sorted(said.stdout.decode().splitlines()))


@kept_by_kernel
@pytest.mark.parametrize("options", ["-i", "-i.bak", "-Ei"])
def test_a_rule_for_editing_in_place_lets_sed_edit(folder: Path, options: str) -> None:
    """It reads a file of its own before that takes the place of the old one."""
    (folder / "edited.txt").write_text("foo\n")
    plan = judge(f"sed {options} s/foo/bar/ edited.txt", rules(["sed -i"]), cwd=str(folder), roots=[str(folder)]).plan
    assert plan is not None
    with open(folder.parent / "output", "w+b") as output:
        assert Pipeline(plan, output.fileno()).run() == 0
    assert (folder / "edited.txt").read_text() == "bar\n"


def test_a_large_sort_has_room_for_its_own_files(folder: Path) -> None:
    (folder / "large").write_text("".join(f"{number * 7919 % 100_003}\n" for number in range(100_000)))
    code, shown = run("sort -n -S 100k large | head -1", folder)
    assert (code, shown) == (0, "0\n")


@pytest.mark.spec("C8")
@pytest.mark.parametrize(
    "command", ["cat sub/data.txt", "head -1 sub/data.txt", "cat sub/*.txt", "grep inside sub/data.txt"]
)
def test_without_the_kernel_files_are_handed_over_open(
    folder: Path, command: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (starter, file_limits):
        monkeypatch.setattr(module, available.__name__, lambda: False)
    link = folder / "sub"
    link.symlink_to("real")
    (folder / "inside").write_text("a pattern that is the name of a file, too\n")
    assert "inside" in run(command, folder)[1]
    with flipping(_FLIP, str(link), "real", str(folder.parent / "outside")):
        shown = [run(command, folder)[1] for _ in range(40)]
    assert not any("OUTSIDE" in one for one in shown)


# --- pipes and devices ---


def seconds(command: str, folder: Path) -> tuple[str, float]:
    """In a process of its own: a test that hangs must end."""
    plan = judge(command, rules(_ALLOW), cwd=str(folder), roots=[str(folder)]).plan
    assert plan is not None, command
    begun = time.monotonic()
    with subprocess.Popen(
        pipeline_argv(replace(plan, inside=True)),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=True,
    ) as process:
        try:
            shown, _ = process.communicate(timeout=WAIT_LIMIT)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            raise
    return shown.decode(), time.monotonic() - begun


@pytest.mark.parametrize(
    ("command", "said"),
    [
        ("cat *.txt", "skipped: 1 pipe(s) or device(s) that match *.txt"),
        ("grep one *.txt", "skipped: 1 pipe(s)"),
        ('for f in *.txt; do cat "$f"; done', "may block forever"),
        ("cat pipe.txt", "pipe.txt: not a regular file"),
        ("cat link", "link: not a regular file"),
        ("grep x pipe.txt", "pipe.txt: not a regular file"),
        ("cat < pipe.txt", "not a regular file"),
        ("wc -l p*", "matches only pipes or devices"),
        ("diff a.txt pipe.txt", "not a regular file"),
        ("timeout 20 cat pipe.txt", "not a regular file"),
        ("cat $(ls pipe.txt)", "not a regular file"),
        ("ls -la *.txt", "pipe.txt"),
        ("grep -r one .", "one"),
        ("find . -name '*.txt' -exec cat {} +", "one"),
        ("find . -name '*.txt' | xargs cat", "one"),
        pytest.param("git status", ".gitignore: not a regular file", marks=pytest.mark.needs("git")),
        pytest.param("rg one", ".gitignore: not a regular file", marks=pytest.mark.needs("git")),
    ],
)
def test_a_pipe_among_the_files_stops_nothing(folder: Path, command: str, said: str) -> None:
    (folder / "a.txt").write_text("one\n")
    os.mkfifo(folder / "pipe.txt")
    (folder / "link").symlink_to("pipe.txt")
    if command in ("git status", "rg one"):
        subprocess.run(["git", "init", "-q", str(folder)], check=True)
        os.mkfifo(folder / ".gitignore")
    shown, _ = seconds(command, folder)
    assert said in shown
