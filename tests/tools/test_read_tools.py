"""read_file, list_directory, glob and grep_search on real files."""

import os
import time
from base64 import b64decode
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from assent.approval import InfoDetails
from assent.parts import Media, PlainDisplay
from assent.process.run_program import run
from assent.tools.support import searching, walk
from assent.tools.tool import ToolFailed
from tools.test_tool_contract import failure
from tools.toolkit import PERMIT, Bench, LiveRecorder

PNG = b"\x89PNG\r\n\x1a\n" + bytes(20)


@pytest.fixture(params=["rg", "python"])
def searcher(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Both ways of searching must give the same answers."""
    if request.param == "python":
        for module in ("assent.tools.support.searching", "assent.tools.support.walk"):
            monkeypatch.setattr(f"{module}.find_rg", lambda: None)
    else:
        assert searching.find_rg()
    return str(request.param)


# --- read_file ---


@pytest.mark.spec("D5")
async def test_a_small_file_is_given_as_it_is(bench: Bench) -> None:
    (bench.root / "a.py").write_text("one\n\n  two\n")
    result = await bench.run("read_file", file_path="a.py")
    assert result.content == "one\n\n  two"
    assert result.display == PlainDisplay("Read 3 lines")
    (bench.root / "a.py").write_text("one")
    assert (await bench.run("read_file", file_path="a.py")).display == PlainDisplay("Read 1 line")


async def test_an_empty_file_says_so(bench: Bench) -> None:
    (bench.root / "empty").touch()
    assert await bench.text("read_file", file_path="empty") == "The file is empty."


async def test_a_long_file_is_cut_and_says_how_to_read_on(bench: Bench) -> None:
    (bench.root / "long").write_text("".join(f"{n}\n" for n in range(1, 4502)))
    text = await bench.text("read_file", file_path="long")
    head, _, body = text.partition("\n--- FILE CONTENT ---\n")
    assert head == (
        "IMPORTANT: The file content has been truncated.\n"
        "Showing lines 1-2000 of 4501. To continue reading, call read_file again with start_line: 2001."
    )
    assert body.splitlines() == [str(n) for n in range(1, 2001)]
    rest = await bench.text("read_file", file_path="long", start_line=4001)
    assert rest.startswith("Showing lines 4001-4501 of 4501.\n--- FILE CONTENT ---\n4001\n")
    assert rest.endswith("\n4501")


async def test_a_range_of_lines_is_inclusive(bench: Bench) -> None:
    (bench.root / "f").write_text("a\nb\nc\nd\n")
    text = await bench.text("read_file", file_path="f", start_line=2, end_line=3)
    assert text == "Showing lines 2-3 of 4.\n--- FILE CONTENT ---\nb\nc"
    assert await bench.text("read_file", file_path="f", end_line=400) == "a\nb\nc\nd"
    beyond = await failure(bench, "read_file", file_path="f", start_line=5)
    assert (beyond.type, "has only 4 lines" in beyond.message) == ("read_content_failure", True)


async def test_a_long_line_is_cut(bench: Bench) -> None:
    (bench.root / "f").write_text("x" * 5000 + "\ny\n")
    text = await bench.text("read_file", file_path="f")
    assert "1 line(s) longer than 2000 characters were cut." in text
    assert text.endswith("x" * 2000 + "... [truncated]\ny")


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-32", "latin-1"])
async def test_other_encodings_are_read(bench: Bench, encoding: str) -> None:
    (bench.root / "f").write_bytes("grün\r\nblau\r\n".encode(encoding))
    assert await bench.text("read_file", file_path="f") == "grün\nblau"


async def test_pictures_and_the_like_are_given_as_media(bench: Bench) -> None:
    (bench.root / "picture.txt").write_bytes(PNG)
    result = await bench.run("read_file", file_path="picture.txt")
    assert isinstance(result.content, tuple)
    (part,) = result.content
    assert isinstance(part, Media)
    assert (part.mime, b64decode(part.data)) == ("image/png", PNG)


async def test_binary_is_refused_with_what_it_is(bench: Bench) -> None:
    (bench.root / "ls.txt").write_bytes(b"\x7fELF\x02\x01\0\0" + bytes(99))
    refused = await failure(bench, "read_file", file_path="ls.txt")
    assert refused.message == "ls.txt is not text but an ELF program or library, 107 bytes; it cannot be shown."


async def test_a_missing_file_names_the_ones_that_look_alike(bench: Bench) -> None:
    (bench.root / "src").mkdir()
    (bench.root / "src" / "server.py").touch()
    missing = await failure(bench, "read_file", file_path="src/servr.py")
    assert missing.type == "file_not_found"
    assert missing.message == "src/servr.py does not exist. Did you mean src/server.py?"
    assert (await failure(bench, "read_file", file_path="no/such/thing")).type == "file_not_found"


async def test_a_folder_a_pipe_and_a_huge_file_are_refused(bench: Bench) -> None:
    (bench.root / "folder").mkdir()
    os.mkfifo(bench.root / "pipe")
    (bench.root / "huge").touch()
    os.truncate(bench.root / "huge", 20_000_001)
    types = [(await failure(bench, "read_file", file_path=name)).type for name in ("folder", "pipe", "huge")]
    assert types == ["target_is_directory", "read_content_failure", "file_too_large"]


@pytest.mark.skipif(os.geteuid() == 0, reason="nothing is unreadable for root")
async def test_an_unreadable_file_is_refused(bench: Bench) -> None:
    (bench.root / "f").write_text("x")
    (bench.root / "f").chmod(0)
    assert (await failure(bench, "read_file", file_path="f")).type == "permission_denied"


async def test_a_link_out_of_the_workspace_is_not_followed(bench: Bench) -> None:
    (bench.root.parent / "outside").write_text("secret")
    (bench.root / "link").symlink_to("../outside")
    assert (await failure(bench, "read_file", file_path="link")).type == "path_not_in_workspace"


async def test_a_usual_place_for_secrets_is_worth_a_question(bench: Bench) -> None:
    (bench.root / ".env").write_text("KEY=1\n")
    invocation = bench.build("read_file", file_path=".env")
    with pytest.raises(ToolFailed, match="usually holds secrets"):
        await invocation.execute(PERMIT, LiveRecorder())
    details = await invocation.should_confirm()
    assert isinstance(details, InfoDetails) and ".env" in details.prompt
    assert (await invocation.execute(PERMIT, LiveRecorder())).content == "KEY=1"


# --- list_directory ---


async def test_a_listing_has_folders_first_and_sizes(bench: Bench) -> None:
    (bench.root / "b.txt").write_text("12345")
    (bench.root / "a.log").write_text("")
    (bench.root / "Zoo").mkdir()
    (bench.root / "new\nline").write_text("")
    (bench.root / "über").write_text("")
    os.mkfifo(bench.root / "pipe")
    (bench.root / "out").symlink_to("/etc")
    text = await bench.text("list_directory", dir_path=".", ignore=["*.log"])
    assert text.splitlines() == [
        "Directory listing for . (1 ignored):",
        "[DIR] Zoo",
        "b.txt (5 bytes)",
        "'new\\nline' (0 bytes)",
        "out (link that leads out of the workspace)",
        "pipe (not a regular file)",
        "über (0 bytes)",
    ]


async def test_a_listing_of_nothing_a_file_or_a_missing_folder(bench: Bench) -> None:
    assert await bench.text("list_directory", dir_path=".") == "Directory . is empty."
    (bench.root / "f").touch()
    assert (await failure(bench, "list_directory", dir_path="f")).type == "path_is_not_a_directory"
    assert (await failure(bench, "list_directory", dir_path="g")).type == "file_not_found"


async def test_a_name_that_is_not_utf8_is_listed_as_valid_text(bench: Bench) -> None:
    (bench.root / os.fsdecode(b"\xff\xfe")).touch()
    text = await bench.text("list_directory", dir_path=".")
    assert "\ufffd\ufffd (0 bytes)" in text


# --- glob ---


def touch(path: Path, age: float = 0) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.touch()
    os.utime(path, (time.time() - age, time.time() - age))


async def test_files_of_today_come_first_then_the_alphabet(bench: Bench, searcher: str) -> None:
    touch(bench.root / "z.py", age=10)
    touch(bench.root / "src" / "y.py", age=100)
    touch(bench.root / "b.py", age=100_000)
    touch(bench.root / "a.py", age=200_000)
    touch(bench.root / "a.txt")
    text = await bench.text("glob", pattern="**/*.py")
    assert text.splitlines() == [
        'Found 4 file(s) matching "**/*.py" in the workspace, newest first:',
        "z.py",
        "src/y.py",
        "a.py",
        "b.py",
    ]


async def found_by_glob(bench: Bench, **args: object) -> set[str]:
    return set((await bench.text("glob", **args)).splitlines()[1:])


async def test_what_git_ignores_is_left_out_unless_asked_for(bench: Bench, searcher: str) -> None:
    for name in ("a.py", "build/b.py", "src/keep.gen.py", "src/x.gen.py", "src/deep/c.py", ".git/d.py", ".hidden/e.py"):
        touch(bench.root / name)
    (bench.root / ".gitignore").write_text("build/\n*.gen.py\n/src/deep\n")
    (bench.root / "src" / ".gitignore").write_text("!keep.gen.py\n")
    kept = {"a.py", "src/keep.gen.py", ".hidden/e.py"}
    everything = kept | {"build/b.py", "src/x.gen.py", "src/deep/c.py"}
    assert await found_by_glob(bench, pattern="**/*.py") == kept
    assert await found_by_glob(bench, pattern="**/*.py", respect_git_ignore=False) == everything
    assert await found_by_glob(bench, pattern="**/*.py", dir_path="src") == {"src/keep.gen.py"}


async def test_glob_is_not_about_case_unless_asked(bench: Bench, searcher: str) -> None:
    touch(bench.root / "READ.ME")
    assert await found_by_glob(bench, pattern="read.*") == {"READ.ME"}
    assert await found_by_glob(bench, pattern="read.*", case_sensitive=True) == set()


async def test_an_absolute_pattern_inside_the_workspace_works(bench: Bench, searcher: str) -> None:
    touch(bench.root / "src" / "a.py")
    assert await found_by_glob(bench, pattern=f"{bench.root}/src/*.py") == {"src/a.py"}
    assert (await failure(bench, "glob", pattern="/etc/*.conf")).type == "path_not_in_workspace"


async def test_links_are_not_followed_by_a_search(bench: Bench, searcher: str) -> None:
    touch(bench.root.parent / "outside" / "x.py")
    (bench.root / "link").symlink_to("../outside")
    (bench.root / "loop").symlink_to(".")
    assert await found_by_glob(bench, pattern="**") == set()
    assert (await bench.text("grep_search", pattern="x")).startswith("No matches found")


async def test_names_with_line_breaks_are_one_line_each(bench: Bench, searcher: str) -> None:
    touch(bench.root / "a\nb.py")
    assert await found_by_glob(bench, pattern="*.py") == {"'a\\nb.py'"}


async def test_too_many_files_are_capped_and_counted(bench: Bench) -> None:
    for number in range(510):
        (bench.root / f"{number:03}.x").touch()
    text = await bench.text("glob", pattern="*.x")
    assert text.startswith('Found 510 file(s) matching "*.x" in the workspace (the first 500 are shown)')
    assert len(text.splitlines()) == 501


# --- grep_search ---


async def test_matches_are_grouped_by_file_with_line_numbers(bench: Bench, searcher: str) -> None:
    (bench.root / "a.py").write_text("import os\nx = 1\nIMPORT sys\n")
    (bench.root / "b").mkdir()
    (bench.root / "b" / "c.txt").write_text("no\nimporting things\r\nimport\n")
    assert await bench.text("grep_search", pattern=r"^import") == (
        'Found 4 match(es) for "^import" in the workspace:\n'
        "---\nFile: a.py\nL1: import os\n...\nL3: IMPORT sys\n"
        "---\nFile: b/c.txt\nL2: importing things\nL3: import"
    )


async def test_the_options_of_a_search(bench: Bench, searcher: str) -> None:
    (bench.root / "a.py").write_text("one.two\noneXtwo\nONE.TWO\n")
    (bench.root / "b.js").write_text("one.two\n")

    async def lines(**args: object) -> list[str]:
        text = await bench.text("grep_search", **{"pattern": "one.two", "context": 0, **args})
        return [line for line in text.splitlines()[1:] if line[:1] == "L" or line.startswith("File: ")]

    assert await lines() == ["File: a.py", "L1: one.two", "L2: oneXtwo", "L3: ONE.TWO", "File: b.js", "L1: one.two"]
    assert await lines(fixed_strings=True, case_sensitive=True, include_pattern="*.py") == ["File: a.py", "L1: one.two"]
    assert await lines(exclude_pattern="x", dir_path="a.py") == ["File: a.py", "L1: one.two", "L3: ONE.TWO"]
    assert await lines(max_matches_per_file=1) == ["File: a.py", "L1: one.two", "File: b.js", "L1: one.two"]
    assert await lines(pattern="oneX", after=1) == ["File: a.py", "L2: oneXtwo", "L3- ONE.TWO"]
    assert await lines(pattern="oneX", before=1) == ["File: a.py", "L1- one.two", "L2: oneXtwo"]


async def test_names_only_lists_each_file_once(bench: Bench, searcher: str) -> None:
    for name in ("a", "b"):
        (bench.root / name).write_text("x\nx\n")
    text = await bench.text("grep_search", pattern="x", names_only=True)
    assert text == 'Found 2 file(s) with matches for "x" in the workspace:\na\nb'


async def test_a_search_stops_at_its_limit_and_says_so(bench: Bench, searcher: str) -> None:
    (bench.root / "many").write_text("x\n" * 100_000)
    text = await bench.text("grep_search", pattern="x", total_max_matches=5)
    assert text.startswith('Found 5 match(es) (stopped there; there may be more) for "x"')
    assert text.count("\nL") == 5


async def test_few_matches_come_with_their_surroundings(bench: Bench, searcher: str) -> None:
    (bench.root / "f").write_text("".join(f"line {n}\n" for n in range(1, 201)))
    text = await bench.text("grep_search", pattern="line 100$")
    assert text.splitlines()[3] == "L50- line 50" and text.splitlines()[-1] == "L150- line 150"
    assert "L100: line 100" in text


async def test_no_match_is_not_an_error(bench: Bench, searcher: str) -> None:
    assert await bench.text("grep_search", pattern="x") == 'No matches found for "x" in the workspace.'


async def test_a_broken_expression_is_explained(bench: Bench, searcher: str) -> None:
    (bench.root / "f").write_text("x")
    refused = await failure(bench, "grep_search", pattern="(")
    assert refused.type == "grep_execution_error"
    assert "not a valid regular expression" in refused.message


async def test_a_pattern_that_looks_like_an_option_is_a_pattern(bench: Bench, searcher: str) -> None:
    (bench.root / "f").write_text("--files\n")
    assert "L1: --files" in await bench.text("grep_search", pattern="--files")


async def test_ignored_binary_and_secret_files_are_not_searched(bench: Bench, searcher: str) -> None:
    (bench.root / ".gitignore").write_text("ignored\n")
    (bench.root / "ignored").write_text("needle\n")
    (bench.root / "binary").write_bytes(b"needle\0\1\2")
    (bench.root / ".env").write_text("needle=1\n")
    text = await bench.text("grep_search", pattern="needle", context=0)
    assert "needle=1" not in text and "ignored" not in text
    assert text.startswith("No matches found")
    assert "File: ignored" in await bench.text("grep_search", pattern="needle", no_ignore=True)


async def test_a_missing_place_to_search_is_an_error(bench: Bench, searcher: str) -> None:
    assert (await failure(bench, "grep_search", pattern="x", dir_path="none")).type == "file_not_found"


async def test_a_search_that_takes_too_long_is_stopped(bench: Bench) -> None:
    (bench.root / "f").write_text("x\n")
    bench.tools["grep_search"].timeout = 0.0  # pyright: ignore[reportAttributeAccessIssue]
    assert "took too long" in await bench.text("grep_search", pattern="x")


# --- a folder that is exchanged while it is searched ---


@pytest.fixture
def exchanged(bench: Bench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Bench:
    """While ripgrep runs, `sub` is a link that leads out."""
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "a.txt").write_text("needle outside\n")
    (outside / "b.txt").write_text("")
    (bench.root / "sub").mkdir()
    (bench.root / "sub/a.txt").write_text("needle inside\n")

    async def meanwhile(*words: Any, on_output: Callable[[str], None], **options: Any) -> Any:
        (bench.root / "sub").rename(bench.root / "aside")
        (bench.root / "sub").symlink_to(outside)
        pieces: list[str] = []
        finished = await run(*words, on_output=pieces.append, **options)
        (bench.root / "sub").unlink()
        (bench.root / "aside").rename(bench.root / "sub")
        on_output("".join(pieces))
        return finished

    monkeypatch.setattr(searching, "run", meanwhile)
    monkeypatch.setattr(walk, "run", meanwhile)
    return bench


@pytest.mark.spec("C8")
async def test_nothing_is_found_outside_when_a_folder_is_exchanged_for_a_link_meanwhile(exchanged: Bench):
    assert (await exchanged.text("grep_search", pattern="needle", dir_path="sub")).startswith("No matches found")


@pytest.mark.spec("C8")
async def test_nothing_outside_is_listed_when_a_folder_is_exchanged_for_a_link_meanwhile(exchanged: Bench):
    text = await exchanged.text("glob", pattern="*", dir_path="sub")
    assert "a.txt" in text
    assert "b.txt" not in text


async def test_a_folder_that_vanishes_before_the_search_begins_is_not_found(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
):
    async def meanwhile(*words: Any, **options: Any) -> Any:
        (bench.root / "sub").rmdir()
        return await run(*words, **options)

    (bench.root / "sub").mkdir()
    monkeypatch.setattr(searching, "run", meanwhile)
    assert (await failure(bench, "grep_search", pattern="x", dir_path="sub")).type == "file_not_found"


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "latin-1"])
async def test_lines_are_found_in_every_encoding_that_ripgrep_reads(bench: Bench, encoding: str):
    (bench.root / "a.txt").write_bytes("first\r\nsecond ä needle\nlast".encode(encoding))
    text = await bench.text("grep_search", pattern="needle", context=0)
    assert "L2: second " in text
