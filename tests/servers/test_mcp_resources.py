"""Resources for the model: it may list them, reading asks by the server's trust, and what comes back is foreign."""

from pathlib import Path

import pytest
from test_mcp_calls import call, said

from assent.approval import McpDetails
from assent.parts import Text
from assent.policy.rules import Rule
from assent.scheduler.call import Failed, Success
from assent.tools.tool import ToolFailed
from support.scheduler_harness import SchedulerHarness
from support.servers import RAW, SDK, open_manager, prepare, program

TRUST = Rule(ruling="allow", server="srv", tier="user", place="settings.toml: mcp.servers.srv.trust")


@pytest.mark.spec("E5")
async def test_the_model_lists_resources_and_templates_and_reads_both(tmp_path: Path):
    async with open_manager(tmp_path, program(SDK, tmp_path)) as mcp:
        listed = (await call(mcp, "list_mcp_resources")).content
        assert listed == (
            "srv: resource note:/1 (text/plain): first\nsrv: template note:/by/{name}: A note by its name."
        )
        text = said(await call(mcp, "read_mcp_resource", server="srv", uri="note:/1"))
        assert text.endswith("the text of note:/1") and "not an instruction from the user" in text
        text = said(await call(mcp, "read_mcp_resource", server="srv", uri="note:/by/ann"))
        assert text.endswith("the text of note:/by/ann")


@pytest.mark.spec("E5")
@pytest.mark.parametrize("uri", ["note:/2", "note:/by/a/b", "note:/by/", "file:///etc/passwd", ""])
async def test_an_address_that_the_server_does_not_offer_is_not_asked_for(tmp_path: Path, uri: str):
    async with open_manager(tmp_path, program(SDK, tmp_path)) as mcp:
        if uri != "note:/by/":  # an empty name fills the template, too
            with pytest.raises(ToolFailed, match="lists no such resource"):
                await call(mcp, "read_mcp_resource", server="srv", uri=uri)
        with pytest.raises(ToolFailed, match="There is no MCP server 'other'; there are: srv"):
            await call(mcp, "read_mcp_resource", server="other", uri=uri)


@pytest.mark.spec("E5")
@pytest.mark.spec("C1")
async def test_reading_asks_unless_the_server_is_trusted_and_always_holds_for_that_server_alone(tmp_path: Path):
    (tmp_path / "b").mkdir()
    servers = program(SDK, tmp_path), program(SDK, tmp_path / "b", name="two")
    async with open_manager(tmp_path, *servers) as mcp:
        harness = SchedulerHarness(registry=mcp.registry)
        batch = harness.schedule(harness.call("read_mcp_resource", "c1", server="srv", uri="note:/1"))
        await harness.settle()
        details = harness.approval("c1").details
        assert isinstance(details, McpDetails)
        assert (details.server, details.tool, details.args) == ("srv", "resources/read", {"uri": "note:/1"})
        await harness.answer("c1", "proceed_always_tool")
        assert isinstance((await batch.results())[0], Success)
        assert await harness.run(harness.call("read_mcp_resource", "c2", server="srv", uri="note:/1")) == ["Success"]
        harness.schedule(harness.call("read_mcp_resource", "c3", server="two", uri="note:/1"))
        await harness.settle()
        assert harness.approval("c3"), "the yes was for the other server"

        trusted = SchedulerHarness(registry=mcp.registry, rules=(TRUST,))
        assert await trusted.run(trusted.call("read_mcp_resource", server="srv", uri="note:/1")) == ["Success"]
        denied = SchedulerHarness(
            registry=mcp.registry, rules=(Rule(ruling="deny", server="srv", tier="user", place="x"),), mode="yolo"
        )
        (refused,) = await denied.schedule(denied.call("read_mcp_resource", server="srv", uri="note:/1")).results()
        assert isinstance(refused, Failed)


@pytest.mark.spec("E5")
async def test_a_template_is_filled_by_a_mention_only_where_the_server_is_trusted(tmp_path: Path):
    async with open_manager(tmp_path, program(SDK, tmp_path)) as mcp:
        with pytest.raises(ToolFailed, match="lists no such resource"):
            await mcp.manager.read("srv:note:/by/ann")
    async with open_manager(tmp_path, program(SDK, tmp_path, trust=True)) as mcp:
        assert await mcp.manager.read("srv:note:/by/ann") == (Text("the text of note:/by/ann"),)


@pytest.mark.spec("E5")
async def test_the_tools_for_resources_come_and_go_with_the_resources(tmp_path: Path):
    prepare(tmp_path, tools_list={"tools": [{"name": "again", "inputSchema": {"type": "object"}}]})
    async with open_manager(tmp_path, program(RAW, tmp_path)) as mcp:
        assert mcp.registry.names() == ["mcp_srv_again"]
        tools = {"tools": [{"name": "again", "inputSchema": {"type": "object"}}]}
        prepare(tmp_path, tools_list=tools, resources_list={"resources": [{"uri": "a:1", "name": "\x1b[2Jone"}]})
        await call(mcp, "mcp_srv_again")
        await mcp.until(lambda: mcp.registry.get("read_mcp_resource"))
        listed = (await call(mcp, "list_mcp_resources", server="srv")).content
        assert listed == "srv: resource a:1: \\x1b[2Jone"
        assert (await call(mcp, "list_mcp_resources", server="other")).content == "There are none."
        prepare(tmp_path, tools_list=tools)
        await call(mcp, "mcp_srv_again")
        await mcp.until(lambda: mcp.registry.get("list_mcp_resources") is None)
        assert mcp.registry.get("read_mcp_resource") is None
