"""Servers that lie, change, crash, babble or say nothing: none of it hurts, and all of it is told."""

from pathlib import Path

import pytest
from test_mcp_calls import call, said

from assent.files.workspace import Workspace
from assent.mcp.definitions import Offer, define, model_name
from assent.mcp.schemas import BadSchema, clean_schema, problem_of
from assent.tools.builtin import builtin_tools
from assent.tools.tool import ToolFailed
from support.processes import alive
from support.servers import RAW, ManagerHarness, noted, offer, open_manager, program

OBJECT = {"type": "object"}


@pytest.mark.spec("E5")
async def test_a_server_that_crashes_is_started_again_and_the_call_is_not_repeated(tmp_path: Path):
    offer(tmp_path, "crash", "greet")
    async with open_manager(tmp_path, program(RAW, tmp_path)) as mcp:
        with pytest.raises(ToolFailed, match="Whether it took effect is unknown") as caught:
            await call(mcp, "mcp_srv_crash")
        assert caught.value.failure.type == "mcp_connection_lost"
        assert said(await call(mcp, "mcp_srv_greet")).startswith("greet by")
        assert mcp.states() == ["connecting", "ready", "disconnected", "connecting", "ready"]
        assert mcp.told[2].reason == "the program ended with code 3"
    assert len(noted(tmp_path)) == 2


@pytest.mark.spec("E5")
async def test_a_server_that_cannot_live_is_given_up_with_its_last_words(tmp_path: Path):
    async with open_manager(tmp_path, program(RAW, tmp_path, "dies")) as mcp:
        assert mcp.told[1].state == "failed"
        assert mcp.told[1].reason == "the program ended with code 1: no licence found"
        await mcp.until(lambda: mcp.states().count("failed") == 8)
    assert len(noted(tmp_path)) == 9, "once more with the older greeting"


@pytest.mark.spec("E5")
async def test_an_older_server_that_ends_at_the_newer_greeting_is_greeted_the_old_way(tmp_path: Path):
    offer(tmp_path, "crash", "greet")
    async with open_manager(tmp_path, program(RAW, tmp_path, "old")) as mcp:
        assert mcp.states() == ["connecting", "ready"]
        with pytest.raises(ToolFailed):
            await call(mcp, "mcp_srv_crash")
        assert said(await call(mcp, "mcp_srv_greet")).startswith("greet by")
    assert len(noted(tmp_path)) == 3, "after that it is known"


@pytest.mark.spec("E5")
async def test_a_program_that_does_not_exist_is_told(tmp_path: Path):
    server = program(RAW, tmp_path, command="no-such-program")
    async with open_manager(tmp_path, server) as mcp:
        assert mcp.told[1].reason == "cannot start `no-such-program`: No such file or directory"


@pytest.mark.spec("E5")
async def test_an_unset_variable_is_reported_before_anything_starts(tmp_path: Path):
    async with open_manager(tmp_path, program(RAW, tmp_path, env={"A": "$NOT_SET"})) as mcp:
        assert mcp.told[1].reason == "the environment variable NOT_SET is not set"
    assert noted(tmp_path) == []


@pytest.mark.spec("E5")
async def test_a_server_that_says_nothing_fails_after_its_time_and_is_gone(tmp_path: Path):
    async with open_manager(tmp_path, program(RAW, tmp_path, "mute", start_timeout=0.3)) as mcp:
        assert mcp.told[1].reason == "it did not answer within 0.3 s"
    assert not any(alive(int(line.split()[1])) for line in noted(tmp_path))


@pytest.mark.spec("E5")
async def test_others_need_not_wait_for_a_slow_server(tmp_path: Path):
    slow, quick = tmp_path / "slow", tmp_path / "quick"
    slow.mkdir()
    quick.mkdir()
    servers = program(RAW, slow, "mute", name="slow"), program(RAW, quick, name="quick")
    mcp = ManagerHarness(tmp_path, *servers)
    mcp.manager.start()
    try:
        await mcp.until(lambda: mcp.registry.get("mcp_quick_again"))
        assert {s.server: s.state for s in mcp.manager.status()} == {"slow": "connecting", "quick": "ready"}
    finally:
        await mcp.manager.close()
    assert not any(alive(int(line.split()[1])) for line in noted(slow) + noted(quick))


@pytest.mark.spec("E5")
async def test_garbage_on_the_output_is_logged_safely_and_forgiven(tmp_path: Path):
    async with open_manager(tmp_path, program(RAW, tmp_path, "garbage")) as mcp:
        assert mcp.states()[-1] == "ready"
        log = mcp.manager.log("srv")
        assert log[0] == "not a message: Welcome!"
        assert "\\x1b[2J" in log[1] and "\x1b" not in "".join(log)


@pytest.mark.spec("E5")
@pytest.mark.parametrize(
    ("how", "reason"),
    [
        ("noise", "it writes something other than messages to its standard output"),
        ("endless", "a line of more than 33,554,432 bytes"),
    ],
)
async def test_noise_without_end_ends_the_connection(tmp_path: Path, how: str, reason: str):
    async with open_manager(tmp_path, program(RAW, tmp_path, how)) as mcp:
        assert (mcp.told[1].state, mcp.told[1].reason) == ("failed", reason)
    assert not any(alive(int(line.split()[1])) for line in noted(tmp_path))


@pytest.mark.spec("E5")
async def test_a_flood_of_messages_is_slowed_and_does_not_keep_others_waiting(tmp_path: Path):
    loud, quiet = tmp_path / "loud", tmp_path / "quiet"
    loud.mkdir()
    quiet.mkdir()
    servers = program(RAW, loud, "flood", name="loud"), program(RAW, quiet, name="quiet")
    async with open_manager(tmp_path, *servers) as mcp:
        for _ in range(20):
            assert said(await call(mcp, "mcp_quiet_again")).startswith("again by")
        log = mcp.manager.log("loud")
        assert 0 < len(log) <= 200 and log[-1] != "info: line 19999"


@pytest.mark.spec("E5")
async def test_a_huge_answer_is_cut_and_structured_data_is_text(tmp_path: Path):
    offer(tmp_path, "huge", "structured")
    async with open_manager(tmp_path, program(RAW, tmp_path)) as mcp:
        text = said(await call(mcp, "mcp_srv_huge"))
        assert len(text) < 201_000 and "2,800,000 characters" in text
        assert said(await call(mcp, "mcp_srv_structured")) == '{"answer":42}'


@pytest.mark.spec("D6")
async def test_a_server_that_ignores_every_polite_sign_is_killed(tmp_path: Path):
    async with open_manager(tmp_path, program(RAW, tmp_path, "stubborn")) as mcp:
        pid = int(noted(tmp_path)[0].split()[1])
        assert mcp.states()[-1] == "ready" and alive(pid)
    assert not alive(pid)


@pytest.mark.spec("E5")
async def test_an_older_server_that_changes_its_list_is_looked_at_again(tmp_path: Path):
    async with open_manager(tmp_path, program(RAW, tmp_path)) as mcp:
        offer(tmp_path, "again", "more")
        await call(mcp, "mcp_srv_again")
        await mcp.until(lambda: mcp.registry.get("mcp_srv_more"))
        offer(tmp_path, "again")
        await call(mcp, "mcp_srv_again")
        await mcp.until(lambda: mcp.registry.get("mcp_srv_more") is None)


@pytest.mark.spec("E5")
async def test_only_the_tools_that_the_entry_wants_are_there(tmp_path: Path):
    offer(tmp_path, "a", "b", "c")
    server = program(RAW, tmp_path, include_tools=["a", "b"], exclude_tools=["b"])
    async with open_manager(tmp_path, server) as mcp:
        assert mcp.registry.names() == ["mcp_srv_a"]


# --- what it says of its tools ---


@pytest.mark.spec("E5")
async def test_words_that_would_deceive_are_made_visible_before_anyone_reads_them(tmp_path: Path):
    prop = {"type": "string", "description": "\x1b[8mhidden\x1b[0m"}
    schema = {"type": "object", "properties": {"text": prop}}
    offer(tmp_path, {"name": "a", "description": "Safe\u202e!daer ton\x1b[2J\u200b", "inputSchema": schema})
    async with open_manager(tmp_path, program(RAW, tmp_path)) as mcp:
        (declared,) = mcp.registry.declarations()
        shown = declared.description + str(declared.schema)
        assert not {"\x1b", "\u202e", "\u200b"} & set(shown)
        assert "<U+202E>" in declared.description and "\\x1b[8m" in declared.schema["properties"]["text"]["description"]


def test_names_are_what_models_take_and_never_those_of_built_in_tools(tmp_path: Path):
    assert model_name("srv", "read file/ä") == "mcp_srv_read_file__"
    long = [model_name("srv", "x" * 80 + end) for end in ("1", "2")]
    assert [len(name) for name in long] == [64, 64] and long[0] != long[1]
    own = builtin_tools(Workspace([str(tmp_path)], str(tmp_path)))
    assert not any(tool.name.startswith("mcp_") for tool in own)


@pytest.mark.parametrize("names", [("a", "a"), ("a.b", "a_b"), ("Read", "read"), ("é", "è")])
def test_two_tools_that_come_to_one_name_are_both_refused(names: tuple[str, str]):
    found, refused = define("srv", [Offer(names[0], schema=OBJECT), Offer(names[1], schema=OBJECT), Offer("other")])
    assert [definition.tool for definition in found] == ["other"]
    assert {refusal.reason for refusal in refused} == {"another tool would have the same name"}


def deep(levels: int) -> dict[str, object]:
    schema: dict[str, object] = {"type": "string"}
    for _ in range(levels):
        schema = {"type": "object", "properties": {"a": schema}}
    return schema


@pytest.mark.parametrize(
    ("schema", "reason"),
    [
        ({"type": "string"}, "not an object"),
        ({"type": "object", "properties": 5}, "its schema is invalid"),
        ({"type": "object", "properties": {"a": {"$ref": "https://example.org/x"}}}, "outside it"),
        ({"type": "object", "properties": {"a\u200b": {"type": "string"}}}, "hidden characters"),
        ({"type": "object", "properties": {"a": {"enum": ["\u202ex"]}}}, "hidden characters"),
        ({"type": "object", "description": "x" * 200_000}, "larger than"),
        (deep(50), "nested too deeply"),
        ({"$ref": "#"}, "cannot be checked"),
        ({"type": "object", "allOf": [{"$ref": "#/nowhere"}]}, "cannot be checked"),
    ],
)
def test_a_schema_that_cannot_be_shown_or_checked_is_refused(schema: dict[str, object], reason: str):
    with pytest.raises(BadSchema, match=reason):
        clean_schema(schema)


def test_a_regular_expression_of_a_server_is_never_run():
    evil = {"type": "string", "pattern": "^(a+)+$"}
    schema = clean_schema({"type": "object", "properties": {"a": evil}, "patternProperties": {"^(b+)+$": {}}})
    assert problem_of({"a": "a" * 60 + "!", "b" * 60 + "!": 1}, schema) == ""


def test_a_schema_that_multiplies_itself_costs_a_bounded_time():
    levels = {f"l{n}": {"allOf": [{"$ref": f"#/$defs/l{n + 1}"}] * 4} for n in range(20)}
    schema = {"type": "object", "$defs": {**levels, "l20": {"type": "object"}}, "$ref": "#/$defs/l0"}
    with pytest.raises(BadSchema, match="cannot be checked"):
        clean_schema(schema)
