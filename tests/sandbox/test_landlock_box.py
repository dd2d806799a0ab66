"""Where bubblewrap cannot run, Landlock confines the commands that only read, and nothing pretends to do more."""

import asyncio
import os
import sys
from pathlib import Path

import pytest

from assent.process.landlock import can_scope
from assent.process.run_program import ProcessFinished, run
from assent.sandbox import confinement as module
from assent.sandbox.boxes import Box, BoxProblem
from assent.sandbox.confinement import Confinement, Unconfined
from assent.sandbox.landlock_box import available, landlock_launcher
from assent.sandbox.profiles import READ_ONLY, WORKSPACE
from assent.sandbox.self_test import tried_with_landlock

pytestmark = [
    pytest.mark.spec("I1"),
    pytest.mark.skipif(sys.platform != "linux" or not available(), reason="needs Landlock"),
]


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A workspace with secrets, on a machine without bubblewrap."""
    monkeypatch.setattr(module, "bubblewrap", lambda: None)
    work = tmp_path / "home" / "work"
    (work / "sub").mkdir(parents=True)
    (work / "a.txt").write_text("public\n")
    (work / "sub" / ".env").write_text("TOKEN=canary\n")
    (work / "sub" / "b.txt").write_text("public, too\n")
    (tmp_path / "home" / ".ssh").mkdir()
    (tmp_path / "home" / ".ssh" / "id_rsa").write_text("canary\n")
    return work


def confinement(work: Path) -> Confinement:
    data = work.parent.parent / "data"
    return Confinement([str(work)], [str(data)], str(data / "sandbox"), {"HOME": str(work.parent)})


async def confined(work: Path, command: str) -> ProcessFinished:
    found = await confinement(work).confine("read-only", str(work))
    assert found is not None
    return await run(["bash", "-c", command], cwd=str(work), launcher=found.launcher)


async def test_the_self_test_holds() -> None:
    probes, _ = await tried_with_landlock()
    assert [probe.name for probe in probes if not probe.holds] == []
    assert len(probes) == 5


async def test_reading_goes_on(place: Path) -> None:
    finished = await confined(place, "cat a.txt sub/b.txt; ls sub > /dev/null && grep -r public . | wc -l")
    assert finished.output.text().splitlines()[:2] == ["public", "public, too"]
    assert finished.code == 0 and not finished.never_ran


@pytest.mark.parametrize(
    "deed",
    [
        "echo x > new",
        "echo x >> a.txt",
        "rm a.txt",
        "mkdir folder",
        "ln -s a.txt link",
        "mv a.txt b.txt",
        "truncate -s 0 a.txt",
        "chmod 777 a.txt",
        "touch -d yesterday a.txt",
        "echo x > /tmp/assent-landlock-test",
        "cat sub/.env",
        "cat ../.ssh/id_rsa",
        "cp sub/.env /dev/stdout",
        "cat /proc/$OUTSIDE/environ",
        "exec 3<>/dev/tcp/127.0.0.1/9",
        pytest.param("kill -0 $OUTSIDE", marks=pytest.mark.skipif(not can_scope(), reason="needs Linux 6.12")),
    ],
)
async def test_what_is_no_reading_fails(place: Path, deed: str) -> None:
    before = {path: path.stat() for path in place.rglob("*")}
    finished = await confined(place, deed.replace("$OUTSIDE", str(os.getpid())))
    assert finished.code not in (0, None), finished.output.text()
    assert "canary" not in finished.output.text()
    after = {path: path.stat() for path in place.rglob("*")}
    assert [(p, s.st_mode, s.st_size, s.st_mtime_ns) for p, s in after.items()] == [
        (p, s.st_mode, s.st_size, s.st_mtime_ns) for p, s in before.items()
    ]


async def test_what_it_starts_is_confined_as_well(place: Path) -> None:
    finished = await confined(place, "setsid -w sh -c 'echo x > new'; cat <(cat sub/.env)")
    assert not (place / "new").exists() and "canary" not in finished.output.text()


async def test_signals_end_it_as_they_end_any_command(place: Path) -> None:
    task = asyncio.create_task(confined(place, "echo begun; exec sleep 1000"))
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


@pytest.mark.parametrize("name", ["workspace", "network"])
async def test_a_profile_that_writes_is_not_pretended(place: Path, name: str) -> None:
    with pytest.raises(Unconfined, match="bubblewrap is not installed"):
        await confinement(place).confine(name, str(place))  # pyright: ignore[reportArgumentType]
    with pytest.raises(BoxProblem):
        landlock_launcher(Box(profile=WORKSPACE, roots=(str(place),)))


async def test_a_program_that_does_not_exist_is_no_failure_of_the_sandbox(place: Path) -> None:
    launcher = landlock_launcher(Box(profile=READ_ONLY, roots=(str(place),)))
    finished = await run(["no-such-program"], cwd=str(place), launcher=launcher)
    assert (finished.code, finished.never_ran) == (127, False)
