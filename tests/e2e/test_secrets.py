"""Canaries in the environment, in files and in the model's key: none is in a single byte that Assent writes or sends.

The tokens are put together here, so that nobody who looks for tokens in source code finds one.
"""

import subprocess
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from support.fake_gemini import FakeGemini
from support.program import Ended, Program, asks_for, read, replace, says, shell

pytestmark = pytest.mark.spec("I3")

KEY = "canary-model-key-7f3a91"
ENVIRONMENT = {
    "GEMINI_API_KEY": KEY,
    "GITHUB_TOKEN": "canary-github-51c2e0",
    "DATABASE_URL": "postgres://app:canary-database-8d41@db/x",
    "PLAIN_NAME": "ghp_" + "Canary7Plain4" * 3,
    "DEPLOY_TOKEN": "canary-deploy-90ab12",
    "INTERNAL_HOST": "canary-internal-77.example",
}
PASSWORD, STRIPE, KEY_LINE = "canarydotenv", "sk_live_" + "Canary5Stripe" * 2, "MIICanary" + "Pem8" * 13
FILES = {
    ".env": f"DB_PASSWORD={PASSWORD}\nSTRIPE={STRIPE}\nCOLOUR=blue\n",
    "key.pem": "-----BEGIN PRIVATE KEY-----\n" + f"{KEY_LINE}\n" * 40 + "-----END PRIVATE KEY-----\n",
}
CANARIES = [*ENVIRONMENT.values(), "canary-database-8d41", PASSWORD, STRIPE, KEY_LINE]
SETTINGS = '[environment]\nallow = ["DEPLOY_*"]\nblock = ["INTERNAL_HOST"]\n'
COMMANDS = (
    "env",
    "cat .env key.pem",
    "grep --color=always sk_ .env",
    '. ./.env; echo "fatal: cannot read https://ann:$DB_PASSWORD@git.example/x" >&2; exit 3',
    'for i in $(seq 4000); do echo "line $i of a long output"; done; cat .env key.pem',
    "echo length ${#DEPLOY_TOKEN} and ${#GITHUB_TOKEN}; printenv INTERNAL_HOST",
)


@pytest.fixture
def canaries(program: Program) -> Program:
    for name, text in FILES.items():
        (program.folder / name).write_text(text)
    program.home.mkdir(exist_ok=True)
    (program.home / "settings.toml").write_text(SETTINGS)
    return program


def all_bytes(folder: Path) -> Iterator[tuple[str, bytes]]:
    for path in sorted(folder.rglob("*")):
        if path.is_file() and path.name != "settings.toml":
            yield str(path), path.read_bytes()


def found_in(*places: tuple[str, bytes]) -> list[tuple[str, str]]:
    return [(name, canary) for name, data in places for canary in CANARIES if canary.encode() in data]


def said_by(*runs: Ended) -> list[tuple[str, bytes]]:
    return [("what it said", (ended.out + ended.err).encode()) for ended in runs]


@pytest.mark.parametrize("output", ["stream-json", "text"])
async def test_no_canary_is_in_anything_that_is_written_or_sent(canaries: Program, output: str):
    calls = [shell(command, f"c{place}") for place, command in enumerate(COMMANDS)]
    async with FakeGemini({"replies": [*(asks_for(call) for call in calls), says("done")]}) as fake:
        env = ENVIRONMENT | {"GOOGLE_GEMINI_BASE_URL": fake.url}
        ended = await canaries.run_beside("-p", "go", "--approval-mode", "yolo", "-o", output, env=env)
        sent = [("the request", msgspec.json.encode(request.body)) for request in fake.requests]
    assert ended.code == 0
    exports = [
        canaries.run("sessions", "export", "latest", *more, env=ENVIRONMENT)
        for more in ([], ["--telemetry"], ["--unmasked"])
    ]
    shown = canaries.run("sessions", "show", "latest")
    assert len(sent) == len(COMMANDS) + 1
    assert found_in(*all_bytes(canaries.home), *said_by(ended, *exports, shown), *sent) == []
    check_that_the_rest_came_through(canaries)


def check_that_the_rest_came_through(program: Program) -> None:
    results = [event["result"]["response"] for event in program.events_of_type("call.finished")]
    env, files, coloured, failed, long, lengths = (result["output"] for result in results)
    assert "[secret: $DEPLOY_TOKEN]" in env
    assert f"HOME={program.env['HOME']}\n" in env
    assert not any(f"{name}=" in env for name in ENVIRONMENT if name != "DEPLOY_TOKEN")
    assert "DB_PASSWORD=[secret: password]\nSTRIPE=[secret: Stripe key]\nCOLOUR=blue\n[secret: private key]" in files
    assert "[secret: Stripe key]" in coloured
    assert "https://ann:[secret: password]@git.example/x" in failed
    assert "line 1 of" in long
    (whole,) = (program.home / "outputs").rglob("*.txt")
    assert "COLOUR=blue\n[secret: private key]" in whole.read_text()
    assert f"length {len(ENVIRONMENT['DEPLOY_TOKEN'])} and 0" in lengths
    assert "Not passed to commands, because they hold secrets: GITHUB_TOKEN, INTERNAL_HOST." in lengths
    assert all("masked" in result for result in results[:5])


async def test_an_error_that_repeats_what_it_got_is_told_without_the_secrets(canaries: Program):
    message = "upstream said: " + " and ".join(ENVIRONMENT.values())
    async with FakeGemini({"replies": [{"status": 400, "body": {"error": {"code": 400, "message": message}}}]}) as fake:
        env = ENVIRONMENT | {"GOOGLE_GEMINI_BASE_URL": fake.url}
        ended = await canaries.run_beside("-p", "go", "-o", "stream-json", env=env)
    assert "upstream said" in ended.result["error"]["message"]
    assert found_in(*all_bytes(canaries.home), *said_by(ended)) == []


def test_files_are_read_and_edited_as_they_are_and_masked_in_the_export(canaries: Program):
    (canaries.folder / "config.py").write_text(f"STRIPE = '{STRIPE}'\ncolour = 'blue'\n")
    edit = replace("config.py", f"STRIPE = '{STRIPE}'\ncolour = 'blue'", f"STRIPE = '{STRIPE}'\ncolour = 'red'")
    model = canaries.scenario(asks_for(read("config.py")), asks_for(edit), says("done"))
    ended = canaries.run("-p", "go", "-m", model, "--approval-mode", "yolo")
    assert ended.code == 0
    assert (canaries.folder / "config.py").read_text() == f"STRIPE = '{STRIPE}'\ncolour = 'red'\n"
    exported = canaries.run("sessions", "export")
    assert found_in(*said_by(exported, canaries.run("sessions", "export", "--telemetry"))) == []
    assert "[secret: Stripe key]" in exported.out
    started = next(line for line in exported.lines if line["type"] == "call.started" and "change" in line)
    assert b"[secret: Stripe key]" in msgspec.convert(started["change"]["before"], bytes, strict=False)
    assert STRIPE in canaries.run("sessions", "export", "--unmasked").out


def test_a_mark_does_not_become_the_content_of_a_file(canaries: Program):
    edit = {
        "name": "write_file",
        "args": {"file_path": "new.py", "content": "KEY = '[secret: Stripe key]'\n"},
        "id": "w",
    }
    ended = canaries.run(
        "-p",
        "go",
        "-m",
        canaries.scenario(asks_for(edit), says("done")),
        "--approval-mode",
        "yolo",
        "-o",
        "stream-json",
    )
    (finished,) = ended.of_type("call.finished")
    assert "this line stands for omitted text" in finished["result"]["response"]["error"]
    assert not (canaries.folder / "new.py").exists()


def test_masking_of_results_can_be_switched_off(canaries: Program):
    (canaries.home / "settings.toml").write_text("mask_secrets = false\n")
    model = canaries.scenario(asks_for(shell("cat .env")), says("done"))
    canaries.run("-p", "go", "-m", model, "--approval-mode", "yolo")
    (finished,) = canaries.events_of_type("call.finished")
    assert STRIPE in finished["result"]["response"]["output"]
    assert STRIPE not in canaries.run("sessions", "export").out


@pytest.mark.parametrize("mode", ["default", "auto_edit", "plan"])
def test_nobody_there_to_ask_means_that_the_model_learns_nothing_of_a_secret(canaries: Program, mode: str):
    guesses = ["DB_PASSWORD=canaryd", "DB_PASSWORD=canaryx", "a"]
    edits = [replace(".env", guess, "x", f"r{place}") for place, guess in enumerate(guesses)]
    searches = [
        {"name": "grep_search", "args": {"pattern": pattern, "no_ignore": True}, "id": f"g{place}"}
        for place, pattern in enumerate(("canarydot", "canaryxyz"))
    ]
    model = canaries.scenario(*(asks_for(call) for call in (*edits, *searches)), says("done"))
    ended = canaries.run("-p", "go", "-m", model, "--approval-mode", mode, "-o", "stream-json")
    told = [event["result"]["response"] for event in ended.of_type("call.finished")]
    assert told[0] == told[1] == told[2]
    assert told[3] == {**told[4], "output": told[4]["output"].replace("canaryxyz", "canarydot")}
    assert found_in(*said_by(ended)) == []


def test_a_token_that_is_printed_in_two_pieces_is_not_shown_live_either(canaries: Program):
    half = len(STRIPE) // 2
    command = f"printf 'it is {STRIPE[:half]}'; sleep 0.4; printf '{STRIPE[half:]} now\\n'; printf 'Continue? [y/N]'"
    model = canaries.scenario(asks_for(shell(command)), says("done"))
    ended = canaries.run("-p", "go", "-m", model, "--approval-mode", "yolo", "-o", "stream-json")
    live = "".join(event["text"] for event in ended.of_type("call.output"))
    assert live == "it is [secret: Stripe key] now\nContinue? [y/N]"


def test_the_person_sees_why_git_lists_a_hidden_secret_as_changed(program: Program):
    (program.folder / ".env").write_text("A=1\n")
    git = ["git", "-C", str(program.folder), "-c", "user.name=x", "-c", "user.email=x@y"]
    for command in (["init", "-q"], ["add", "-f", "."], ["commit", "-qm", "x"]):
        subprocess.run([*git, *command], check=True)
    model = program.scenario(asks_for(shell("git status --short")), says("Done."))
    assert program.run("-p", "go", "-m", model).code == 0
    (finished,) = program.events_of_type("call.finished")
    shown = finished["display"]["text"], finished["result"]["response"]["output"]
    assert all("The sandbox hides .env, so git may list it as changed although it is not." in text for text in shown)
