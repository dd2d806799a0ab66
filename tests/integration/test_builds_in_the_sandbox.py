"""Ordinary work goes on in the sandbox: real package managers, compilers and tests, with registries on this machine."""

import base64
import hashlib
import io
import json
import os
import shutil
import socket
import sys
import tarfile
import threading
import zipfile
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from assent.files.workspace import Workspace
from assent.plan import SandboxName
from assent.sandbox.bubblewrap import bubblewrap
from assent.sandbox.confinement import Confinement
from assent.tools.shell import ShellParams, ShellTool
from assent.tools.support.files import Files
from assent.tools.support.shell_options import ShellOptions
from assent.tools.tool import Permit
from assent.web.connection_verdict import Access
from assent.web.destinations import Destination, is_listed
from support.trying import Quiet

pytestmark = [
    pytest.mark.spec("I1"),
    pytest.mark.skipif(sys.platform != "linux" or bubblewrap() is None, reason="needs bubblewrap"),
]
HOST = "registry.example.org"


def needs(*programs: str) -> pytest.MarkDecorator:
    return pytest.mark.skipif(not all(map(shutil.which, programs)), reason=f"needs {' and '.join(programs)}")


class Watching(Quiet):
    """Lets it connect to what was listed."""

    async def may_connect(self, number: int, wanted: Destination, entries: tuple[str, ...]) -> Access:
        return Access(is_listed(wanted, entries, entries), "by the list", (*entries, "127.0.0.1"))


class Site:
    """A workspace, and a registry that only the proxy finds."""

    def __init__(self, folder: Path, port: int) -> None:
        self.work, self.port = folder / "work", port
        self.work.mkdir()
        self._confinement = Confinement([str(self.work)], [str(folder / "data")], str(folder / "data/box"), os.environ)

    async def run(self, command: str, profile: SandboxName = "workspace") -> str:
        tool = ShellTool(
            Files(Workspace([str(self.work)], str(self.work))),
            ShellOptions(
                confinement=lambda: self._confinement,
                approved=profile,
                domains=(f"{HOST}:{self.port}",),
                resolve=self._resolve,
                dial=self._dial,
            ),
        )
        permit = Permit(call_id="c1", digest="", by_person=True, mark=os.urandom(8).hex())
        return str((await tool.invocation(ShellParams(command=command)).execute(permit, Watching())).content)

    async def _resolve(self, host: str) -> list[str]:
        return ["127.0.0.1"] if host == HOST else []

    async def _dial(self, address: str, port: int) -> socket.socket:
        found = socket.create_connection((address, port), 5)
        found.setblocking(False)
        return found


def wheel() -> bytes:
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as archive:
        archive.writestr("tiny_thing.py", "ANSWER = 42\n")
        archive.writestr("tiny_thing-1.0.dist-info/METADATA", "Metadata-Version: 2.1\nName: tiny-thing\nVersion: 1.0\n")
        archive.writestr(
            "tiny_thing-1.0.dist-info/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        )
        archive.writestr("tiny_thing-1.0.dist-info/RECORD", "")
    return data.getvalue()


def package() -> bytes:
    data = io.BytesIO()
    files = {
        "package.json": json.dumps({"name": "tiny-thing", "version": "1.0.0"}),
        "index.js": "module.exports = 42\n",
    }
    with tarfile.open(fileobj=data, mode="w:gz") as archive:
        for name, text in files.items():
            about = tarfile.TarInfo(f"package/{name}")
            about.size = len(text)
            archive.addfile(about, io.BytesIO(text.encode()))
    return data.getvalue()


def answers(port: int) -> dict[str, tuple[str, bytes]]:
    tarball = package()
    dist = {
        "tarball": f"http://{HOST}:{port}/tiny-thing-1.0.0.tgz",
        "integrity": f"sha512-{base64.b64encode(hashlib.sha512(tarball).digest()).decode()}",
    }
    versions = {"1.0.0": {"name": "tiny-thing", "version": "1.0.0", "dist": dist}}
    about = {"name": "tiny-thing", "dist-tags": {"latest": "1.0.0"}, "versions": versions}
    name = "tiny_thing-1.0-py3-none-any.whl"
    return {
        "/simple/tiny-thing/": ("text/html", f'<a href="/{name}">{name}</a>'.encode()),
        f"/{name}": ("application/zip", wheel()),
        "/tiny-thing": ("application/json", json.dumps(about).encode()),
        "/tiny-thing-1.0.0.tgz": ("application/octet-stream", tarball),
    }


class Registry(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        assert isinstance(self.server, ThreadingHTTPServer)
        kind, body = answers(self.server.server_port).get(self.path, ("", b""))
        self.send_response(200 if kind else 404)
        self.send_header("Content-Type", kind or "text/plain")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None: ...


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Registry)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield Site(tmp_path, server.server_port)
    server.shutdown()
    thread.join()
    server.server_close()


@needs("npm", "node")
async def test_npm_installs_from_a_listed_registry_and_runs_tests(site: Site) -> None:
    install = f"npm init -y > /dev/null && npm install --registry http://{HOST}:{site.port} tiny-thing"
    done = await site.run(f"{install} && node -e 'console.log(require(\"tiny-thing\"))'", "network")
    assert "Exit Code: 0" in done and "42" in done, done
    (site.work / "package.json").write_text(json.dumps({"scripts": {"test": "node -e 'console.log(6*7)'"}}))
    assert "42" in await site.run("npm test")


async def test_pip_installs_from_a_listed_registry(site: Site) -> None:
    index = f"--index-url http://{HOST}:{site.port}/simple --trusted-host {HOST}"
    done = await site.run(f"{sys.executable} -m pip install -q {index} --target lib tiny-thing", "network")
    assert "Exit Code: 0" in done, done
    assert "42" in await site.run(f"PYTHONPATH=lib {sys.executable} -c 'import tiny_thing; print(tiny_thing.ANSWER)'")


async def test_a_registry_that_is_not_listed_is_refused(site: Site) -> None:
    index = f"--index-url http://other.example.org:{site.port}/simple --trusted-host other.example.org"
    refused = await site.run(f"{sys.executable} -m pip install --retries 0 {index} --target lib tiny-thing", "network")
    assert f"The sandbox refused the connection to other.example.org:{site.port}" in refused


@needs("cargo")
async def test_cargo_builds_and_tests(site: Site) -> None:
    done = await site.run("cargo init --lib --name x -q . && cargo test -q --offline 2>&1")
    assert "Exit Code: 0" in done and "test result: ok" in done, done


@needs("gcc", "make")
async def test_make_and_gcc_build(site: Site) -> None:
    (site.work / "a.c").write_text('#include <stdio.h>\nint main(void) { puts("built"); return 0; }\n')
    (site.work / "Makefile").write_text("a: a.c\n\tgcc -o a a.c\n")
    assert "built" in await site.run("make -s && ./a")


async def test_pytest_runs_with_servers_on_its_own_loopback(site: Site) -> None:
    (site.work / "test_x.py").write_text(
        "import socket\ndef test_x(tmp_path):\n    s = socket.create_server(('127.0.0.1', 0))\n"
        "    socket.create_connection(s.getsockname())\n    (tmp_path / 'f').write_text('x')\n"
    )
    assert "1 passed" in await site.run(f"{sys.executable} -m pytest -q -p no:cacheprovider test_x.py")


@needs("git")
async def test_git_commits_branches_merges_and_rebases(site: Site) -> None:
    identity = "export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@b;"
    work = "git init -q -b main . && echo 1 > a && git add a && git commit -qm 1 && git checkout -qb t && echo 2 > b"
    more = "git add b && git commit -qm 2 && git checkout -q main && echo 3 > c && git add c && git commit -qm 3"
    done = await site.run(f"{identity} {work} && {more} && git rebase -q main t && git merge -q t && git log --oneline")
    assert "Exit Code: 0" in done, done


@needs("docker")
async def test_docker_is_refused_with_a_clear_word(site: Site) -> None:
    refused = await site.run("docker ps")
    assert "the sandbox `workspace`, which probably refused connecting to a program outside it (docker" in refused
