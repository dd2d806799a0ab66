"""The server as a service: SIGHUP, a path of a proxy, what the operator allows, logins, backup and upgrade."""

import os
import re
import shutil
import signal
import sqlite3
import ssl
from collections.abc import AsyncIterator
from contextlib import closing
from hashlib import sha256
from pathlib import Path

import msgspec
import pytest

from assent.app.audit_access import AuditQuery, check
from assent.audit import AuditEntry
from assent.client import Api
from assent.client.http_client import Http
from assent.config import Settings
from assent.front.web.listening import BadPlace, Where, check_place, place_for
from assent.session.sqlite_log import SqliteLog
from support.certs import make_certificate
from support.issued_tokens import issue
from support.older_log import take_back_to
from support.program import Program
from support.proxy import Proxy
from support.served import Served, ServedProgram, refused, until_event, until_waiting
from support.waiting import WAIT_LIMIT

pytestmark = pytest.mark.spec("H1")


@pytest.fixture
async def served(tmp_path: Path) -> AsyncIterator[Served]:
    async with Served(tmp_path) as served:
        yield served


# --- signals ---


def peer_certificate(port: int) -> str:
    return ssl.get_server_certificate(("127.0.0.1", port))


async def test_a_hangup_reloads_certificate_settings_and_log_file_and_stops_nobody(tmp_path: Path):
    program = Program(tmp_path)
    _, trusted = make_certificate(tmp_path, "localhost")
    log = tmp_path / "server.log"
    tls = ("--tls-cert", str(trusted), "--tls-key", str(tmp_path / "private.pem"))
    server = ServedProgram(program, "", *tls, "--log-file", str(log), ca=trusted)
    async with server.start() as api:
        assert server.running is not None
        port = int(api.http.url.rpartition(":")[2])
        before, mode = peer_certificate(port), (await api.me())["mode"]
        make_certificate(tmp_path, "localhost")
        (program.home / "settings.toml").write_text('approval_mode = "plan"\n')
        log.rename(tmp_path / "old.log")
        server.running.signal(signal.SIGHUP)
        while not log.exists() or "settings.reloaded" not in log.read_text():
            await api.me()  # over the connection that is already open
        assert (mode, (await api.me())["mode"]) == ("default", "plan")
        assert peer_certificate(port) != before
        (program.home / "settings.toml").write_text("nonsense = 1\n")
        server.running.signal(signal.SIGHUP)
        while "reload.failed" not in log.read_text():
            await api.me()
        assert (await api.me())["mode"] == "plan", "what cannot be used changes nothing"
    server.running.signal(signal.SIGTERM)
    assert server.running.process.wait(WAIT_LIMIT) == 0
    server.kill()  # closes what is left of it
    assert not (program.home / "serve.json").exists()
    assert "server.started" in (tmp_path / "old.log").read_text()


async def test_starts_reloads_stops_and_logins_are_in_the_audit(tmp_path: Path):
    async with Served(tmp_path) as served:
        code = served.server.login_address().rpartition("=")[2]
        await refused(served.api("").post("/login", {"code": "wrong"}))
        token = (await served.api("").post("/login", {"code": code}))["token"]
        await served.server.reload(lambda: Settings(model="scripted:other"))
        assert (await served.api().me())["model"] == "scripted:other"
        await served.api(token).post("/logout")
    log = SqliteLog(served.home)
    found = [record.entry for record in reversed(await log.audit.find(AuditQuery()))]
    assert [one.kind for one in found] == [
        "server.started",
        "login.failed",
        "login.succeeded",
        "settings.reloaded",
        "logout",
        "server.stopped",
    ]
    assert found[2].by == found[4].by == "ann@127.0.0.1" and found[2].reference == found[4].reference
    assert (await check(log.audit)).problems == ()
    await log.close()


async def test_a_server_prunes_the_audit_as_the_settings_say(tmp_path: Path):
    log = SqliteLog(tmp_path / "home")
    for ts in (1.0, 2.0):
        await log.audit.record(AuditEntry(kind="logout", ts=ts))
    await log.close()
    async with Served(tmp_path) as served:
        await served.server.reload(lambda: msgspec.toml.decode("[audit]\nkeep_days = 1\n", type=Settings))
        found = await served.log.audit.find(AuditQuery())
        assert "logout" not in [record.entry.kind for record in found]
        assert (await check(served.log.audit)).problems == ()


# --- a path of a proxy ---


@pytest.mark.parametrize("strips", [True, False])
async def test_a_whole_turn_works_below_a_path_whether_the_proxy_removes_it_or_not(tmp_path: Path, strips: bool):
    context, trusted = make_certificate(tmp_path, "localhost")
    proxy = Proxy(context)
    async with proxy as port:
        public = f"https://localhost:{port}/tools/assent"
        proxy.strips = "/tools/assent" if strips else ""
        async with Served(tmp_path, Where(port=0, behind_proxy=public)) as served:
            proxy.behind = served.server.port
            assert served.address == public and served.server.login_address().startswith(f"{public}/#code=")
            async with Api(Http(public, served.server.token, ca=str(trusted))) as api:
                session = (await api.create(prompt="go"))["id"]
                (waiting,) = await until_waiting(api, session)
                await api.decide(session, waiting["call_id"], "proceed_once", waiting["approval"]["digest"])
                await until_event(api, session, "turn.finished")
                page = await api.http.request("GET", "/")
                (script,) = re.findall(rb'<script type="module" src="([^"]+)"', page.body)
                assert not script.startswith(b"/"), "relative to the page"
                assert (await api.http.request("GET", f"/{script.decode()}")).status == 200
                if not strips:
                    bare = await api.http.request("GET", "")
                    assert (bare.status, bare.headers["location"]) == (308, "/tools/assent/")


async def test_a_path_opens_no_way_around_the_checks(tmp_path: Path):
    where = Where(port=0, behind_proxy="https://localhost/assent")
    async with Served(tmp_path, where) as served:
        http = Http(f"http://127.0.0.1:{served.server.port}")
        for path in ("/assent/api/v1/me", "/assent/metrics", "/assent/assent/api/v1/me", "/assent//api/v1/me"):
            reply = await http.request("GET", path)
            assert reply.status == 421, "another name"
        reply = await http.request("GET", "/assent/api/v1/me", headers=[("Host", "localhost")])
        assert reply.status in (400, 401)
        await http.close()


@pytest.mark.parametrize("url", ["https://h/a?b=c", "https://h/a#b", "https://h/a b", "https://h/a//b", 'https://h/"'])
def test_only_a_plain_path_is_accepted(url: str):
    with pytest.raises(BadPlace, match="plain path"):
        check_place(Where(behind_proxy=url))


def test_the_base_of_a_proxy_url_is_its_path():
    assert place_for(Where(behind_proxy="https://h/a/b/"), 1).base == "/a/b"
    assert place_for(Where(behind_proxy="https://h"), 1).base == ""


# --- what the operator allows ---


def test_a_root_must_exist(tmp_path: Path):
    ended = Program(tmp_path).run("serve", "--port", "0", "--root", str(tmp_path / "none"))
    assert ended.code == 42 and "--root must be an existing folder" in ended.err


async def test_model_files_are_used_only_as_far_as_the_operator_allows(tmp_path: Path):
    models = tmp_path / "models"
    models.mkdir()
    (tmp_path / "outside.json").write_text('{"replies": []}')
    (models / "good.json").write_text('{"replies": []}')
    (models / "link.json").symlink_to(tmp_path / "outside.json")
    allowed = f"scripted:{models}/good.json"
    async with Served(tmp_path, models=(f"scripted:{models}/*",)) as served:
        api = served.api()
        session = (await api.create(model=allowed))["id"]
        assert (await api.create())["model"].startswith("scripted:"), "the one of the settings"
        for name in (
            "scripted:/etc/passwd",
            "gguf:/etc/passwd",
            f"scripted:{models}/../outside.json",
            f"scripted:{models}/link.json",
        ):
            for work in (
                api.create(model=name),
                api.change(session, model=name),
                api.post(f"/sessions/{session}/commands", {"type": "set_model", "model": name}),
            ):
                problem = await refused(work)
                assert problem.status == 422 and "--allow-model" in str(problem)
        assert (await api.snapshot(session))["session"]["model"] == allowed


# --- a login at any time ---


async def test_a_new_address_can_be_had_while_the_server_runs(tmp_path: Path):
    program = Program(tmp_path)
    server = ServedProgram(program, "scripted:none")
    async with server.start() as api:
        printed = program.run("serve", "login")
        assert printed.code == 0
        address, _, code = printed.out.strip().partition("/#code=")
        assert address == api.http.url
        async with Api(Http(address)) as anonymous:
            assert (await anonymous.post("/login", {"code": code}))["role"] == "operator"
    server.kill()


async def test_nobody_else_gets_a_login_code(served: Served):
    """It would outlive their own token, and bear another name."""
    for token in (served.token("bob", "operator"), served.token("eve", "operator", owner="eve")):
        assert (await refused(served.api(token).post("/login-codes"))).status == 403
    same_name = issue(served.server.tokens, "ann", "operator", seconds=60)
    assert (await refused(served.api(same_name).post("/login-codes"))).status == 403


def test_without_a_terminal_no_login_code_is_printed_but_how_to_get_one(tmp_path: Path):
    """What a service prints goes to a journal, which others may read."""
    running = Program(tmp_path).start("serve", "--port", "0")
    lines = iter(running)
    address, how = next(line for line in lines if line.startswith("Assent is at")), next(lines)
    running.kill()
    assert "code" not in address and "assent serve login" in how


def test_without_a_server_login_says_how_to_start_one(tmp_path: Path):
    ended = Program(tmp_path).run("serve", "login")
    assert ended.code == 42 and "assent serve" in ended.err


# --- backup and upgrade ---


async def test_a_copy_made_while_the_server_runs_can_be_restored(tmp_path: Path):
    """As docs/operations.md says: SQLite's own backup, and the other files as they are."""
    async with Served(tmp_path) as served:
        token = served.token("bob", "approver")
        session = (await served.api().create(prompt="go"))["id"]
        (waiting,) = await until_waiting(served.api(), session)
        backup = tmp_path / "backup"
        shutil.copytree(served.home, backup, ignore=shutil.ignore_patterns("assent.db*", "*.lock", "serve.json"))
        with (
            closing(sqlite3.connect(served.home / "assent.db")) as db,
            closing(sqlite3.connect(backup / "assent.db")) as copy,
        ):
            db.backup(copy)
    shutil.rmtree(served.home)
    os.rename(backup, served.home)
    (served.folder / "a.txt").unlink(missing_ok=True)
    async with Served(tmp_path) as again:
        bob = again.api(token)
        (still,) = await until_waiting(bob, session)
        assert still["approval"]["digest"] == waiting["approval"]["digest"]
        await bob.decide(session, still["call_id"], "proceed_once", still["approval"]["digest"])
        await until_event(bob, session, "turn.finished")
        assert (await check(again.log.audit)).problems == ()
    assert (again.folder / "a.txt").read_text() == "hello\n"


async def test_a_data_folder_of_the_last_layout_is_upgraded_with_its_tokens_and_questions(tmp_path: Path):
    async with Served(tmp_path) as served:
        session = (await served.api().create(prompt="go"))["id"]
        await until_waiting(served.api(), session)
    take_back_to(served.home / "assent.db", 5)
    older = [{"name": "bob", "role": "operator", "hash": sha256(b"of an older version").hexdigest()}]
    (served.home / "tokens.json").write_bytes(msgspec.json.encode(older))
    async with Served(tmp_path) as again:
        bob = again.api("of an older version")
        (listed,) = [one for one in (await bob.get("/tokens"))["tokens"] if one["name"] == "bob"]
        assert listed["created_at"] is None and listed["expires_at"] is None
        (waiting,) = await until_waiting(bob, session)
        await bob.decide(session, waiting["call_id"], "proceed_once", waiting["approval"]["digest"])
        await until_event(bob, session, "turn.finished")
        found = [record.entry.kind for record in await again.log.audit.find(AuditQuery(session=session))]
        assert found == ["approval.answered"]
        assert (await check(again.log.audit)).problems == ()
