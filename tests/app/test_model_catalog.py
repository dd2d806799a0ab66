"""What `assent models`, the terminal and the page offer to choose from."""

from pathlib import Path
from typing import Any

import pytest

from assent.app.model_access import ModelAccess
from assent.app.model_catalog import ModelCatalog, ProviderView
from assent.config import OwnProvider, Price, Settings
from assent.models.model_protocol import UnknownModel
from support.fake_catalog import FakeCatalog
from support.program import NO_SERVERS
from support.waiting import WAIT_LIMIT

CLAUDE = {"/v1/models?limit=1000": {"data": [{"id": "claude-opus-5-5"}, {"id": "claude-next"}]}}


def catalog(
    tmp_path: Path, settings: Settings | None = None, within: float = WAIT_LIMIT, /, **env: str
) -> ModelCatalog:
    access = ModelAccess(NO_SERVERS | {"ASSENT_HOME": str(tmp_path)} | env, settings or Settings())
    return ModelCatalog(access, within)


async def one(models: ModelCatalog, name: str) -> ProviderView:
    (view,) = await models.survey(name)
    return view


@pytest.mark.spec("K2")
async def test_each_provider_says_whether_it_can_be_used_or_why_not(tmp_path: Path) -> None:
    views = {view.name: view for view in await catalog(tmp_path).survey()}
    assert (views["anthropic"].state, views["ollama"].state) == ("no key", "not reachable")
    assert "assent login anthropic" in views["anthropic"].problem and "127.0.0.1:9" in views["ollama"].problem
    assert (views["gguf"].state, views["gguf"].problem) == ("needs a file", "name it with -m gguf:PATH")
    assert views["anthropic"].models[0].price_date and "openai-chat" not in views and "scripted" not in views


@pytest.mark.spec("K2")
async def test_known_models_have_window_and_price_and_found_ones_are_added(tmp_path: Path) -> None:
    async with FakeCatalog(CLAUDE) as fake:
        view = await one(catalog(tmp_path, ANTHROPIC_API_KEY="k", ANTHROPIC_BASE_URL=fake.url), "anthropic")
    assert (view.state, view.key_from) == ("usable", "ANTHROPIC_API_KEY")
    known, found = view.models
    assert (known.name, known.window, known.input_price) == ("claude-opus-5-5", 1_000_000, 4.0)
    assert (found.name, found.input_price) == ("claude-next", None)


async def test_own_prices_are_shown_without_a_date(tmp_path: Path) -> None:
    settings = Settings(prices={"claude-next": Price(1.0, 2.0), "claude-opus-5-5": Price(3.0, 4.0)})
    async with FakeCatalog(CLAUDE) as fake:
        view = await one(catalog(tmp_path, settings, ANTHROPIC_API_KEY="k", ANTHROPIC_BASE_URL=fake.url), "anthropic")
    assert [(m.input_price, m.output_price, m.price_date) for m in view.models] == [(3.0, 4.0, ""), (1.0, 2.0, "")]


@pytest.mark.spec("K2")
async def test_a_rejected_key_and_a_silent_provider_have_different_states(tmp_path: Path) -> None:
    async with FakeCatalog(CLAUDE, 401) as refusing, FakeCatalog({}, hangs=True) as silent:
        key = {"ANTHROPIC_API_KEY": "k"}
        refused = await one(catalog(tmp_path, ANTHROPIC_BASE_URL=refusing.url, **key), "anthropic")
        mute = await one(catalog(tmp_path, None, 0.01, ANTHROPIC_BASE_URL=silent.url, **key), "anthropic")
    assert (refused.state, mute.state) == ("key refused", "not reachable")


async def test_a_server_of_this_machine_is_listed_with_what_its_models_can_do(tmp_path: Path) -> None:
    answers: dict[str, Any] = {
        "/v1/models": {"data": [{"id": "qwen", "owned_by": "llamacpp"}]},
        "/props": {"default_generation_settings": {"n_ctx": 4096}, "chat_template_caps": {"supports_tools": False}},
    }
    async with FakeCatalog(answers) as fake:
        view = await one(catalog(tmp_path, LLAMACPP_BASE_URL=fake.url), "llamacpp")
    (model,) = view.models
    assert (view.state, model.name, model.window, model.tools) == ("usable", "llamacpp:qwen", 4096, False)
    assert "cannot call tools" in view.warning


async def test_there_is_no_other_provider(tmp_path: Path) -> None:
    with pytest.raises(UnknownModel, match="did you mean anthropic"):
        await catalog(tmp_path).survey("antropic")
    with pytest.raises(UnknownModel, match="there is no provider 'nope'; there are anthropic, gemini"):
        await catalog(tmp_path).survey("nope")


@pytest.mark.spec("K2")
async def test_only_models_that_can_be_used_are_offered_and_the_configured_one_first(tmp_path: Path) -> None:
    async with FakeCatalog(CLAUDE) as fake:
        env = {"ANTHROPIC_API_KEY": "k", "ANTHROPIC_BASE_URL": fake.url}
        models = catalog(tmp_path, Settings(model="scripted:x"), **env)
        names = [model.name for model in await models.choices(WAIT_LIMIT)]
        again = [model.name for model in await models.choices(WAIT_LIMIT)]
        await models.close()
    assert names == again == ["scripted:x", "claude-opus-5-5", "claude-next"]
    assert len(fake.asked) == 1


async def test_while_a_provider_is_slow_the_known_models_are_offered(tmp_path: Path) -> None:
    async with FakeCatalog({}, hangs=True) as silent:
        models = catalog(tmp_path, ANTHROPIC_API_KEY="k", ANTHROPIC_BASE_URL=silent.url)
        names = [model.name for model in await models.choices(0)]
        await models.close()
    assert names[:2] == ["claude-fable-5-1", "claude-opus-5-5"]


async def test_a_persons_own_provider_is_listed(tmp_path: Path) -> None:
    async with FakeCatalog({"/v1/models": {"data": [{"id": "m"}]}}) as fake:
        models = catalog(tmp_path, Settings(providers={"office": OwnProvider(base_url=f"{fake.url}/v1")}))
        names = [model.name for model in await models.choices(WAIT_LIMIT)]
        await models.close()
    assert names == ["office:m"]


async def test_gemini_lists_the_models_that_can_hold_a_conversation(tmp_path: Path) -> None:
    listed = [
        {"name": "models/gemini-9", "inputTokenLimit": 7, "supportedGenerationMethods": ["generateContent"]},
        {"name": "models/embedding-1", "supportedGenerationMethods": ["embedContent"]},
    ]
    async with FakeCatalog({"/v1beta/models?pageSize=1000": {"models": listed}}) as fake:
        view = await one(catalog(tmp_path, GEMINI_API_KEY="k", GOOGLE_GEMINI_BASE_URL=fake.url), "gemini")
    assert [(model.name, model.window) for model in view.models] == [("gemini-9", 7)]
