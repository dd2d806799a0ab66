"""The terminal attaches to a session that a server runs: the same screen, and one answer for all (C10, H5)."""

import asyncio
from pathlib import Path

import pytest

from assent.client import Api
from assent.client.http_client import Http
from support.certs import make_certificate
from support.program import Program
from support.served import ServedProgram, until_event, until_waiting
from support.terminal import Terminal

ASKS = {"chunks": [{"call": {"name": "run_shell_command", "args": {"command": "echo x > canary"}}}]}
SAYS = {"chunks": [{"text": "All done."}]}


def attach(program: Program, *args: str, env: dict[str, str] | None = None) -> Terminal:
    return Terminal(program, "attach", *args, size=(120, 40), env=env)


def answer(terminal: Terminal, key: str) -> None:
    terminal.until("yes, once")
    terminal.decide(key, "All done.")


def there_again(terminal: Terminal) -> None:
    terminal.until_true(
        lambda: "The connection is lost" not in terminal.shown, "it still says that the connection is lost"
    )


@pytest.fixture
def served(program: Program):
    server = ServedProgram(program, program.scenario(ASKS, SAYS))
    yield server
    server.kill()


@pytest.mark.spec("C10")
@pytest.mark.spec("H5")
async def test_a_question_of_a_served_session_is_answered_in_an_attached_terminal(
    program: Program, served: ServedProgram
):
    async with served.start() as api:
        session = (await api.create(folder=str(program.folder), prompt="go"))["id"]
        await until_waiting(api, session)
        with attach(program, session) as terminal:
            await asyncio.to_thread(terminal.until, "echo x > canary")
            await asyncio.to_thread(answer, terminal, "y")
            await until_event(api, session, "turn.finished")
            await asyncio.to_thread(terminal.until, "All done.")
    assert (program.folder / "canary").read_text() == "x\n"


@pytest.mark.spec("C10")
async def test_an_answer_from_elsewhere_closes_the_question_and_says_who_gave_it(
    program: Program, served: ServedProgram
):
    async with served.start() as api:
        session = (await api.create(folder=str(program.folder), prompt="go"))["id"]
        (waiting,) = await until_waiting(api, session)
        with attach(program) as terminal:
            await asyncio.to_thread(terminal.until, "yes, once")
            await api.decide(session, waiting["call_id"], "cancel", waiting["approval"]["digest"])
            shown = await asyncio.to_thread(terminal.until, "Answered by")
            assert "yes, once" not in shown
    assert not (program.folder / "canary").exists()


@pytest.mark.spec("H4")
async def test_it_attaches_over_tls_to_a_server_whose_certificate_it_is_told_to_trust(program: Program, tmp_path: Path):
    _, trusted = make_certificate(tmp_path)
    tls = ("--tls-cert", str(trusted), "--tls-key", str(tmp_path / "private.pem"))
    served = ServedProgram(program, program.scenario(ASKS, SAYS), *tls, ca=trusted)
    async with served.start() as api:
        await api.create(folder=str(program.folder), prompt="go")
        await until_waiting(api)
        with attach(program, "--ca", str(trusted)) as terminal:
            await asyncio.to_thread(answer, terminal, "y")
            await asyncio.to_thread(terminal.until, "All done.")
        unknown = await program.run_beside("attach")
        assert unknown.code == 42 and "--ca FILE, or SSL_CERT_FILE" in unknown.err
    served.kill()
    assert (program.folder / "canary").read_text() == "x\n"
    ended = program.run("attach", "--ca", "none.pem", "https://127.0.0.1:1", env={"ASSENT_TOKEN": "x"})
    assert ended.code == 42 and "cannot read certificates from" in ended.err


async def test_it_says_that_the_server_is_away_and_goes_on_when_that_is_back(program: Program):
    model = program.scenario(ASKS, SAYS)
    first = ServedProgram(program, model)
    async with first.start() as api:
        session = (await api.create(folder=str(program.folder), prompt="go"))["id"]
        await until_waiting(api, session)
        port = api.http.url.rpartition(":")[2]
    second = ServedProgram(program, model, "--port", port)
    with attach(program) as terminal:
        await asyncio.to_thread(terminal.until, "yes, once")
        first.kill()
        shown = await asyncio.to_thread(terminal.until, "The connection is lost")  # no key was pressed
        assert "yes, once" in shown
        second.start()
        try:
            await asyncio.to_thread(there_again, terminal)
            await asyncio.to_thread(answer, terminal, "y")
            await asyncio.to_thread(terminal.until, "All done.")
        finally:
            second.kill()


async def test_a_token_that_holds_no_longer_is_told_at_once(program: Program, served: ServedProgram):
    async with served.start() as api:
        session = (await api.create(folder=str(program.folder), prompt="go"))["id"]
        await until_waiting(api, session)
        token = (await program.run_beside("serve", "token", "add", "bob")).out.strip()
        with attach(program, api.http.url, session, env={"ASSENT_TOKEN": token}) as terminal:
            await asyncio.to_thread(terminal.until, "yes, once")
            async with Api(Http(api.http.url, token)) as bob:
                await bob.post("/logout")
            await asyncio.to_thread(terminal.until, "can no longer be followed")


def test_without_a_server_it_says_how_to_start_one(program: Program):
    ended = program.run("attach")
    assert ended.code == 42
    assert "assent serve" in ended.err


def test_a_server_without_a_key_for_its_model_says_where_to_put_one(program: Program):
    served = ServedProgram(program, "gemini-2.5-pro")
    served.start()
    ended = program.run("attach", "--new")
    served.kill()
    assert ended.code == 42
    assert "export GEMINI_API_KEY" in ended.err and "where `assent serve` runs" in ended.err


def test_a_server_without_sessions_says_how_to_begin_one(program: Program, served: ServedProgram):
    served.start()
    ended = program.run("attach")
    assert ended.code == 42 and "assent attach --new" in ended.err
    assert "does not match exactly one session" not in ended.err


def test_a_server_that_is_gone_is_named(program: Program):
    ended = program.run("attach", "http://127.0.0.1:1", env={"ASSENT_TOKEN": "x"})
    assert ended.code == 42 and "cannot reach http://127.0.0.1:1" in ended.err


async def test_a_token_that_the_server_does_not_know_is_named(program: Program, served: ServedProgram):
    async with served.start() as api:
        ended = await asyncio.to_thread(program.run, "attach", api.http.url, env={"ASSENT_TOKEN": "x"})
    assert ended.code == 42 and "the token in ASSENT_TOKEN" in ended.err


async def test_a_new_session_is_begun_on_the_server(program: Program, served: ServedProgram):
    async with served.start() as api:
        with attach(program, "--new") as terminal:
            await asyncio.to_thread(terminal.until, "Ask something about this folder")  # the session is open
            await asyncio.to_thread(terminal.type, "go\r")
            await asyncio.to_thread(terminal.until, "yes, once")
            terminal.quit()
            await asyncio.to_thread(terminal.until, "Continue with: assent attach 20")
        (session,) = (await api.sessions())["sessions"]
        assert session["title"] == "go" and session["folder"] == str(program.folder)
