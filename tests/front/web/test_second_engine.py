"""The web front end on an engine that runs sessions elsewhere: it shares the log with them, and hears no event."""

from pathlib import Path

import pytest

from assent.app.engine_setup import Activity, EngineSetup, SessionEngine, make_engine
from assent.app.mcp_types import PromptServers
from assent.app.session_log import SessionLog
from assent.app.session_state import SessionState
from assent.app.storage import open_log
from assent.front.web import app_state
from support.served import Served, until_event, until_waiting


class EngineElsewhere:
    """What an engine in another process, or a workflow service, can offer."""

    shared = ""
    open_sessions = 0
    parked = 0
    calm = True

    def __init__(self, setup: EngineSetup) -> None:
        self._log = open_log(setup.env, busy=True)
        self._engine = make_engine(self._log, setup, (), _no_hurry)

    async def start(self) -> None:
        await self._engine.start()

    async def ensure(self, session: str) -> None:
        await self._engine.ensure(session)

    def nudge(self, session: str) -> None:
        self._engine.nudge(session)

    async def cancel(self, session: str) -> None:
        await self._engine.cancel(session)

    async def drain(self) -> None:
        await self._engine.drain()
        await self._log.close()

    def activity(self, session: str) -> Activity:
        return "absent"

    def state(self, session: str) -> SessionState | None:
        return None

    def problem(self, session: str) -> str:
        return self._engine.problem(session)

    def servers(self, session: str) -> PromptServers | None:
        return None

    async def type_in(self, session: str, call_id: str, number: int, text: str | None) -> str:
        return await self._engine.type_in(session, call_id, number, text)


async def _no_hurry() -> None: ...


@pytest.fixture
def elsewhere(monkeypatch: pytest.MonkeyPatch) -> None:
    def make(log: SessionLog, setup: EngineSetup, *_: object) -> SessionEngine:
        return EngineElsewhere(setup)

    monkeypatch.setattr(app_state, "make_engine", make)


@pytest.mark.usefixtures("elsewhere")
async def test_a_prompt_runs_to_its_end_with_an_answer_in_the_middle(tmp_path: Path) -> None:
    async with Served(tmp_path) as served:
        api = served.api()
        session = (await api.create(prompt="go"))["id"]
        (waiting,) = await until_waiting(api, session)
        assert waiting["session"]["status"] == "elsewhere"
        taken = await api.decide(session, waiting["call_id"], "proceed_once", waiting["approval"]["digest"])
        assert taken["state"] == "taken"
        events = await until_event(api, session, "turn.finished")
        assert [envelope.seq for envelope in events if envelope.seq] == list(range(1, events[-1].seq + 1))
        assert (served.folder / "a.txt").read_text() == "hello\n"
        await api.change(session, title="done")
        assert (await api.snapshot(session))["session"]["title"] == "done"
