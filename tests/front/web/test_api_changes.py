"""Taking back what was written, compressing the conversation, and finding one session among many, through the API."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from assent.client import Api
from assent.events import CallFinished, ChatCompressed
from support.program import asks_for, says, write
from support.served import Served, refused, until_event, until_waiting

LONG = "Many words about the matter at hand. " * 120


@pytest.fixture
async def served(tmp_path: Path) -> AsyncIterator[Served]:
    async with Served(tmp_path) as served:
        yield served


@pytest.fixture
def api(served: Served) -> Api:
    return served.api()


async def written(api: Api) -> str:
    """A session that wrote a.txt."""
    session = (await api.create(prompt="go"))["id"]
    (waiting,) = await until_waiting(api, session)
    await api.decide(session, "write", "proceed_once", waiting["approval"]["digest"])
    await until_event(api, session, "turn.finished")
    return session


async def ended(api: Api, session: str, call_id: str) -> CallFinished:
    async for envelope in api.events(session):
        if isinstance(envelope.event, CallFinished) and envelope.event.call_id == call_id:
            return envelope.event
    raise AssertionError("the stream ended")


# --- undo ---


@pytest.mark.spec("H1")
async def test_what_a_call_wrote_is_listed_and_taken_back_once(served: Served, api: Api):
    session = await written(api)
    (change,) = await api.changes(session)
    assert (change["call_id"], change["tool"]) == ("write", "write_file")
    assert change["path"] == str(served.folder / "a.txt")
    undoing = await api.undo(session, "write", "undo-1")
    assert (await ended(api, session, undoing["call_id"])).status == "success"
    assert not (served.folder / "a.txt").exists()
    assert await api.changes(session) == []
    assert await api.undo(session, "write", "undo-1") == undoing
    assert (await refused(api.undo(session, "other", "undo-1"))).status == 404


async def test_a_file_that_changed_since_is_left_alone_and_the_call_says_why(served: Served, api: Api):
    session = await written(api)
    (served.folder / "a.txt").write_text("mine\n")
    undoing = await api.undo(session, "write")
    finished = await ended(api, session, undoing["call_id"])
    assert finished.status == "error" and finished.failure is not None
    assert "was changed after this call" in finished.failure.message
    assert (served.folder / "a.txt").read_text() == "mine\n"
    assert [change["call_id"] for change in await api.changes(session)] == ["write"]


async def test_a_call_that_wrote_nothing_cannot_be_taken_back(api: Api):
    session = (await api.create(prompt="go"))["id"]
    await until_waiting(api, session)
    assert await api.changes(session) == []
    assert (await refused(api.undo(session, "write"))).kind == "not-found"


@pytest.mark.parametrize("role", ["viewer", "approver"])
async def test_who_may_not_write_may_not_take_back_or_compress(served: Served, api: Api, role: str):
    session = await written(api)
    other = served.api(served.token("vic", role))  # pyright: ignore[reportArgumentType]
    assert len(await other.changes(session)) == 1
    assert (await refused(other.undo(session, "write"))).status == 403
    assert (await refused(other.compress(session))).status == 403
    stranger = served.api(served.token("eve", "operator", owner="eve"))
    assert (await refused(stranger.changes(session))).status == 404
    assert (await refused(stranger.undo(session, "write"))).status == 404
    assert (await refused(stranger.compress(session))).status == 404


# --- compress ---


@pytest.mark.spec("H1")
async def test_a_long_conversation_becomes_a_summary_and_the_same_request_does_it_once(served: Served, api: Api):
    model = served.scenario(says(LONG), says("Short."), says("The notes."), says("More notes."), name="long")
    session = (await api.create(model=model, prompt=LONG))["id"]
    first = await until_event(api, session, "turn.finished")
    await api.say(session, "and now?")
    await until_event(api, session, "turn.finished", first[-1].seq)
    taken = await api.compress(session, "compress-1")
    assert taken["state"] == "taken"
    assert await api.compress(session, "compress-1") == taken
    (done,) = [e.event for e in await api.history(session) if isinstance(e.event, ChatCompressed)]
    assert (done.problem, done.by) == ("", "ann@127.0.0.1")
    assert done.tokens_after < done.tokens_before


async def test_an_empty_conversation_is_not_compressed_and_the_reason_is_told(api: Api):
    problem = await refused(api.compress((await api.create())["id"]))
    assert (problem.status, problem.kind) == (409, "refused")
    assert "nothing to compress" in str(problem)


async def test_during_a_turn_a_compression_is_recorded_and_done_after_it(api: Api):
    session = (await api.create(prompt="go"))["id"]
    (waiting,) = await until_waiting(api, session)
    assert (await api.compress(session))["state"] == "recorded"
    await api.decide(session, "write", "cancel", waiting["approval"]["digest"])
    kinds = [type(e.event).__name__ for e in await until_event(api, session, "chat.compressed")]
    assert kinds.index("TurnFinished") < kinds.index("ChatCompressed")


# --- finding ---


async def test_sessions_are_found_by_the_words_of_their_title_and_folder(served: Served, api: Api):
    (served.folder / "shop").mkdir()
    await api.create(title="Fix the Total")
    await api.create(title="Write the docs", folder=str(served.folder / "shop"))
    for query, titles in {
        "total": ["Fix the Total"],
        "TOTAL fix": ["Fix the Total"],
        "shop docs": ["Write the docs"],
        "the": ["Write the docs", "Fix the Total"],
        "nothing like it": [],
    }.items():
        found = await api.get("/sessions", query=query)
        assert sorted(one["title"] for one in found["sessions"]) == sorted(titles)
        assert found["total"] == len(titles)
    found = await api.get("/sessions", query="the", limit=1)
    assert (len(found["sessions"]), found["total"]) == (1, 2)


async def test_models_to_choose_from_are_told(served: Served, api: Api):
    me = await api.me()
    assert me["model"] in me["models"] and me["problem"] == ""


async def test_an_undo_during_a_turn_waits_for_its_end(served: Served, api: Api):
    model = served.scenario(
        asks_for(write("b.txt", "b\n", "b")), asks_for(write("c.txt", "c\n", "c")), says("Done."), name="two"
    )
    session = (await api.create(model=model, prompt="go", mode="default"))["id"]
    (waiting,) = await until_waiting(api, session)
    await api.decide(session, "b", "proceed_once", waiting["approval"]["digest"])
    (waiting,) = await until_waiting(api, session)
    undoing = await api.undo(session, "b")
    assert (served.folder / "b.txt").exists()
    await api.decide(session, "c", "cancel", waiting["approval"]["digest"])
    assert (await ended(api, session, undoing["call_id"])).status == "success"
    assert not (served.folder / "b.txt").exists()
