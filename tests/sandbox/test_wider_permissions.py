"""What a person is offered when the sandbox refused something: exactly that, once or always."""

import socket
import sys
from pathlib import Path

import pytest

from assent.approval import ExecDetails
from assent.events import ApprovalRequested
from assent.process.output_buffer import Excerpt
from assent.process.run_program import ProcessFinished
from assent.sandbox.bubblewrap import bubblewrap
from assent.tools.support.sandbox_notes import sandbox_notes
from support.network_scene import network_scene

pytestmark = [
    pytest.mark.spec("I1"),
    pytest.mark.skipif(sys.platform != "linux" or bubblewrap() is None, reason="needs bubblewrap"),
]


async def test_a_path_that_a_person_approves_is_writable_and_nothing_else(tmp_path: Path):
    outside, other = tmp_path / "cache", tmp_path / "other"
    outside.mkdir()
    other.mkdir()
    async with network_scene(tmp_path, whole=False) as net:
        command = f"echo x > {outside}/new; echo x > {other}/new"
        batch = net.start(command, writable=[str(outside)])
        asked = (await net.question()).approval
        assert isinstance(asked.details, ExecDetails)
        assert (asked.details.wider, asked.details.writable) == (True, (str(outside),))
        assert asked.why == f"the model asks for more than the sandbox allows: to write to {outside}"
        await net.answer("proceed_once")
        await batch.results()
        assert (outside / "new").exists() and not (other / "new").exists()


async def test_secrets_and_hooks_stay_closed_in_a_path_that_was_approved(tmp_path: Path):
    outside = tmp_path / "cache"
    (outside / ".git/hooks").mkdir(parents=True)
    (outside / ".env").write_text("canary")
    async with network_scene(tmp_path, whole=False) as net:
        batch = net.start(f"cat {outside}/.env; echo x > {outside}/.git/hooks/x", writable=[str(outside)])
        await net.answer("proceed_once")
        await batch.results()
        assert "canary" not in net.output() and not (outside / ".git/hooks/x").exists()


async def test_a_socket_stays_closed_in_a_path_that_was_approved(tmp_path: Path):
    outside = tmp_path / "cache"
    outside.mkdir()
    connect = f"import socket; socket.socket(socket.AF_UNIX).connect('{outside}/agent'); print('through')"
    with socket.socket(socket.AF_UNIX) as agent:
        agent.bind(str(outside / "agent"))
        agent.listen()
        async with network_scene(tmp_path, whole=False) as net:
            batch = net.start(f'python3 -c "{connect}"', writable=[str(outside)])
            await net.answer("proceed_once")
            await batch.results()
            assert "through" not in net.output() and "Permission denied" in net.output()


async def test_a_folder_that_does_not_exist_yet_can_be_approved(tmp_path: Path):
    async with network_scene(tmp_path, whole=False) as net:
        batch = net.start(f"echo x > {tmp_path}/new/file", writable=[f"{tmp_path}/new"])
        await net.answer("proceed_once")
        await batch.results()
        assert (tmp_path / "new/file").exists()


async def test_a_path_that_becomes_a_link_after_the_yes_is_not_followed(tmp_path: Path):
    outside, other = tmp_path / "cache", tmp_path / "other"
    outside.mkdir()
    other.mkdir()
    async with network_scene(tmp_path, whole=False) as net:
        batch = net.start(f"echo x > {outside}/new", writable=[str(outside)])
        await net.question()
        outside.rmdir()
        outside.symlink_to(other)
        await net.answer("proceed_once")
        await net.until(lambda: len(net.harness.recorded(ApprovalRequested)) == 2)
        await net.answer("cancel")
        await batch.results()
        assert not (other / "new").exists()


@pytest.mark.parametrize(
    "path",
    ["/", "~/", "~/.ssh", "/run/docker.sock", "/dev/null", "~/.bashrc", "/etc/shadow", "{data}", "{work}/.git/hooks"],
)
async def test_what_stays_closed_in_every_sandbox_is_not_even_asked_about(tmp_path: Path, path: str):
    async with network_scene(tmp_path, whole=False) as net:
        named = path.replace("{data}", str(tmp_path / "data")).replace("{work}", str(tmp_path / "work"))
        await net.start("true", writable=[named]).results()
        assert net.harness.recorded(ApprovalRequested) == []
        assert "Only `sandbox: off` can do that" in net.told()


async def test_always_for_a_wider_permission_covers_the_command_with_exactly_that(tmp_path: Path):
    outside, other = tmp_path / "cache", tmp_path / "other"
    outside.mkdir()
    async with network_scene(tmp_path, whole=False) as net:
        batch = net.start(f"touch {outside}/one", writable=[str(outside)])
        await net.answer("proceed_always")
        await batch.results()
        await net.start(f"touch {outside}/one", "again", writable=[str(outside)]).results()
        assert len(net.harness.recorded(ApprovalRequested)) == 1
        waiting = net.start(f"touch {outside}/one", "further", writable=[str(outside), str(other)])
        await net.until(lambda: len(net.harness.recorded(ApprovalRequested)) == 2)
        await net.answer("cancel")
        await waiting.results()


@pytest.mark.parametrize(
    ("output", "asks_for"),
    [
        ("touch: cannot touch '/srv/x/y': Read-only file system", 'writable=["/srv/x"]'),
        (
            "OSError: [Errno 30] Read-only file system: '/home/ann/.cache/pip/http/a/b'",
            'writable=["/home/ann/.cache/pip"]',
        ),
        ("npm ERR! code EROFS /home/ann/.npm/_logs/x.log", 'writable=["/home/ann/.npm/_logs"]'),
        ("error: could not lock config file .git/config: Device or resource busy", 'sandbox="off"'),
        ("tee: /etc/hosts: Read-only file system", 'sandbox="off"'),
        ("cp: /w/.vscode/x: Read-only file system", 'sandbox="off"'),
        ("x: /home/ann/new: Read-only file system", 'sandbox="off"'),
        (
            "fatal: unable to access 'https://github.com/a/b.git/': Could not resolve host: github.com",
            'domains=["github.com"]',
        ),
        (
            "npm ERR! request to https://npm.example.org/x failed, reason: getaddrinfo EAI_AGAIN npm.example.org",
            'domains=["npm.example.org"]',
        ),
        ("setup.py: Network is unreachable", 'sandbox="network"'),
        (
            "Cannot connect to the Docker daemon at unix:///var/run/docker.sock. Is the docker daemon running?",
            'sandbox="off"',
        ),
        ("Could not open a connection to your authentication agent.", 'sandbox="off"'),
        ("curl: (7) Failed to connect to localhost port 8080 after 0 ms: Couldn't connect to server", 'sandbox="off"'),
        ("Error: connect ECONNREFUSED 127.0.0.1:5432", 'sandbox="off"'),
        ('connection to server at "localhost" (::1), port 5432 failed: Connection refused', 'sandbox="off"'),
        ('sudo: The "no new privileges" flag is set, which prevents sudo from running as root.', 'sandbox="off"'),
        ("sudo: PERM_SUDOERS: setresuid(-1, 1, -1): Invalid argument", 'sandbox="off"'),
        ("strace: ptrace(PTRACE_TRACEME, ...): Operation not permitted", 'sandbox="off"'),
    ],
)
def test_a_refusal_names_exactly_the_permission_to_ask_for(output: str, asks_for: str):
    finished = ProcessFinished(
        code=1, signal=None, ended="exited", output=Excerpt(output, "", 0), bytes=0, binary=False
    )
    (note,) = sandbox_notes(finished, "workspace", ("/w",), "/home/ann")
    assert f"call again with {asks_for}; the user is asked." in note
