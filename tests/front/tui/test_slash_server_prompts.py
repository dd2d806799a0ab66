"""Prompts of MCP servers as slash commands. Rows E5, G5."""

from pathlib import Path

import pytest

from assent.app.custom_commands import CustomCommand
from assent.app.mcp_prompts import arguments
from assent.front.tui.host import ServerInfo, ServerResource
from assent.front.tui.slash.slash_registry import SlashRegistry
from assent.front.tui.small_screens import PageScreen
from assent.mcp.offers import Argument, Prompt
from support.session_harness import SessionHarness
from support.slash import open_slash

pytestmark = [pytest.mark.spec("E5"), pytest.mark.spec("G5")]

WHO = Argument("who", needed=True, description="whom to greet")
HOW = Argument("how")
GREET = Prompt("srv", "greet", "Greets.", (WHO, HOW))


@pytest.mark.parametrize(
    ("typed", "given"),
    [
        ("who=Ann", {"who": "Ann"}),
        ("Ann", {"who": "Ann"}),
        ("Ann loudly", {"who": "Ann", "how": "loudly"}),
        ("how=loudly Ann", {"how": "loudly", "who": "Ann"}),
        ('"Ann Lee" very loudly', {"who": "Ann Lee", "how": "very loudly"}),
        ("who='a=b' x=1", {"who": "a=b", "how": "x=1"}),
    ],
)
def test_arguments_come_by_name_or_in_their_order(typed: str, given: dict[str, str]):
    assert arguments(GREET, typed) == given


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        ("", "This needs who"),
        ("how=loudly", "This needs who"),
        ("who=", "This needs who"),
        ("who=a how=b c", "There is no argument for 'c'"),
        ('"Ann', "No closing quotation"),
    ],
)
def test_arguments_that_cannot_be_used_are_explained(typed: str, said: str):
    with pytest.raises(ValueError, match=said):
        arguments(GREET, typed)


@pytest.fixture
def preferences(tmp_path: Path) -> Path:
    return tmp_path / "preferences.toml"


async def test_its_text_is_sent_as_if_it_were_typed(preferences: Path):
    async with open_slash(SessionHarness(), preferences) as slash:
        slash.app.host.prompt_texts = {"greet": "Say hello to {who}."}
        slash.app.registry.set_prompts([GREET])
        assert await slash.run("/srv:greet who=Ann")
        assert ("submit", "Say hello to Ann.") in slash.app.did


async def test_what_goes_wrong_is_said_and_nothing_is_sent(preferences: Path):
    async with open_slash(SessionHarness(), preferences) as slash:
        slash.app.registry.set_prompts([GREET])
        await slash.run("/srv:greet")
        await slash.run("/srv:greet Ann")
        slash.app.host.prompt_texts = {"greet": " \n"}
        await slash.run("/srv:greet Ann")
        assert slash.app.complaints == [
            "This needs who. Usage: /srv:greet who=… [how=…]",
            "The server srv is not connected.",
            "The server srv returned no text for /srv:greet.",
        ]
        assert not any(kind == "submit" for kind, _ in slash.app.did)


async def test_names_and_arguments_are_completed_and_explained(preferences: Path):
    async with open_slash(SessionHarness(), preferences) as slash:
        registry = slash.app.registry
        registry.set_prompts([GREET])
        assert "srv:greet" in [candidate.name for candidate in registry.candidates()]
        offered = await registry.arguments("srv:greet", "", slash.app)
        assert [(each.name, each.help) for each in offered] == [("who=", "required, whom to greet"), ("how=", "")]
        more = await registry.arguments("srv:greet", "who=Ann h", slash.app)
        assert [each.name for each in more] == ["who=Ann how="]
        await slash.run("/help")
        assert "Prompts of MCP servers" in slash.app.viewed
        assert "/srv:greet who=… [how=…]" in slash.app.viewed


def test_a_name_of_a_server_takes_no_name_that_is_taken_and_odd_ones_can_be_typed():
    registry = SlashRegistry()
    registry.set_prompts([Prompt("srv", "two words\x1b!", "x"), GREET])
    own = CustomCommand("srv:greet", "mine", "Hi.", "greet.toml")
    registry.set_custom([own])
    assert registry.find("srv:two_words_") is not None
    assert registry.find("srv:greet").help == "mine"  # pyright: ignore[reportOptionalMemberAccess]
    registry.set_prompts([GREET])
    assert registry.find("srv:greet").help == "mine"  # pyright: ignore[reportOptionalMemberAccess]
    assert registry.find("srv:two_words_") is None


async def test_mcp_shows_what_a_server_offers_besides_tools(preferences: Path):
    async with open_slash(SessionHarness(), preferences) as slash:
        host = slash.app.host
        host.server_infos = [ServerInfo(name="srv", state="ready", tools=1, prompts=1, resources=2)]
        host.prompt_infos = [GREET]
        host.resource_infos = [ServerResource("srv", "srv:note:/1", "the first \x1b[2Jnote")]
        screen = await slash.open("/mcp")
        assert screen.shown[0].cells[2] == "1 tool, 1 prompt, 2 resources"
        await slash.press("enter")
        await slash.until(lambda: isinstance(slash.app.screen, PageScreen))
        assert "/srv:greet who=… [how=…]: Greets." in slash.text()
        assert "who: whom to greet" in slash.text()
        assert "@srv:note:/1: the first" in slash.text()
        assert "\x1b" not in slash.text()
        await slash.press("escape", "escape")
        await slash.finish()
