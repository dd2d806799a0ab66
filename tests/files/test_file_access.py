"""Reading and writing: only what was judged, only over what was shown, all or nothing."""

import errno
import os
import stat
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from assent.files import access as access_module
from assent.files import atomic_write as draft_module
from assent.files.access import Entry, FileAccess
from assent.files.errors import (
    CannotAccess,
    ChangedSinceShown,
    NotAFile,
    NotFound,
    OutsideWorkspace,
    ProtectedPath,
    RejectedPath,
    TooLarge,
    WorkspaceError,
    from_os,
)
from assent.files.openat import digest_of
from assent.files.workspace import Workspace

OLD, NEW = b"old content\n", b"new content\n"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "w"
    folder.mkdir()
    (tmp_path / "out").mkdir()
    return folder


@pytest.fixture
def files(root: Path) -> FileAccess:
    return FileAccess(Workspace([str(root)], str(root)))


@pytest.fixture(params=["nameless", "named", "no links"])
def any_draft(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """The three ways a draft can live: without a name, with one, and on a file system without hard links."""
    if request.param != "nameless":
        monkeypatch.setattr(draft_module, "_NAMELESS", 0)
    if request.param == "no links":

        def refuse(*_: Any, **__: Any) -> None:
            raise OSError(errno.EPERM, "no hard links here")

        monkeypatch.setattr(os, "link", refuse)


def tree(folder: Path) -> dict[str, bytes]:
    return {str(p.relative_to(folder)): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}


def test_reading_gives_content_digest_mode_and_size(files: FileAccess, root: Path) -> None:
    (root / "a").write_bytes(OLD)
    (root / "a").chmod(0o640)
    found = files.read_bytes("a", 100)
    assert (found.data, found.digest, found.mode, found.size) == (OLD, digest_of(OLD), 0o640, len(OLD))
    assert files.read_bytes("a", len(OLD)).data == OLD
    with pytest.raises(TooLarge, match="12 bytes, more than 11"):
        files.read_bytes("a", len(OLD) - 1)


def test_a_file_that_grows_while_it_is_read_is_still_limited(
    files: FileAccess, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (root / "a").write_bytes(OLD)

    def grown(fd: int, limit: int) -> bytes:
        return b"x" * limit

    monkeypatch.setattr(access_module, "read", grown)
    with pytest.raises(TooLarge, match="more than 100 bytes"):
        files.read_bytes("a", 100)


@pytest.mark.spec("I2")
@pytest.mark.parametrize(
    ("path", "error"),
    [
        ("../out/x", OutsideWorkspace),
        ("/etc/hosts", OutsideWorkspace),
        ("link-out", OutsideWorkspace),
        (".env", ProtectedPath),
        ("a\0b", RejectedPath),
        ("", RejectedPath),
        ("missing", NotFound),
        ("missing/x", NotFound),
        ("file/x", NotFound),
        ("folder", NotAFile),
        (".", NotAFile),
        ("pipe", NotAFile),
    ],
)
def test_reading_refuses_with_a_typed_error(
    files: FileAccess, root: Path, path: str, error: type[WorkspaceError]
) -> None:
    (root / "link-out").symlink_to("../out/x")
    (root / "folder").mkdir()
    (root / "file").touch()
    os.mkfifo(root / "pipe")
    with pytest.raises(error):
        files.read_bytes(path, 100)


def test_a_folder_is_called_a_folder(files: FileAccess, root: Path) -> None:
    (root / "folder").mkdir()
    os.mkfifo(root / "pipe")
    for path, sentence in ((".", "this is a folder"), ("folder", "this is a folder"), ("pipe", "not a regular file")):
        with pytest.raises(NotAFile, match=sentence):
            files.read_bytes(path, 100)


def test_a_question_of_its_own_opens_protected_files(files: FileAccess, root: Path) -> None:
    (root / ".env").write_bytes(OLD)
    assert files.read_bytes(".env", 100, protected_ok=True).data == OLD
    with pytest.raises(ProtectedPath, match="decides what runs"):
        files.write(".env", NEW, digest_of(OLD))
    files.write(".env", NEW, digest_of(OLD), protected_ok=True)
    with pytest.raises(OutsideWorkspace):
        files.write("../out/x", NEW, None, protected_ok=True)
    assert tree(root.parent) == {"w/.env": NEW}


@pytest.mark.spec("I2")
def test_a_folder_that_is_open_for_reading_gives_its_files_and_takes_none(root: Path) -> None:
    out = root.parent / "out"
    (out / "a").write_bytes(OLD)
    files = FileAccess(Workspace([str(root)], str(root), readable=[str(out)]))
    assert files.read_bytes("../out/a", 100).data == OLD
    for work in (
        lambda: files.write("../out/a", NEW, digest_of(OLD)),
        lambda: files.write("../out/b", NEW, None),
        lambda: files.delete("../out/a", digest_of(OLD)),
        lambda: files.make_dirs("../out/c"),
        lambda: files.scan("../out"),
        lambda: files.read_bytes("../out", 100),
    ):
        with pytest.raises(OutsideWorkspace):
            work()
    assert tree(root.parent) == {"out/a": OLD}


@pytest.mark.usefixtures("any_draft")
class TestWriting:
    def test_replaces_what_was_shown_and_keeps_the_mode(self, files: FileAccess, root: Path) -> None:
        (root / "a").write_bytes(OLD)
        (root / "a").chmod(0o751)
        assert files.write("a", NEW, digest_of(OLD)) == digest_of(NEW)
        assert tree(root) == {"a": NEW}
        assert stat.S_IMODE((root / "a").stat().st_mode) == 0o751

    def test_makes_a_new_file_with_the_usual_mode(self, files: FileAccess, root: Path) -> None:
        before = os.umask(0o027)
        try:
            files.write("a", NEW, None)
        finally:
            os.umask(before)
        assert tree(root) == {"a": NEW}
        assert stat.S_IMODE((root / "a").stat().st_mode) == 0o640
        assert (root / "a").stat().st_nlink == 1

    @pytest.mark.spec("J3")
    def test_refuses_if_the_content_is_not_what_was_shown(self, files: FileAccess, root: Path) -> None:
        (root / "a").write_bytes(b"changed by hand")
        with pytest.raises(ChangedSinceShown, match="no longer what was shown"):
            files.write("a", NEW, digest_of(OLD))
        with pytest.raises(ChangedSinceShown, match="already exists"):
            files.write("a", NEW, None)
        with pytest.raises(ChangedSinceShown, match="deleted"):
            files.write("b", NEW, digest_of(OLD))
        assert tree(root) == {"a": b"changed by hand"}

    def test_goes_through_a_link_that_stays_inside(self, files: FileAccess, root: Path) -> None:
        (root / "a").write_bytes(OLD)
        (root / "link").symlink_to("a")
        files.write("link", NEW, digest_of(OLD))
        assert (root / "link").is_symlink()
        assert (root / "a").read_bytes() == NEW

    def test_through_a_dangling_link_creates_its_target_or_nothing(self, files: FileAccess, root: Path) -> None:
        (root / "in").symlink_to("target")
        (root / "gone").symlink_to("../out/target")
        files.write("in", NEW, None)
        with pytest.raises(OutsideWorkspace):
            files.write("gone", NEW, None)
        assert (root / "target").read_bytes() == NEW
        assert tree(root.parent / "out") == {}

    @pytest.mark.parametrize("call", ["write", "fsync", "fchmod", "rename"])
    def test_that_fails_leaves_the_old_content_and_nothing_else(
        self, files: FileAccess, root: Path, monkeypatch: pytest.MonkeyPatch, call: str
    ) -> None:
        (root / "a").write_bytes(OLD)

        def fail(*_: Any, **__: Any) -> None:
            raise OSError(errno.ENOSPC, "No space left on device")

        with monkeypatch.context() as patch:
            patch.setattr(os, call, fail)
            with pytest.raises(CannotAccess, match="No space left"):
                files.write("a", NEW, digest_of(OLD))
        assert tree(root) == {"a": OLD}

    def test_that_is_interrupted_leaves_the_old_content_and_nothing_else(
        self, files: FileAccess, root: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        (root / "a").write_bytes(OLD)

        def interrupt(*_: Any, **__: Any) -> None:
            raise KeyboardInterrupt

        with monkeypatch.context() as patch:
            patch.setattr(os, "rename", interrupt)
            with pytest.raises(KeyboardInterrupt):
                files.write("a", NEW, digest_of(OLD))
        assert tree(root) == {"a": OLD}

    def test_leaves_no_descriptor_open(self, files: FileAccess, root: Path) -> None:
        before = len(os.listdir("/proc/self/fd"))
        files.write("a", OLD, None)
        files.write("a", NEW, digest_of(OLD))
        assert len(os.listdir("/proc/self/fd")) == before

    def test_writes_everything_however_little_the_system_takes_at_a_time(
        self, files: FileAccess, root: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        write = os.write
        with monkeypatch.context() as patch:
            patch.setattr(os, "write", lambda fd, data: write(fd, bytes(data[:3])))  # pyright: ignore
            files.write("a", NEW * 50, None)
        assert tree(root) == {"a": NEW * 50}


@pytest.mark.parametrize(
    ("code", "written"),
    [
        *((code, True) for code in ("EOPNOTSUPP", "EISDIR", "EINVAL", "ENOENT", "ENOSYS")),
        *((code, False) for code in ("EACCES", "ENOSPC", "EROFS")),
    ],
)
def test_only_a_system_without_nameless_drafts_gets_one_with_a_name(
    files: FileAccess, root: Path, monkeypatch: pytest.MonkeyPatch, code: str, written: bool
) -> None:
    open_any = os.open

    def without(path: Any, flags: int, *arguments: Any, **options: Any) -> int:
        if flags & os.O_TMPFILE == os.O_TMPFILE:
            raise OSError(getattr(errno, code), code)
        return open_any(path, flags, *arguments, **options)

    monkeypatch.setattr(os, "open", without)
    if written:
        files.write("a", NEW, None)
    else:
        with pytest.raises(CannotAccess):
            files.write("a", NEW, None)
    assert tree(root) == ({"a": NEW} if written else {})


@pytest.mark.parametrize("system", ["has drafts without a name", "has no such drafts", "has no /proc"])
def test_a_draft_has_a_name_only_where_it_must(
    files: FileAccess, root: Path, monkeypatch: pytest.MonkeyPatch, system: str
) -> None:
    if system == "has no such drafts":
        monkeypatch.setattr(draft_module, "_NAMELESS", 0)
    if system == "has no /proc":
        monkeypatch.setattr(os.path, "isdir", lambda path: False)  # pyright: ignore
    seen, write = list[list[str]](), os.write

    def watch(fd: int, data: bytes) -> int:
        seen.append(os.listdir(root))
        return write(fd, data)

    monkeypatch.setattr(os, "write", watch)
    files.write("a", NEW, None)
    names = [name for names in seen for name in names]
    assert [name.startswith(".assent-") for name in names] == ([] if system == "has drafts without a name" else [True])
    assert tree(root) == {"a": NEW}


def test_a_link_that_fails_for_another_reason_is_an_error(
    files: FileAccess, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: Any, **__: Any) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(draft_module, "_NAMELESS", 0)
    monkeypatch.setattr(os, "link", full)
    with pytest.raises(CannotAccess):
        files.write("a", NEW, None)
    assert tree(root) == {}


def test_writing_leaves_the_other_name_of_a_file_alone(files: FileAccess, root: Path) -> None:
    other = root.parent / "out" / "x"
    other.write_bytes(OLD)
    (root / "a").hardlink_to(other)
    with pytest.raises(ProtectedPath, match="second name"):
        files.write("a", NEW, digest_of(OLD))
    files.write("a", NEW, digest_of(OLD), protected_ok=True)
    assert (other.read_bytes(), (root / "a").read_bytes()) == (OLD, NEW)


def test_a_new_file_does_not_take_the_place_of_one_with_another_name(files: FileAccess, root: Path) -> None:
    (root / "a").write_bytes(OLD)
    (root / "b").hardlink_to(root / "a")
    with pytest.raises(ChangedSinceShown, match="already exists"):
        files.write("a", NEW, None)


def test_writing_refuses_what_is_not_a_regular_file(files: FileAccess, root: Path) -> None:
    (root / "folder").mkdir()
    os.mkfifo(root / "pipe")
    for path in ("folder", "pipe", "."):
        for expected in (None, digest_of(OLD)):
            with pytest.raises(NotAFile):
                files.write(path, NEW, expected)
    with pytest.raises(NotFound):
        files.write("missing/a", NEW, None)
    assert tree(root) == {}


def test_a_new_content_is_synced_before_it_is_in_place_and_the_folder_after(
    files: FileAccess, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (root / "a").write_bytes(OLD)
    seen = list[tuple[str, bytes]]()
    fsync = os.fsync

    def watch(fd: int) -> None:
        seen.append(("folder" if stat.S_ISDIR(os.fstat(fd).st_mode) else "file", (root / "a").read_bytes()))
        fsync(fd)

    monkeypatch.setattr(os, "fsync", watch)
    files.write("a", NEW, digest_of(OLD))
    assert seen == [("file", OLD), ("folder", NEW)]


def test_a_secret_is_never_readable_by_others_while_it_is_replaced(
    files: FileAccess, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(draft_module, "_NAMELESS", 0)
    (root / "a").write_bytes(OLD)
    (root / "a").chmod(0o600)
    modes = set[int]()
    write = os.write

    def watch(fd: int, data: bytes) -> int:
        modes.add(stat.S_IMODE(os.fstat(fd).st_mode))
        return write(fd, data)

    monkeypatch.setattr(os, "write", watch)
    files.write("a", NEW, digest_of(OLD))
    assert modes == {0o600}


def test_the_owner_is_kept_where_the_system_lets_us(
    files: FileAccess, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (root / "a").write_bytes(OLD)
    asked = list[tuple[int, int]]()
    fstat, mine = os.fstat, (root / "a").stat()

    def foreign(fd: int) -> os.stat_result:
        found = fstat(fd)
        return os.stat_result((*found[:4], 4242, 4343, *found[6:])) if found.st_ino == mine.st_ino else found

    def chown(fd: int, uid: int, gid: int) -> None:
        asked.append((uid, gid))
        raise PermissionError

    monkeypatch.setattr(os, "fstat", foreign)
    monkeypatch.setattr(os, "fchown", chown)
    files.write("a", NEW, digest_of(OLD))
    assert asked == [(4242, 4343)]
    assert (root / "a").read_bytes() == NEW


class TestBetweenTheStepsOfAWrite:
    """Someone changes the world while the draft is synced: deterministic, one change a test."""

    @contextmanager
    def meanwhile(self, monkeypatch: pytest.MonkeyPatch, change: Callable[[], object]) -> Generator[None]:
        fsync = os.fsync

        def sync(fd: int) -> None:
            monkeypatch.setattr(os, "fsync", fsync)
            change()
            fsync(fd)

        monkeypatch.setattr(os, "fsync", sync)
        yield

    @pytest.mark.spec("J3")
    def test_changed_content_stays(self, files: FileAccess, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        (root / "a").write_bytes(OLD)
        with (
            self.meanwhile(monkeypatch, lambda: (root / "a").write_bytes(b"OLD CONTENT\n")),
            pytest.raises(ChangedSinceShown, match="no longer what was shown"),
        ):
            files.write("a", NEW, digest_of(OLD))
        assert tree(root) == {"a": b"OLD CONTENT\n"}

    def test_a_file_of_the_same_content_in_its_place_stays(
        self, files: FileAccess, root: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        (root / "a").write_bytes(OLD)
        (root / "b").write_bytes(OLD)
        with (
            self.meanwhile(monkeypatch, lambda: os.replace(root / "b", root / "a")),
            pytest.raises(ChangedSinceShown, match="replaced by another"),
        ):
            files.write("a", NEW, digest_of(OLD))
        assert tree(root) == {"a": OLD}

    @pytest.mark.parametrize("draft", ["nameless", "named"])
    def test_a_new_file_is_not_overwritten(
        self, files: FileAccess, root: Path, monkeypatch: pytest.MonkeyPatch, draft: str
    ) -> None:
        if draft == "named":
            monkeypatch.setattr(draft_module, "_NAMELESS", 0)
        with (
            self.meanwhile(monkeypatch, lambda: (root / "a").write_bytes(OLD)),
            pytest.raises(ChangedSinceShown, match="already exists"),
        ):
            files.write("a", NEW, None)
        assert tree(root) == {"a": OLD}

    @pytest.mark.parametrize("draft", ["nameless", "named", "no links"])
    def test_not_even_after_the_last_look(
        self, files: FileAccess, root: Path, monkeypatch: pytest.MonkeyPatch, draft: str
    ) -> None:
        if draft != "nameless":
            monkeypatch.setattr(draft_module, "_NAMELESS", 0)
        link = os.link

        def late(*arguments: Any, **options: Any) -> None:
            (root / "a").write_bytes(OLD)
            if draft == "no links":
                raise OSError(errno.EPERM, "no hard links here")
            link(*arguments, **options)

        monkeypatch.setattr(os, "link", late)
        with pytest.raises(ChangedSinceShown, match="already exists"):
            files.write("a", NEW, None)
        assert tree(root) == {"a": OLD}

    @pytest.mark.spec("I2")
    def test_a_link_in_place_of_the_file_is_not_followed(
        self, files: FileAccess, root: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        (root / "a").write_bytes(OLD)
        out = root.parent / "out" / "x"
        out.write_bytes(OLD)

        def swap() -> None:
            (root / "a").unlink()
            (root / "a").symlink_to(out)

        with self.meanwhile(monkeypatch, swap), pytest.raises((OutsideWorkspace, ChangedSinceShown)):
            files.write("a", NEW, digest_of(OLD))
        assert tree(root.parent) == {"out/x": OLD, "w/a": OLD}

    @pytest.mark.spec("I2")
    @pytest.mark.parametrize("replacement", ["link out", "link in", "folder", "nothing", "moved out"])
    def test_another_folder_in_place_of_the_parent_is_noticed(
        self, files: FileAccess, root: Path, monkeypatch: pytest.MonkeyPatch, replacement: str
    ) -> None:
        folder, out = root / "folder", root.parent / "out"
        folder.mkdir()
        (folder / "a").write_bytes(OLD)
        (out / "a").write_bytes(OLD)

        def swap() -> None:
            folder.rename(out / "moved" if replacement == "moved out" else root / "moved")
            match replacement:
                case "link out":
                    folder.symlink_to(out)
                case "link in":
                    folder.symlink_to(root)
                case "folder":
                    folder.mkdir()
                case _:
                    return

        with (
            self.meanwhile(monkeypatch, swap),
            pytest.raises((OutsideWorkspace, ChangedSinceShown, NotFound)),
        ):
            files.write("folder/a", NEW, digest_of(OLD))
        assert set(tree(root.parent).values()) == {OLD}

    def test_a_walk_does_not_follow_a_link_that_appears_after_the_judgement(
        self, files: FileAccess, root: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        (root / "folder").mkdir()
        (root / "folder" / "a").write_bytes(OLD)
        classify = Workspace.classify

        def late(workspace: Workspace, path: str, op: Any) -> Any:
            verdict = classify(workspace, path, op)
            if not (root / "folder").is_symlink():
                (root / "folder").rename(root / "moved")
                (root / "folder").symlink_to("../out")
            return verdict

        monkeypatch.setattr(Workspace, "classify", late)
        with pytest.raises(ChangedSinceShown, match="became a link"):
            files.write("folder/b", NEW, None)
        assert tree(root.parent) == {"w/moved/a": OLD}

    def test_a_file_that_becomes_a_link_after_the_judgement_is_not_read(
        self, files: FileAccess, root: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        (root / "a").write_bytes(OLD)
        classify = Workspace.classify

        def late(workspace: Workspace, path: str, op: Any) -> Any:
            verdict = classify(workspace, path, op)
            (root / "a").unlink()
            (root / "a").symlink_to("/etc/hosts")
            return verdict

        monkeypatch.setattr(Workspace, "classify", late)
        with pytest.raises(ChangedSinceShown, match="became a link"):
            files.read_bytes("a", 1000)


def test_a_file_opened_in_place_of_the_one_looked_at_must_be_regular_too(
    files: FileAccess, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (root / "a").write_bytes(OLD)
    stat_of = os.stat

    def swap(path: Any, **options: Any) -> os.stat_result:
        found = stat_of(path, **options)
        if path == "a":
            (root / "a").unlink()
            os.mkfifo(root / "a")
        return found

    monkeypatch.setattr(os, "stat", swap)
    with pytest.raises(NotAFile):
        files.read_bytes("a", 100)


def test_a_replaced_root_is_not_the_workspace_any_more(files: FileAccess, root: Path) -> None:
    root.rename(root.parent / "moved")
    root.mkdir()
    (root / "a").write_bytes(OLD)
    with pytest.raises(OutsideWorkspace, match="no longer the folder"):
        files.read_bytes("a", 100)


def test_a_replaced_root_leaves_no_descriptor_open(files: FileAccess, root: Path) -> None:
    root.rename(root.parent / "moved")
    root.mkdir()
    before = len(os.listdir("/proc/self/fd"))
    with pytest.raises(OutsideWorkspace):
        files.read_bytes("a", 100)
    assert len(os.listdir("/proc/self/fd")) == before


def test_a_root_that_is_made_later_is_the_workspace_then(tmp_path: Path) -> None:
    files = FileAccess(Workspace([f"{tmp_path}/later"], "/"))
    (tmp_path / "later").mkdir()
    files.write(f"{tmp_path}/later/a", NEW, None)
    assert tree(tmp_path) == {"later/a": NEW}


@pytest.mark.spec("I2")
@pytest.mark.parametrize("attack", ["content", "file", "link", "parent", "folder"])
def test_a_rival_that_swaps_things_all_the_time_gets_nothing_written_elsewhere(root: Path, attack: str) -> None:
    """Bounded rounds against a busy thread: whoever wins a round, the outcome is one of the legal ones."""
    out = root.parent / "out"
    folder, moved = root / "folder", root / "moved"
    folder.mkdir()
    (folder / "a").write_bytes(OLD)
    (out / "a").write_bytes(OLD)
    stop = threading.Event()
    rival = threading.Thread(target=_swap_until, args=(stop, attack, folder, moved, out))
    rival.start()
    files = FileAccess(Workspace([str(root)], str(root)))
    try:
        for number in range(200):
            _write_once(files, b"round %d\n" % number * 50)
    finally:
        stop.set()
        rival.join()
    assert tree(out) == {"a": OLD}
    left = tree(root)
    assert {Path(name).name for name in left} <= {"a", "b"}
    assert all(_is_whole(content) for content in left.values())


def _write_once(files: FileAccess, data: bytes) -> None:
    try:
        shown = files.read_bytes("folder/a", 10_000).digest
    except WorkspaceError:
        shown = None
    try:
        files.write("folder/a", data, shown)
    except WorkspaceError:
        return


def _is_whole(content: bytes) -> bool:
    lines = set(content.splitlines())
    return len(lines) <= 1


def _swap_until(stop: threading.Event, attack: str, folder: Path, moved: Path, out: Path) -> None:
    while not stop.is_set():
        try:
            _swap_once(attack, folder, moved, out)
        except OSError:
            continue


def _swap_once(attack: str, folder: Path, moved: Path, out: Path) -> None:
    match attack:
        case "content":
            with open(folder / "a", "wb") as file:
                file.write(OLD)
        case "file":
            (folder / "b").write_bytes(OLD)
            os.replace(folder / "b", folder / "a")
        case "link":
            os.unlink(folder / "a")
            os.symlink(out / "a", folder / "a")
            os.unlink(folder / "a")
        case "parent":
            os.rename(folder, moved)
            os.symlink(out, folder)
            os.unlink(folder)
            os.rename(moved, folder)
        case _:
            os.rename(folder, moved)
            os.mkdir(folder)
            os.rmdir(folder)
            os.rename(moved, folder)


def test_deleting_takes_only_what_was_shown(files: FileAccess, root: Path) -> None:
    (root / "a").write_bytes(OLD)
    with pytest.raises(ChangedSinceShown):
        files.delete("a", digest_of(NEW))
    with pytest.raises(OutsideWorkspace):
        files.delete("../out", digest_of(NEW))
    assert tree(root) == {"a": OLD}
    files.delete("a", digest_of(OLD))
    assert tree(root) == {}


class TestBetweenTheStepsOfADeletion:
    @pytest.fixture
    def meanwhile(self, monkeypatch: pytest.MonkeyPatch) -> Callable[[Callable[[], object]], None]:
        """Changes the world right after the first look at the file."""
        look = access_module.preimage

        def plan(change: Callable[[], object]) -> None:
            def looked(*arguments: Any) -> Any:
                found = look(*arguments)
                change()
                return found

            monkeypatch.setattr(access_module, "preimage", looked)

        return plan

    @pytest.mark.spec("J3")
    def test_changed_content_stays(self, files: FileAccess, root: Path, meanwhile: Any) -> None:
        (root / "a").write_bytes(OLD)
        meanwhile(lambda: (root / "a").write_bytes(NEW))
        with pytest.raises(ChangedSinceShown, match="no longer what was shown"):
            files.delete("a", digest_of(OLD))
        assert tree(root) == {"a": NEW}

    @pytest.mark.spec("I2")
    def test_a_file_whose_folder_was_moved_out_stays(self, files: FileAccess, root: Path, meanwhile: Any) -> None:
        (root / "folder").mkdir()
        (root / "folder" / "a").write_bytes(OLD)
        meanwhile(lambda: (root / "folder").rename(root.parent / "out" / "moved"))
        with pytest.raises(NotFound):
            files.delete("folder/a", digest_of(OLD))
        assert tree(root.parent) == {"out/moved/a": OLD}


def test_what_was_deleted_is_gone_after_a_power_cut_too(
    files: FileAccess, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (root / "a").write_bytes(OLD)
    synced = list[list[str]]()
    monkeypatch.setattr(os, "fsync", lambda fd: synced.append(os.listdir(fd)))  # pyright: ignore
    files.delete("a", digest_of(OLD))
    assert synced == [[]]


def test_folders_are_made_beneath_the_root_only(files: FileAccess, root: Path) -> None:
    files.make_dirs("a/b/c")
    files.make_dirs("a/b/c")
    files.make_dirs(".")
    files.make_dirs(".github")
    (root / "link").symlink_to("../out")
    (root / "file").touch()
    for path, error in [
        ("../x", OutsideWorkspace),
        ("link/x", OutsideWorkspace),
        (".git/x", ProtectedPath),
        (".github/workflows", ProtectedPath),
        ("file/x", NotFound),
    ]:
        with pytest.raises(error):
            files.make_dirs(path)
    assert sorted(p.name for p in root.iterdir()) == [".github", "a", "file", "link"]
    assert (root / "a/b/c").is_dir()
    assert list((root.parent / "out").iterdir()) == []


def test_a_listing_shows_links_without_following_them(files: FileAccess, root: Path) -> None:
    (root / "file").write_bytes(OLD)
    (root / "folder").mkdir()
    (root / "in").symlink_to("file")
    (root / "out").symlink_to("/etc")
    os.mkfifo(root / "pipe")
    found = {entry.name: entry for entry in files.scan(".")}
    assert list(found) == ["file", "folder", "in", "out", "pipe"]
    assert found["file"] == Entry("file", "file", len(OLD))
    assert [entry.kind for entry in found.values()] == ["file", "folder", "link", "link", "other"]
    assert (found["in"].inside, found["out"].inside) == (True, False)
    with pytest.raises(OutsideWorkspace):
        files.scan("out")
    with pytest.raises(NotFound):
        files.scan("file")


def test_errors_say_in_a_sentence_what_is_wrong(files: FileAccess) -> None:
    with pytest.raises(OutsideWorkspace) as caught:
        files.read_bytes("/etc/hosts", 10)
    assert str(caught.value) == "/etc/hosts: /etc/hosts is outside the workspace"
    assert caught.value.path == "/etc/hosts"


@pytest.mark.parametrize(
    ("said", "kind", "sentence"),
    [
        (OSError(errno.ENOENT, ""), NotFound, "no such file"),
        (OSError(errno.ENOTDIR, ""), NotFound, "part of this path is a file"),
        (OSError(errno.ELOOP, ""), ChangedSinceShown, "became a link"),
        (OSError(errno.EISDIR, ""), NotAFile, "not a regular file"),
        (OSError(errno.ENXIO, ""), NotAFile, "not a regular file"),
        (OSError(errno.EACCES, ""), CannotAccess, "Permission denied"),
        (OSError("words of its own"), CannotAccess, "words of its own"),
    ],
)
def test_what_the_system_says_becomes_an_error_for_a_person(
    said: OSError, kind: type[WorkspaceError], sentence: str
) -> None:
    error = from_os("a/b", said)
    assert type(error) is kind
    assert error.path == "a/b" and sentence in str(error)


def test_no_descriptor_stays_open(files: FileAccess, root: Path) -> None:
    (root / "a").write_bytes(OLD)
    (root / "folder").mkdir()
    before = os.listdir("/proc/self/fd")
    for path in ("a", "missing/x", "a/x", "folder", "../x"):
        for attempt in (
            lambda path=path: files.read_bytes(path, 100),
            lambda path=path: files.write(path, NEW, digest_of(NEW)),
            lambda path=path: files.write(path, NEW, None),
            lambda path=path: files.scan(path),
        ):
            try:
                attempt()
            except WorkspaceError:
                continue
    assert len(os.listdir("/proc/self/fd")) == len(before)
