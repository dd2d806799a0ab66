"""One way to open a session: what it takes is closed with it, and nothing is left behind when it fails."""

import os
from pathlib import Path

import pytest

from assent.app.identity import me
from assent.app.model_access import NoModel
from assent.app.opening import NewSession, SessionSetup, open_session
from assent.app.session_environment import SessionEnvironment
from assent.app.storage import open_log
from assent.commands import Rename
from assent.config import Settings
from assent.events import ModelChanged, SessionCreated, SessionOpened, SessionRenamed
from assent.session.log import SessionBusy


class Model(NoModel):
    name = "some-model"

    def __init__(self) -> None:
        self.closed = 0

    async def close(self) -> None:
        self.closed += 1


@pytest.fixture
def env(tmp_path: Path) -> dict[str, str]:
    return {"ASSENT_HOME": str(tmp_path / "home"), "HOME": str(tmp_path), "PATH": os.environ["PATH"]}


def setup_with(env: dict[str, str], model: Model, **more: object) -> SessionSetup:
    return SessionSetup(env=env, settings=Settings(), client="test", open_model=lambda _: model, **more)  # pyright: ignore


async def test_a_new_session_is_created_with_what_the_settings_say_and_closed_with_its_model(
    env: dict[str, str], tmp_path: Path
) -> None:
    log, model = open_log(env), Model()
    async with await open_session(log, NewSession(str(tmp_path)), setup_with(env, model)) as client:
        created, opened = [envelope.event for envelope in await client.history()]
        assert isinstance(created, SessionCreated) and isinstance(opened, SessionOpened)
        assert (created.folder, created.model, created.mode) == (str(tmp_path), Settings().model, "default")
        assert opened.client == "test"
    assert model.closed == 1
    assert not await log.is_open(client.state.session)
    await log.close()


@pytest.mark.spec("K2")
async def test_a_model_that_is_chosen_for_an_earlier_session_is_recorded(env: dict[str, str], tmp_path: Path) -> None:
    log, how = open_log(env), setup_with(env, Model())
    async with await open_session(log, NewSession(str(tmp_path)), how, model="one") as client:
        session = client.state.session
    for model in ("two", "two", None):
        info = await log.info(session)
        async with await open_session(log, info, how, model=model) as client:
            assert client.state.model == "two"
    changes = [event for event in (e.event for e in await log.read(session)) if isinstance(event, ModelChanged)]
    assert [(event.model, event.by) for event in changes] == [("two", me())]
    assert (await log.info(session)).model == "two"
    await log.close()


@pytest.mark.parametrize("keep_history", [True, False])
async def test_history_and_events_have_neither_gap_nor_overlap(
    env: dict[str, str], tmp_path: Path, keep_history: bool
) -> None:
    log = open_log(env)
    how = setup_with(env, Model())
    async with await open_session(log, NewSession(str(tmp_path)), how, keep_history=keep_history) as client:
        numbers = [envelope.seq for envelope in await client.history()]
        await client.send(Rename("shop", by=client.me))
        async for envelope in client.events():
            numbers += [envelope.seq] if envelope.seq else []
            if isinstance(envelope.event, SessionRenamed):
                break
    assert numbers == list(range(1, len(numbers) + 1))
    await log.close()


async def test_a_new_session_that_cannot_be_opened_is_not_left_behind(env: dict[str, str], tmp_path: Path) -> None:
    log, model = open_log(env), Model()
    started: list[SessionEnvironment] = []

    async def fail(environment: SessionEnvironment) -> None:
        started.append(environment)
        raise SessionBusy("not now")

    with pytest.raises(SessionBusy, match="not now"):
        await open_session(log, NewSession(str(tmp_path)), setup_with(env, model, prepare=fail))
    assert started and model.closed == 1
    assert await log.sessions() == []
    await log.close()


async def test_a_session_that_is_open_already_stays_as_it_is(env: dict[str, str], tmp_path: Path) -> None:
    log, other, model = open_log(env), open_log(env), Model()
    async with await open_session(log, NewSession(str(tmp_path)), setup_with(env, Model())) as client:
        info = await other.info(client.state.session)
        with pytest.raises(SessionBusy):
            await open_session(other, info, setup_with(env, model))
        assert model.closed == 1
        assert client.runner.failure is None
    assert [found.id for found in await log.sessions()] == [info.id]
    await log.close()
    await other.close()
