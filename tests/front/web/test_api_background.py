"""Background commands are kept through the API, by operators only."""

import sys
from collections.abc import Awaitable
from pathlib import Path

import pytest

from assent.client import Api
from assent.commands import KeepBackground
from assent.events import BackgroundKept
from support.processes import alive
from support.program import asks_for, says, shell
from support.served import Json, Served, refused, until_event, until_waiting

pytestmark = [pytest.mark.spec("D6"), pytest.mark.skipif(sys.platform != "linux", reason="needs a subreaper")]


async def running(served: Served, api: Api) -> tuple[str, Json]:
    """The session, and its background command."""
    call = shell("exec sleep 1000")
    served.scenario(asks_for({**call, "args": {**call["args"], "is_background": True}}), says("Done."))
    session = (await api.create(prompt="go"))["id"]
    (waiting,) = await until_waiting(api, session)
    await api.decide(session, waiting["call_id"], "proceed_once", waiting["approval"]["digest"])
    await until_event(api, session, "turn.finished")
    return session, (await api.background(session))["background"][0]


async def test_an_operator_keeps_a_command_and_it_is_listed_as_kept_after_a_restart(tmp_path: Path):
    async with Served(tmp_path) as served:
        api = served.api()
        session, one = await running(served, api)
        assert not one["kept"]
        assert (await api.keep_background(session, one["call_id"]))["state"] == "taken"
        assert (await refused(api.keep_background(session, "other"))).kind == "not-found"
        (kept,) = [envelope.event for envelope in await until_event(api, session, "background.kept")][-1:]
        assert isinstance(kept, BackgroundKept) and kept.by
    assert alive(one["pid"])
    async with Served(tmp_path) as served:
        api = served.api()
        await api.resume(session)
        (listed,) = (await api.background(session))["background"]
        assert (listed["kept"], listed["kept_by"], listed["outcome"]) == (True, kept.by, "")
        assert listed["output"] == kept.path
        assert (await api.stop_background(session, one["call_id"]))["state"] == "taken"
        assert (await refused(api.keep_background(session, one["call_id"]))).kind == "refused"
    assert not alive(one["pid"])


async def test_nobody_but_an_operator_keeps_a_command(tmp_path: Path):
    async with Served(tmp_path) as served:
        session, one = await running(served, served.api())
        for role in ("viewer", "approver"):
            other = served.api(served.token(role, role))
            works: tuple[Awaitable[object], ...] = (
                other.keep_background(session, one["call_id"]),
                other.send(session, KeepBackground(one["call_id"])),
            )
            for work in works:
                assert (await refused(work)).kind == "forbidden"
        assert not (await served.api().background(session))["background"][0]["kept"]
    assert not alive(one["pid"])
