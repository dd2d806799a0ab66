"""The server's log: one safe line for each thing that happens, with ids that clients get, too, and no secrets."""

import logging
import re
import threading
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import msgspec
import pytest

from assent.client.http_client import Http
from assent.files.log_file import LogFile
from assent.front.web.exchange import request_id, shown_path
from assent.front.web.request_limits import RequestLimits
from assent.front.web.server_log import MAX_WAITING, LibraryLog, LogFormat, ServerLog
from assent.secrets.mask import Masker
from support.served import Json, Served, refused, until_waiting

pytestmark = pytest.mark.spec("N1")
SECRET = "ghp_" + "a1B2c3D4e5" * 4


class Lines:
    """A sink that keeps everything."""

    def __init__(self) -> None:
        self.data = b""
        self.free = threading.Event()
        self.free.set()

    def write(self, data: bytes) -> None:
        self.free.wait()
        self.data += data

    def reopen(self) -> None:
        self.data += b"reopened\n"

    def close(self) -> None: ...

    @property
    def lines(self) -> list[str]:
        return self.data.decode("ascii").splitlines()

    @property
    def json(self) -> list[Json]:
        return [msgspec.json.decode(line) for line in self.lines]


def written(format: LogFormat, act: Callable[[ServerLog], object]) -> list[str]:
    sink = Lines()
    log = ServerLog(sink, format, "debug", Masker().text, clock=lambda: 1_790_000_000.5)
    act(log)
    log.close()
    return sink.lines


def test_a_line_is_text_or_json():
    def act(log: ServerLog) -> None:
        log.info("request", method="GET", path="/api/v1/me", status=200, ms=1.5, by=None)

    assert written("text", act) == [
        "2026-09-21T14:13:20.500Z INFO    request method=GET path=/api/v1/me status=200 ms=1.5"
    ]
    (line,) = written("json", act)
    assert msgspec.json.decode(line) == {
        "ts": "2026-09-21T14:13:20.500Z",
        "level": "info",
        "event": "request",
        "method": "GET",
        "path": "/api/v1/me",
        "status": 200,
        "ms": 1.5,
    }


@pytest.mark.parametrize("format", ["text", "json"])
@pytest.mark.parametrize(
    "hostile",
    [
        "a\nb",
        "a\r\n2026 INFO forged",
        "\x1b[2J",
        "\u2028x",
        "\u202eevil",
        'x" status=200 y="',
        "\x00",
        "\ud800",
        "\x7f",
    ],
)
def test_nobody_can_forge_a_line_or_reach_the_terminal(format: LogFormat, hostile: str):
    (line,) = written(format, lambda log: log.info("request", path=hostile, status=401))
    assert line.isascii() and line.isprintable()
    if format == "json":
        assert msgspec.json.decode(line)["status"] == 401
    else:
        assert re.fullmatch(r'\S+ INFO    request path="(?:[^"\\]|\\.)*" status=401', line)


def test_secrets_are_masked_in_every_text():
    lines = written("json", lambda log: log.error("unexpected", detail=f"key {SECRET} is wrong"))
    assert SECRET not in lines[0] and "[secret: " in lines[0]


@pytest.mark.parametrize(("level", "count"), [("debug", 4), ("info", 3), ("warning", 2), ("error", 1), ("off", 0)])
def test_only_what_is_important_enough_is_written(level: str, count: int):
    sink = Lines()
    log = ServerLog(sink, level=level)  # pyright: ignore[reportArgumentType]
    for told in (log.debug, log.info, log.warning, log.error):
        told("x")
    log.close()
    assert len(sink.lines) == count


def test_a_sink_that_does_not_take_anything_stops_nobody_and_what_is_lost_is_counted():
    sink = Lines()
    sink.free.clear()
    log = ServerLog(sink)
    for _ in range(MAX_WAITING + 10):
        log.info("x")
    assert log.dropped >= 9
    sink.free.set()
    log.close()


def test_a_full_disk_stops_nobody():
    class Full(Lines):
        def write(self, data: bytes) -> None:
            raise OSError(28, "No space left on device")

    log = ServerLog(Full())
    log.info("x")
    log.close()
    assert log.dropped == 1


def test_what_libraries_report_is_in_the_same_log():
    def act(log: ServerLog) -> None:
        record = logging.LogRecord("asyncio", logging.ERROR, "", 0, "Task %s\nwas lost", ("x",), None)
        LibraryLog(log).emit(record)

    assert msgspec.json.decode(written("json", act)[0])["detail"] == "Task x\nwas lost"


def test_a_file_is_private_appended_to_and_opened_again_after_a_rotation(tmp_path: Path):
    path = tmp_path / "logs" / "assent.log"
    log = ServerLog(LogFile(str(path)))
    log.info("one")
    log.reopen()
    path_is_there = threading.Event()
    log._lines.put(path_is_there.set)  # pyright: ignore[reportPrivateUsage]
    path_is_there.wait()
    path.rename(tmp_path / "old.log")
    log.info("two")
    log.reopen()
    log.info("three")
    log.close()
    assert [line.split()[2] for line in (tmp_path / "old.log").read_text().splitlines()] == ["one", "two"]
    assert [line.split()[2] for line in path.read_text().splitlines()] == ["three"]
    assert path.stat().st_mode & 0o777 == 0o600


# --- of a server ---


@pytest.fixture
async def sink() -> Lines:
    return Lines()


@pytest.fixture
async def served(tmp_path: Path, sink: Lines) -> AsyncIterator[Served]:
    served = Served(tmp_path)
    served.server_log = ServerLog(sink, "json", "debug")
    async with served:
        yield served


async def ended(served: Served, sink: Lines) -> list[Json]:
    """All lines, in order."""
    written = threading.Event()
    served.server_log._lines.put(written.set)  # pyright: ignore[reportPrivateUsage, reportOptionalMemberAccess]
    written.wait()
    return sink.json


async def test_a_request_has_an_id_in_the_header_the_problem_and_the_log(served: Served, sink: Lines):
    reply = await served.api().http.request("GET", "/api/v1/sessions/20261116-004200-9f86d081884c7d65")
    traced = reply.headers["x-request-id"]
    assert msgspec.json.decode(reply.body)["request_id"] == traced
    (line,) = [line for line in await ended(served, sink) if line.get("request_id") == traced]
    assert (line["event"], line["method"], line["status"], line["level"]) == ("request", "GET", 404, "info")
    assert line["path"] == "/api/v1/sessions/20261116-004200-9f86d081884c7d65"
    assert line["address"] == "127.0.0.1" and line["by"] == "ann" and line["token"] and line["ms"] >= 0


async def test_a_client_cannot_choose_the_id(served: Served, sink: Lines):
    reply = await served.api().http.request("GET", "/api/v1/me", headers=[("X-Request-ID", "forged")])
    assert reply.headers["x-request-id"] != "forged"


@pytest.mark.parametrize("given", [b"", b"a b", b"x" * 65, b"a\nb", b"\xff"])
def test_an_id_of_our_proxy_must_be_a_plain_word(given: bytes):
    assert request_id([(b"x-request-id", b"abc-1.2_3")], trusts_proxy=True) == "abc-1.2_3"
    assert len(request_id([(b"x-request-id", given)], trusts_proxy=True)) == 16


async def test_refused_requests_and_logins_and_decisions_are_logged_without_their_secrets(served: Served, sink: Lines):
    await refused(served.api("wrong-" + SECRET).me())
    await refused(served.api("").post("/login", {"code": "wrong-code-" + SECRET}))
    code = served.server.login_address().rpartition("=")[2]
    token = (await served.api("").post("/login", {"code": code}))["token"]
    api = served.api(token)
    session = (await api.create(prompt="go"))["id"]
    (waiting,) = await until_waiting(api, session)
    await api.decide(session, waiting["call_id"], "proceed_once", waiting["approval"]["digest"])
    lines = await ended(served, sink)
    events = {line["event"]: line for line in lines}
    assert {"server.started", "request", "login.failed", "login.succeeded", "decision"} <= set(events)
    decision = events["decision"]
    assert (decision["session"], decision["call"], decision["outcome"]) == (session, waiting["call_id"], "proceed_once")
    assert decision["by"] == "ann@127.0.0.1" and decision["digest"] == waiting["approval"]["digest"]
    assert [line["level"] for line in lines if line.get("status") == 401] == ["warning", "warning"]
    for secret in (SECRET, code, token, served.server.token, "wrong-"):
        assert secret not in str(lines)


async def test_an_unexpected_error_is_logged_with_its_place_and_the_client_gets_only_the_id(
    served: Served, sink: Lines, monkeypatch: pytest.MonkeyPatch
):
    def breaks(*_: object) -> None:
        raise RuntimeError(f"broken by {SECRET}")

    monkeypatch.setattr(served.server.app_state.access, "listed", breaks)
    problem = await refused(served.api().get("/tokens"))
    assert problem.status == 500 and "broken by" not in str(problem.more)
    found = [line for line in await ended(served, sink) if line["event"] == "unexpected"]
    assert found[0]["request_id"] == problem.more["request_id"]
    assert "RuntimeError" in found[0]["detail"] and SECRET not in found[0]["detail"]


async def test_what_is_no_http_is_logged_with_an_id(served: Served, sink: Lines):
    import asyncio

    reader, writer = await asyncio.open_connection("127.0.0.1", served.server.port)
    writer.write(b"\x16\x03\x01garbage\r\n\r\n")
    answer = await reader.read()
    writer.close()
    traced = msgspec.json.decode(answer.partition(b"\r\n\r\n")[2])["request_id"]
    assert [line["event"] for line in await ended(served, sink) if line.get("request_id") == traced] == ["refused"]


@pytest.mark.parametrize(("allowed", "level"), [(0, "debug"), (5, "warning")])
async def test_more_refusals_than_allowed_are_only_in_the_most_detailed_log(
    tmp_path: Path, sink: Lines, allowed: int, level: str
):
    served = Served(tmp_path, limits=RequestLimits(logged_refusals_per_minute=allowed))
    served.server_log = ServerLog(sink, "json", "debug")
    async with served:
        await refused(served.api("wrong").me())
        assert [line["level"] for line in await ended(served, sink) if line.get("status") == 401] == [level]


async def test_what_monitoring_asks_for_is_only_in_the_most_detailed_log(served: Served, sink: Lines):
    http = Http(served.address)
    for path in ("/healthz", "/"):
        await http.request("GET", path)
    await http.close()
    assert {line["level"] for line in await ended(served, sink) if line["event"] == "request"} == {"debug"}


def test_a_token_in_a_path_is_cut():
    token = "x" * 43
    assert token not in shown_path(f"/api/v1/tokens/{token}")
    session = "20261116-004200-9f86d081884c7d65"
    assert shown_path(f"/api/v1/sessions/{session}/calls/c1") == f"/api/v1/sessions/{session}/calls/c1"
