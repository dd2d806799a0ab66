"""The environment of children: who gets what of ours."""

import pytest

from assent.config import Environment
from assent.process.environment import FIXED, child_environment, command_environment, withheld

pytestmark = pytest.mark.spec("I3")

ORDINARY = {
    "PATH": "/home/me/.venv/bin:/bin",
    "HOME": "/home/me",
    "LANG": "C.UTF-8",
    "LC_TIME": "de_DE",
    "TERM": "xterm",
    "TMPDIR": "/tmp/me",
    "VIRTUAL_ENV": "/home/me/.venv",
    "SSH_AUTH_SOCK": "/run/agent",
    "https_proxy": "http://me:opensesame1@proxy:3128",
    "NODE_OPTIONS": "--max-old-space-size=4096",
    "MY_APP_COLOUR": "blue",
    "AWS_REGION": "eu-central-1",
}
SECRET = {
    "GEMINI_API_KEY": "k",
    "GITHUB_TOKEN": "t",
    "AWS_SECRET_ACCESS_KEY": "s",
    "DB_PASSWORD": "postgres",
    "DATABASE_URL": "postgres://app:opensesame1@db/x",
    "THING": "ghp_" + "a1B2" * 9,
}
UNSEEN = {
    "BASH_ENV": "/tmp/run-me",
    "BASH_FUNC_ls%%": "() { rm -rf /; }",
    "LD_PRELOAD": "/tmp/x.so",
    "GIT_CONFIG_COUNT": "1",
    "GIT_CONFIG_KEY_0": "core.pager",
    "GIT_CONFIG_VALUE_0": "run-me",
}
FOR_PEOPLE = {"EDITOR": "code --wait", "GIT_EDITOR": "vim", "MANPAGER": "less", "PAGER": "less", "COLUMNS": "80"}


def test_a_command_gets_all_variables_but_secrets_and_runs_nothing_unseen():
    assert command_environment(Environment(), ORDINARY | SECRET | UNSEEN | FOR_PEOPLE) == ORDINARY | FIXED


def test_the_settings_can_pass_a_secret_on_by_name_or_pattern():
    rules = Environment(allow=("GITHUB_TOKEN", "AWS_*", "LD_PRELOAD"))
    built = command_environment(rules, ORDINARY | SECRET | UNSEEN)
    assert set(built) - set(ORDINARY) - set(FIXED) == {"GITHUB_TOKEN", "AWS_SECRET_ACCESS_KEY", "LD_PRELOAD"}


def test_the_settings_can_hold_back_what_does_not_look_like_a_secret_whatever_else_they_allow():
    built = command_environment(Environment(allow=("*",), block=("MY_*",)), ORDINARY | SECRET)
    assert "MY_APP_COLOUR" not in built
    assert "GITHUB_TOKEN" in built


def test_what_is_held_back_can_be_told():
    assert withheld(Environment(allow=("THING",)), ORDINARY | SECRET) == [n for n in SECRET if n != "THING"]


def test_other_programs_get_a_few_ordinary_names_and_what_is_given_to_them():
    built = child_environment(ORDINARY | SECRET | UNSEEN | FOR_PEOPLE, extra={"DOCS_TOKEN": "t"})
    passed = ("PATH", "HOME", "LANG", "LC_TIME", "TERM", "TMPDIR")
    assert built == {name: ORDINARY[name] for name in passed} | FIXED | {"DOCS_TOKEN": "t"}


def test_a_path_and_a_terminal_are_always_there():
    assert {"PATH", "TERM"} <= set(command_environment(Environment(), {})) & set(child_environment({}))


@pytest.mark.spec("D2")
def test_where_a_person_can_type_git_may_ask_but_no_editor_opens() -> None:
    typing = command_environment(Environment(), {"EDITOR": "vim"}, typing=True)
    assert (typing["GIT_TERMINAL_PROMPT"], typing["EDITOR"]) == ("1", "false")
    assert command_environment(Environment(allow=("EDITOR",)), {"EDITOR": "ed"}, typing=True)["EDITOR"] == "ed"
    assert command_environment(Environment(), {"GIT_TERMINAL_PROMPT": "0"}, typing=True)["GIT_TERMINAL_PROMPT"] == "0"
    nobody = command_environment(Environment(), {"GIT_TERMINAL_PROMPT": "1"})
    assert nobody["GIT_TERMINAL_PROMPT"] == "0" and "EDITOR" not in nobody
