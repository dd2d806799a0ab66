"""What a trial applied can be undone, as a whole, and again be redone."""

import sys
from pathlib import Path

import pytest

from assent.events import FileChange
from assent.sandbox.bubblewrap import bubblewrap
from assent.tools.tool import ToolFailed
from assent.tools.undo import UndoParams, UndoTool
from support.trying import MARK, Quiet, Workbench, permit

pytestmark = [
    pytest.mark.spec("J7b"),
    pytest.mark.skipif(sys.platform != "linux" or bubblewrap() is None, reason="needs bubblewrap"),
]
COMMAND = "sed -i s/hi/ho/ a.txt; rm -r d; mkdir n; echo new > n/x; ln -s a.txt link; rm f; mkdir f; echo x > f/y"


class Scene:
    def __init__(self, folder: Path) -> None:
        self.bench = Workbench(folder)
        self.bench.write(a_txt="hi\n", d__one="1\n", d__e__two="2\n", f="file\n")
        (self.bench.work / "d/one").chmod(0o755)
        self.changes: dict[str, FileChange] = {}
        self.undo = UndoTool([self.bench.tool.files], self.bench.store.path)
        self.undo.changes = self.changes

    async def applied(self) -> None:
        tried = await self.bench.tried(COMMAND)
        change = tried.invocation.change()
        assert change is not None
        self.changes["c1"] = change
        await tried.apply()

    async def undone(self, call_id: str, own_id: str) -> None:
        invocation = self.undo.invocation(UndoParams(call_id))
        await invocation.should_confirm()
        change = invocation.change()
        assert change is not None
        self.changes[own_id] = change
        await invocation.execute(permit(), Quiet())


@pytest.fixture
def scene(tmp_path: Path) -> Scene:
    return Scene(tmp_path)


async def test_undo_restores_everything_and_can_be_undone(scene: Scene):
    before = scene.bench.tree()
    await scene.applied()
    after = scene.bench.tree()
    assert before != after
    await scene.undone("c1", "u1")
    assert scene.bench.tree() == before and (scene.bench.work / "d/one").stat().st_mode & 0o777 == 0o755
    await scene.undone("u1", "u2")
    assert scene.bench.tree() == after


async def test_undo_touches_nothing_if_one_of_the_files_has_changed(scene: Scene):
    await scene.applied()
    scene.bench.write(a_txt="mine\n")
    before = scene.bench.tree()
    with pytest.raises(ToolFailed, match=r"nothing was touched: a\.txt"):
        await scene.undone("c1", "u1")
    assert scene.bench.tree() == before


async def test_undo_restores_what_was_applied_in_part(scene: Scene):
    before = scene.bench.tree()
    tried = await scene.bench.tried(COMMAND)
    change = tried.invocation.change()
    assert change is not None
    scene.changes["c1"] = change
    broken = Path(scene.bench.store.folder(MARK).upper, "n/x")
    broken.write_text("not what was shown\n")
    with pytest.raises(ToolFailed, match="applied only in part"):
        await tried.apply()
    assert scene.bench.tree() != before
    await scene.undone("c1", "u1")
    assert scene.bench.tree() == before


async def test_a_kept_file_that_was_tampered_with_is_not_restored(scene: Scene):
    await scene.applied()
    for kept in Path(scene.bench.store.folder(MARK).kept).iterdir():
        kept.write_text("tampered\n")
    with pytest.raises(ToolFailed, match="not what was shown"):
        await scene.undone("c1", "u1")
