"""web_search is offered as long as the provider of the model in use can search."""

import os
from pathlib import Path

import pytest

from assent.app.model_access import DeferredModel, ModelAccess
from assent.app.session_environment import SessionEnvironment, open_environment
from assent.config import Settings
from assent.models.model_choice import open_model

KEYS = {"GEMINI_API_KEY": "test-key-123", "ANTHROPIC_API_KEY": "test-key-123"}


@pytest.fixture
def env(tmp_path: Path) -> dict[str, str]:
    return KEYS | {"ASSENT_HOME": str(tmp_path / "home"), "HOME": str(tmp_path), "PATH": os.environ["PATH"]}


def offers(environment: SessionEnvironment) -> bool:
    return "web_search" in environment.registry.names()


@pytest.mark.spec("E3")
@pytest.mark.parametrize(("name", "able"), [("gemini-2.5-pro", True), ("claude-opus-5-5", False)])
def test_a_session_begins_with_the_search_if_its_model_can(
    env: dict[str, str], tmp_path: Path, name: str, able: bool
) -> None:
    access = ModelAccess(env, Settings())
    for model in (open_model(name, env), DeferredModel(name, access)):
        assert offers(open_environment(env, str(tmp_path), Settings(), "s", model, access)) is able


@pytest.mark.spec("K2")
def test_the_search_follows_the_model(env: dict[str, str], tmp_path: Path) -> None:
    gemini, claude = open_model("gemini-2.5-pro", env), open_model("claude-opus-5-5", env)
    environment = open_environment(env, str(tmp_path), Settings(), "s", claude)
    follow = environment.options(Settings(), "test").offer_tools
    seen: list[bool] = []
    for model in (claude, gemini, gemini, claude, gemini):
        follow(model)
        seen.append(offers(environment))
    assert seen == [False, True, True, False, True]


def test_a_model_that_is_yet_to_be_chosen_offers_no_search(env: dict[str, str], tmp_path: Path) -> None:
    access = ModelAccess(env, Settings())
    assert not offers(open_environment(env, str(tmp_path), Settings(), "s", DeferredModel("", access), access))


def test_to_judge_calls_without_a_model_the_tool_is_there(env: dict[str, str], tmp_path: Path) -> None:
    assert offers(open_environment(env, str(tmp_path), Settings()))
