"""Files of our own: for their owner only, whole or not at all, under names that lead nowhere else."""

import os
import stat
from pathlib import Path

import pytest

from assent.files.private_folder import Piece, PrivateFolder, make_private, save_private
from assent.files.regular_file import NotPlain, read_plain


def mode(path: Path | str) -> int:
    return stat.S_IMODE(os.stat(path).st_mode)


@pytest.fixture
def folder(tmp_path: Path) -> PrivateFolder:
    return PrivateFolder(f"{tmp_path}/a/b")


def names(folder: PrivateFolder) -> list[str]:
    return sorted(os.listdir(folder.path))


def test_missing_folders_are_made_for_their_owner_and_others_stay_as_they_are(tmp_path: Path) -> None:
    tmp_path.chmod(0o755)
    make_private(f"{tmp_path}/a/b")
    make_private(f"{tmp_path}/a/b")
    assert [mode(tmp_path), mode(tmp_path / "a"), mode(tmp_path / "a/b")] == [0o755, 0o700, 0o700]


def test_a_file_is_readable_by_its_owner_only_and_none_is_overwritten(folder: PrivateFolder) -> None:
    for text in (b"one", b"two", b"three"):
        with folder.create("call.txt") as file:
            file.write(text)
    assert names(folder) == ["call-2.txt", "call-3.txt", "call.txt"]
    assert Path(folder.path, "call.txt").read_bytes() == b"one"
    assert {mode(f"{folder.path}/{name}") for name in names(folder)} == {0o600}


def test_a_second_file_without_an_extension_gets_its_number_at_the_end(folder: PrivateFolder) -> None:
    for _ in range(2):
        folder.create("notes").close()
    assert names(folder) == ["notes", "notes-2"]


def test_another_folder_has_the_same_files_but_no_links_and_none_is_made_for_nothing(
    folder: PrivateFolder, tmp_path: Path
) -> None:
    for name in ("call.txt", "other.txt"):
        with folder.create(name) as file:
            file.write(name.encode())
    Path(folder.path, "link.txt").symlink_to("call.txt")
    copy = PrivateFolder(f"{tmp_path}/c/d")
    copy.share(folder, ["missing.txt", "link.txt"])
    assert not os.path.lexists(f"{tmp_path}/c")
    copy.share(folder, ["../call.txt", "Call.txt", "link.txt"])
    assert names(copy) == ["call.txt"]
    assert (copy.kept("call.txt"), mode(copy.path)) == (b"call.txt", 0o700)
    folder.remove()
    assert copy.kept("call.txt") == b"call.txt"


def test_a_file_is_written_when_it_is_closed(folder: PrivateFolder) -> None:
    with folder.create("x") as file:
        file.write(b"text")
    assert Path(file.path).read_bytes() == b"text"


def test_a_name_that_is_taken_too_often_is_an_error(folder: PrivateFolder, monkeypatch: pytest.MonkeyPatch) -> None:
    make_private(folder.path)

    def taken(*_: object) -> int:
        raise FileExistsError

    monkeypatch.setattr(os, "open", taken)
    with pytest.raises(FileExistsError, match="too many files called x"):
        folder.create("x")


@pytest.mark.parametrize(
    ("name", "harmless"),
    [
        ("../../etc/passwd", "_.._etc_passwd"),
        ("/etc/passwd", "_etc_passwd"),
        ("..", "_"),
        ("", "_"),
        ("-rf", "rf"),
        (".hidden", "hidden"),
        ("Call 1\n.TXT", "call_1_.txt"),
        ("x" * 100 + ".txt", "x" * 76 + ".txt"),
    ],
)
def test_a_name_that_someone_else_chose_is_one_file_in_the_folder(
    folder: PrivateFolder, name: str, harmless: str
) -> None:
    folder.create(name).close()
    assert names(folder) == [harmless]


def test_a_content_is_kept_once_under_its_hash(folder: PrivateFolder) -> None:
    name = folder.keep(b"content")
    kept = os.stat(f"{folder.path}/{name}").st_ino
    assert folder.keep(b"content") == name and folder.keep(b"other") != name
    assert os.stat(f"{folder.path}/{name}").st_ino == kept
    assert folder.kept(name) == b"content"
    assert len(names(folder)) == 2, "no part is left behind"
    with pytest.raises(FileNotFoundError):
        folder.kept("missing")


def test_what_was_kept_is_not_read_through_a_link_or_from_elsewhere(folder: PrivateFolder, tmp_path: Path) -> None:
    make_private(folder.path)
    (tmp_path / "secret").write_text("x")
    Path(folder.path, "link").symlink_to(tmp_path / "secret")
    with pytest.raises(NotPlain):
        folder.kept("link")
    with pytest.raises(FileNotFoundError):
        folder.kept("../../secret")


def test_a_piece_is_read_without_the_rest(folder: PrivateFolder) -> None:
    with folder.create("out.txt") as file:
        file.write(b"0123456789")
    assert folder.piece("out.txt", 2, 3) == Piece(b"234", 10)
    assert folder.piece("OUT.txt", 8, 100) == Piece(b"89", 10)
    assert folder.piece("out.txt", 10, 5) == Piece(b"", 10)


def test_no_piece_comes_from_a_file_that_is_not_ours(
    folder: PrivateFolder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder.create("out").close()
    (tmp_path / "secret").write_text("x")
    Path(folder.path, "link").symlink_to(tmp_path / "secret")
    Path(folder.path, "folder").mkdir()
    os.mkfifo(f"{folder.path}/pipe")
    (tmp_path / "other").symlink_to(folder.path)
    before = len(os.listdir("/proc/self/fd"))
    for name in ("link", "folder", "pipe", "missing", "../../secret"):
        assert folder.piece(name, 0, 10) is None
    assert PrivateFolder(f"{tmp_path}/other").piece("out", 0, 10) is None, "its folder is a link"
    assert folder.piece("out", 0, 10) == Piece(b"", 0)
    monkeypatch.setattr(os, "geteuid", lambda: os.getuid() + 1)
    assert folder.piece("out", 0, 10) is None, "it belongs to someone else"
    assert len(os.listdir("/proc/self/fd")) == before


def test_a_folder_is_removed_with_its_files_and_not_with_others(folder: PrivateFolder, tmp_path: Path) -> None:
    for name in ("a", "b"):
        folder.create(name).close()
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "x").touch()
    Path(folder.path, "link").symlink_to(tmp_path / "outside")
    folder.remove()
    folder.remove()
    assert not os.path.exists(folder.path) and (tmp_path / "outside" / "x").exists()
    folder.create("a").close()
    Path(folder.path, "folder").mkdir()
    folder.remove()
    assert names(folder) == ["folder"]


def test_a_file_is_saved_as_a_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, synced = tmp_path / "new" / "settings", list[tuple[int, bool]]()
    fsync = os.fsync

    def watch(fd: int) -> None:
        synced.append((os.fstat(fd).st_size, path.exists()))
        fsync(fd)

    monkeypatch.setattr(os, "fsync", watch)
    save_private(path, b"content")
    assert synced == [(7, False)], "all of it is on the disk before it is in place"
    save_private(path, b"other")
    assert path.read_bytes() == b"other"
    assert os.listdir(path.parent) == ["settings"]
    assert (mode(path), mode(path.parent)) == (0o600, 0o700)


def test_saving_replaces_a_link_and_leaves_alone_where_it_leads(tmp_path: Path) -> None:
    (tmp_path / "other").write_text("x")
    (tmp_path / "settings").symlink_to("other")
    save_private(tmp_path / "settings", b"content")
    assert (tmp_path / "other").read_text() == "x"
    assert (tmp_path / "settings").read_bytes() == b"content"


# --- reading what must be an ordinary file ---


def test_an_ordinary_file_is_read_up_to_its_limit(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"12345")
    assert read_plain(tmp_path / "a", limit=5) == b"12345"
    with pytest.raises(NotPlain, match="larger than 4 bytes"):
        read_plain(tmp_path / "a", limit=4)
    with pytest.raises(FileNotFoundError):
        read_plain(tmp_path / "missing")


def test_only_regular_files_are_read_and_nothing_stays_open(tmp_path: Path) -> None:
    (tmp_path / "a").touch()
    (tmp_path / "link").symlink_to("a")
    os.mkfifo(tmp_path / "pipe")
    before = len(os.listdir("/proc/self/fd"))
    for path, sentence in (("link", "is a link"), ("pipe", "not a regular file"), (".", "not a regular file")):
        with pytest.raises(NotPlain, match=sentence):
            read_plain(tmp_path / path)
    with pytest.raises(NotPlain):
        read_plain("/dev/zero")
    read_plain(tmp_path / "a")
    assert len(os.listdir("/proc/self/fd")) == before
