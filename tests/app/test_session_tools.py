"""The settings choose which built-in tools the model is offered."""

import os
from pathlib import Path

import pytest

from assent.app.session_environment import SessionEnvironment, open_environment
from assent.config import BadSettings, load_settings

ALL = {"read_file", "replace", "run_shell_command", "web_fetch", "write_todos", "ask_user"}


def environment_with(tmp_path: Path, settings: str) -> SessionEnvironment:
    home = tmp_path / "home"
    home.mkdir()
    (home / "settings.toml").write_text(settings)
    env = {"ASSENT_HOME": str(home), "HOME": str(tmp_path), "PATH": os.environ["PATH"]}
    return open_environment(env, str(tmp_path), load_settings(env))


def offered(environment: SessionEnvironment) -> set[str]:
    return {declaration.name for declaration in environment.registry.declarations()}


@pytest.mark.spec("E2b")
def test_without_a_setting_the_model_is_offered_all_tools(tmp_path: Path) -> None:
    assert offered(environment_with(tmp_path, "")) >= ALL


@pytest.mark.spec("E2b")
def test_an_excluded_tool_is_not_offered_and_stays_available_to_the_person(tmp_path: Path) -> None:
    environment = environment_with(tmp_path, 'exclude_tools = ["run_shell_command", "web_search"]')
    assert ALL - offered(environment) == {"run_shell_command"}
    assert not environment.registry.offers("run_shell_command")
    assert "web_search" not in offered(environment)
    assert environment.registry.get("run_shell_command") is not None  # for `!`
    assert not environment.registry.offers("run_shell_command")  # once it is loaded, either


@pytest.mark.spec("E2b")
def test_only_included_tools_are_offered_and_an_exclusion_wins(tmp_path: Path) -> None:
    environment = environment_with(
        tmp_path, 'include_tools = ["read_file", "glob", "replace"]\nexclude_tools = ["replace"]'
    )
    assert offered(environment) == {"read_file", "glob"}


@pytest.mark.spec("E2b")
@pytest.mark.parametrize("key", ["include_tools", "exclude_tools"])
@pytest.mark.parametrize("name", ["webfetch", "undo", ""])
def test_a_name_that_is_no_built_in_tool_for_the_model_is_an_error(tmp_path: Path, key: str, name: str) -> None:
    with pytest.raises(BadSettings, match=rf"settings\.toml: {key}: there is no built-in tool '{name}'; choose from"):
        environment_with(tmp_path, f'{key} = ["{name}"]')
