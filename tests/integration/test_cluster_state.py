"""A cluster of real processes, each with a data folder of its own: what one node has made or issued, all have."""

import asyncio
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from assent.client import Api, ApiProblem
from assent.client.http_client import Http
from support.cluster import ClusterScene
from support.program import asks_for, replace, says, shell
from support.served import until_event, until_waiting
from support.waiting import WAIT_LIMIT

pytestmark = [pytest.mark.needs("postgres", "temporal"), pytest.mark.spec("M2", "M3")]
LARGE = "".join(f"line {number}\n" for number in range(20_000))


class Scene(ClusterScene):
    def __init__(self, base: Path) -> None:
        super().__init__(base)
        (self.program.folder / "large.txt").write_text(LARGE)
        counts = shell("seq 1 30000", "count")
        edits = replace("large.txt", "line 7\n", "line seven\n", "edit")
        model = self.program.scenario(asks_for(counts), asks_for(edits), says("Done."), says("Still here."))
        self.use(model)


@pytest.fixture
def scene(tmp_path: Path) -> Iterator[Scene]:
    made = Scene(tmp_path)
    yield made
    made.end()


async def test_a_worker_that_continues_a_session_has_what_the_lost_one_kept(scene: Scene):
    first = scene.cluster.worker()
    _, api = scene.cluster.server()
    session = (await api.create(folder=str(scene.program.folder), prompt="go"))["id"]
    (waiting,) = await until_waiting(api, session)
    await api.decide(session, waiting["call_id"], "proceed_once", waiting["approval"]["digest"])
    await until_event(api, session, "turn.finished")
    assert "line seven" in (scene.program.folder / "large.txt").read_text()
    first.kill()
    shutil.rmtree(first.program.home)

    output = await api.get(f"/sessions/{session}/calls/count/output", offset=0, limit=1_000_000)
    assert output["text"].splitlines() == [str(number) for number in range(1, 30_001)]
    scene.cluster.worker()
    await api.undo(session, "edit")
    async with asyncio.timeout(WAIT_LIMIT):
        while (scene.program.folder / "large.txt").read_text() != LARGE:  # noqa: ASYNC110
            await asyncio.sleep(0.02)
    await api.close()


async def test_a_token_holds_at_all_servers_and_ends_at_all_of_them(scene: Scene):
    (_, one), (_, other) = scene.cluster.server(), scene.cluster.server()
    shared = {"ASSENT_LOG": scene.database}
    token = scene.program.run("serve", "token", "add", "bob", "--role", "viewer", env=shared).out.strip()
    apis = [Api(Http(api.http.url, token)) for api in (one, other)]
    for api in apis:
        assert (await api.me())["name"] == "bob"
    assert scene.program.run("serve", "token", "revoke", "bob", env=shared).code == 0
    for api in apis:
        with pytest.raises(ApiProblem, match="a valid token is required"):
            await api.me()
    for api in (one, other, *apis):
        await api.close()
