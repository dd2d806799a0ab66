"""`@path` in a prompt, with the real program and what really goes to the provider. Rows G1, E3, E5, F11."""

from typing import Any

import msgspec
import pytest

from support.fake_gemini import FakeGemini
from support.program import Program, says
from support.servers import SDK
from support.servers import program as server_program

pytestmark = pytest.mark.spec("G1")


def key_for(fake: FakeGemini) -> dict[str, str]:
    return {"GEMINI_API_KEY": "test-key", "GOOGLE_GEMINI_BASE_URL": fake.url}


def sent(fake: FakeGemini, request: int = -1) -> list[dict[str, Any]]:
    """The parts of the first thing that the person said."""
    return fake.requests[request].body["contents"][0]["parts"]


@pytest.mark.spec("E3")
@pytest.mark.spec("F11")
async def test_a_file_goes_to_the_provider_with_the_prompt_and_a_secret_does_not(program: Program):
    (program.folder / "a.py").write_text("print('hello')\n")
    (program.folder / ".env").write_text("TOKEN=hush\n")
    (program.folder / "p.png").write_bytes(b"\x89PNG\r\n\x1a\nxx")
    async with FakeGemini({"replies": [says("Seen."), says("Still the same.")]}) as fake:
        prompt = "explain @a.py, @p.png and @.env; mail ann@example.org about @dataclass"
        first = await program.run_beside("-p", prompt, env=key_for(fake))
        before = sent(fake)
        (program.folder / "a.py").write_text("changed since\n")
        again = await program.run_beside("--resume", "latest", "-p", "and now?", env=key_for(fake))
        after = sent(fake)
    assert (first.code, first.out, again.code) == (0, "Seen.\n", 0)
    assert first.err == "with a.py (1 line), p.png (image/png); left out .env: usually holds secrets\n"
    assert before[0] == {"text": prompt}
    assert {"text": "--- a.py ---\nprint('hello')\n"} in before
    assert any("inlineData" in part for part in before)
    assert "- .env: usually holds secrets" in before[-1]["text"]
    assert "hush" not in str(fake.requests)
    assert after == before


async def test_whoever_reads_the_stream_gets_it_with_the_prompt(program: Program):
    (program.folder / "a.py").write_text("x\n")
    ended = program.run("-p", "see @a.py", "-m", program.scenario(says("Seen.")), "-o", "stream-json")
    (submitted,) = ended.of_type("prompt.submitted")
    assert submitted["attached"] == [
        {"name": "a.py", "about": "1 line", "parts": [{"type": "text", "text": "--- a.py ---\nx\n"}]}
    ]
    assert program.events_of_type("prompt.submitted")[0]["attached"] == submitted["attached"]


@pytest.mark.spec("F11")
async def test_a_session_that_is_shown_or_exported_says_what_came_along(program: Program):
    (program.folder / "a.py").write_text("x\n")
    (program.folder / ".env").write_text("TOKEN=hush\n")
    program.run("-p", "see @a.py and @.env", "-m", program.scenario(says("Seen.")))
    shown = program.run("sessions", "show")
    assert "> see @a.py and @.env\n  with a.py (1 line); left out .env: usually holds secrets\n" in shown.out
    exported = [msgspec.json.decode(line) for line in program.run("sessions", "export").out.splitlines()]
    (submitted,) = [event for event in exported if event["type"] == "prompt.submitted"]
    assert [each["name"] for each in submitted["attached"]] == ["a.py", ".env"]


@pytest.mark.spec("E5")
async def test_a_resource_of_a_server_goes_along_as_well(program: Program):
    entry = server_program(SDK, program.home.parent).entry
    settings = f"[mcp.servers.srv]\ncommand = {msgspec.json.encode(entry.command).decode()}\n"
    program.home.mkdir()
    (program.home / "settings.toml").write_text(settings + f"args = {msgspec.json.encode(entry.args).decode()}\n")
    async with FakeGemini({"replies": [says("Seen.")]}) as fake:
        ended = await program.run_beside("-p", "see @srv:note:/1 and @srv:note:/2", env=key_for(fake))
        parts = sent(fake)
    (said,) = [line for line in ended.err.splitlines() if not line.startswith("Waiting for")]
    assert said == "with srv:note:/1 (1 line); left out srv:note:/2: The server srv lists no such resource"
    assert {"text": "--- srv:note:/1 ---\nthe text of note:/1"} in parts
