"""Calls of one batch that depend on each other, with the real tools and a real shell: they keep their order.

Each example runs many times, because what is out of order is so only sometimes.
"""

from pathlib import Path

import pytest

from assent.events import GateKind
from support.tools_harness import ToolsHarness, read, replace, said, sh, statuses, write

GATES = pytest.mark.parametrize("gate", ["batch", "eager"])


@pytest.mark.spec("B6")
@GATES
async def test_reads_around_a_write_see_the_text_before_and_after_it(tmp_path: Path, gate: GateKind):
    bench = ToolsHarness(tmp_path, mode="auto_edit", gate=gate)
    for turn in range(100):
        name = f"{turn}.txt"
        (tmp_path / name).write_text("before\n")
        calls = [read(name), read(name), write(name, "after\n"), read(name), read(f"./{name}")]
        results = await bench.run(*calls)
        seen = ["before" in said(call) for call in results]
        assert seen == [True, True, seen[2], False, False], turn


@pytest.mark.spec("B6")
async def test_a_command_sees_the_whole_file_that_was_written_before_it(tmp_path: Path):
    bench = ToolsHarness(tmp_path, mode="yolo")
    for turn in range(15):
        written, counted = await bench.run(write(f"{turn}.txt", "x" * 80_000), sh(f"wc -c < {turn}.txt"))
        assert statuses([written, counted]) == ["ok", "ok"]
        assert "80000" in said(counted)


@pytest.mark.spec("B6")
async def test_a_read_only_command_waits_for_the_edit_before_it(tmp_path: Path):
    bench = ToolsHarness(tmp_path, mode="auto_edit")
    for turn in range(15):
        written, counted = await bench.run(write(f"{turn}.txt", "x" * 80_000), sh(f"wc -c {turn}.txt"))
        assert statuses([written, counted]) == ["ok", "ok"]
        assert "80000" in said(counted)


@pytest.mark.spec("B6")
@GATES
async def test_commands_that_may_write_run_one_after_another(tmp_path: Path, gate: GateKind):
    bench = ToolsHarness(tmp_path, mode="yolo", gate=gate)
    await bench.run(sh("git init -q . && git config user.email a@b.c && git config user.name a"))
    for turn in range(6):
        (tmp_path / "file").write_text(f"{turn}")
        done = await bench.run(sh("git add file"), sh(f"git commit -q -m {turn}"), sh("git log --format=%s -1"))
        assert "Exit Code: 0" in said(done[1]) and f"Output: {turn}" in said(done[2])


@pytest.mark.spec("B6")
async def test_a_folder_is_made_before_something_is_put_into_it(tmp_path: Path):
    bench = ToolsHarness(tmp_path, mode="yolo")
    for turn in range(10):
        done = await bench.run(
            sh(f"mkdir d{turn}"), sh(f"touch d{turn}/x"), ("list_directory", {"dir_path": f"d{turn}"})
        )
        assert "Exit Code: 0" in said(done[1]) and "x" in said(done[2])


@pytest.mark.spec("B6")
@GATES
async def test_what_a_command_writes_is_there_for_the_read_after_it(tmp_path: Path, gate: GateKind):
    bench = ToolsHarness(tmp_path, mode="yolo", gate=gate)
    for turn in range(10):
        done = await bench.run(sh(f"echo fresh {turn} > a.txt"), read("a.txt"))
        assert f"fresh {turn}" in said(done[1])


@pytest.mark.spec("B6")
@GATES
async def test_an_edit_builds_on_the_edits_before_it(tmp_path: Path, gate: GateKind):
    bench = ToolsHarness(tmp_path, gate=gate)
    for turn in range(50):
        (tmp_path / "a.txt").write_text("one\n")
        results = await bench.run(replace("a.txt", "one", "two"), replace("a.txt", "two", "three"))
        assert statuses(results) == ["ok", "ok"], turn
        assert bench.text("a.txt") == "three\n"
    assert not [asked for event in range(1, 101) if len(asked := bench.asked(f"c{event}")) != 1]


@pytest.mark.spec("B6")
@GATES
async def test_a_new_file_can_be_edited_by_the_next_call(tmp_path: Path, gate: GateKind):
    bench = ToolsHarness(tmp_path, gate=gate)
    for turn in range(50):
        results = await bench.run(write(f"{turn}/new.txt", "one\n"), replace(f"{turn}/new.txt", "one", "two"))
        assert statuses(results) == ["ok", "ok"]
        assert bench.text(f"{turn}/new.txt") == "two\n"
