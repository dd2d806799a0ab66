"""A background command that a person keeps survives Assent, in its sandbox or without one, and is stopped later."""

import signal
import sys
from pathlib import Path

import pytest

from assent.client import Api
from assent.sandbox.bubblewrap import bubblewrap
from support.processes import alive
from support.program import Json, Program, asks_for, says, shell
from support.served import ServedProgram, until_event, until_waiting
from support.waiting import until

pytestmark = [pytest.mark.spec("D6"), pytest.mark.skipif(sys.platform != "linux", reason="needs a subreaper")]
COMMAND = (
    "echo first; while :; do if [ -e more ]; then rm more; mkdir .assent; echo x > ../outside; echo second; fi; "
    "sleep 0.05; done"
)
PROFILES = ["off", pytest.param("workspace", marks=pytest.mark.skipif(bubblewrap() is None, reason="no bubblewrap"))]


def in_background(command: str) -> Json:
    call = shell(command)
    return {**call, "args": {**call["args"], "is_background": True}}


async def running(api: Api, program: Program) -> tuple[str, Json]:
    session = (await api.create(folder=str(program.folder), prompt="go"))["id"]
    (waiting,) = await until_waiting(api, session)
    await api.decide(session, waiting["call_id"], "proceed_once", waiting["approval"]["digest"])
    await until_event(api, session, "turn.finished")
    return session, (await api.background(session))["background"][0]


def leave(served: ServedProgram, how: str) -> None:
    if how == "quits":
        assert served.running is not None
        served.running.signal(signal.SIGTERM)
        assert served.running.wait().code == 0
    served.kill()


@pytest.mark.parametrize("profile", PROFILES)
@pytest.mark.parametrize("how", ["quits", "is killed"])
async def test_a_kept_command_survives_when_assent(program: Program, how: str, profile: str) -> None:
    program.home.mkdir()
    (program.home / "settings.toml").write_text(f'[sandbox]\napproved = "{profile}"\n')
    served = ServedProgram(program, program.scenario(asks_for(in_background(COMMAND)), says("Done.")))
    try:
        async with served.start() as api:
            session, one = await running(api, program)
            assert (await api.keep_background(session, one["call_id"]))["state"] == "taken"
            (one,) = (await api.background(session))["background"]
            assert one["kept"] and one["outcome"] == ""
            leave(served, how)
        output = Path(one["output"])
        (program.folder / "more").touch()
        await until(lambda: "second" in output.read_text())
        assert "first" in output.read_text()
        assert (program.folder.parent / "outside").exists() == (profile == "off"), "it stays in its sandbox"
        async with served.start() as api:
            await api.resume(session)
            (listed,) = (await api.background(session))["background"]
            assert (listed["pid"], listed["kept"], listed["outcome"]) == (one["pid"], True, "")
            assert alive(one["pid"])
            assert (await api.stop_background(session, one["call_id"]))["state"] == "taken"
            (listed,) = (await api.background(session))["background"]
            assert listed["outcome"].startswith("stopped") and not alive(one["pid"])
            assert (program.folder / ".assent").exists() == (profile == "off"), "its sandbox puts right what it can"
    finally:
        served.kill()
