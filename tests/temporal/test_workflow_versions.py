"""Old and new workers run side by side: the workflow replays what older versions recorded, and reads their messages.

If a test here fails, the workflow has changed in a way that breaks sessions during an upgrade. Keep the old path with
`workflow.patched`, and record another history with `record` below.
"""

import json
from pathlib import Path
from typing import Any

import pytest
from temporalio.client import Client, WorkflowHistory
from temporalio.converter import DataConverter
from temporalio.worker import Replayer, UnsandboxedWorkflowRunner

from assent.temporal.session_workflow import Attempt, Ended, SessionWorkflow, Supervised

pytestmark = pytest.mark.spec("M2")
HISTORIES = Path(__file__).with_name("histories")


@pytest.mark.parametrize("file", sorted(HISTORIES.glob("*.json")), ids=lambda file: file.stem)
async def test_a_recorded_history_replays_with_the_workflow_of_today(file: Path):
    history = WorkflowHistory.from_json("assent-recorded", file.read_text())
    assert len(history.events) > 5
    replayer = Replayer(workflows=[SessionWorkflow], workflow_runner=UnsandboxedWorkflowRunner())
    await replayer.replay_workflow(history)


def test_there_are_recorded_histories():
    assert {file.stem for file in HISTORIES.glob("*.json")} == {"1-lost-worker", "1-log-away", "1-parked"}


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        (Supervised, Supervised("s", "q")),
        (Attempt, Attempt("s", 7)),
        (Ended, Ended("parked")),
    ],
)
async def test_messages_may_have_fields_that_this_version_does_not_know(kind: type[object], expected: object):
    known = {"session": "s", "queue": "q"} if kind is Supervised else {"session": "s", "token": 7}
    fields = {"state": "parked"} if kind is Ended else known
    converter = DataConverter.default
    (payload,) = await converter.encode([{**fields, "added_later": [1]}])
    assert await converter.decode([payload], [kind]) == [expected]


async def record(client: Client, workflow: str, name: str) -> None:
    """Keeps the history of a workflow as a file, without the parts that name machines and their files."""
    history = (await client.get_workflow_handle(workflow).fetch_history()).to_json()
    (HISTORIES / f"{name}.json").write_text(
        json.dumps(json.loads(history, object_hook=_without_places), indent=1) + "\n"
    )


def _without_places(part: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in part.items() if name not in ("identity", "stackTrace", "stickyAttributes")}
