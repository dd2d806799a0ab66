"""What a prompt names comes along with it, and what must not is left out and said. Rows G1, E3, E5."""

import asyncio
import os
from pathlib import Path
from typing import cast

import pytest

from assent.app.mention_loading import MAX_LEFT_OUT, load_mentions
from assent.app.wording import attached_words
from assent.events import Attached
from assent.files.workspace import Workspace
from assent.mcp.manager import McpManager
from assent.parts import Media, Text
from assent.policy.policy import Policy
from assent.policy.rules import Rule
from assent.secrets.mask import Masker
from assent.tools.support.files import Files
from assent.tools.support.many_files import MAX_CHARACTERS
from assent.tools.tool import ToolFailed
from support.servers import SDK, open_manager, program
from support.waiting import WAIT_LIMIT

pytestmark = pytest.mark.spec("G1")
PNG = b"\x89PNG\r\n\x1a\nxx"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    (folder / "src" / "deep").mkdir(parents=True)
    (folder / "src" / "a.py").write_text("one\ntwo\n")
    (folder / "src" / "deep" / "b.py").write_text("three")
    (folder / "notes of mine.txt").write_text("buy milk\n")
    (folder / "pic.png").write_bytes(PNG)
    (folder / ".env").write_text("TOKEN=hush\n")
    (folder / ".gitignore").write_text("out/\n*.log\n")
    (folder / "out").mkdir()
    (folder / "out" / "big.txt").write_text("made by the build")
    return folder


async def load(
    folder: Path, text: str, *rules: Rule, servers: McpManager | None = None, readable: tuple[str, ...] = ()
) -> list[Attached]:
    policy = Policy(rules, roots=(str(folder),))
    loading = load_mentions(
        text, policy, Files(Workspace([str(folder)], str(folder), readable=readable)), servers, Masker()
    )
    return [] if loading is None else list(await loading)


def texts(attached: list[Attached]) -> str:
    return "\n".join(part.text for each in attached for part in each.parts if isinstance(part, Text))


@pytest.mark.spec("E3")
async def test_a_mentioned_file_is_attached_under_its_name(folder: Path):
    assert await load(folder, "why @src/a.py?") == [
        Attached("src/a.py", "2 lines", (Text("--- src/a.py ---\none\ntwo\n"),))
    ]


@pytest.mark.parametrize("written", ['@"notes of mine.txt"', r"@notes\ of\ mine.txt", "@./src/../pic.png"])
async def test_it_may_be_written_in_any_of_the_usual_ways(folder: Path, written: str):
    (attached,) = await load(folder, f"see {written}.")
    assert attached.parts and attached.name in ("notes of mine.txt", "pic.png")


async def test_a_path_may_be_absolute_as_long_as_it_is_inside(folder: Path):
    (attached,) = await load(folder, f"see @{folder}/src/a.py")
    assert attached.name == "src/a.py"


async def test_a_mentioned_picture_is_attached_and_one_in_a_folder_is_left_out(folder: Path):
    (named,) = await load(folder, "what is on @pic.png?")
    assert (named.name, named.about) == ("pic.png", "image/png")
    assert isinstance(named.parts[1], Media)
    along, *left_out = await load(folder, "look at @./")
    assert not any(isinstance(part, Media) for part in along.parts)
    assert ("pic.png", "image/png; name it to read it") in [(each.name, each.problem) for each in left_out]


async def test_a_folder_is_attached_as_one_item_without_what_git_ignores(folder: Path):
    (src,) = await load(folder, "read @src/")
    assert (src.name, src.about) == ("src/", "2 files")
    assert texts([src]) == "--- src/a.py ---\none\ntwo\n\n--- src/deep/b.py ---\nthree"
    everything = texts(await load(folder, "read @./"))
    assert "buy milk" in everything
    assert "made by the build" not in everything


async def test_a_pattern_attaches_exactly_what_it_matches(folder: Path):
    (found,) = await load(folder, "read @src/**/*.py.")
    assert (found.name, found.about) == ("src/**/*.py", "2 files")
    assert await load(folder, "@src/*.rs @[z-a] @x[0]") == []


async def test_a_file_mentioned_twice_is_attached_once(folder: Path):
    named = await load(folder, "@src/a.py @./src/a.py @src/ @src/*")
    assert [(each.name, each.about) for each in named] == [("src/a.py", "2 lines"), ("src/", "1 file")]


@pytest.mark.parametrize(
    "text",
    [
        "ann@example.org",
        "@dataclass(frozen=True)",
        "npm i @types/node",
        "@@ -1,3 +1,4 @@",
        "`@src/a.py`",
        "@no/such.py",
        "@",
    ],
)
async def test_what_is_not_a_path_here_is_left_alone(folder: Path, text: str):
    assert await load(folder, text) == []


# --- what must not come along ---


async def test_a_place_for_secrets_is_left_out_and_reported_however_it_is_named(folder: Path):
    (folder / "harmless.txt").symlink_to(".env")
    (folder / "sub").mkdir()
    (folder / "sub" / ".env").write_text("TOKEN=hush\n")
    found = await load(folder, f"@.env @harmless.txt @{folder}/.env @sub/ @.en*")
    assert "hush" not in repr(found)
    assert found[0] == Attached(".env", problem="usually holds secrets")
    assert all("secrets" in each.problem for each in found)
    assert {each.name for each in found} >= {".env", "harmless.txt", "sub/.env"}


async def test_a_name_for_secrets_counts_also_where_it_is_a_link(folder: Path):
    (folder / "id_rsa").symlink_to("src/a.py")
    (found,) = await load(folder, "@id_rsa")
    assert found.problem == "usually holds secrets"


async def test_what_is_outside_is_left_out_and_reported(folder: Path, tmp_path: Path):
    (tmp_path / "other.txt").write_text("not yours")
    (folder / "link.txt").symlink_to(tmp_path / "other.txt")
    found = await load(folder, f"@../other.txt @{tmp_path}/other.txt @link.txt @/etc/passwd @../*.txt @../none.txt")
    assert {each.problem for each in found} == {"outside the workspace"}
    assert [each.name for each in found] == ["../other.txt", f"{tmp_path}/other.txt", "link.txt", "/etc/passwd"]


async def test_what_git_ignores_is_left_out_even_if_it_is_named(folder: Path):
    (folder / "x.log").write_text("noise")
    found = await load(folder, "@x.log @out/big.txt @out/")
    assert [(each.name, each.problem) for each in found] == [
        ("x.log", "git ignores it"),
        ("out/big.txt", "git ignores it"),
        ("out/", "git ignores it"),
    ]


@pytest.mark.parametrize("ruling", ["deny", "ask"])
async def test_what_a_rule_restricts_is_left_out_and_reported(folder: Path, ruling: str):
    rule = Rule(ruling=ruling, tool="read_file", path="src/deep/**", message="the deep is ours")  # pyright: ignore[reportArgumentType]
    src, deep = await load(folder, "@src/", rule)
    assert (src.about, deep.name) == ("1 file", "src/deep/b.py")
    assert deep.problem == "the deep is ours"
    assert "three" not in repr(src)


async def test_no_rule_and_no_mode_attaches_a_secret(folder: Path):
    policy = Policy([Rule(ruling="allow")], "yolo", roots=(str(folder),))
    loading = load_mentions("@.env", policy, Files(Workspace([str(folder)], str(folder))), None, Masker())
    assert loading is not None
    assert [each.parts for each in await loading] == [()]


async def test_binary_files_are_left_out_and_said(folder: Path):
    (folder / "x.bin").write_bytes(b"\x7fELF\0\0")
    (found,) = await load(folder, "@x.bin")
    assert found.problem.startswith("not text but an ELF program")


async def test_a_pipe_does_not_block_a_prompt(folder: Path):
    os.mkfifo(folder / "pipe")
    async with asyncio.timeout(WAIT_LIMIT):
        (found,) = await load(folder, "@pipe")
    assert found.problem and not found.parts


# --- limits ---


async def test_what_is_too_long_is_cut_and_what_follows_is_left_out(folder: Path):
    (folder / "long.txt").write_text("x" * (MAX_CHARACTERS + 9))
    long, short = await load(folder, "@long.txt @src/a.py")
    assert long.about == "1 line, cut"
    assert texts([long]).endswith("x\n... [cut; read on with read_file]")
    assert len(texts([long])) < MAX_CHARACTERS + 100
    assert (short.name, short.problem) == ("src/a.py", "the limit is reached")


async def test_of_many_that_are_left_out_some_are_named_and_the_others_counted(folder: Path):
    for number in range(MAX_LEFT_OUT + 5):
        (folder / f"{number}.log").write_text("noise")
    found = await load(folder, " ".join(f"@{number}.log" for number in range(MAX_LEFT_OUT + 5)))
    assert len(found) == MAX_LEFT_OUT + 1
    assert found[-1].name == "5 more"


# --- words ---


async def test_people_read_it_in_one_line(folder: Path):
    found = await load(folder, "@src/a.py @pic.png @.env @x @out/")
    assert attached_words(found) == (
        "with src/a.py (2 lines), pic.png (image/png); left out .env: usually holds secrets; out/: git ignores it"
    )
    assert attached_words([]) == ""


def test_a_name_cannot_control_the_terminal():
    words = attached_words([Attached("a\x1b[31m\nb\u202e", "1 line", (Text("x"),)), Attached("c\x07", problem="d\r")])
    assert words.isprintable()
    assert "\u202e" not in words


def test_of_many_names_only_some_are_shown():
    words = attached_words([Attached(f"{number}.py", parts=(Text("x"),)) for number in range(10)])
    assert words == "with 0.py, 1.py, 2.py, 3.py, 4.py, 5.py, 6.py, 7.py, and 2 more"


# --- resources of servers ---


@pytest.mark.spec("E5")
async def test_a_resource_of_a_server_is_attached_like_a_file(folder: Path, tmp_path: Path):
    async with open_manager(tmp_path, program(SDK, tmp_path)) as shop:
        found = await load(folder, "see @srv:note:/1, and @src/a.py", servers=shop.manager)
        assert [(each.name, each.about) for each in found] == [("srv:note:/1", "1 line"), ("src/a.py", "2 lines")]
        assert texts(found[:1]) == "--- srv:note:/1 ---\nthe text of note:/1"
        (unknown,) = await load(folder, "@srv:http://elsewhere/?q=1", servers=shop.manager)
        assert unknown.problem == "The server srv lists no such resource"
        (denied,) = await load(folder, "@srv:note:/1", Rule(ruling="deny", server="srv"), servers=shop.manager)
        assert denied.problem and not denied.parts


class Talker:
    """A server whose errors repeat what they were given."""

    def has_resource(self, name: str) -> bool:
        return True

    async def read(self, name: str) -> tuple[Text, ...]:
        raise ToolFailed("mcp_tool_error", "no access with password=Hunter2hunter2")


async def test_a_servers_error_message_is_masked(folder: Path):
    (found,) = await load(folder, "@srv:note:/1", servers=cast(McpManager, Talker()))
    assert found.problem == "no access with password=[secret: password]"


@pytest.mark.spec("E5")
async def test_a_missing_server_is_reported(folder: Path, tmp_path: Path):
    broken = program(str(tmp_path / "none.py"), tmp_path)
    async with open_manager(tmp_path, broken) as shop:
        async with asyncio.timeout(WAIT_LIMIT):
            (found,) = await load(folder, "@srv:note:/1", servers=shop.manager)
        assert found.problem.startswith("The server srv is not connected")
