"""A command starts only if its sandbox mounted what was planned: judged by the kernel's list, and for real."""

import os
import sys
from pathlib import Path

import pytest

from assent.process.mount_gate import plan, problem
from assent.process.run_program import run
from assent.process.spawn import Launcher
from assent.sandbox.bubblewrap import bubblewrap
from assent.sandbox.confinement import Confinement

pytestmark = pytest.mark.spec("I1")

OUTSIDE = b"""
20 1 8:1 / / rw,relatime - ext4 /dev/sda rw
21 20 0:20 / /dev rw - devtmpfs devtmpfs rw
22 21 0:21 / /dev/pts rw - devpts devpts rw
23 20 8:2 / /home rw,relatime - ext4 /dev/sdb rw
24 23 8:3 / /home/u/work/data rw,relatime - ext4 /dev/sdc rw
""".strip()
BUILT = b"""
40 1 8:1 / / ro,relatime - ext4 /dev/sda rw
41 40 0:50 / /dev rw - tmpfs tmpfs rw
42 41 0:20 /null /dev/null rw - devtmpfs devtmpfs rw
43 41 0:21 /5 /dev/console rw - devpts devpts rw
44 40 0:51 / /tmp rw - tmpfs tmpfs rw
45 40 8:2 / /home ro,relatime - ext4 /dev/sdb rw
46 45 8:2 /u/work /home/u/work rw,relatime - ext4 /dev/sdb rw
47 46 8:3 / /home/u/work/data rw,relatime - ext4 /dev/sdc rw
48 46 8:2 /u/work/a /home/u/work/a rw,relatime - ext4 /dev/sdb rw
49 48 8:2 /u/work/a/.vscode /home/u/work/a/.vscode ro,relatime - ext4 /dev/sdb rw
50 46 8:2 /u/work/two\\040words /home/u/work/two\\040words rw,relatime - ext4 /dev/sdb rw
51 47 8:3 / /home/u/work/data rw,relatime - ext4 /dev/sdc rw
""".strip()
PLAN = plan(
    ["/home/u/work"],
    ["/home/u/work/a", "/home/u/work/two words", "/home/u/work/data"],
    ["/home/u/work/a/.vscode"],
)


def test_mounts_as_planned_are_right():
    assert problem(PLAN, BUILT, OUTSIDE) == b""


@pytest.mark.parametrize(
    ("line", "instead", "wrong"),
    [
        # the folder was a link to the home folder when its source was looked up
        (b"8:2 /u/work/a /home/u/work/a rw", b"8:2 /u /home/u/work/a rw", b"/home/u/work/a"),
        # … when its target was
        (b"8:2 /u/work/a /home/u/work/a rw", b"8:2 /u /home/u rw", b"/home/u/work/a"),
        # what is protected was mounted somewhere else, or can be written
        (b"/home/u/work/a/.vscode ro", b"/home/u/work/b/.vscode ro", b"/home/u/work/a/.vscode"),
        (b"/home/u/work/a/.vscode ro", b"/home/u/work/a/.vscode rw", b"/home/u/work/a/.vscode"),
        # the workspace cannot be written
        (b"/home/u/work rw", b"/home/u/work ro", b"/home/u/work"),
        # another file system is where a part of the workspace should be
        (b"8:2 /u/work/two", b"8:1 /u/work/two", b"/home/u/work/two\\040words"),
    ],
)
def test_another_mount_than_planned_is_found(line: bytes, instead: bytes, wrong: bytes):
    assert BUILT.count(line) == 1
    assert problem(PLAN, BUILT.replace(line, instead), OUTSIDE) == wrong


@pytest.mark.parametrize(
    "extra",
    [
        b"60 45 8:2 /u /home/u rw,relatime - ext4 /dev/sdb rw",
        b"60 45 8:2 / /home rw,relatime - ext4 /dev/sdb rw",  # as outside, but a second time
        b"60 44 8:2 /u /tmp rw,relatime - ext4 /dev/sdb rw",
        b"60 42 8:2 /u/.bashrc /dev/null rw,relatime - ext4 /dev/sdb rw",
        b"60 46 8:2 /u /home/u/work/c rw,relatime - ext4 /dev/sdb rw",
    ],
)
def test_a_further_writable_mount_is_found(extra: bytes):
    assert problem(PLAN, BUILT + b"\n" + extra, OUTSIDE) == extra.split(b" ")[4]


def test_a_mount_that_could_not_be_made_read_only_is_as_outside():
    unreadable = b"25 20 0:44 / /mnt/x rw - fuse x rw"
    assert problem(PLAN, BUILT + b"\n" + unreadable, OUTSIDE + b"\n" + unreadable) == b""


async def has_run(argv: list[str], launcher: Launcher) -> bool:
    try:
        return not (await run(argv, cwd="/", launcher=launcher)).never_ran
    except OSError as error:
        assert "while the sandbox was being built" in str(error)
        return False


@pytest.mark.skipif(sys.platform != "linux" or bubblewrap() is None, reason="needs bubblewrap")
@pytest.mark.parametrize("name", ["a", "with space\tand\\more"])
@pytest.mark.parametrize("by_descriptor", [True, False])
async def test_a_folder_that_is_replaced_after_it_was_looked_up_keeps_the_command_from_starting(
    tmp_path: Path, name: str, by_descriptor: bool, monkeypatch: pytest.MonkeyPatch
):
    """What a command in the background may do in the time in which the sandbox is built."""
    if not by_descriptor:  # as with versions of bubblewrap that cannot do that
        monkeypatch.setattr("assent.sandbox.bubblewrap._takes_descriptors", lambda: False)
    work, other = tmp_path / "work", tmp_path / "other"
    (work / name / ".vscode").mkdir(parents=True)
    (other / ".vscode").mkdir(parents=True)
    confinement = Confinement([str(work)], [], str(tmp_path / "masks"), {"HOME": str(tmp_path)})
    argv = ["/bin/sh", "-c", f"echo x > {other}/new; echo ran"]

    confined = await confinement.confine("workspace", str(work))
    assert confined is not None
    finished = await run(argv, cwd="/", launcher=confined.launcher)
    assert "ran" in finished.output.text()

    os.rename(work / name, work / "elsewhere")
    os.symlink("../other", work / name)
    assert not await has_run(argv, confined.launcher)
    assert not (other / "new").exists()
    assert list((other / ".vscode").iterdir()) == []
