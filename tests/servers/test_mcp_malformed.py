"""Answers of which a part is wrong: that part is left out and named, and the rest is used."""

import json
from pathlib import Path
from typing import Any

import pytest
from test_mcp_calls import call, said

from assent.files.private_folder import PrivateFolder
from assent.mcp.kept_results import KeptResults
from assent.mcp.salvage import MAX_ITEMS, salvaged
from assent.parts import Media, Text
from assent.secrets.mask import Masker
from assent.tools.tool import ToolFailed
from support.servers import RAW, noted, offer, open_manager, prepare, program

OBJECT = {"type": "object"}
GOOD = {"name": "good", "inputSchema": OBJECT}


@pytest.mark.spec("E5")
@pytest.mark.parametrize(
    ("bad", "name"),
    [
        ({"name": "bad"}, "bad"),
        ({"name": "bad", "inputSchema": "nothing"}, "bad"),
        ({"name": "bad", "inputSchema": OBJECT, "description": 5}, "bad"),
        ({"name": "bad", "inputSchema": OBJECT, "annotations": "none"}, "bad"),
        ({"name": 5, "inputSchema": OBJECT}, "tool number 1"),
        ({"inputSchema": OBJECT}, "tool number 1"),
        ("bad", "tool number 1"),
        (None, "tool number 1"),
        ([], "tool number 1"),
    ],
)
async def test_a_malformed_tool_is_dropped_alone_and_named(tmp_path: Path, bad: Any, name: str):
    prepare(tmp_path, tools_list={"tools": [bad, GOOD]})
    async with open_manager(tmp_path, program(RAW, tmp_path)) as mcp:
        assert mcp.states() == ["connecting", "ready"]
        assert mcp.registry.names() == ["mcp_srv_good"]
        (refusal,) = mcp.manager.status()[0].refused
        assert refusal.tool == name and refusal.reason.startswith("its definition is malformed: ")


@pytest.mark.spec("E5")
async def test_malformed_prompts_resources_and_templates_are_dropped_alone_and_named(tmp_path: Path):
    prepare(
        tmp_path,
        tools_list={"tools": [GOOD], "_meta": 5},
        prompts_list={"prompts": [{"name": "ok"}, {"title": "none"}, {"name": "odd", "arguments": "x"}]},
        resources_list={"resources": [{"uri": "a:1", "name": "one"}, {"name": "two"}]},
        resources_templates_list={"resourceTemplates": [{"uriTemplate": "a:{x}", "name": "t"}, {"name": "u"}]},
    )
    async with open_manager(tmp_path, program(RAW, tmp_path)) as mcp:
        assert [prompt.name for prompt in mcp.manager.prompts()] == ["ok"]
        assert [resource.uri for resource in mcp.manager.resources()] == ["a:1"]
        assert [template.uri for template in mcp.manager.templates()] == ["a:{x}"]
        named = [refusal.tool for refusal in mcp.manager.status()[0].refused]
        assert named == ["prompt number 2", "prompt odd", "resource two", "template u"]


@pytest.mark.spec("E5")
@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ([{"type": "hologram"}], "[a content part of an unknown type ('hologram') was left out]"),
        ([{"type": "image", "data": 5}], "[an unreadable content part of type image was left out]"),
        ([{"type": "resource", "resource": 1}], "[an unreadable content part of type resource was left out]"),
        (["plain"], "[a content part of an unknown type was left out]"),
        ("plain", "[a content part of an unknown type was left out]"),
        ([{"text": "no type"}], "[a content part of an unknown type was left out]"),
        ([{"type": "\x1b[31m" + "x" * 100}], "[a content part of an unknown type ("),
    ],
)
async def test_a_content_part_that_cannot_be_read_is_left_out_and_said(tmp_path: Path, content: Any, expected: str):
    parts: Any = [{"type": "text", "text": "before"}, *content] if isinstance(content, list) else content
    prepare(tmp_path, tools_list={"tools": [GOOD]}, tools_call={"content": parts})
    async with open_manager(tmp_path, program(RAW, tmp_path)) as mcp:
        text = said(await call(mcp, "mcp_srv_good"))
        assert expected in text and len(text) < 200 and "\x1b" not in text
        assert text.startswith("before\n") == isinstance(content, list)


@pytest.mark.spec("E5")
async def test_structured_data_without_any_content_is_the_result_and_an_error_stays_one(tmp_path: Path):
    prepare(tmp_path, tools_list={"tools": [GOOD]}, tools_call={"structuredContent": {"a": 1}, "isError": True})
    async with open_manager(tmp_path, program(RAW, tmp_path)) as mcp:
        result = await call(mcp, "mcp_srv_good")
        assert said(result) == '{"a":1}'
        assert result.failure is not None and result.failure.type == "mcp_tool_error"


@pytest.mark.spec("E5")
@pytest.mark.parametrize("answer", [{}, {"isError": False}, {"content": [], "structuredContent": "x", "isError": 7}])
async def test_an_answer_of_which_nothing_can_be_saved_is_an_error_with_words(tmp_path: Path, answer: dict[str, Any]):
    prepare(tmp_path, tools_list={"tools": [GOOD]}, tools_call=answer)
    async with open_manager(tmp_path, program(RAW, tmp_path)) as mcp:
        with pytest.raises(ToolFailed, match="The answer of the server srv cannot be read") as caught:
            await call(mcp, "mcp_srv_good")
        assert caught.value.failure.type == "mcp_bad_answer"
        assert mcp.states()[-1] == "ready"


@pytest.mark.spec("E5")
async def test_prompts_and_resources_keep_their_readable_parts(tmp_path: Path):
    messages = [{"role": "user", "content": {"type": "text", "text": "hello"}}, {"role": "?", "content": {"type": "x"}}]
    contents = [{"uri": "a:1", "text": "one"}, {"uri": "a:1"}, {"uri": "a:1", "blob": "QUI=", "mimeType": "a/b"}]
    prepare(
        tmp_path,
        prompts_list={"prompts": [{"name": "p"}]},
        prompts_get={"messages": messages},
        resources_list={"resources": [{"uri": "a:1", "name": "one"}]},
        resources_read={"contents": contents},
    )
    async with open_manager(tmp_path, program(RAW, tmp_path)) as mcp:
        given = await mcp.manager.prompt("srv", "p", {})
        assert given == (Text("hello"), Text("[a content part of an unknown type ('x') was left out]"))
        note = Text("[an unreadable content part was left out]")
        assert await mcp.manager.read("srv:a:1") == (Text("one"), note, Media("a/b", "QUI="))


def test_thousands_of_items_are_cut_and_counted():
    tools: list[Any] = [{"name": f"t{n}", "inputSchema": OBJECT} for n in range(MAX_ITEMS + 5)]
    answer, dropped = salvaged("tools/list", "2025-11-25", {"tools": tools})
    assert len(answer["tools"]) == MAX_ITEMS and [refusal.tool for refusal in dropped] == ["5 others"]
    parts = [{"type": "text", "text": "x"}] * (MAX_ITEMS + 5)
    answer, _ = salvaged("tools/call", "2025-11-25", {"content": parts})
    assert answer["content"][-1]["text"] == "[5 content parts were left out]"


# --- other things that servers do ---


@pytest.mark.spec("E5")
async def test_a_list_that_leads_in_a_circle_ends(tmp_path: Path):
    prepare(tmp_path, tools_list={"tools": [GOOD], "nextCursor": "again"})
    async with open_manager(tmp_path, program(RAW, tmp_path)) as mcp:
        assert mcp.states() == ["connecting", "ready"]
        assert (tmp_path / "asked").read_text().splitlines().count("tools/list") == 2
        assert mcp.manager.status()[0].refused[0].reason == "another tool would have the same name"


@pytest.mark.spec("E5")
async def test_what_a_server_asks_for_is_answered_properly_and_nothing_is_given(tmp_path: Path):
    offer(tmp_path, "ask")
    async with open_manager(tmp_path, program(RAW, tmp_path)) as mcp:
        answers = json.loads(said(await call(mcp, "mcp_srv_ask")))
        assert answers.pop("ping") == {}
        assert answers == {
            "roots/list": -32600,
            "sampling/createMessage": -32600,
            "elicitation/create": -32600,
            "no/such": -32601,
        }


@pytest.mark.spec("E5")
async def test_a_storm_of_changes_is_looked_at_now_and_then(tmp_path: Path):
    prepare(tmp_path)
    (tmp_path / "answers.json").unlink()
    async with open_manager(tmp_path, program(RAW, tmp_path, "storm")) as mcp:
        for _ in range(20):
            await call(mcp, "mcp_srv_again")
        assert mcp.states().count("ready") < 50 and set(mcp.states()) == {"connecting", "ready"}


@pytest.mark.spec("E5")
@pytest.mark.parametrize("version", ["2024-11-05", "2025-03-26", "2025-06-18"])
async def test_an_older_version_of_the_protocol_is_spoken(tmp_path: Path, version: str):
    about = {"name": "raw", "version": "1"}
    prepare(
        tmp_path,
        initialize={"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": about},
        tools_list={"tools": [GOOD, {"name": "bad"}]},
    )
    async with open_manager(tmp_path, program(RAW, tmp_path)) as mcp:
        assert mcp.registry.names() == ["mcp_srv_good"]
        assert said(await call(mcp, "mcp_srv_good")).startswith("good by")


@pytest.mark.spec("E5")
async def test_a_version_that_nobody_knows_yet_is_told(tmp_path: Path):
    about = {"name": "raw", "version": "1"}
    prepare(tmp_path, initialize={"protocolVersion": "2099-01-01", "capabilities": {}, "serverInfo": about})
    async with open_manager(tmp_path, program(RAW, tmp_path)) as mcp:
        assert mcp.told[1].state == "failed"
        assert mcp.told[1].reason == "Unsupported protocol version from the server: 2099-01-01"


# --- results that are too long ---


@pytest.mark.spec("E5")
async def test_a_result_that_is_too_long_is_kept_in_a_file_without_its_secrets(tmp_path: Path):
    secret = "ghp_" + "a1B2" * 9
    folder = PrivateFolder(str(tmp_path / "outputs"))
    long = "first line\n" + "x" * 150_000 + f"\ntoken {secret}\n" + "y" * 150_000 + "\nlast line"
    prepare(tmp_path, tools_list={"tools": [GOOD]}, tools_call={"content": [{"type": "text", "text": long}]})
    async with open_manager(tmp_path, program(RAW, tmp_path), outputs=folder) as mcp:
        result = await call(mcp, "mcp_srv_good")
    assert isinstance(result.content, tuple) and isinstance(result.content[0], Text)
    note = result.content[0].text
    assert note.startswith(f"Output too large ({len(long):,} characters)")
    (kept,) = (tmp_path / "outputs").iterdir()
    assert str(kept) in note and kept.stat().st_mode & 0o777 == 0o600
    text = kept.read_text()
    assert text.startswith("first line\nxxx") and text.endswith("yyy\nlast line") and secret not in text
    shown = said(result)
    assert len(shown) < 201_000 and "first line" in shown and "last line" in shown


def test_without_a_place_only_the_cut_is_made():
    assert KeptResults(None, Masker()).of("c1")("x" * 300_000) == ""


async def test_what_is_short_enough_makes_no_file(tmp_path: Path):
    prepare(tmp_path, tools_list={"tools": [GOOD]}, tools_call={"content": [{"type": "text", "text": "x" * 199_000}]})
    async with open_manager(tmp_path, program(RAW, tmp_path), outputs=PrivateFolder(str(tmp_path / "outputs"))) as mcp:
        assert said(await call(mcp, "mcp_srv_good")) == "x" * 199_000
    assert not (tmp_path / "outputs").exists()
    assert noted(tmp_path)
