"""The server says which models there are, and at once why there is none."""

from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from assent.client.api import Api
from support.fake_catalog import FakeCatalog
from support.program import NO_SERVERS
from support.served import Served, refused


@pytest.fixture
async def served(tmp_path: Path) -> AsyncIterator[Served]:
    async with Served(tmp_path) as served:
        yield served


@asynccontextmanager
async def serving(tmp_path: Path, **env: str) -> AsyncGenerator[Api]:
    """Without a model in the settings."""
    served = Served(tmp_path, model="")
    served.env |= NO_SERVERS | env
    async with served:
        yield served.api()


@pytest.mark.spec("K2")
async def test_without_any_model_the_page_is_told_so_before_the_first_prompt(tmp_path: Path) -> None:
    async with serving(tmp_path) as api:
        me = await api.me()
        assert me["model"] == "" and "Three ways forward" in me["problem"]
        problem = await refused(api.create(prompt="go"))
    assert "assent login" in str(problem) and "where `assent serve` runs" in str(problem)


@pytest.mark.spec("K2")
async def test_a_key_decides_for_the_server_too(tmp_path: Path) -> None:
    async with serving(tmp_path, ANTHROPIC_API_KEY="k") as api:
        me = await api.me()
        created = await api.create()
    assert (me["model"], me["problem"], created["model"]) == ("claude-sonnet-5-5", "", "claude-sonnet-5-5")
    assert "claude-opus-5-5" in me["models"] and "gpt-6.1-sol" not in me["models"]


@pytest.mark.spec("K2")
async def test_known_and_found_models_are_listed_for_those_who_may_choose(tmp_path: Path) -> None:
    listing = {"/v1/models": {"data": [{"id": "qwen", "owned_by": "vllm", "max_model_len": 5}]}}
    async with FakeCatalog(listing) as fake, serving(tmp_path, VLLM_BASE_URL=fake.url) as api:
        assert (await api.me())["model"] == "vllm:qwen"
        (model,) = (await api.models())["models"]
    assert (model["name"], model["window"]) == ("vllm:qwen", 5)


async def test_a_viewer_does_not_make_the_server_ask_providers(served: Served) -> None:
    viewer = served.api(served.token("eve", "viewer"))
    assert (await refused(viewer.models())).kind == "forbidden"


@pytest.mark.spec("K1")
async def test_the_effort_of_a_session_can_be_changed(served: Served) -> None:
    api = served.api()
    session = (await api.create(effort="low"))["id"]
    await api.change(session, effort="max")
    await api.change(session, effort="default")
    events = (await api.get(f"/sessions/{session}/events"))["events"]
    assert events[0]["effort"] == "low"
    assert [event["effort"] for event in events if event["type"] == "effort.changed"] == ["max", None]
