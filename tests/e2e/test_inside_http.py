"""What Assent runs cannot answer through the server either, whatever token it found and whatever way it takes."""

import asyncio
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from assent.client import ApiProblem
from assent.front.web.web_server import Where
from assent.process.callers import CHILD
from assent.process.run_program import run
from support.processes import helper_env
from support.program import Json, Program, asks_for, says, shell
from support.served import Served, ServedProgram, until_event, until_waiting
from support.waiting import WAIT_LIMIT

ATTACK = """
import http.client, json, os, socket, sys, threading, urllib.parse

found = json.load(open(os.environ["ASSENT_HOME"] + "/serve.json"))
at = urllib.parse.urlsplit(found["url"])
usual = {"Authorization": "Bearer " + found["token"], "Content-Type": "application/json"}

def ask(method, path, body=None, source=None, to=None, **more):
    connection = http.client.HTTPConnection(*(to or (at.hostname, at.port)), source_address=source)
    body = None if body is None else json.dumps(body)
    connection.request(method, "/api/v1" + path, body, usual | {"Host": at.netloc} | more)
    answer = connection.getresponse()
    return answer.status, answer.read().decode()

def decision():
    waiting = json.loads(ask("GET", "/approvals")[1])["approvals"][0]
    path = "/sessions/%s/calls/%s/decision" % (waiting["session"]["id"], waiting["call_id"])
    return "POST", path, {"outcome": "proceed_once", "digest": waiting["approval"]["digest"]}
"""
WAYS = {
    "plainly": "print(ask(*decision()))",
    "from another address": "print(ask(*decision(), source=('127.0.0.9', 0)))",
    "through a socket for IPv6": """
plain = socket.socket(socket.AF_INET6)
plain.connect(("::ffff:127.0.0.1", at.port))
connection = http.client.HTTPConnection("127.0.0.1")
connection.sock = plain
method, path, body = decision()
connection.request(method, "/api/v1" + path, json.dumps(body), usual | {"Host": at.netloc})
answer = connection.getresponse()
print(answer.status, answer.read().decode())
""",
    "through a proxy of its own": """
listener = socket.create_server(("127.0.0.1", 0))
def pump(source, target):
    while data := source.recv(65536): target.sendall(data)
def forward():
    near, far = listener.accept()[0], socket.create_connection((at.hostname, at.port))
    threading.Thread(target=pump, args=(far, near), daemon=True).start()
    pump(near, far)
wanted = decision()
if not os.fork():
    forward()
    os._exit(0)
print(ask(*wanted, to=listener.getsockname()), flush=True)
""",
    "as a daemon": """
r, w = os.pipe()
if not os.fork():
    os.setsid()
    if os.fork(): os._exit(0)
    os.set_inheritable(w, True)
    os.dup2(os.open("answer", os.O_CREAT | os.O_WRONLY), 1)
    os.execve(sys.executable, [sys.executable, "-c", open("base.py").read().replace(
        'os.environ["ASSENT_HOME"]', repr(os.environ["ASSENT_HOME"])) + "print(ask(*decision()), flush=True)"], {})
os.close(w)
os.wait()
os.read(r, 1)
print(open("answer").read())
""",
    "without its first thread": """
import ctypes
wanted = decision()
def alone():
    while " Z " not in open("/proc/self/stat").read(): pass
    print(ask(*wanted), flush=True)
    os._exit(0)
threading.Thread(target=alone).start()
ctypes.CDLL(None).syscall({"x86_64": 60}.get(os.uname().machine, 93), 0)
""",
    "hidden from others of its user": """
import ctypes
ctypes.CDLL(None).prctl(4, 0, 0, 0, 0)
print(ask(*decision()))
""",
}
PERSON = "print(ask(*decision()))"
pytestmark = [pytest.mark.spec("I2"), pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")]


@pytest.fixture
def server(program: Program) -> Iterator[ServedProgram]:
    (program.folder / "base.py").write_text(ATTACK)
    waiting = program.scenario(asks_for(shell("touch canary")), says("Done."), name="waiting")
    server = ServedProgram(program, waiting)
    yield server
    server.kill()


def as_child(program: Program, script: str) -> str:
    """What a command of the agent prints that runs this script."""
    (program.folder / "attack.py").write_text(ATTACK + script)
    model = program.scenario(asks_for(shell(f"{sys.executable} attack.py", "try")), says("Tried."), name="child")
    ended = program.run("-p", "go", "-m", model, "--approval-mode", "yolo", "-o", "stream-json")
    return ended.of_type("call.finished")[0]["display"]["text"]


def as_person(program: Program, script: str) -> str:
    """The same from a terminal of theirs, or one that some other program opened."""
    (program.folder / "own.py").write_text(ATTACK + script)
    done = subprocess.run(
        [sys.executable, "own.py"], cwd=program.folder, env=program.env, capture_output=True, text=True, check=True
    )
    return done.stdout


@pytest.mark.parametrize("way", WAYS)
async def test_a_child_cannot_answer_over_http_and_a_person_can(program: Program, server: ServedProgram, way: str):
    api = server.start()
    session = (await api.create(prompt="go"))["id"]
    await until_waiting(api, session)
    printed = as_child(program, WAYS[way])
    assert "403" in printed and "a program that Assent itself started" in printed
    assert len(await until_waiting(api, session)) == 1
    assert not (program.folder / "canary").exists()
    assert "200" in as_person(program, PERSON)
    await until_event(api, session, "turn.finished")
    assert (program.folder / "canary").exists()
    await api.close()


async def test_a_child_that_sends_its_answer_and_goes_is_refused(program: Program, server: ServedProgram):
    api = server.start()
    session = (await api.create(prompt="go"))["id"]
    await until_waiting(api, session)
    as_child(
        program,
        """
method, path, body = decision()
body = json.dumps(body)
lines = [method + " /api/v1" + path + " HTTP/1.1", "Host: " + at.netloc, "Content-Length: %d" % len(body)]
lines += [name + ": " + value for name, value in usual.items()]
socket.create_connection((at.hostname, at.port)).sendall("\\r\\n".join([*lines, "", body]).encode())
""",
    )
    with pytest.raises(ApiProblem):  # whoever comes after it is served after it
        await api.decide(session, "run", "proceed_once", "no such digest")
    assert len(await until_waiting(api, session)) == 1
    assert not (program.folder / "canary").exists()
    await api.close()


CHANGES = {
    "POST": (
        "/sessions",
        "/sessions/{id}/messages",
        "/sessions/{id}/tools",
        "/sessions/{id}/commands",
        "/login",
        "/logout",
    ),
    "PATCH": ("/sessions/{id}",),
    "DELETE": ("/sessions/{id}", "/sessions/{id}/grants/g"),
}


async def test_a_child_reads_and_changes_nothing_else(program: Program, server: ServedProgram):
    api = server.start()
    session = (await api.create(prompt="go"))["id"]
    await until_waiting(api, session)
    wanted = [(method, path.format(id=session)) for method, paths in CHANGES.items() for path in paths]
    printed = as_child(program, f"for one in {wanted!r}: print(*one, ask(*one, {{}})[0])\nprint(ask('GET', '/me')[0])")
    assert printed.splitlines() == [*(f"{method} {path} 403" for method, path in wanted), "200"]
    assert (await api.sessions())["total"] == 2
    await api.close()


AFAR = {"X-Forwarded-For": "8.8.8.8", "Host": "assent.example.org"}


async def test_behind_a_proxy_a_child_is_known_by_its_connection_and_not_by_headers(tmp_path: Path):
    async with Served(tmp_path, Where(port=0, behind_proxy="https://assent.example.org")) as served:
        code = ATTACK + f"print(ask('POST', '/sessions', {{}}, to=('127.0.0.1', {served.server.port}), **{AFAR!r})[0])"
        argv = [sys.executable, "-c", code]
        child = await run(argv, cwd=str(served.folder), env=served.env)
        person = await asyncio.create_subprocess_exec(*argv, env=served.env, stdout=subprocess.PIPE)
        assert child.output.text().strip() == "403"
        assert (await person.communicate())[0].strip() == b"201"


@pytest.mark.skipif(os.getuid() != 0, reason="becomes someone without privileges")
@pytest.mark.parametrize("inside", [False, True])
def test_one_who_lets_nobody_look_is_known_by_who_it_can_be(inside: bool):
    """As an `sshd` does that carries a person's tunnel; and as a child may."""
    argv = [sys.executable, "-m", "support.hidden_caller", *(["inside"] if inside else [])]
    done = subprocess.run(argv, env=helper_env(), stdout=subprocess.PIPE, text=True, timeout=WAIT_LIMIT, check=True)
    assert done.stdout.strip() == (CHILD if inside else "None")


async def test_the_token_is_in_no_variable_of_a_child_and_its_file_asks(program: Program, server: ServedProgram):
    api = server.start()
    found: Json = msgspec.json.decode((program.home / "serve.json").read_bytes())
    printed = as_child(program, "print(os.environ)")
    assert "ASSENT_HOME" in printed and found["token"] not in printed
    await api.close()
