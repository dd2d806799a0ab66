"""What people have approved for execution: found, compared, and kept."""

import os
from pathlib import Path

import pytest

from assent.approval import UnapprovedFile
from assent.files.approved_files import MAX_APPROVED, ApprovedFiles
from assent.plan import ExecutedFile

pytestmark = pytest.mark.spec("J9")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "w").mkdir()
    return tmp_path / "w"


def kept(folder: Path) -> ApprovedFiles:
    """As a new process opens it."""
    return ApprovedFiles(folder.parent / "data" / "executed.json", str(folder))


def look(folder: Path, *names: str) -> tuple[ExecutedFile, ...]:
    return kept(folder).look([tuple(str(folder / name) for name in names)])


def test_the_first_alternative_that_is_a_file_counts(folder: Path) -> None:
    (folder / "pkg").mkdir()
    (folder / "tool.py").write_text("1")
    (folder / "data.json").write_text("2")
    assert [file.path for file in look(folder, "pkg", "missing", "tool.py", "data.json")] == [str(folder / "tool.py")]
    assert look(folder, "pkg", "missing") == ()


def test_a_file_is_new_then_approved_then_changed_also_for_the_next_process(folder: Path) -> None:
    script = folder / "x.sh"
    script.write_text("echo a")
    assert kept(folder).unapproved(look(folder, "x.sh")) == (UnapprovedFile("x.sh"),)
    kept(folder).approve(look(folder, "x.sh"))
    assert kept(folder).unapproved(look(folder, "x.sh")) == ()
    script.write_text("echo b")
    assert kept(folder).unapproved(look(folder, "x.sh")) == (UnapprovedFile("x.sh", changed=True),)
    script.write_text("echo a")
    assert kept(folder).unapproved(look(folder, "x.sh")) == ()


def test_what_a_link_leads_to_is_what_is_approved(folder: Path) -> None:
    (folder / "a.sh").write_text("a")
    (folder / "b.sh").write_text("b")
    (folder / "run.sh").symlink_to("a.sh")
    kept(folder).approve(look(folder, "run.sh"))
    (folder / "run.sh").unlink()
    (folder / "run.sh").symlink_to("b.sh")
    assert kept(folder).unapproved(look(folder, "run.sh")) == (UnapprovedFile("run.sh", changed=True),)


def test_a_pipe_does_not_block_and_is_never_approved(folder: Path) -> None:
    os.mkfifo(folder / "x.sh")
    (file,) = look(folder, "x.sh")
    kept(folder).approve([file])
    assert file.sha256 == ""
    assert kept(folder).unapproved([file]) == (UnapprovedFile("x.sh"),)


def test_programs_of_the_system_are_left_out_and_other_places_are_not(folder: Path, tmp_path: Path) -> None:
    (folder / "python").symlink_to("/usr/bin/env")
    assert kept(folder).look([("/usr/bin/env",), (str(folder / "python"),)]) == ()
    (tmp_path / "elsewhere.sh").write_text("x")
    files = kept(folder).look([(str(tmp_path / "elsewhere.sh"),)])
    assert kept(folder).unapproved(files) == (UnapprovedFile(str(tmp_path / "elsewhere.sh")),)


def test_a_record_that_cannot_be_read_approves_nothing(folder: Path) -> None:
    (folder / "x.sh").write_text("a")
    kept(folder).approve(look(folder, "x.sh"))
    (folder.parent / "data" / "executed.json").write_text("{broken")
    assert kept(folder).unapproved(look(folder, "x.sh")) == (UnapprovedFile("x.sh"),)


def test_the_record_is_readable_only_by_its_owner_and_does_not_grow_forever(folder: Path) -> None:
    kept(folder).approve([ExecutedFile(f"/w/{n}", "ab") for n in range(MAX_APPROVED)])
    kept(folder).approve([ExecutedFile("/w/newest", "ab")])
    assert (folder.parent / "data" / "executed.json").stat().st_mode & 0o777 == 0o600
    assert kept(folder).unapproved([ExecutedFile("/w/newest", "ab"), ExecutedFile("/w/1", "ab")]) == ()
    assert kept(folder).unapproved([ExecutedFile("/w/0", "ab")]) == (UnapprovedFile("/w/0"),)


def test_a_very_large_file_is_known_by_its_size_and_times(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("assent.safe_open.DIGEST_LIMIT", 10)
    program = folder / "app"
    program.write_bytes(b"x" * 11)
    before = look(folder, "app")
    assert look(folder, "app") == before
    os.utime(program, ns=(1, 1))
    assert look(folder, "app") != before
