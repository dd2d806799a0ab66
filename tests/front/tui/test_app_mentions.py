"""`@` in the terminal UI: what came along is said below the prompt, and servers offer prompts and resources. G1, E5."""

from base64 import b64encode
from pathlib import Path

import pytest

from assent.config import Settings
from assent.events import PromptSubmitted
from assent.front.tui.prompt.popup import CompletionList
from assent.mcp_config import Servers
from assent.parts import Media
from support.app_harness import AppHarness
from support.program import says
from support.servers import SDK, program

pytestmark = pytest.mark.spec("G1")


def with_server(folder: Path) -> Settings:
    entry = program(SDK, folder).entry
    return Settings(mcp=Servers({"srv": {"command": entry.command, "args": list(entry.args)}}))


@pytest.mark.spec("F11")
async def test_below_the_prompt_stands_what_came_along_and_what_did_not(tmp_path: Path):
    harness = AppHarness(tmp_path / "work", tmp_path / "home", says("Seen."))
    (harness.folder / "a.py").write_text("one\ntwo\n")
    (harness.folder / ".env").write_text("TOKEN=hush\n")
    async with harness.open() as on:
        await on.say("explain @a.py and @.env")
        await on.until_shown("Seen.")
        words = "with a.py (2 lines); left out .env: usually holds secrets"
        await on.until_shown("❯ explain @a.py and @.env", words)
        assert "hush" not in repr(await on.recorded(PromptSubmitted))
        session = on.runner.session
    again = AppHarness(tmp_path / "work", tmp_path / "home", says("Seen."))
    async with again.open(session=session) as on:
        await on.until_shown("❯ explain @a.py and @.env", words)


@pytest.mark.spec("E5")
async def test_a_prompt_of_a_server_is_a_command_that_sends_its_text(tmp_path: Path):
    harness = AppHarness(tmp_path / "work", tmp_path / "home", says("Hello, Ann."), settings=with_server(tmp_path))
    async with harness.open() as on:
        await on.until(lambda: on.app.context.commands.find("srv:greet"))
        await on.say("/srv:greet")
        await on.until_shown("This needs who. Usage: /srv:greet who=…")
        await on.say("/srv:odd_name_ Ann how=loudly")
        await on.until_shown("❯ Say hello to Ann loudly.", "[image/png, left out]", "Hello, Ann.")


@pytest.mark.spec("E5")
async def test_a_resource_of_a_server_is_completed_and_comes_along(tmp_path: Path):
    harness = AppHarness(tmp_path / "work", tmp_path / "home", says("Seen."), settings=with_server(tmp_path))
    async with harness.open() as on:
        await on.until(lambda: on.host.server_resources())
        await on.types("see @srv")
        popup = on.app.query_one(CompletionList)
        await on.until(lambda: popup.offered == ["srv:note:/1"])
        await on.press("tab", "enter")
        await on.until_shown("❯ see @srv:note:/1", "with srv:note:/1 (1 line)", "Seen.")
        (prompt,) = await on.recorded(PromptSubmitted)
        assert "the text of note:/1" in repr(prompt.attached)


PICTURE = bytes.fromhex("89504e470d0a1a0a") + b"a picture"


@pytest.mark.spec("K1")
async def test_a_picture_in_the_clipboard_is_pasted_as_a_mention_and_goes_with_the_prompt(tmp_path: Path):
    harness = AppHarness(tmp_path / "work", tmp_path / "home", says("A cat."))
    (tmp_path / "picture").write_bytes(PICTURE)
    tool = tmp_path / "bin" / "xclip"
    tool.parent.mkdir()
    tool.write_text(f'#!/bin/sh\ncase "$*" in *image/png*) exec cat {tmp_path / "picture"};; esac\nexit 1\n')
    tool.chmod(0o755)
    harness.env |= {"DISPLAY": ":0", "PATH": f"{tool.parent}:{harness.env['PATH']}"}
    async with harness.open() as on:
        await on.types("what is this? ")
        await on.press("ctrl+v")
        await on.until(lambda: "pasted.png" in on.app.prompt.text)
        await on.press("enter")
        await on.until_shown("A cat.")
        (prompt,) = await on.recorded(PromptSubmitted)
    (attached,) = prompt.attached
    assert [part.data for part in attached.parts if isinstance(part, Media)] == [b64encode(PICTURE).decode()]


@pytest.mark.spec("K1")
async def test_a_picture_dropped_from_outside_the_folder_goes_with_the_prompt(tmp_path: Path):
    (tmp_path / "my cat.png").write_bytes(PICTURE)
    async with AppHarness(tmp_path / "work", tmp_path / "home", says("A cat.")).open() as on:
        on.app.prompt.paste(f"'{tmp_path / 'my cat.png'}'")
        await on.until_shown("A copy of my cat.png goes with")
        await on.press("enter")
        await on.until_shown("A cat.")
        (prompt,) = await on.recorded(PromptSubmitted)
    (attached,) = prompt.attached
    assert [part.data for part in attached.parts if isinstance(part, Media)] == [b64encode(PICTURE).decode()]


@pytest.mark.parametrize(
    ("path", "content", "why"),
    [
        (".ssh/cat.png", PICTURE, "outside the workspace"),
        ("cat.png", b"-----BEGIN PRIVATE KEY-----\n", "outside the workspace"),
        ("work/cat.png", PICTURE, ""),
    ],
)
async def test_what_is_secret_no_picture_or_inside_the_folder_is_mentioned_where_it_is(
    tmp_path: Path, path: str, content: bytes, why: str
):
    async with AppHarness(tmp_path / "work", tmp_path / "home", says("Fine.")).open() as on:
        dropped = tmp_path / path
        dropped.parent.mkdir(exist_ok=True)
        dropped.write_bytes(content)
        on.app.prompt.paste(str(dropped))
        assert on.app.prompt.text == f"@{dropped} "
        await on.press("enter")
        await on.until_shown("Fine.")
        (prompt,) = await on.recorded(PromptSubmitted)
        assert [each.problem for each in prompt.attached] == [why]


async def test_a_secret_behind_the_name_of_a_picture_is_not_copied(tmp_path: Path):
    async with AppHarness(tmp_path / "work", tmp_path / "home").open() as on:
        (tmp_path / ".ssh").mkdir()
        (tmp_path / ".ssh" / "cat").write_bytes(PICTURE)
        (tmp_path / "cat.png").symlink_to(tmp_path / ".ssh" / "cat")
        on.app.prompt.paste(str(tmp_path / "cat.png"))
        assert on.app.prompt.text == f"@{tmp_path / 'cat.png'} "


async def test_without_a_picture_in_the_clipboard_that_is_said(tmp_path: Path):
    async with AppHarness(tmp_path / "work", tmp_path / "home").open() as on:
        await on.press("ctrl+v")
        await on.until_shown("neither text nor a picture")
