"""`assent models`, `login` and `logout` as a person calls them; and what a start without a model says."""

import asyncio
import os
import pty
import stat
import subprocess
from pathlib import Path
from typing import Any

import msgspec
import pytest

from support.fake_anthropic import FakeAnthropic
from support.fake_catalog import FakeCatalog
from support.fake_chat import FakeChat
from support.fake_gemini import FakeGemini
from support.program import Ended, Program, asks_for, says
from support.waiting import WAIT_LIMIT

KEY = "sk-ant-0123456789abcdefghijklmnop"
NOBODY = "http://127.0.0.1:9"
CLAUDE: dict[str, Any] = {"/v1/models?limit=1000": {"data": [{"id": "claude-opus-5-5"}, {"id": "claude-next"}]}}
TESTS = str(Path(__file__).parents[1])


@pytest.fixture
def alone(program: Program) -> Program:
    """No keyring on this machine."""
    program.env["PYTHON_KEYRING_BACKEND"] = "keyring.backends.fail.Keyring"
    return program


async def beside(program: Program, *args: str, stdin: str = "", **env: str) -> Ended:
    return await asyncio.to_thread(lambda: program.run(*args, stdin=stdin, env=env))


# --- starting without a model ---


@pytest.mark.spec("K2")
def test_a_prompt_without_any_model_names_the_ways_forward_and_leaves_no_session(alone: Program) -> None:
    ended = alone.run("-p", "hello")
    assert ended.code == 41 and alone.sessions() == []
    for way in ("assent login", "start Ollama", "assent tour"):
        assert way in ended.err


@pytest.mark.spec("K2")
async def test_a_prompt_goes_to_the_server_that_answers(alone: Program) -> None:
    listing = {"/v1/models": {"data": [{"id": "qwen", "owned_by": "vllm"}]}}
    async with FakeCatalog(listing) as fake:
        ended = await beside(alone, "-p", "hello", VLLM_BASE_URL=fake.url)
    assert "/v1/chat/completions" in fake.asked and ended.code == 1  # it only lists


@pytest.mark.spec("K2")
async def test_the_flag_goes_before_the_environment_and_that_before_the_settings(alone: Program) -> None:
    alone.home.mkdir()
    models = [alone.scenario(says(name), name=name) for name in ("settings", "environment", "flag")]
    (alone.home / "settings.toml").write_text(f'model = "{models[0]}"\n')
    assert alone.run("-p", "hi").out == "settings\n"
    assert alone.run("-p", "hi", env={"ASSENT_MODEL": models[1]}).out == "environment\n"
    assert alone.run("-p", "hi", "-m", models[2], env={"ASSENT_MODEL": models[1]}).out == "flag\n"


@pytest.mark.spec("K2")
async def test_a_conversation_goes_on_with_another_provider(alone: Program) -> None:
    gemini = {"GEMINI_API_KEY": "k1", "GOOGLE_GEMINI_BASE_URL": ""}
    read = {"name": "list_directory", "args": {"path": "."}, "id": "one"}
    async with (
        FakeGemini({"replies": [asks_for(read), says("An empty folder.")]}) as first,
        FakeAnthropic({"replies": [says("Still empty.")]}) as second,
    ):
        env = (
            gemini
            | {"GOOGLE_GEMINI_BASE_URL": first.url}
            | {"ANTHROPIC_API_KEY": KEY, "ANTHROPIC_BASE_URL": second.url}
        )
        assert (await beside(alone, "-p", "What is here?", **env)).out == "An empty folder.\n"
        again = await beside(alone, "--resume", "latest", "-m", "claude-opus-5-5", "-p", "And now?", **env)
    assert again.out == "Still empty.\n", again.err
    roles = [message["role"] for message in second.requests[0].body["messages"]]
    assert roles == ["user", "assistant", "user", "assistant", "user"]


@pytest.mark.spec("K1")
async def test_the_effort_of_the_flag_and_of_the_settings_reaches_the_provider(alone: Program) -> None:
    alone.home.mkdir()
    (alone.home / "settings.toml").write_text('effort = "low"\nmax_tokens = 777\n')
    async with FakeGemini({"replies": [says("a"), says("b")]}) as fake:
        env = {"GEMINI_API_KEY": "k", "GOOGLE_GEMINI_BASE_URL": fake.url}
        await beside(alone, "-p", "hi", **env)
        await beside(alone, "--resume", "latest", "--effort", "max", "-p", "hi", **env)
    sent = [request.body["generationConfig"] for request in fake.requests]
    assert [config["thinkingConfig"]["thinkingBudget"] for config in sent] == [2_048, 24_576]
    assert [config["maxOutputTokens"] for config in sent] == [777, 777]


# --- assent models ---


@pytest.mark.spec("K2")
async def test_models_are_listed_with_window_price_and_state(alone: Program) -> None:
    async with FakeCatalog(CLAUDE) as fake:
        ended = await beside(alone, "models", ANTHROPIC_API_KEY=KEY, ANTHROPIC_BASE_URL=fake.url)
    assert ended.code == 0, ended.err
    assert "usable (key: ANTHROPIC_API_KEY)" in ended.out and "1,000,000  $4 / $20 2026-" in ended.out
    assert "claude-next" in ended.out and "no key: run `assent login openai`, or set OPENAI_API_KEY" in ended.out
    assert "Without -m: claude-sonnet-5-5" in ended.out and KEY not in ended.out


@pytest.mark.spec("K2")
def test_models_are_listed_for_programs(alone: Program) -> None:
    ended = alone.run("models", "anthropic", "--json")
    (view,) = msgspec.json.decode(ended.out)["providers"]
    assert (ended.code, view["state"], view["models"][0]["price_date"]) == (1, "no key", "2026-10")


def test_a_provider_that_does_not_exist_is_named_with_the_nearest(alone: Program) -> None:
    ended = alone.run("models", "antropic")
    assert ended.code == 42 and "did you mean anthropic?" in ended.err


# --- keys ---


@pytest.mark.spec("K3")
async def test_a_login_is_checked_stored_used_and_removed(alone: Program) -> None:
    async with FakeCatalog(CLAUDE) as fake:
        place = {"ANTHROPIC_BASE_URL": fake.url}
        stored = await beside(alone, "login", "anthropic", stdin=f"{KEY}\n", **place)
        assert stored.code == 0, stored.err
        assert "The key works: Anthropic offers 2 models." in stored.out and "only you can read" in stored.out
        assert KEY not in stored.out + stored.err and f"x-api-key: {KEY}" in fake.heads[0]
        assert "usable (key: assent login)" in (await beside(alone, "models", "anthropic", **place)).out
        assert fake.heads[1].count(KEY) == 1
    path = alone.home / "keys.json"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert alone.run("logout").out == "Removed the key for anthropic.\n"
    assert KEY not in path.read_text()
    assert alone.run("logout", "anthropic").code == 42


@pytest.mark.spec("K3")
async def test_a_key_that_is_refused_is_not_stored(alone: Program) -> None:
    async with FakeCatalog(CLAUDE, 401) as fake:
        ended = await beside(alone, "login", "anthropic", stdin=f"{KEY}\n", ANTHROPIC_BASE_URL=fake.url)
    assert ended.code == 41 and "so it was not stored" in ended.err
    assert not (alone.home / "keys.json").exists() and KEY not in ended.err


@pytest.mark.spec("K3")
def test_a_key_that_cannot_be_checked_is_stored_only_if_that_is_wanted(alone: Program) -> None:
    place = {"ANTHROPIC_BASE_URL": NOBODY}
    assert alone.run("login", "anthropic", stdin=KEY, env=place).code == 41
    assert alone.run("login", "anthropic", "--no-check", stdin=KEY, env=place).code == 0


@pytest.mark.spec("K3")
def test_a_login_to_a_server_that_needs_no_key_says_so(alone: Program) -> None:
    ended = alone.run("login", "ollama", stdin="\n")
    assert ended.code == 42
    assert "nothing was stored. Ollama needs no key unless its server asks for one." in ended.err
    assert alone.run("login", "anthropic", stdin="\n").err.rstrip().endswith("nothing was stored")


@pytest.mark.spec("K3")
def test_a_login_goes_into_the_keyring_where_there_is_one(alone: Program, tmp_path: Path) -> None:
    ring = tmp_path / "ring"
    alone.env |= {"PYTHON_KEYRING_BACKEND": "support.file_keyring.FileKeyring", "TEST_KEYRING": str(ring)}
    alone.env["PYTHONPATH"] += os.pathsep + TESTS
    ended = alone.run("login", "anthropic", "--no-check", stdin=KEY)
    assert "Stored in the system's keyring." in ended.out, ended.err
    assert KEY in ring.read_text() and KEY not in (alone.home / "keys.json").read_text()
    assert alone.run("logout").code == 0 and KEY not in ring.read_text()


@pytest.mark.spec("K3")
def test_on_a_terminal_the_key_is_asked_for_without_showing_it_and_its_page_is_named(alone: Program) -> None:
    ours, theirs = pty.openpty()
    command = alone.command("login", "anthropic", "--no-check")
    with subprocess.Popen(
        command, cwd=alone.folder, env=alone.env, stdin=theirs, stdout=theirs, stderr=theirs, start_new_session=True
    ) as process:
        os.close(theirs)
        shown = _until(ours, b"(not shown): ")
        os.write(ours, f"{KEY}\n".encode())
        shown += _until(ours, b"Use it with")
        assert process.wait(WAIT_LIMIT) == 0
    os.close(ours)
    assert b"https://platform.claude.com/settings/keys" in shown and KEY.encode() not in shown


def _until(terminal: int, text: bytes) -> bytes:
    shown = b""
    while text not in shown:
        shown += os.read(terminal, 4096)
    return shown


@pytest.mark.spec("K3")
async def test_a_stored_key_reaches_the_provider_and_nothing_else(alone: Program) -> None:
    """No child's environment, no log, no export has it, not even where a command prints the file."""
    alone.run("login", "openai-chat", "--no-check", stdin="Correct-Horse-Battery-9")
    command = {"name": "run_shell_command", "args": {"command": f"env; cat {alone.home}/keys.json"}, "id": "look"}
    async with FakeChat({"replies": [asks_for(command), says("Done.")]}) as fake:
        place = {"OPENAI_BASE_URL": f"{fake.url}/v1"}
        args = ("-m", "openai-chat:m", "-p", "go", "--approval-mode", "yolo", "-o", "stream-json")
        ended = await beside(alone, *args, **place)
    assert ended.code == 0, ended.err
    assert fake.requests[-1].headers["authorization"] == "Bearer Correct-Horse-Battery-9"
    assert "Horse" not in ended.out + ended.err + str(alone.events()) + str([r.body for r in fake.requests])
    assert "Horse" not in alone.run("sessions", "export", "latest").out


@pytest.mark.spec("K3")
@pytest.mark.parametrize("command", ["login", "logout", "models"])
def test_what_assent_runs_cannot_change_keys(alone: Program, command: str) -> None:
    inside = " ".join(alone.command(command, "anthropic"))
    model = alone.scenario(asks_for({"name": "run_shell_command", "args": {"command": inside}, "id": "x"}), says("ok"))
    ended = alone.run("-p", "go", "-m", model, "--approval-mode", "yolo", "-o", "stream-json")
    (finished,) = ended.of_type("call.finished")
    assert "only you may do this" in finished["display"]["text"]


@pytest.mark.spec("K3")
def test_keys_in_a_settings_file_that_others_can_read_are_warned_of(alone: Program) -> None:
    alone.home.mkdir()
    path = alone.home / "settings.toml"
    path.write_text(f'model = "{alone.scenario(says("hi"))}"\n[keys]\nanthropic = "{KEY}"\n')
    path.chmod(0o644)
    ended = alone.run("-p", "hello")
    assert (ended.code, ended.out) == (0, "hi\n") and f"chmod 600 {path}" in ended.err and KEY not in ended.err
