"""Files that go with a prompt: uploaded, mentioned, read, and gone with their session."""

import base64
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from assent.client import Api, ApiProblem
from assent.events import PromptSubmitted
from assent.parts import Media
from support.pictures import png
from support.program import says
from support.served import Served, until_event


@pytest.fixture
async def served(tmp_path: Path) -> AsyncIterator[Served]:
    async with Served(tmp_path) as served:
        yield served


@pytest.fixture
async def session(served: Served) -> str:
    return (await served.api().create(model=served.scenario(says("I see."), name="sees")))["id"]


async def upload(api: Api, session: str, name: str, data: bytes) -> Path:
    body = {"name": name, "data": base64.b64encode(data).decode()}
    return Path((await api.post(f"/sessions/{session}/uploads", body))["path"])


@pytest.mark.spec("H2")
async def test_an_uploaded_picture_goes_to_the_model_with_the_prompt_that_mentions_it(served: Served, session: str):
    api = served.api()
    path = await upload(api, session, "My Photo.PNG", png())
    assert (path.name, path.read_bytes(), path.stat().st_mode & 0o777) == ("my_photo.png", png(), 0o600)
    await api.say(session, f"What is this? @{path}")
    events = await until_event(api, session, "turn.finished")
    [prompt] = [one.event for one in events if isinstance(one.event, PromptSubmitted)]
    [attached] = prompt.attached
    assert [(part.mime, base64.b64decode(part.data)) for part in attached.parts if isinstance(part, Media)] == [
        ("image/png", png())
    ]


@pytest.mark.spec("H2")
@pytest.mark.parametrize("name", ["../../../escaped.txt", "/etc/passwd", ".bashrc", "a\0b", "x" * 400])
async def test_an_upload_stays_in_the_folder_of_its_session_whatever_its_name(served: Served, session: str, name: str):
    first = await upload(served.api(), session, name, b"one")
    second = await upload(served.api(), session, name, b"two")
    assert first != second
    assert first.parent == second.parent == served.home / "outputs" / session
    assert (first.read_bytes(), second.read_bytes()) == (b"one", b"two")


@pytest.mark.spec("H2")
async def test_uploads_go_with_their_session(served: Served, session: str):
    path = await upload(served.api(), session, "a.txt", b"text")
    await served.api().delete(session)
    assert not path.exists()


@pytest.mark.spec("H5")
async def test_an_upload_needs_an_operator_of_the_session_and_real_base64(served: Served, session: str):
    approver = served.api(served.token("bob", "approver"))
    with pytest.raises(ApiProblem) as refused:
        await upload(approver, session, "a.txt", b"x")
    assert refused.value.kind == "forbidden"
    with pytest.raises(ApiProblem) as refused:
        await upload(served.api(served.token("eve", "operator", "eve")), session, "a.txt", b"x")
    assert refused.value.kind == "not-found"
    with pytest.raises(ApiProblem) as refused:
        await served.api().post(f"/sessions/{session}/uploads", {"name": "a", "data": "not base64!"})
    assert refused.value.kind == "bad-request"
