"""Everything in examples/ works as its first lines say."""

import asyncio
import shutil
import subprocess
import sys
from contextlib import aclosing
from pathlib import Path

import pytest

from assent.client import Api
from assent.events import PromptSubmitted
from support.program import Program, asks_for, says
from support.served import ServedProgram

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
SECONDS = 60.0
"""For a script of the examples, on a busy machine."""
SCENARIO = f"scripted:{EXAMPLES / 'scenario.json'}"
pytestmark = pytest.mark.timeout(3 * SECONDS)


@pytest.fixture
def program(tmp_path: Path) -> Program:
    made = Program(tmp_path)
    made.home.mkdir()
    return made


def run_script(program: Program, name: str, *args: str, stdin: str = "") -> "subprocess.CompletedProcess[str]":
    words = [sys.executable, str(EXAMPLES / name), *args]
    return subprocess.run(
        words, env=program.env, input=stdin, capture_output=True, text=True, timeout=SECONDS, check=False
    )


def test_every_example_is_in_the_list_and_says_what_it_is_for() -> None:
    listed = (EXAMPLES / "README.md").read_text()
    for path in sorted(EXAMPLES.rglob("*")):
        if path.is_dir() or path.suffix in (".md", ".pyc"):
            continue
        place = path.relative_to(EXAMPLES)
        names = (f"]({place})", f"]({place.parts[0]}/)", f"`{place}`")
        assert any(name in listed for name in names), f"{place} is not in the list"
        words = [line for line in path.read_text().splitlines() if not line.startswith("#!")]
        assert path.suffix == ".json" or words[0].startswith(("#", '"""')), f"{place} begins with no comment"


@pytest.mark.parametrize(
    ("command", "verdict"),
    [
        ("pytest -q tests", "allow"),
        ("ruff check src", "allow"),
        ("ruff format src", "ask"),
        ("git pull", "ask"),
        ("git push origin main", "deny"),
    ],
)
def test_the_rules_decide_as_they_say(program: Program, command: str, verdict: str) -> None:
    shutil.copy(EXAMPLES / "policy.toml", program.home)
    explained = program.run("policy", "explain", "--", command)
    assert explained.out.startswith(f"{verdict}:"), explained.out + explained.err


def test_the_scenario_asks_before_it_writes(program: Program) -> None:
    refused = program.run("-m", SCENARIO, "-p", "say hello")
    assert refused.out.endswith("All right, I won't write it.\n"), refused.err
    assert not (program.folder / "hello.txt").exists()
    allowed = program.run("-m", SCENARIO, "-p", "say hello", "--allowed-tools", "write_file")
    assert allowed.out.endswith("hello.txt is there.\n"), allowed.err
    assert (program.folder / "hello.txt").read_text() == "Hello!\n"


def test_the_reader_of_the_stream_prints_the_calls_and_the_result(program: Program) -> None:
    stream = program.run("-m", SCENARIO, "-p", "say hello", "-o", "stream-json").out
    read = run_script(program, "follow_stream.py", stdin=stream)
    assert read.stdout.splitlines()[:2] == ["list_directory: success", "write_file: error"], read.stderr
    assert read.stdout.splitlines()[2].startswith("refused: ") and read.returncode == 1
    cut = run_script(program, "follow_stream.py", stdin="".join(stream.splitlines(keepends=True)[:-1]))
    assert cut.returncode == 1 and "The stream was cut" in cut.stdout


def test_the_server_of_the_settings_brings_the_tool_that_they_include(program: Program) -> None:
    settings = (EXAMPLES / "mcp/settings.toml").read_text()
    settings = settings.replace('"python3"', f'"{sys.executable}"').replace("examples/mcp", str(EXAMPLES / "mcp"))
    settings = settings.replace("start_timeout = 30", f"start_timeout = {SECONDS}")
    (program.home / "settings.toml").write_text(settings)
    call = asks_for({"name": "mcp_roman_to_roman", "args": {"number": 1998}, "id": "c1"})
    left_out = asks_for({"name": "mcp_roman_history", "args": {}, "id": "c2"})
    model = program.scenario(call, left_out, says("done"))
    with program.start("-p", "go", "-m", model, "--allowed-tools", "mcp_roman_*") as running:
        running.goes_on()
        ended = running.wait()
    first, second = program.events_of_type("call.finished")
    assert "MCMXCVIII" in str(first["result"]["response"]), ended.err
    assert second["failure"]["type"] == "tool_not_registered"


def test_the_tools_of_the_project_run_once_it_is_trusted(program: Program) -> None:
    shutil.copytree(EXAMPLES / "project-tools", program.folder, dirs_exist_ok=True)
    (program.folder / "shop.py").write_text("x = 1  # TODO: a better name\n")
    model = program.scenario(asks_for({"name": "discovered_tool_todo_comments", "args": {}, "id": "c1"}), says("done"))
    words = ("-p", "go", "-m", model, "--allowed-tools", "discovered_tool_todo_comments")
    assert "is not used: the folder is untrusted" in program.run(*words).err
    assert program.run("trust", "--yes").code == 0
    ended = program.run(*words)
    before, after = (program.events_of_type("call.finished", session)[0] for session in program.sessions())
    assert before["failure"]["type"] == "tool_not_registered"
    assert after["result"]["response"]["output"].startswith("shop.py:1: x = 1  # TODO"), ended.err


async def test_the_python_client_approves_edits_of_its_folder_and_the_custom_command_is_filled(
    program: Program,
) -> None:
    shutil.copytree(EXAMPLES / "commands", program.home / "commands")
    change_a_file(program.folder)
    served = ServedProgram(program, SCENARIO)
    async with served.start() as api:
        done = run_script(program, "approve_from_python.py", str(program.folder), "say hello")
        assert "yes: write_file" in done.stdout and "The turn ended: completed." in done.stdout, done.stderr
        assert (program.folder / "hello.txt").read_text() == "Hello!\n"
        (session,) = program.sessions()
        await api.use_prompt(session, "review", "Be brief.")
        asked = await prompts(api, session, 2)
    served.kill()
    assert "unclear names. Be brief." in asked[1] and "+price = 2" in asked[1]


async def prompts(api: Api, session: str, count: int) -> list[str]:
    """What was asked in the session, once there is so much."""
    found: list[str] = []
    async with asyncio.timeout(SECONDS), aclosing(api.events(session)) as events:
        async for envelope in events:
            if isinstance(envelope.event, PromptSubmitted):
                found.append(envelope.event.text)
            if len(found) == count:
                break
    return found


def change_a_file(folder: Path) -> None:
    (folder / "shop.py").write_text("price = 1\n")
    subprocess.run(["git", "init", "-q"], cwd=folder, check=True)
    subprocess.run(["git", "add", "shop.py"], cwd=folder, check=True)
    (folder / "shop.py").write_text("price = 2\n")
