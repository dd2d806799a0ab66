"""The same task on every wire format: read, edit and run with approval, answer. The log is the same, whoever was asked.

The log that all are compared with is that of the scripted model, which speaks no wire format at all.
"""

import os
from pathlib import Path
from typing import Any, cast

import msgspec
import pytest

from assent.app.opening import LocalClient, NewSession, SessionSetup, open_session
from assent.app.storage import open_log
from assent.approval import ExecDetails
from assent.commands import Answer, Submit
from assent.config import Settings
from assent.events import ApprovalRequested, CallFinished, DurableEvent, Envelope, TurnFinished
from support.fake_server import FakeServer
from support.wire_formats import FORMATS, Spoken

CART = "def total(prices):\n    return sum(prices) + 1\n"
TEST = "from cart import total\nassert total([1, 2]) == 3\nprint('it adds up')\n"
REPAIR = {"file_path": "cart.py", "old_string": "sum(prices) + 1", "new_string": "sum(prices)"}
COMMAND = "python3 -B test_cart.py"
TASK: tuple[dict[str, Any], ...] = (
    {
        "chunks": [
            {"thought": "Let me look at both files.", "signature": "c2lnbmVk"},
            {"text": "I read the code "},
            {"text": "and its test."},
            {"call": {"name": "read_file", "args": {"file_path": "cart.py"}, "id": "c1"}},
            {"call": {"name": "read_file", "args": {"file_path": "test_cart.py"}, "id": "c2"}},
        ],
        "usage": {"input": 100, "output": 20, "thoughts": 5},
    },
    {"chunks": [{"call": {"name": "replace", "args": REPAIR, "id": "c3"}}]},
    {
        "chunks": [
            {"text": "Now the test."},
            {"call": {"name": "run_shell_command", "args": {"command": COMMAND}, "id": "c4"}},
        ]
    },
    {"chunks": [{"text": "The test passes: one was added to every total."}], "when": {"result_contains": "it adds up"}},
)
OWN = frozenset({
    "signature", "usage", "cost", "model", "id", "prompt_id", "approval_id", "key", "digest", "duration_ms", "ran_ms",
    "window",
})  # fmt: skip
"""What may differ: ids, measures, and what belongs to one provider."""


def work_in(folder: Path) -> Path:
    work = folder / "work"
    work.mkdir()
    (work / "cart.py").write_text(CART)
    (work / "test_cart.py").write_text(TEST)
    return work


async def answer_all(client: LocalClient) -> None:
    """A person who says yes to everything, until the turn is over."""
    await client.send(Submit("The test fails. Repair it.", by=client.me))
    async for envelope in client.events():
        match envelope.event:
            case ApprovalRequested(call_id=call_id, approval=approval):
                answer = Answer(call_id=call_id, outcome="proceed_once", digest=approval.digest, by=client.me)
                await client.send(answer)
            case TurnFinished():
                return
            case _:
                pass


async def log_of(tmp_path: Path, model: str, env: dict[str, str]) -> list[Envelope]:
    work = work_in(tmp_path)
    env |= {"ASSENT_HOME": str(tmp_path / "home"), "HOME": str(tmp_path), "PATH": os.environ["PATH"]}
    log = open_log(env)
    setup = SessionSetup(env=env, settings=Settings(), client="test")
    async with await open_session(log, NewSession(str(work)), setup, model=model) as client:
        await answer_all(client)
    try:
        return await log.read(client.state.session)
    finally:
        await log.close()


def comparable(envelopes: list[Envelope], folder: Path) -> dict[str, list[Any]]:
    """In order, but call by call: which of two that run at the same time ends first is not the model's doing."""
    found: dict[str, list[Any]] = {}
    for envelope in envelopes:
        call_id: str = getattr(envelope.event, "call_id", "")
        found.setdefault(call_id, []).append(_without_own(msgspec.to_builtins(envelope.event), str(folder)))
    return found


def _without_own(value: Any, folder: str) -> Any:
    match value:
        case dict():
            fields = cast(dict[str, Any], value)
            return {name: _without_own(field, folder) for name, field in fields.items() if name not in OWN}
        case list() | tuple():
            return [_without_own(item, folder) for item in cast(list[Any], value)]
        case str():
            return value.replace(folder, "FOLDER")
        case _:
            return value


def happened(envelopes: list[Envelope], kind: type[DurableEvent]) -> list[Any]:
    return [envelope.event for envelope in envelopes if isinstance(envelope.event, kind)]


@pytest.mark.spec("F1")
@pytest.mark.spec("K1")
@pytest.mark.parametrize("spoken", FORMATS.values(), ids=FORMATS)
async def test_a_task_leaves_the_same_log_on_every_wire_format(tmp_path: Path, spoken: Spoken) -> None:
    scenario = tmp_path / "scenario.json"
    scenario.write_bytes(msgspec.json.encode({"replies": TASK}))
    (tmp_path / "scripted").mkdir()
    (tmp_path / "spoken").mkdir()
    reference = await log_of(tmp_path / "scripted", f"scripted:{scenario}", {})
    async with spoken.serve(*TASK) as fake:
        log = await log_of(tmp_path / "spoken", spoken.model, spoken.env(fake))
    assert comparable(log, tmp_path / "spoken") == comparable(reference, tmp_path / "scripted")
    assert_done(log, tmp_path / "spoken")
    assert_whole_conversation_was_sent(fake)
    assert_cache_is_found_again(fake, log[0].session)


def assert_done(log: list[Envelope], folder: Path) -> None:
    """The log is not the same because nothing happened."""
    assert (folder / "work" / "cart.py").read_text() == CART.replace(" + 1", "")
    asked = happened(log, ApprovalRequested)
    assert [event.call_id for event in asked] == ["c3", "c4"]
    assert isinstance(asked[1].approval.details, ExecDetails)
    assert [event.status for event in happened(log, CallFinished)] == ["success"] * 4
    assert happened(log, TurnFinished)[0].status == "completed"


def assert_whole_conversation_was_sent(fake: FakeServer) -> None:
    assert len(fake.requests) == len(TASK)
    last = msgspec.json.encode(fake.requests[-1].body).decode()
    for said in ("Repair it.", "and its test.", "cart.py", "sum(prices)", COMMAND, "it adds up"):
        assert said in last


def assert_cache_is_found_again(fake: FakeServer, session: str) -> None:
    """Where the format has a place for it, all requests name the conversation."""
    keys = {request.body.get("prompt_cache_key", session) for request in fake.requests}
    assert keys == {session}
