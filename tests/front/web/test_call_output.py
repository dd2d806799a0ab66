"""What calls have said, in pieces: from the file with the whole where there is one, and from no other file."""

import os
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from assent.approval import Decision
from assent.client import Api
from assent.events import CallOutput, CallRequest, Envelope
from assent.files.private_folder import PrivateFolder
from assent.front.web.call_output import CallOutputs
from assent.scheduler.call import Executing
from assent.tools.support.whole_output import output_name
from support.program import asks_for, says, shell
from support.served import Json, Served, until_event, until_waiting

pytestmark = pytest.mark.spec("D4")
WHOLE = "".join(f"{number} größer €\n" for number in range(1, 20_001))
LOUD = 'touch asked; n=20000; for i in $(seq $n); do echo "$i größer €"; done'


@pytest.fixture
async def served(tmp_path: Path) -> AsyncIterator[Served]:
    async with Served(tmp_path) as served:
        yield served


async def ran(served: Served, api: Api, command: str, call_id: str = "run") -> str:
    """A session in which this command was run."""
    model = served.scenario(asks_for(shell(command, call_id)), says("Done."), name="loud")
    session = (await api.create(model=model, prompt="go"))["id"]
    (waiting,) = await until_waiting(api, session)
    await api.decide(session, waiting["call_id"], "proceed_once", waiting["approval"]["digest"])
    await until_event(api, session, "turn.finished")
    return session


async def piece(api: Api, session: str, **query: int) -> Json:
    return await api.get(f"/sessions/{session}/calls/run/output", **query)


def file_of(served: Served, session: str) -> Path:
    (file,) = (served.home / "outputs" / session).iterdir()
    return file


async def test_the_whole_of_a_long_output_comes_in_pieces_also_after_a_restart(tmp_path: Path):
    async with Served(tmp_path) as served:
        session = await ran(served, served.api(), LOUD)
    async with Served(tmp_path) as served:
        api, text, offset, done = served.api(), "", 0, False
        while not done:
            found = await piece(api, session, offset=offset, limit=10_007)  # often in the middle of a character
            assert found["offset"] == offset and found["saved"] and len(found["text"].encode()) <= 10_007
            text, offset = text + found["text"], found["next"]
            done = offset == found["total"]
        assert text == WHOLE
        assert (await piece(api, session, offset=10**9))["text"] == ""


async def test_a_place_inside_a_character_is_moved_to_the_next(served: Served):
    api = served.api()
    session = await ran(served, api, LOUD)
    begin = len(b"1 gr")
    found = await piece(api, session, offset=begin + 1, limit=4)
    assert (found["text"], found["offset"]) == ("ße", begin + 2)


async def test_without_a_file_it_is_what_the_session_keeps(served: Served):
    api = served.api()
    session = await ran(served, api, LOUD)
    file_of(served, session).unlink()
    found = await piece(api, session)
    assert not found["saved"] and found["done"] and found["text"].startswith("1 größer €")
    assert found["total"] < len(WHOLE.encode())


async def test_a_link_a_pipe_and_a_folder_in_its_place_are_not_followed(served: Served, tmp_path: Path):
    api = served.api()
    session = await ran(served, api, LOUD)
    file, secret = file_of(served, session), tmp_path / "secret"
    secret.write_text("secret\n")
    for replace in (lambda: file.symlink_to(secret), lambda: os.mkfifo(file), file.mkdir):
        file.unlink()
        replace()
        found = await piece(api, session)
        assert not found["saved"] and "secret" not in found["text"]
        if file.is_dir():
            file.rmdir()
            file.touch()
    folder = file.parent
    folder.rename(tmp_path / "moved")
    folder.symlink_to(tmp_path / "moved")
    assert not (await piece(api, session))["saved"]


def test_a_file_of_someone_else_is_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    folder = PrivateFolder(str(tmp_path / "outputs"))
    with folder.create("x.txt") as file:
        file.write(b"theirs")
    assert folder.piece("x.txt", 2, 3) == (b"eir", 6)
    mine = os.geteuid()
    monkeypatch.setattr(os, "geteuid", lambda: mine + 1)
    assert folder.piece("x.txt", 0, 3) is None


def test_names_that_climb_stay_in_their_folder(tmp_path: Path):
    (tmp_path / "secret").write_text("secret")
    folder = PrivateFolder(str(tmp_path / "outputs"))
    with folder.create("x.txt"):
        assert folder.piece("../secret", 0, 9) is None
        assert folder.piece("/etc/passwd", 0, 9) is None


def test_ids_that_look_alike_have_files_of_their_own():
    assert len({output_name(id).lower() for id in ("a_b", "a/b", "A_b", "a" * 200 + "b", "c" + "a" * 200 + "b")}) == 5


async def test_of_a_call_that_runs_the_newest_part_is_told_with_its_place(tmp_path: Path):
    outputs = CallOutputs({"ASSENT_HOME": str(tmp_path)})
    for text in ("größer\n", "€"):
        outputs.on_event(Envelope(0, 1.0, "s", CallOutput("c", text)))
    running = Executing(
        request=CallRequest(call_id="c", tool="run_shell_command", args={}, prompt_id="p"),
        started_at=1.0,
        decision=Decision(source="person", reason=""),
        output="r\n€",
    )
    found = await outputs.piece("s", running, 0, 100)
    assert (found.text, found.offset, found.next, found.total) == ("r\n€", 7, 12, 12)
    assert not found.done and not found.saved
    assert (await outputs.piece("s", running, 10, 100)).text == ""


async def test_a_deleted_session_leaves_no_output_behind(served: Served):
    api = served.api()
    session = await ran(served, api, LOUD)
    await api.delete(session)
    assert not (served.home / "outputs" / session).exists()


async def test_a_fork_has_the_whole_outputs_of_its_calls_also_without_the_first_session(served: Served):
    api = served.api()
    session = await ran(served, api, LOUD)
    copy = (await api.fork(session))["id"]
    await api.delete(session)
    found = await piece(api, copy, limit=1_000_000)
    assert found["saved"] and found["text"] == WHOLE
    await api.delete(copy)
    assert not (served.home / "outputs" / copy).exists()


async def test_a_fork_gets_no_output_of_calls_that_were_not_over(served: Served, tmp_path: Path):
    api = served.api()
    session = await ran(served, api, LOUD)
    copy = (await api.fork(session))["id"]
    with PrivateFolder(str(served.home / "outputs" / session)).create(output_name("later")) as later:
        later.write(b"not yours")
    again = (await api.fork(session))["id"]
    for fork in (copy, again):
        assert [file.name for file in (served.home / "outputs" / fork).iterdir()] == [file_of(served, copy).name]
