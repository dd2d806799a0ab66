"""The description of the API against the server itself: generated requests find no 5xx and nothing that is not as
described.
"""

import asyncio
import re
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import msgspec
import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis.errors import Unsatisfiable
from schemathesis import GenerationMode, checks

from support.served import Json, Served, until_waiting


class InThread:
    """The server in a loop of its own, for a tool that knows no asyncio."""

    def __init__(self, base: Path) -> None:
        self._base = base
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()
        self.served = self.run(self._start)
        self.session, self.call = self.run(self._something_to_find)

    def run(self, work: Callable[[], Any]) -> Any:
        return asyncio.run_coroutine_threadsafe(work(), self._loop).result(30)

    async def _start(self) -> Served:
        return await Served(self._base).__aenter__()

    async def _something_to_find(self) -> tuple[str, str]:
        api = self.served.api()
        session = await api.create(prompt="go")
        (waiting,) = await until_waiting(api, session["id"])
        return session["id"], waiting["call_id"]

    async def described(self) -> Json:
        return msgspec.json.decode((await self.served.api("").http.request("GET", "/openapi.json")).body)

    def stop(self) -> None:
        self.run(self.served.__aexit__)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[InThread]:
    server = InThread(tmp_path_factory.mktemp("served"))
    yield server
    server.stop()


@pytest.fixture(scope="module")
def description(server: InThread) -> Json:
    return server.run(server.described)


def test_the_description_has_every_route_that_is_documented(description: Json):
    text = (Path(__file__).parents[3] / "docs" / "api.md").read_text()
    assert description["openapi"] == "3.1.0"
    missing = [path for path in description["paths"] if not _documented(path, text)]
    assert missing == []


def test_a_generated_client_gets_short_names_in_groups(description: Json):
    operations = [one for item in description["paths"].values() for one in item.values() if "responses" in one]
    names = [one["operationId"] for one in operations]
    assert len(set(names)) == len(names), "each once"
    assert all(re.fullmatch(r"[a-z_]{2,20}", name) for name in names), names
    assert {"create", "decide", "stream", "list_tokens", "list_audit"} <= set(names)
    used = {tag for one in operations for tag in one["tags"]}
    assert used == {tag["name"] for tag in description["tags"]} and all(len(one["tags"]) == 1 for one in operations)


def _documented(path: str, text: str) -> bool:
    short = path.removeprefix("/api/v1").replace("{session_id}", "{id}").replace("{call_id}", "{call}")
    return f" {short}" in text or f"`{short}" in text


@pytest.mark.spec("H1")
@pytest.mark.filterwarnings("ignore")
@pytest.mark.timeout(120)
@pytest.mark.parametrize("mode", [GenerationMode.POSITIVE, GenerationMode.NEGATIVE])
def test_generated_requests_find_no_server_error_and_nothing_undescribed(
    server: InThread, description: Json, mode: GenerationMode
):
    left_out = ("/api/v1/stream", "/api/v1/logout")  # one does not end, the other would take our token
    paths = {path: item for path, item in description["paths"].items() if path not in left_out}
    tried: Counter[int] = Counter()
    schema: Any = schemathesis.openapi.from_dict(description | {"paths": paths})
    for found in schema.get_all_operations():
        operation = found.ok()
        if (operation.method, operation.path) != ("delete", "/api/v1/sessions/{session_id}"):
            _try(server, operation, mode, tried)
    assert tried[404] and sum(tried.values()) > 200, tried
    assert mode is GenerationMode.NEGATIVE or {200, 201, 202, 409, 422} <= set(tried)


_all: Any = checks
CHECKS = (
    _all.not_a_server_error,
    _all.status_code_conformance,
    _all.content_type_conformance,
    _all.response_schema_conformance,
)


def _try(server: InThread, operation: Any, mode: GenerationMode, tried: "Counter[int]") -> None:
    @seed(1)
    @settings(
        max_examples=12,
        database=None,
        deadline=None,
        phases=[Phase.explicit, Phase.generate],
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much, HealthCheck.data_too_large],
    )
    @given(case=operation.as_strategy(generation_mode=mode))
    def send(case: Any) -> None:
        case.headers = {**(case.headers or {}), "Authorization": f"Bearer {server.served.server.token}"}
        if "session_id" in (case.path_parameters or {}) and len(str(case.query)) % 2 == 0:
            case.path_parameters["session_id"] = server.session  # half of them about something that is there
        response = case.call(base_url=server.served.address)
        tried[response.status_code] += 1
        case.validate_response(response, checks=CHECKS)

    with suppress(Unsatisfiable):  # there is no wrong request where nothing is asked for
        send()
