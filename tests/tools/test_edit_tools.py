"""write_file and replace: what is shown is what is written, or nothing is."""

import os
from pathlib import Path

import pytest

from assent.approval import EditDetails
from assent.parts import DiffDisplay
from assent.tools.response import to_result
from assent.tools.tool import Invocation, Permit, ToolFailed
from tools.test_tool_contract import failure
from tools.toolkit import PERMIT, Bench, LiveRecorder

BY_MODE = Permit(call_id="call", digest="digest")


async def shown(invocation: Invocation) -> EditDetails:
    details = await invocation.should_confirm()
    assert isinstance(details, EditDetails)
    return details


@pytest.mark.spec("C1")
@pytest.mark.spec("D5")
async def test_a_new_file_is_shown_whole_and_then_written_with_its_folders(bench: Bench) -> None:
    invocation = bench.build("write_file", file_path="new/deep/f.py", content="a\nb\n")
    details = await shown(invocation)
    assert details == EditDetails(
        path=f"{bench.root}/new/deep/f.py",
        diff="--- /dev/null\n+++ b/new/deep/f.py\n@@ -0,0 +1,2 @@\n+a\n+b\n",
        old=None,
        new="a\nb\n",
    )
    assert not (bench.root / "new").exists(), "showing must not change anything"
    result = await invocation.execute(PERMIT, LiveRecorder())
    assert (bench.root / "new/deep/f.py").read_text() == "a\nb\n"
    assert result.content == "Created new/deep/f.py (2 lines)."
    assert result.display == DiffDisplay("new/deep/f.py", details.diff, 2, 0)
    assert to_result("1", "write_file", result).response == {"output": result.content}


async def test_a_change_is_shown_as_a_diff_and_reported_with_the_changed_lines(bench: Bench) -> None:
    (bench.root / "f").write_text("".join(f"{n}\n" for n in range(1, 21)))
    new = "".join(f"{n}\n" for n in range(1, 21) if n != 10)
    details = await bench.details("write_file", file_path="f", content=new)
    assert isinstance(details, EditDetails)
    assert details.diff.splitlines()[2:] == ["@@ -7,7 +7,6 @@", " 7", " 8", " 9", "-10", " 11", " 12", " 13"]
    text = await bench.text("write_file", file_path="f", content=new)
    assert text.splitlines()[:3] == ["Changed f: 0 line(s) added, 1 removed.", "Lines 5-14 now read:", "5"]


@pytest.mark.spec("J3")
@pytest.mark.parametrize("known_by", ["read_file", "read_many_files", "write_file", "replace"])
async def test_a_file_that_changed_since_the_model_saw_it_is_not_replaced_from_memory(
    bench: Bench, known_by: str
) -> None:
    (bench.root / "f").write_text("one\n")
    args = {
        "read_file": {"file_path": "f"},
        "read_many_files": {"include": ["f"]},
        "write_file": {"file_path": "f", "content": "two\n"},
        "replace": {"file_path": "f", "old_string": "one", "new_string": "two"},
    }
    if known_by == "replace":
        await bench.run("read_file", file_path="f")
    await bench.run(known_by, **args[known_by])
    (bench.root / "f").write_text("a person's\n")
    refused = await failure(bench, "write_file", file_path="f", content="the model's\n")
    assert refused.type == "file_changed"
    assert (
        refused.message == "f has changed since you last read or wrote it. Read it again, then keep what is new in it."
    )
    assert (await failure(bench, "write_file", file_path="f", content="the model's\n")).type == "file_changed"
    await bench.run("read_file", file_path="f")
    await bench.run("write_file", file_path="f", content="both\n")
    assert (bench.root / "f").read_text() == "both\n"


@pytest.mark.spec("J3")
@pytest.mark.parametrize("touched_by", [None, "replace"])
async def test_a_file_that_the_model_has_not_read_is_not_replaced_unless_a_person_has_seen_the_change(
    bench: Bench, touched_by: str | None
) -> None:
    (bench.root / "f").write_text("one\na person's\n")
    if touched_by:
        await bench.run(touched_by, file_path="f", old_string="one", new_string="two")
    unread = bench.build("write_file", file_path="f", content="the model's\n")
    await shown(unread)
    with pytest.raises(ToolFailed) as refused:
        await unread.execute(BY_MODE, LiveRecorder())
    assert refused.value.failure.type == "file_not_read"
    assert "f already exists, and you have not read it" in refused.value.failure.message
    assert "a person's" in (bench.root / "f").read_text()
    await bench.run("write_file", file_path="f", content="approved by a person\n")
    later = bench.build("write_file", file_path="f", content="the model knows what it wrote\n")
    await shown(later)
    await later.execute(BY_MODE, LiveRecorder())
    assert (bench.root / "f").read_text() == "the model knows what it wrote\n"


@pytest.mark.spec("J3")
async def test_what_a_person_changed_before_a_replacement_is_still_unknown_to_the_model_after_it(bench: Bench) -> None:
    (bench.root / "f").write_text("one\n")
    await bench.run("read_file", file_path="f")
    (bench.root / "f").write_text("one\na person's\n")
    await bench.run("replace", file_path="f", old_string="one", new_string="two")
    assert (await failure(bench, "write_file", file_path="f", content="two\n")).type == "file_changed"


async def test_a_file_that_changes_while_the_question_is_open_is_shown_again(bench: Bench) -> None:
    (bench.root / "f").write_text("one\n")
    await bench.run("read_file", file_path="f")
    invocation = bench.build("write_file", file_path="f", content="two\n")
    await shown(invocation)
    (bench.root / "f").write_text("a person's\n")
    assert (await shown(invocation)).old == "a person's\n"


@pytest.mark.parametrize("tool", ["write_file", "replace"])
@pytest.mark.parametrize("what", ["changed", "deleted", "created"])
async def test_a_file_that_is_not_what_was_shown_is_left_alone(bench: Bench, tool: str, what: str) -> None:
    file = bench.root / "f"
    if what != "created":
        file.write_text("old\n")
    args = {"content": "new\n"} if tool == "write_file" else {"old_string": "old", "new_string": "new"}
    if tool == "replace" and what == "created":
        args["old_string"] = ""
    invocation = bench.build(tool, file_path="f", **args)
    await shown(invocation)
    if what == "deleted":
        file.unlink()
    else:
        file.write_text("someone else's work\n")
    with pytest.raises(ToolFailed) as caught:
        await invocation.execute(PERMIT, LiveRecorder())
    assert caught.value.failure.type == "changed_since_shown"
    assert not file.exists() if what == "deleted" else file.read_text() == "someone else's work\n"


async def test_showing_again_sees_the_file_as_it_is_now(bench: Bench) -> None:
    (bench.root / "f").write_text("one\n")
    invocation = bench.build("write_file", file_path="f", content="new\n")
    first = await shown(invocation)
    (bench.root / "f").write_text("two\n")
    second = await shown(invocation)
    assert (first.old, second.old) == ("one\n", "two\n")
    await invocation.execute(PERMIT, LiveRecorder())
    assert (bench.root / "f").read_text() == "new\n"


async def test_line_ends_and_the_mark_of_an_existing_file_are_kept(bench: Bench) -> None:
    file = bench.root / "f"
    file.write_bytes("\ufeffone\r\ntwo\r\n".encode())
    await bench.run("write_file", file_path="f", content="1\n2\n3\n")
    assert file.read_bytes() == "\ufeff1\r\n2\r\n3\r\n".encode()
    await bench.run("replace", file_path="f", old_string="2\n3", new_string="zwei\ndrei\nvier")
    assert file.read_bytes() == "\ufeff1\r\nzwei\r\ndrei\r\nvier\r\n".encode()


@pytest.mark.parametrize("encoding", ["utf-16", "latin-1"])
async def test_the_encoding_of_an_existing_file_is_kept(bench: Bench, encoding: str) -> None:
    file = bench.root / "f"
    file.write_bytes("grün\n".encode(encoding))
    await bench.run("replace", file_path="f", old_string="grün", new_string="weiß")
    assert file.read_bytes() == "weiß\n".encode(encoding)


async def test_a_character_that_the_encoding_lacks_is_refused_in_a_part_and_fine_in_the_whole(bench: Bench) -> None:
    file = bench.root / "f"
    file.write_bytes("grün\n".encode("latin-1"))
    refused = await failure(bench, "replace", file_path="f", old_string="grün", new_string="€")
    assert refused.type == "edit_preparation_failure" and "'€'" in refused.message
    await bench.run("write_file", file_path="f", content="€\n")
    assert file.read_bytes() == "€\n".encode()


async def test_mode_bits_survive_a_change(bench: Bench) -> None:
    (bench.root / "script").write_text("a\n")
    (bench.root / "script").chmod(0o755)
    await bench.run("write_file", file_path="script", content="b\n")
    assert (bench.root / "script").stat().st_mode & 0o777 == 0o755


async def test_unusual_names_are_fine(bench: Bench) -> None:
    for name in ("über grün.txt", "-rf", "a'b\"c", "日本語"):
        await bench.run("write_file", file_path=name, content=name)
        assert (bench.root / name).read_text() == name


@pytest.mark.parametrize("path", [".git/hooks/pre-commit", "sub/.git/config", ".GIT/config", "link/config"])
async def test_nothing_is_written_into_git(bench: Bench, path: str) -> None:
    (bench.root / ".git").mkdir()
    (bench.root / "link").symlink_to(".git")
    refused = await failure(bench, "write_file", file_path=path, content="x")
    assert refused.type == "permission_denied" and "only git itself" in refused.message


async def test_folders_pipes_binary_files_and_links_outside_are_not_written(bench: Bench, tmp_path: Path) -> None:
    (bench.root / "folder").mkdir()
    os.mkfifo(bench.root / "pipe")
    (bench.root / "binary").write_bytes(bytes(100))
    (bench.root / "dangling").symlink_to(tmp_path / "elsewhere")
    refused = [
        (await failure(bench, "write_file", file_path=name, content="x")).type
        for name in ("folder", "pipe", "binary", "dangling")
    ]
    assert refused == [
        "target_is_directory",
        "read_content_failure",
        "edit_preparation_failure",
        "path_not_in_workspace",
    ]
    assert not (tmp_path / "elsewhere").exists()


async def test_content_that_leaves_something_out_is_refused(bench: Bench) -> None:
    content = "def a(): pass\n# ... rest of the code ...\n"
    refused = await failure(bench, "write_file", file_path="f", content=content)
    assert refused.type == "invalid_tool_params" and "rest of the code" in refused.message
    (bench.root / "f").write_text("x\n# ... rest of the code ...\n")
    await bench.run("write_file", file_path="f", content=content)


async def test_a_write_that_changes_nothing_is_an_error(bench: Bench) -> None:
    (bench.root / "f").write_bytes(b"a\r\n")
    assert (await failure(bench, "write_file", file_path="f", content="a\n")).type == "edit_no_change"


# --- replace ---


async def test_a_replacement_is_literal_and_reported(bench: Bench) -> None:
    (bench.root / "f").write_text("hello old world\n")
    text = await bench.text("replace", file_path="f", old_string="old", new_string="$& $1 \\1")
    assert (bench.root / "f").read_text() == "hello $& $1 \\1 world\n"
    assert text.endswith("Lines 1-1 now read:\nhello $& $1 \\1 world")


async def test_several_occurrences_need_leave(bench: Bench) -> None:
    (bench.root / "f").write_text("a b a b a\n")
    args = {"file_path": "f", "old_string": "a", "new_string": "c"}
    refused = await failure(bench, "replace", **args)
    assert refused.type == "edit_expected_occurrence_mismatch" and "3 times" in refused.message
    await bench.run("replace", **args, allow_multiple=True)
    assert (bench.root / "f").read_text() == "c b c b c\n"


async def test_text_that_is_not_there_is_answered_with_the_nearest(bench: Bench) -> None:
    (bench.root / "f").write_text("def one():\n    return 1\n")
    refused = await failure(bench, "replace", file_path="f", old_string="def one():\n    return 2", new_string="x")
    assert refused.type == "edit_no_occurrence_found"
    assert "The nearest text in the file is:\n1: def one():\n2:     return 1\n" in refused.message


@pytest.mark.parametrize(
    ("path", "old", "new", "expected"),
    [
        ("f", "", "x", "attempt_to_create_existing_file"),
        ("none", "a", "x", "file_not_found"),
        ("f", "text", "text", "edit_no_change"),
        ("f", "te\nxt", "x", "edit_no_occurrence_found"),
    ],
)
async def test_the_errors_of_replace(bench: Bench, path: str, old: str, new: str, expected: str) -> None:
    (bench.root / "f").write_text("text\n")
    refused = await failure(bench, "replace", file_path=path, old_string=old, new_string=new)
    assert refused.type == expected


async def test_an_empty_old_string_creates_a_file(bench: Bench) -> None:
    await bench.run("replace", file_path="a/f", old_string="", new_string="x\n")
    assert (bench.root / "a/f").read_text() == "x\n"


# --- editing before approving ---


@pytest.mark.spec("C5")
@pytest.mark.parametrize("tool", ["write_file", "replace"])
@pytest.mark.parametrize("before", [None, "a\nb\nc\n", "a\r\nb\r\nc\r\n", "b\nb\nb\n"])
@pytest.mark.parametrize("edited", ["", "a\nB!\nc\n", "quite\nsomething\nelse", "b\nb\n"])
async def test_what_a_person_edits_is_exactly_what_is_written(
    bench: Bench, tool: str, before: str | None, edited: str
) -> None:
    file = bench.root / "f"
    if before is not None:
        file.write_bytes(before.encode())
    args = {"content": "a\nnew\nc\n"} if tool == "write_file" else {"old_string": "b", "new_string": "new"}
    if tool == "replace" and before is None:
        args["old_string"] = ""
    invocation = bench.build(tool, file_path="f", **args, **({"allow_multiple": True} if tool == "replace" else {}))
    await shown(invocation)
    modifiable = invocation.modifiable()
    assert modifiable is not None
    assert modifiable.file_path() == str(file)
    assert modifiable.current_content() == (before or "")
    assert "new" in modifiable.proposed_content()
    await bench.run(tool, **modifiable.args_for(edited))
    newline = "\r\n" if before and "\r\n" in before else "\n"
    assert file.read_bytes() == edited.replace("\n", newline).encode()


@pytest.mark.spec("C5")
async def test_the_arguments_for_a_small_edit_of_a_large_file_are_small(bench: Bench) -> None:
    text = "".join(f"line {n}\n" for n in range(5_000))
    (bench.root / "f").write_text(text)
    invocation = bench.build("replace", file_path="f", old_string="line 77\n", new_string="line 78\n")
    await shown(invocation)
    modifiable = invocation.modifiable()
    assert modifiable is not None
    args = modifiable.args_for(text.replace("line 4000\n", "line four thousand\n"))
    assert args["old_string"] == "line 4000\n"
