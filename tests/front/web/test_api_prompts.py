"""Prompts that are chosen by name over the API, and files for a session that is not there yet. Rows G5, E5, H1, J3."""

import asyncio
import secrets
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from assent.app.rule_sources import trust_store
from assent.client import Api
from assent.client.api import ApiProblem
from assent.events import PromptSubmitted
from assent.front.web import named_prompts
from assent.mcp_config import Servers
from support.program import says
from support.served import Json, Served, until_event, until_waiting
from support.servers import SDK, program
from support.waiting import WAIT_LIMIT

pytestmark = [pytest.mark.spec("G5"), pytest.mark.spec("H1")]
OWN = "../home/commands"


@pytest.fixture
async def served(tmp_path: Path) -> AsyncIterator[Served]:
    async with Served(tmp_path) as served:
        yield served


def command(served: Served, name: str, prompt: str, folder: str = OWN) -> None:
    path = served.folder / folder / f"{name}.toml"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f'description = "does {name}"\nprompt = """{prompt}"""\n')


async def quiet(served: Served, api: Api, *answers: str) -> str:
    model = served.scenario(*(says(text) for text in answers or ("Fine.",)), name="quiet")
    return (await api.create(model=model))["id"]


async def names(api: Api, session: str) -> list[str]:
    return [prompt["name"] for prompt in (await api.get(f"/sessions/{session}/prompts"))["prompts"]]


async def use_once(api: Api, session: str, name: str, key: str, argument: str = "") -> Json:
    return await api.post(f"/sessions/{session}/prompts", {"name": name, "argument": argument}, key)


async def use(api: Api, session: str, name: str, argument: str = "") -> Json:
    """Sends the request again as long as it goes on: on a busy machine that may take longer than one request waits."""
    key = secrets.token_hex()
    while (used := await use_once(api, session, name, key, argument))["state"] == "going":
        pass
    return used


async def submitted(api: Api, session: str) -> list[PromptSubmitted]:
    events = [envelope.event for envelope in await until_event(api, session, "turn.finished")]
    return [event for event in events if isinstance(event, PromptSubmitted)]


async def test_a_prompt_of_ones_own_is_listed_filled_and_sent_under_ones_name(served: Served):
    (served.folder / "rules.md").write_text("Use tabs.\n")
    command(served, "git/look", "Rules: @{rules.md} Now {{args}}.")
    api = served.api()
    session = await quiet(served, api)
    (listed,) = (await api.get(f"/sessions/{session}/prompts"))["prompts"]
    assert listed == {"name": "git:look", "help": "does git/look", "usage": "[ARGUMENTS]", "arguments": []}
    assert (await use(api, session, "git:look", "look closely"))["state"] == "sent"
    (prompt,) = await submitted(api, session)
    assert (prompt.text, prompt.by) == ("Rules: Use tabs. Now look closely.", "ann@127.0.0.1")


async def test_a_folders_own_count_only_while_it_is_trusted(served: Served):
    command(served, "theirs", "Hi.", ".assent/commands")
    api = served.api()
    session = await quiet(served, api)
    found = await api.get(f"/sessions/{session}/prompts")
    assert found["prompts"] == [] and "assent trust" in found["problems"][0]
    with pytest.raises(ApiProblem, match="no such command"):
        await use(api, session, "theirs")
    store = trust_store(served.env)
    store.trust(served.folder, store.look(served.folder))
    assert await names(api, session) == ["theirs"]
    command(served, "theirs", "Changed!", ".assent/commands")
    assert await names(api, session) == []


async def test_what_it_runs_is_asked_about_and_the_request_sent_again_waits_on(
    served: Served, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(named_prompts, "COMMAND_TIMEOUT", 0.05)
    command(served, "do", "See !{touch new; echo done}")
    api = served.api()
    session = await quiet(served, api)
    assert await use_once(api, session, "do", "k") == {
        "state": "going",
        "key": (await use_once(api, session, "do", "k"))["key"],
    }
    (waiting,) = await until_waiting(api, session)
    assert waiting["approval"]["details"]["command"] == "touch new; echo done" and not (served.folder / "new").exists()
    with pytest.raises(ApiProblem, match="already used for another request"):
        await use_once(api, session, "do", "k", "something else")
    await api.decide(session, waiting["call_id"], "proceed_once", waiting["approval"]["digest"])
    async with asyncio.timeout(WAIT_LIMIT):
        while (await use_once(api, session, "do", "k"))["state"] == "going":
            pass
    (prompt,) = await submitted(api, session)
    assert prompt.text == "See done" and (served.folder / "new").exists()
    assert (await use_once(api, session, "do", "k"))["state"] == "sent"
    assert len(await submitted(api, session)) == 1


async def test_a_refusal_stops_it_and_nothing_is_sent(served: Served):
    command(served, "do", "!{touch one} !{touch two}")
    api = served.api()
    session = await quiet(served, api)
    using = asyncio.create_task(use(api, session, "do"))
    (waiting,) = await until_waiting(served.api(), session)
    await served.api().decide(session, waiting["call_id"], "cancel", waiting["approval"]["digest"])
    with pytest.raises(ApiProblem, match=r"/do was not sent: `touch one` was refused\.$") as refused:
        await using
    assert refused.value.kind == "refused"
    assert (await api.snapshot(session))["prompts"] == 0 and list(served.folder.iterdir()) == []


@pytest.mark.spec("J1")
async def test_what_was_run_before_a_restart_is_not_run_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(named_prompts, "COMMAND_TIMEOUT", 0.05)
    async with Served(tmp_path) as served:
        command(served, "do", "!{echo x >> ran; cat ran} !{touch new}")
        api = served.api()
        session = await quiet(served, api)
        await use_once(api, session, "do", "k")
        (first,) = await until_waiting(api, session)
        await api.decide(session, first["call_id"], "proceed_once", first["approval"]["digest"])
        (second,) = await until_waiting(api, session)
        assert second["call_id"] != first["call_id"]
    async with Served(tmp_path) as served:
        api = served.api()
        assert (await use_once(api, session, "do", "k"))["state"] == "going"
        (again,) = await until_waiting(api, session)
        assert again["call_id"] == second["call_id"]
        await api.decide(session, again["call_id"], "proceed_once", again["approval"]["digest"])
        async with asyncio.timeout(WAIT_LIMIT):
            while (await use_once(api, session, "do", "k"))["state"] == "going":
                pass
        (prompt,) = await submitted(api, session)
        assert prompt.text.split() == ["x"] and (served.folder / "ran").read_text() == "x\n"


async def test_deleting_the_session_ends_what_waits(served: Served):
    command(served, "do", "!{touch new}")
    api = served.api()
    session = await quiet(served, api)
    using = asyncio.create_task(use(api, session, "do"))
    await until_waiting(served.api(), session)
    await served.api().delete(session)
    with pytest.raises(ApiProblem, match="closed before the command finished"):
        await using


@pytest.mark.spec("E5")
async def test_prompts_of_servers_are_listed_when_they_are_there_and_filled_by_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(named_prompts, "COMMAND_TIMEOUT", 60.0)  # the server of the test may start slowly
    entry = program(SDK, tmp_path).entry
    mcp = Servers({"srv": {"command": entry.command, "args": list(entry.args)}})
    async with Served(tmp_path, mcp=mcp) as served:
        api = served.api()
        session = await quiet(served, api, "Hello!", "Hello again!")
        with pytest.raises(ApiProblem, match=r"This needs who\. Usage: /srv:greet who=…"):
            await use(api, session, "srv:greet")
        greet, odd = (await api.get(f"/sessions/{session}/prompts"))["prompts"]
        assert (greet["name"], greet["usage"], odd["name"]) == ("srv:greet", "who=…", "srv:odd_name_")
        assert odd["arguments"][0] == {"name": "who", "needed": True, "description": "Whom."}
        assert (await use(api, session, "srv:odd_name_", "how=loudly Ann"))["state"] == "sent"
        (prompt,) = await submitted(api, session)
        assert prompt.text == "Say hello to Ann loudly.\n\n[image/png, left out]"


@pytest.mark.spec("J3")
async def test_only_an_operator_and_only_the_owner_may_use_them(served: Served):
    command(served, "do", "Hi.")
    session = await quiet(served, served.api())
    for token in (served.token("bob", "viewer"), served.token("eve", "operator", owner="eve")):
        api = served.api(token)
        with pytest.raises(ApiProblem) as no:
            await use(api, session, "do")
        assert no.value.status in (403, 404)
        with pytest.raises(ApiProblem) as no:
            await names(api, session)
        assert no.value.status in (403, 404)


async def test_files_are_offered_for_a_new_session_only_where_one_may_work(served: Served, tmp_path: Path):
    (served.folder / "sub").mkdir()
    (served.folder / "sub" / "main.py").touch()
    (tmp_path / "secret.py").touch()
    api = served.api()
    assert await api.get("/files", query="mai") == {"files": ["sub/main.py"]}
    assert await api.get("/files", query="mai", folder=str(served.folder / "sub")) == {"files": ["main.py"]}
    for folder in (str(tmp_path), "sub", str(served.folder / "none")):
        with pytest.raises(ApiProblem) as no:
            await api.get("/files", folder=folder)
        assert no.value.kind == "invalid"
    with pytest.raises(ApiProblem) as no:
        await served.api(served.token("bob", "approver")).get("/files")
    assert no.value.kind == "forbidden"
