"""Transcripts of a real model for what Assent relies on: several calls in one reply, and no second try after a refusal.

Recorded from Assent's own requests to llama.cpp's server with SmolLM2-135M and a template that shows it such replies
(`two_calls`: "Read both files, a.txt and b.txt"; `refused`: "Use run_shell_command with the command: touch made.txt",
with nobody to ask); Gemini's format comes through LiteLLM. The bytes are as the servers sent them.
"""

import os
from pathlib import Path

import pytest

from assent.app.opening import LocalClient, NewSession, SessionSetup, open_session
from assent.app.storage import open_log
from assent.commands import Submit
from assent.config import Settings
from assent.events import CallFinished, Event, ModelReplied, TurnFinished
from assent.parts import Call, Text
from support.replay_server import ReplayServer
from support.wire_formats import FORMATS

TRANSCRIPTS = Path(__file__).parent / "transcripts"
FILES = {"a.txt": "The meeting is on Tuesday.\n", "b.txt": "The room is number nine.\n"}
formats = pytest.mark.parametrize("wire", FORMATS)


async def replay(tmp_path: Path, name: str, wire: str, prompt: str) -> tuple[list[Event], list[str]]:
    """The events of the session, and the requests."""
    work, spoken = tmp_path / "work", FORMATS[wire]
    work.mkdir()
    for file, text in FILES.items():
        (work / file).write_text(text)
    replies = [(TRANSCRIPTS / f"{name}.{wire}-{n}.sse").read_bytes() for n in (0, 1)]
    async with ReplayServer(replies) as server:
        env = {
            spoken.key_variable: "test-key-123",
            spoken.base_url_variable: server.url,
            "ASSENT_HOME": str(tmp_path / "home"),
            "HOME": str(tmp_path),
            "PATH": os.environ["PATH"],
        }
        log = open_log(env)
        setup = SessionSetup(env=env, settings=Settings(), client="test", attended=False)
        async with await open_session(log, NewSession(str(work)), setup, model=spoken.model) as client:
            await client.send(Submit(prompt, by=client.me))
            events = await events_of_turn(client)
        await log.close()
    return events, server.requests


async def events_of_turn(client: LocalClient) -> list[Event]:
    events: list[Event] = []
    async for envelope in client.events():
        events.append(envelope.event)
        if isinstance(envelope.event, TurnFinished):
            break
    return events


def calls_of(event: ModelReplied) -> list[Call]:
    return [part for part in event.parts if isinstance(part, Call)]


@formats
@pytest.mark.spec("F2")
async def test_a_model_that_reads_two_files_asks_for_both_at_once(tmp_path: Path, wire: str) -> None:
    events, requests = await replay(tmp_path, "two_calls", wire, "Read both files, a.txt and b.txt")
    first, last = (event for event in events if isinstance(event, ModelReplied))
    asked = [(call.name, call.args["file_path"]) for call in calls_of(first)]
    assert asked == [("read_file", "a.txt"), ("read_file", "b.txt")]
    assert [event.status for event in events if isinstance(event, CallFinished)] == ["success", "success"]
    assert len(requests) == 2 and 0 < requests[1].index("on Tuesday") < requests[1].index("number nine")
    assert not calls_of(last) and any(isinstance(part, Text) and part.text.strip() for part in last.parts)


@formats
@pytest.mark.spec("F3")
async def test_a_model_whose_call_was_refused_does_not_try_it_in_another_form(tmp_path: Path, wire: str) -> None:
    events, requests = await replay(tmp_path, "refused", wire, "Use run_shell_command with the command: touch made.txt")
    first, last = (event for event in events if isinstance(event, ModelReplied))
    assert [(call.name, call.args["command"]) for call in calls_of(first)] == [("run_shell_command", "touch made.txt")]
    (finished,) = (event for event in events if isinstance(event, CallFinished))
    assert finished.status != "success" and not (tmp_path / "work" / "made.txt").exists()
    assert len(requests) == 2 and not calls_of(last)
    assert "do not try it again in another form" in requests[1]
