"""Behind the real nginx and the real Caddy, as the documentation configures them: page, login, stream and decision."""

import asyncio
import shutil
import socket
import subprocess
from collections.abc import Generator
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path

import msgspec
import pytest
from playwright.async_api import async_playwright

from assent.client import Api
from assent.client.http_client import Http, Unreachable
from assent.front.web.listening import Where
from assent.front.web.server_log import ServerLog
from support.certs import make_certificate
from support.page import CHROMIUM, FLAGS
from support.served import Json, Served, until_event, until_waiting
from support.waiting import WAIT_LIMIT

NGINX = shutil.which("nginx") or shutil.which("nginx", path="/usr/sbin:/usr/local/sbin")
CADDY = shutil.which("caddy")
EXAMPLES = Path(__file__).parents[2] / "packaging"
PROXIES = [
    pytest.param(
        "nginx", marks=pytest.mark.skipif(NGINX is None, reason="nginx is not installed: apt install nginx-light")
    ),
    pytest.param("caddy", marks=pytest.mark.skipif(CADDY is None, reason="Caddy is not installed: apt install caddy")),
]
pytestmark = [pytest.mark.spec("H1"), pytest.mark.timeout(120)]


def adapted(name: str, *changes: tuple[str, str]) -> str:
    """Our example, with other names, ports and files."""
    text = (EXAMPLES / name).read_text()
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    return text


@contextmanager
def running(*command: str) -> Generator[None]:
    process = subprocess.Popen(command)
    try:
        yield
    finally:
        process.terminate()
        process.wait(WAIT_LIMIT)


def proxy(name: str, folder: Path, port: int, behind: int, path: str) -> AbstractContextManager[None]:
    return (nginx if name == "nginx" else caddy)(folder, port, behind, path)


def caddy(folder: Path, port: int, behind: int, path: str) -> AbstractContextManager[None]:
    """With our certificate instead of one that it would get from an authority."""
    own = f"tls {folder / 'trusted.pem'} {folder / 'private.pem'}"
    alone = f"admin off\n    auto_https disable_redirects\n    storage file_system {folder}/caddy\n"
    site = adapted(
        "Caddyfile",
        ("grace_period 5s", f"{alone}    grace_period 1s"),
        ("example.org {", f"https://localhost:{port} {{\n    bind 127.0.0.1\n    {own}"),
        ("redir /assent /assent/", f"redir {path} {path}/" if path else ""),
        ("handle /assent/* {", f"handle {path}/* {{"),
        ("127.0.0.1:8420", f"127.0.0.1:{behind}"),
    )
    config = folder / "Caddyfile"
    config.write_text(site)
    assert CADDY is not None
    return running(CADDY, "run", "--adapter", "caddyfile", "--config", str(config))


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def nginx(folder: Path, port: int, behind: int, path: str) -> AbstractContextManager[None]:
    """With what Debian's own nginx.conf would add."""
    server = adapted(
        "nginx.conf",
        ("listen 443 ssl", f"listen 127.0.0.1:{port} ssl"),
        ("server_name example.org", "server_name localhost"),
        ("/etc/ssl/example.org.pem", str(folder / "trusted.pem")),
        ("/etc/ssl/private/example.org.key", str(folder / "private.pem")),
        ("location /assent/", f"location {path}/"),
        ("http://127.0.0.1:8420", f"http://127.0.0.1:{behind}"),
    )
    temporary = "".join(f"{name}_temp_path {folder}/{name};\n" for name in ("client_body", "proxy", "fastcgi"))
    temporary += f"uwsgi_temp_path {folder}/uwsgi;\nscgi_temp_path {folder}/scgi;\n"
    config = f"pid {folder}/nginx.pid;\nevents {{}}\nhttp {{\naccess_log off;\n{temporary}{server}}}\n"
    (folder / "nginx.conf").write_text(config)
    assert NGINX is not None
    files = ("-c", str(folder / "nginx.conf"), "-e", str(folder / "error.log"))
    return running(NGINX, "-p", str(folder), *files, "-g", "daemon off;")


@pytest.mark.needs("chromium")
@pytest.mark.parametrize("name", PROXIES)
async def test_the_page_works_below_a_path(tmp_path: Path, name: str):
    make_certificate(tmp_path, "localhost")
    port = free_port()
    public = f"https://localhost:{port}/tools/assent"
    async with Served(tmp_path, Where(port=0, behind_proxy=public)) as served, async_playwright() as playwright:
        with proxy(name, tmp_path, port, served.server.port, "/tools/assent"):
            await listens(port)
            browser = await playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
            page = await browser.new_page(ignore_https_errors=True)
            complaints: list[str] = []
            page.on("pageerror", lambda error: complaints.append(str(error)))
            await page.goto(served.server.login_address())
            await page.get_by_role("heading", name="What should be done?").wait_for()
            await page.get_by_role("main").get_by_role("textbox", name="What should be done?").fill("go")
            await page.get_by_role("main").get_by_role("button", name="Start").click()
            yes = page.get_by_role("button", name="Yes, once")
            await yes.wait_for()
            await page.wait_for_timeout(450)  # a question ignores keys and clicks for a moment
            await yes.click()
            await page.get_by_text("Done.", exact=True).first.wait_for()
            await browser.close()
    assert complaints == []
    assert (served.folder / "a.txt").exists()


async def listens(port: int) -> None:
    async with asyncio.timeout(WAIT_LIMIT):
        while True:
            with suppress(OSError):
                _, writer = await asyncio.open_connection("127.0.0.1", port)
                writer.close()
                return
            await asyncio.sleep(0.05)


class Lines:
    def __init__(self) -> None:
        self.data = b""

    def write(self, data: bytes) -> None:
        self.data += data

    def reopen(self) -> None: ...

    def close(self) -> None: ...


async def reachable(api: Api) -> None:
    async with asyncio.timeout(WAIT_LIMIT):
        while True:
            try:
                await api.me()
                return
            except Unreachable:
                await asyncio.sleep(0.05)


@pytest.mark.parametrize("path", ["", "/assent"])
@pytest.mark.parametrize("name", PROXIES)
async def test_a_whole_turn_through_a_proxy(tmp_path: Path, name: str, path: str):
    _, trusted = make_certificate(tmp_path, "localhost")
    port, sink = free_port(), Lines()
    public = f"https://localhost:{port}{path}"
    served = Served(tmp_path, Where(port=0, behind_proxy=public))
    served.server_log = ServerLog(sink, "json", "debug")
    async with served, Api(Http(public, served.server.token, ca=str(trusted))) as api:
        with proxy(name, tmp_path, port, served.server.port, path):
            await reachable(api)
            page = await api.http.request("GET", "/")
            assert page.status == 200 and b'src="page/' in page.body
            code = served.server.login_address().rpartition("=")[2]
            async with Api(Http(public, ca=str(trusted))) as browser:
                token = (await browser.post("/login", {"code": code}))["token"]
            async with Api(Http(public, token, ca=str(trusted))) as browser:
                session = (await browser.create(prompt="go"))["id"]
                (waiting,) = await until_waiting(browser, session)
                digest = waiting["approval"]["digest"]
                await browser.decide(session, waiting["call_id"], "proceed_once", digest)
                await until_event(browser, session, "turn.finished")
                refused = await browser.http.request("GET", "/api/v1/me", headers=[("Origin", "https://evil.example")])
                assert refused.status == 403
                traced = refused.headers["x-request-id"]
    assert (served.folder / "a.txt").read_text() == "hello\n"
    served.server_log.close()
    lines: list[Json] = [msgspec.json.decode(line) for line in sink.data.splitlines()]
    (request,) = [line for line in lines if line.get("request_id") == traced]
    assert request["status"] == 403 and len(traced) in (32, 36), "the proxy chose the id, and both logs have it"
    assert request["address"] == "127.0.0.1"
