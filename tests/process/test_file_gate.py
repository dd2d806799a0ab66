"""Files that were approved reach the programs that run them as they were approved, whatever is on disk by then."""

import asyncio
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from assent.plan import ExecutedFile
from assent.process import file_gate
from assent.process.approved_launch import approved_contents, gated
from assent.process.changed_files import FileChanged
from assent.process.file_gate import AVAILABLE
from assent.process.run_program import ProcessFinished, run
from assent.safe_open import content_digest
from assent.sandbox.confinement import Confinement

pytestmark = [pytest.mark.spec("J9"), pytest.mark.skipif(not AVAILABLE, reason="only on Linux")]

GOOD = "#!/bin/bash\necho good $0\n"
EVIL = "#!/bin/bash\necho evil $0\n"


def executed(*paths: Path) -> list[ExecutedFile]:
    return [ExecutedFile(str(path), content_digest(path) or "") for path in paths]


def script(folder: Path, content: str = GOOD, name: str = "x.sh") -> Path:
    path = folder / name
    path.write_text(content)
    path.chmod(0o755)
    return path


async def gated_run(folder: Path, command: str, files: list[ExecutedFile], *, sandbox: bool) -> ProcessFinished:
    argv = ["bash", "-c", command]
    if not sandbox:
        launcher = gated(None, approved_contents(files), [])
        return await run(argv, cwd=str(folder), launcher=launcher, unchanged=files)
    masks = folder.parent / "masks"
    confinement = Confinement([str(folder)], [str(masks)], str(masks), {"HOME": str(folder.parent / "home")})
    confined = await confinement.confine("workspace", str(folder), executes=files)
    assert confined is not None
    return await run(argv, cwd=str(folder), launcher=gated(confined.launcher, confined.contents, []), unchanged=files)


WAIT = "echo > started; read < go; "
"""Holds a command after its start, until `changed_run` lets it go on."""


async def changed_run(
    folder: Path, command: str, path: Path, change: Callable[[Path], object], *, sandbox: bool
) -> ProcessFinished:
    for name in ("started", "go"):
        os.mkfifo(folder / name)
    started = os.open(folder / "started", os.O_RDONLY | os.O_NONBLOCK)
    go = os.open(folder / "go", os.O_RDWR)

    def let_go() -> None:
        loop.remove_reader(started)
        change(path)
        os.write(go, b"\n")

    loop = asyncio.get_running_loop()
    loop.add_reader(started, let_go)
    try:
        return await gated_run(folder, WAIT + command, executed(path), sandbox=sandbox)
    finally:
        os.close(started)
        os.close(go)


def in_place(path: Path) -> None:
    path.write_text(EVIL)


def replaced(path: Path) -> None:
    os.replace(script(path.parent, EVIL, "other"), path)


def relinked(path: Path) -> None:
    path.unlink()
    path.symlink_to(script(path.parent, EVIL, "other"))


def deleted(path: Path) -> None:
    path.unlink()


def folder_swapped(path: Path) -> None:
    os.rename(path.parent, path.parent.with_name("away"))
    path.parent.mkdir()
    script(path.parent, EVIL, path.name)


CHANGES = [in_place, replaced, relinked, folder_swapped]
BOTH = pytest.mark.parametrize("sandbox", [False, True], ids=["bare", "sandbox"])


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    found = tmp_path / "workspace"
    (found / "scripts").mkdir(parents=True)
    return found


@BOTH
@pytest.mark.parametrize("change", [*CHANGES, deleted], ids=lambda change: change.__name__)
@pytest.mark.parametrize("command", ["bash scripts/x.sh", ". scripts/x.sh"])
async def test_a_script_that_is_changed_after_the_start_runs_as_it_was_approved(
    folder: Path, command: str, change: Callable[[Path], None], sandbox: bool
):
    finished = await changed_run(folder, command, script(folder / "scripts"), change, sandbox=sandbox)
    assert finished.output.text().startswith("good")


@BOTH
@pytest.mark.parametrize("change", CHANGES, ids=lambda change: change.__name__)
async def test_a_script_that_is_run_by_its_path_runs_as_it_was_approved(
    folder: Path, change: Callable[[Path], None], sandbox: bool
):
    finished = await changed_run(folder, "scripts/x.sh", script(folder / "scripts"), change, sandbox=sandbox)
    assert finished.output.text() == "good scripts/x.sh\n"


@BOTH
async def test_a_script_does_not_get_another_interpreter(folder: Path, sandbox: bool):
    other = script(folder, "#!/usr/bin/tail -n1\nevil\n", "other")
    finished = await changed_run(
        folder, "scripts/x.sh", script(folder / "scripts"), lambda path: os.replace(other, path), sandbox=sandbox
    )
    assert "evil" not in finished.output.text()
    assert "was replaced while the command was starting" in finished.output.text()
    assert finished.code == 126


@BOTH
async def test_a_program_that_was_replaced_is_ended_before_its_first_instruction(folder: Path, sandbox: bool):
    path = folder / "scripts" / "tool"
    shutil.copy("/bin/echo", path)
    shutil.copy("/usr/bin/touch", folder / "other")
    finished = await changed_run(
        folder, "scripts/tool ran", path, lambda path: os.replace(folder / "other", path), sandbox=sandbox
    )
    assert finished.code == 126
    assert not (folder / "ran").exists()


@BOTH
async def test_a_program_that_stays_as_it_is_runs(folder: Path, sandbox: bool):
    path = folder / "scripts" / "tool"
    shutil.copy("/bin/echo", path)
    finished = await gated_run(folder, "scripts/tool ran", executed(path), sandbox=sandbox)
    assert (finished.code, finished.output.text()) == (0, "ran\n")


@BOTH
@pytest.mark.parametrize(
    "change",
    ["sed -i s/good/new/ x.sh", "echo echo new > x.sh", "rm x.sh; echo echo new > x.sh", "cp n y; mv y x.sh"],
)
async def test_what_the_command_itself_changes_is_what_it_runs(folder: Path, change: str, sandbox: bool):
    script(folder, "echo new\n", "n")
    finished = await gated_run(folder, f"{change} && bash x.sh", executed(script(folder)), sandbox=sandbox)
    assert finished.output.text().startswith("new")


@BOTH
@pytest.mark.parametrize("approved", ["", "print('good')\n"])
async def test_an_interpreter_that_opens_its_script_twice_gets_the_approved_one_twice(
    folder: Path, approved: str, sandbox: bool
):
    path = script(folder, approved, "x.py")
    command = f"{sys.executable} -I x.py"
    finished = await changed_run(folder, command, path, lambda path: path.write_text("print('evil')"), sandbox=sandbox)
    assert finished.output.text() == approved[7:11] + "\n" * bool(approved)


async def test_content_that_is_not_the_approved_one_does_not_start(folder: Path):
    files = executed(script(folder))
    script(folder, EVIL)
    with pytest.raises(FileChanged):
        approved_contents(files)


async def test_a_name_that_is_not_text_is_handed_out_too(folder: Path):
    path = folder / os.fsdecode(b"\xff y.sh")
    script(folder, GOOD, path.name)
    finished = await changed_run(folder, "bash *y.sh", path, in_place, sandbox=False)
    assert finished.output.text().startswith("good")


@pytest.mark.parametrize(("ending", "code", "signal"), [("exit 7", 7, None), ("kill -9 $$", None, 9)])
async def test_the_command_ends_as_it_would_alone(folder: Path, ending: str, code: int | None, signal: int | None):
    finished = await gated_run(folder, ending, executed(script(folder)), sandbox=False)
    assert (finished.code, finished.signal) == (code, signal)


async def test_many_processes_and_threads_end_as_ever(folder: Path):
    command = "for i in $(seq 30); do (bash x.sh | cat >/dev/null) & done; wait; python3 -c '" + (
        "import threading as t; [one.start() or one for one in [t.Thread(target=print) for _ in range(20)]]'; bash x.sh"
    )
    finished = await gated_run(folder, command, executed(script(folder)), sandbox=True)
    assert finished.code == 0
    assert finished.output.text().endswith("good x.sh\n")


async def test_a_cancelled_command_leaves_nothing(folder: Path):
    files = executed(script(folder, "echo $$; sleep 1000\n"))
    said = asyncio.get_running_loop().create_future()
    launcher = gated(None, approved_contents(files), [])
    running = run(["bash", "x.sh"], cwd=str(folder), launcher=launcher, on_output=lambda text: said.set_result(text))
    task = asyncio.ensure_future(running)
    pid = (await said).strip()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert not Path(f"/proc/{pid}").exists()


def test_the_gate_starts_without_the_modules_that_would_take_most_of_its_time():
    source = str(Path(file_gate.__file__).parents[2])
    code = f"import sys; sys.path.insert(0, {source!r}); import assent.process.file_gate; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-I", "-S", "-c", code], check=True, capture_output=True, text=True).stdout
    assert not {"json", "re", "enum", "signal", "typing", "collections"} & set(loaded.split())
