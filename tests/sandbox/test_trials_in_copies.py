"""Commands that an overlay does not let through are tried once more, in a full copy of the workspace."""

import asyncio
import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from assent.files import copied_tree
from assent.sandbox.bubblewrap import bubblewrap
from support.trying import MARK, Quiet, Workbench, permit
from support.waiting import until

pytestmark = [
    pytest.mark.spec("J8"),
    pytest.mark.skipif(sys.platform != "linux" or bubblewrap() is None, reason="needs bubblewrap"),
]
RENAME = 'python3 -c \'import os; os.rename("d", "e")\''


@pytest.fixture
def bench(tmp_path: Path) -> Workbench:
    return Workbench(tmp_path)


def git(bench: Workbench, *words: str) -> str:
    identity = ["-c", "user.name=x", "-c", "user.email=x@y"]
    return subprocess.run(["git", *identity, *words], cwd=bench.work, check=True, capture_output=True, text=True).stdout


async def test_a_program_that_renames_a_folder_is_tried_in_a_copy(bench: Workbench):
    bench.write(d__one="1\n", d__deep__two="2\n", other="o\n")
    tried, live = bench.invocation(RENAME), Quiet()
    await tried.triable.try_out(permit(), live)
    assert "The command is tried once more, in a full copy." in live.text
    shown = {path: effect.what for path, effect in (await tried.effects()).items()}
    assert shown == {"d/one": "deleted", "d/deep/two": "deleted", "e/one": "added", "e/deep/two": "added"}
    assert (await tried.trial()).ended == "exit 0"
    await tried.apply()
    assert bench.tree() == {
        "e": "folder",
        "e/one": "1\n",
        "e/deep": "folder",
        "e/deep/two": "2\n",
        "other": "o\n",
    }


async def test_git_renames_a_folder_in_a_trial(bench: Workbench):
    git(bench, "init", "-q", "-b", "main")
    bench.write(d__one="1\n", d__two="2\n")
    git(bench, "add", ".")
    git(bench, "commit", "-qm", "one")
    tried = await bench.tried("git mv d e")
    await tried.apply()
    assert git(bench, "status", "--porcelain").split() == ["R", "d/one", "->", "e/one", "R", "d/two", "->", "e/two"]


async def test_folders_can_be_swapped_and_changed_on_the_way(bench: Workbench):
    bench.write(d__one="1\n", e__one="2\n", e__two="3\n")
    program = "import os; os.rename('d', 'x'); os.rename('e', 'd'); os.rename('x', 'e'); open('e/one', 'a').write('+')"
    tried = await bench.tried(f"python3 -c {shlex.quote(program)}")
    await tried.apply()
    assert bench.tree() == {"d": "folder", "d/one": "2\n", "d/two": "3\n", "e": "folder", "e/one": "1\n+"}


async def test_what_the_person_adds_changes_and_deletes_during_the_trial_is_not_an_effect(bench: Workbench):
    bench.write(d__one="1\n", mine="m\n", gone="g\n", signal="wait\n", folder__x="x\n")
    bench.trials.overlays = False
    tried, live = bench.invocation("echo ready; until grep -q go signal; do sleep 0.02; done; echo new > n"), Quiet()
    running = asyncio.ensure_future(tried.triable.try_out(permit(), live))
    await until(lambda: "ready" in live.text)
    bench.write(mine="changed\n", added="a\n", newfolder__y="y\n")
    (bench.work / "gone").unlink()
    (bench.work / "folder/x").unlink()
    (bench.work / "folder").rmdir()
    (bench.work / "d").chmod(0o700)
    Path(bench.store.folder(MARK).upper, "signal").write_text("go\n")
    await running
    effects = await tried.effects()
    assert set(effects) == {"n", "signal"}  # the copy of the signal was changed from here


async def test_where_no_copy_fits_the_limit_is_said(bench: Workbench, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(copied_tree, "MAX_ENTRIES", 1)
    bench.write(d__one="1\n")
    notes = (await (await bench.tried(RENAME)).trial()).notes
    assert notes == (
        "In an overlay, folders of the workspace cannot be renamed. It may work outside a trial; "
        "the workspace has more than 1 files.",
    )


async def test_a_workspace_that_contains_another_file_system_is_copied(
    bench: Workbench, monkeypatch: pytest.MonkeyPatch
):
    bench.write(a="1\n")
    monkeypatch.setattr("assent.sandbox.trials._mount_points", lambda: iter([str(bench.work / "mounted")]))
    assert await bench.trials.problem() == ""
    assert not bench.trials.overlays
    await (await bench.tried("echo 2 > a")).apply()
    assert bench.tree() == {"a": "2\n"}


async def test_hard_links_stay_together_in_a_copy(bench: Workbench):
    bench.write(a="hi\n")
    os.link(bench.work / "a", bench.work / "b")
    bench.trials.overlays = False
    effects = await (await bench.tried("echo ho > a")).effects()
    assert set(effects) == {"a", "b"} and all("hard link" in " ".join(one.notes) for one in effects.values())


async def test_a_cancelled_copy_leaves_nothing(bench: Workbench):
    bench.write(**{f"d__{number}": "x\n" for number in range(200)})
    bench.trials.overlays = False
    running = asyncio.ensure_future(bench.invocation("true").triable.try_out(permit(), Quiet()))
    await until(lambda: bench.leftovers() == [MARK])
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert bench.leftovers() == []
