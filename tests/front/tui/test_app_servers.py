"""Questions about tools of MCP servers: always for the tool, or for the whole server, by one key each."""

import pytest

from assent.approval import McpDetails, Outcome
from assent.commands import Answer
from assent.front.tui.terminal_app import AssentApp
from support.recorded_session import RecordedClient, RecordedSession
from support.screens import settle, showing


@pytest.mark.spec("C2")
@pytest.mark.spec("G3")
@pytest.mark.parametrize(("key", "outcome"), [("s", "proceed_always_server"), ("t", "proceed_always_tool")])
async def test_always_for_a_server_or_one_of_its_tools_is_one_key(key: str, outcome: Outcome):
    recording = (
        RecordedSession()
        .prompt("go")
        .asks("m", "mcp_tracker_create", McpDetails(server="tracker", tool="create", args={"title": "x"}))
    )
    async with showing(recording, (80, 24)) as pilot:
        await pilot.press(key)
        await settle(pilot)
        assert isinstance(pilot.app, AssentApp) and isinstance(client := pilot.app.client, RecordedClient)
        assert client.sent == [Answer(call_id="m", outcome=outcome, digest="m", by=client.me)]
