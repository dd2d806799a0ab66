"""Real programs that ask for passwords: the person sees the prompt, what they type goes nowhere else, nothing hangs."""

import os
import shutil
import subprocess
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from assent.config import Environment
from assent.plan import Plan, Stage, Step, Word
from assent.process.environment import command_environment
from assent.process.launch import pipeline_argv
from assent.process.pty import Size
from assent.process.run_program import ProcessFinished, ProcessLimits, run
from assent.process.supervisor_client import AVAILABLE
from support.typing_person import TypingPerson

PASSWORD = "correct-horse-42"
USER = f"assent{os.getpid()}"

pytestmark = [pytest.mark.spec("D1"), pytest.mark.skipif(not AVAILABLE, reason="only Linux has a supervisor")]
needs_sudo = pytest.mark.skipif(
    os.getuid() != 0 or not all(map(shutil.which, ("sudo", "useradd", "runuser", "chpasswd"))),
    reason="needs root, sudo, and users to create",
)


@pytest.fixture(scope="module")
def user() -> Iterator[str]:
    """An ordinary user who may use sudo with a password."""
    allowed = Path(f"/etc/sudoers.d/{USER}")
    subprocess.run(["useradd", "-M", "-d", "/", "-s", "/bin/sh", USER], check=True)
    try:
        subprocess.run(["chpasswd"], input=f"{USER}:{PASSWORD}".encode(), check=True)
        allowed.write_text(f"{USER} ALL=(ALL) ALL\n")
        allowed.chmod(0o440)
        yield USER
    finally:
        allowed.unlink(missing_ok=True)
        subprocess.run(["userdel", USER], check=True)


async def play(person: TypingPerson | None, *argv: str, cwd: Path, wait: float = 60.0) -> ProcessFinished:
    typing = person is not None
    return await run(
        argv,
        cwd=str(cwd),
        env=command_environment(Environment(), typing=typing) | {"LC_ALL": "C"},
        limits=ProcessLimits(input=wait, total=60.0),
        terminal=Size(),
        keyboard=None if person is None else person.keyboard,
    )


@needs_sudo
async def test_sudo_asks_the_person_and_the_password_is_nowhere(tmp_path: Path, user: str) -> None:
    person = TypingPerson("wrong", PASSWORD)
    finished = await play(person, "runuser", "-u", user, "--", "sudo", "-k", "id", "-u", cwd=tmp_path)
    assert [one.secret for one in person.wanted] == [True, True]
    assert "password" in person.wanted[0].prompt.lower()
    text = finished.output.text()
    assert finished.code == 0 and text.rstrip().endswith("0") and PASSWORD not in text and "wrong" not in text


@needs_sudo
async def test_su_asks_the_person(tmp_path: Path, user: str) -> None:
    person = TypingPerson(PASSWORD)
    finished = await play(person, "runuser", "-u", user, "--", "su", user, "-c", "echo in", cwd=tmp_path)
    assert [(one.prompt, one.secret) for one in person.wanted] == [("Password: ", True)]
    assert finished.code == 0 and "in" in finished.output.text() and PASSWORD not in finished.output.text()


@needs_sudo
async def test_sudo_ends_if_nobody_types(tmp_path: Path, user: str) -> None:
    person = TypingPerson()
    finished = await play(person, "runuser", "-u", user, "--", "sudo", "-k", "id", "-u", cwd=tmp_path, wait=0.5)
    assert person.wanted and finished.code != 0


@needs_sudo
async def test_sudo_fails_at_once_where_nobody_can_type(tmp_path: Path, user: str) -> None:
    finished = await play(None, "runuser", "-u", user, "--", "sudo", "-k", "id", "-u", cwd=tmp_path)
    assert finished.ended == "exited" and finished.code != 0 and "terminal is required" in finished.output.text()


@needs_sudo
async def test_sudo_fails_at_once_in_a_plan(tmp_path: Path, user: str) -> None:
    words = tuple(map(Word, ("runuser", "-u", user, "--", "sudo", "-k", "id", "-u")))
    plan = Plan(steps=(Step(join=";", stages=(Stage(words=words),)),), cwd=str(tmp_path))
    finished = await play(None, *pipeline_argv(plan), cwd=tmp_path)
    assert finished.ended == "exited" and finished.code != 0


def keygen(*words: str) -> None:
    subprocess.run(["ssh-keygen", *words], check=True, capture_output=True)


async def test_ssh_keygen_changes_a_passphrase(tmp_path: Path) -> None:
    key = tmp_path / "key"
    keygen("-q", "-t", "ed25519", "-N", "old-phrase", "-f", str(key))
    person = TypingPerson("old-phrase", "new-phrase", "new-phrase")
    finished = await play(person, "ssh-keygen", "-p", "-f", str(key), cwd=tmp_path)
    assert finished.code == 0 and all(one.secret for one in person.wanted) and len(person.wanted) == 3
    assert "old-phrase" not in finished.output.text() and "new-phrase" not in finished.output.text()
    keygen("-y", "-P", "new-phrase", "-f", str(key))


class Guarded(BaseHTTPRequestHandler):
    given: list[str]

    def do_GET(self) -> None:
        self.given.append(self.headers.get("Authorization", ""))
        self.send_response(404 if self.given[-1] else 401)
        self.send_header("WWW-Authenticate", 'Basic realm="git"')
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None: ...


@pytest.fixture
def guarded() -> Iterator[tuple[str, list[str]]]:
    given: list[str] = []
    handler = type("Handler", (Guarded,), {"given": given})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}/x.git", given
    server.shutdown()
    thread.join()
    server.server_close()


async def test_git_asks_for_user_and_password(tmp_path: Path, guarded: tuple[str, list[str]]) -> None:
    url, given = guarded
    person = TypingPerson("ann", PASSWORD)
    finished = await play(person, "git", "-c", "credential.helper=", "ls-remote", url, cwd=tmp_path)
    assert [(one.prompt.split()[0], one.secret) for one in person.wanted] == [("Username", False), ("Password", True)]
    assert any(one.startswith("Basic ") for one in given) and PASSWORD not in finished.output.text()


async def test_git_fails_at_once_where_nobody_can_type(tmp_path: Path, guarded: tuple[str, list[str]]) -> None:
    finished = await play(None, "git", "-c", "credential.helper=", "ls-remote", guarded[0], cwd=tmp_path)
    assert finished.ended == "exited" and finished.code != 0
