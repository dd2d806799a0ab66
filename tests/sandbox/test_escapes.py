"""What a command in a sandbox must not be able to do, tried for real, as root and as an ordinary user."""

import json
import os
import shutil
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from msgspec import Struct

from assent.sandbox.bubblewrap import bubblewrap

RUNNER = Path(__file__).with_name("escape_runner.py")
SOURCE = Path(__file__).resolve().parents[2] / "src"
NOBODY = 65534
CANARY = "canary-5f1c"

pytestmark = [
    pytest.mark.spec("I1"),
    pytest.mark.skipif(sys.platform != "linux" or bubblewrap() is None, reason="needs bubblewrap"),
]

CALL = "import ctypes, os, sys; call = ctypes.CDLL(None, use_errno=True).syscall;"
"""The start of a Python program that makes a system call by number."""


def system_call(number: int, *arguments: str) -> str:
    words = ", ".join([str(number), *arguments])
    return f"""python3 -c '{CALL} print("{CANARY}" if call({words}) >= 0 else os.strerror(ctypes.get_errno()))'"""


def connecting(family: str, address: str) -> str:
    return (
        f"""python3 -c 'import socket; s = socket.socket(socket.{family}); s.settimeout(5); s.connect({address});"""
        f""" print("{CANARY}")'"""
    )


READS = {
    "a key in the home folder": "cat ~/.ssh/id_ed25519",
    "a token in the home folder": "cat ~/.netrc",
    "a token in settings that npm reads": "cat ~/.npmrc",
    "a secret of the workspace": "cat .env",
    "a secret through a link": "ln -s .env link; cat link",
    "a secret through a hard link": "ln .env hard; cat hard",
    "a secret through its folder": "cat $PWD/../work/.env",
    "a secret through another process's root": "cat /proc/1/root$PWD/.env; cat /proc/self/root$PWD/.env",
    "a secret through a descriptor": "timeout 5 cat /proc/*/fd/[3-9]* 2>/dev/null | grep -a canary",
    "a secret after moving it": "mv .env other; cat other",
    "a secret after moving its folder": "mv nested moved; cat moved/.env",
    "a secret in an archive": "tar cf - .env nested 2>/dev/null | grep -a canary",
    "Assent's own folder": "cat {data}/keys.json",
    "the environment of other processes": "cat /proc/*/environ | tr '\\0' '\\n' | grep CANARY_VARIABLE",
    "the paths that are hidden": "cat /proc/*/cmdline | tr '\\0' '\\n' | grep -q id_ed[2]5519 && echo canary-5f1c",
    "the files of root": "cat /etc/shadow | head -1 | sed 's/.*/canary-5f1c/'",
}
WRITES = {
    "a file outside": "echo x > {outside}/new",
    "a file outside through a link": "ln -s {outside} way; echo x > way/new",
    "a mode outside": "chmod 777 {outside}/kept",
    "a time outside": "touch {outside}/kept",
    "a removal outside": "rm -f {outside}/kept",
    "a hook": "mkdir -p .git/hooks; echo x > .git/hooks/pre-commit",
    "settings of git": "git config core.pager evil; echo '[core]' >> .git/config",
    "another .git": "mv .git elsewhere && mkdir .git && cp -r elsewhere/config .git/config && echo evil >> .git/config",
    "another place for the settings of git": "mkdir evil; echo ../evil > .git/commondir",
    "settings of Assent": "echo x > .assent/settings.toml",
    "another .assent": "mv .assent away; mkdir .assent; echo x > .assent/settings.toml",
    "tasks of an editor": "echo x > .vscode/tasks.json",
    "a protected file below a folder that moves": "mv nested moved; mkdir -p nested/.vscode; echo x > nested/.vscode/x",
    "the home folder": "echo x > ~/.bashrc; echo x > ~/new",
    "the system": "echo x > /etc/assent-test; echo x > /usr/local/bin/assent-test",
    "the kernel": "echo x > /proc/sys/kernel/hostname; echo x > /sys/kernel/uevent_helper",
}
REACHES = {
    "IPv4": connecting("AF_INET", '("127.0.0.1", {port})'),
    "IPv6": connecting("AF_INET6", '("::1", {port6})'),
    "a socket with a path": connecting("AF_UNIX", '"{outside}/socket"'),
    "an abstract socket": connecting("AF_UNIX", '"\\0assent-{port}"'),
    "a virtual machine's host": connecting("AF_VSOCK", "(2, 1)"),
    "a datagram": """python3 -c 'import socket; s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM);"""
    """ s.sendto(b"x", ("127.0.0.1", {datagrams}))'""",
    "a name server": """python3 -c 'import socket; print(socket.getaddrinfo("example.org", 80) and "canary-5f1c")'""",
}
KERNEL = {
    "a user namespace": f"unshare -U echo {CANARY}",
    "a mount": f"mkdir -p m; mount -t tmpfs x m && echo {CANARY}",
    "io_uring": system_call(425, "8", "bytearray(120)"),
    "the keyring": system_call(250, "0", "-3", "0"),
    "another process": system_call(101, "16", "1", "0", "0"),
    "another process's memory": system_call(310, "1", "0", "0", "0", "0", "0"),
    "eBPF": system_call(321, "0", "bytearray(64)", "64"),
    "performance counters": system_call(298, "bytearray(128)", "0", "-1", "-1", "0"),
    "typing into the terminal": f"""python3 -c 'import fcntl; fcntl.ioctl(0, 0x5412, b"x"); print("{CANARY}")'""",
    "processes outside": "kill -9 {pid} && echo canary-5f1c",
    "more rights": f"grep -q 'NoNewPrivs:.0' /proc/self/status && echo {CANARY}",
    "capabilities": f"grep -q 'CapEff:.*[1-9a-f]' /proc/self/status && echo {CANARY}",
    "inherited descriptors": f"test $(ls /proc/self/fd | wc -l) -gt 4 && echo {CANARY}",
}


class Scene(Struct, frozen=True, kw_only=True):
    root: Path
    work: Path
    home: Path
    data: Path
    outside: Path
    port: int
    port6: int
    datagrams: socket.socket
    sleeper: "subprocess.Popen[bytes]"
    uid: int

    def filled(self, command: str) -> str:
        names = {"data": self.data, "outside": self.outside, "port": self.port, "port6": self.port6}
        names |= {"datagrams": self.datagrams.getsockname()[1], "pid": self.sleeper.pid}
        for name, value in names.items():
            command = command.replace(f"{{{name}}}", str(value))
        return command

    def run(self, *commands: tuple[str, str]) -> list[dict[str, Any]]:
        given = json.dumps([[profile, self.filled(command)] for profile, command in commands])
        other = self.uid if self.uid != os.getuid() else None
        finished = subprocess.run(
            [python_for(self.uid), str(RUNNER), str(self.work), str(self.home), str(self.data)],
            input=given.encode(),
            stdout=subprocess.PIPE,
            env={"PATH": os.defpath, "PYTHONPATH": os.pathsep.join(python_path()), "CANARY_VARIABLE": CANARY},
            cwd="/",
            timeout=300,
            check=True,
            user=other,
            group=other,
            extra_groups=None if other is None else [],
        )
        answer = json.loads(finished.stdout)
        assert "problem" not in answer, answer
        return answer["results"]

    def tree(self) -> dict[str, tuple[int, bytes]]:
        """Everything that must stay as it is."""
        folders = [self.outside, self.home, self.data, *(self.work / name for name in PROTECTED)]
        files = [path for folder in folders for path in (folder, *folder.rglob("*")) if path.is_file()]
        return {str(path): (path.stat().st_mode, path.read_bytes()) for path in files}


PROTECTED = (".git/hooks", ".git/config", ".assent", ".vscode", "nested/.vscode")


def python_for(uid: int) -> str:
    """An interpreter that this user can start."""
    return sys.executable if uid == os.getuid() else "/usr/bin/python3"


def python_path() -> list[str]:
    import msgspec

    return [str(SOURCE), str(Path(msgspec.__file__).parents[1])]


def can_run_as(uid: int) -> bool:
    if uid == os.getuid():
        return True
    try:
        finished = subprocess.run(
            [python_for(uid), "-c", "import assent.sandbox.confinement, sys; assert sys.version_info >= (3, 11)"],
            env={"PYTHONPATH": os.pathsep.join(python_path())},
            cwd="/",
            user=uid,
            group=uid,
            extra_groups=[],
            capture_output=True,
        )
    except OSError:
        return False
    return finished.returncode == 0


@pytest.fixture(params=["this user", "an ordinary user"], scope="module")
def scene(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scene]:
    uid = os.getuid() if request.param == "this user" else NOBODY
    if request.param != "this user" and (os.getuid() != 0 or not can_run_as(uid)):
        pytest.skip("no other user can be tried from here")
    root = Path("/var/lib") if os.access("/var/lib", os.W_OK) else tmp_path_factory.mktemp("escape")
    root = root / f"assent-escape-{os.getpid()}-{uid}"
    yield from _prepared(root, uid)


def _prepared(root: Path, uid: int) -> Iterator[Scene]:
    """Not below /tmp, which the sandbox replaces as a whole."""
    root.mkdir(mode=0o755)
    work, home, data, outside = (root / name for name in ("work", "home", "data", "outside"))
    texts = {
        work / ".env": CANARY,
        work / "nested/.env": CANARY,
        work / "nested/.vscode/tasks.json": "{}",
        work / ".vscode/tasks.json": "{}",
        work / ".assent/settings.toml": "",
        work / "code.py": "print(1)\n",
        home / ".ssh/id_ed25519": CANARY,
        home / ".netrc": CANARY,
        home / ".npmrc": f"//registry/:_authToken={CANARY}",
        home / ".bashrc": "",
        data / "keys.json": CANARY,
        outside / "kept": "kept",
    }
    for path, text in texts.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    subprocess.run(["git", "init", "-q", str(work)], check=True)
    if uid != os.getuid():
        subprocess.run(["chown", "-R", f"{uid}:{uid}", str(root)], check=True)
    named = socket.socket(socket.AF_UNIX)
    abstract = socket.socket(socket.AF_UNIX)
    with (
        socket.create_server(("127.0.0.1", 0)) as tcp,
        socket.create_server(("::1", 0), family=socket.AF_INET6) as tcp6,
        socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as datagrams,
        named,
        abstract,
        subprocess.Popen(["sleep", "600"]) as sleeper,
    ):
        datagrams.bind(("127.0.0.1", 0))
        datagrams.setblocking(False)
        port = tcp.getsockname()[1]
        named.bind(str(outside / "socket"))
        (outside / "socket").chmod(0o777)
        abstract.bind(f"\0assent-{port}")
        for one in (named, abstract):
            one.listen()
        try:
            yield Scene(
                root=root,
                work=work,
                home=home,
                data=data,
                outside=outside,
                port=port,
                port6=tcp6.getsockname()[1],
                datagrams=datagrams,
                sleeper=sleeper,
                uid=uid,
            )
        finally:
            sleeper.kill()
            shutil.rmtree(root, ignore_errors=True)


@pytest.mark.parametrize("profile", ["read-only", "workspace", "network"])
def test_no_secret_can_be_read(scene: Scene, profile: str):
    found = scene.run(*((profile, command) for command in READS.values()))
    shown = {name: one["output"] for name, one in zip(READS, found, strict=True) if CANARY in one["output"]}
    assert shown == {}


@pytest.mark.parametrize("profile", ["read-only", "workspace", "network"])
def test_nothing_is_written_outside_the_workspace_or_to_protected_paths(scene: Scene, profile: str):
    before = scene.tree()
    scene.run(*((profile, command) for command in WRITES.values()))
    assert scene.tree() == before
    assert not (scene.work / ".git/commondir").exists()


@pytest.mark.parametrize("profile", ["read-only", "workspace", "network"])
def test_no_program_outside_can_be_reached(scene: Scene, profile: str):
    found = scene.run(*((profile, command) for command in REACHES.values()))
    reached = {name: one["output"] for name, one in zip(REACHES, found, strict=True) if CANARY in one["output"]}
    assert reached == {}
    with pytest.raises(BlockingIOError):
        scene.datagrams.recv(10)


@pytest.mark.parametrize("profile", ["read-only", "workspace", "network"])
def test_the_kernel_offers_no_way_out(scene: Scene, profile: str):
    found = scene.run(*((profile, command) for command in KERNEL.values()))
    offered = {name: one["output"] for name, one in zip(KERNEL, found, strict=True) if CANARY in one["output"]}
    assert offered == {}
    assert scene.sleeper.poll() is None


def test_a_command_that_only_reads_can_write_nothing_and_open_no_socket(scene: Scene):
    [written, opened] = scene.run(
        ("read-only", "echo x > new.txt"),
        ("read-only", "python3 -c 'import socket; socket.socket(); print(1)'"),
    )
    assert written["code"] != 0 and "Read-only file system" in written["output"]
    assert opened["code"] != 0
    assert not (scene.work / "new.txt").exists()


def test_ordinary_work_goes_on(scene: Scene):
    work = [
        "echo y > made.txt && cat made.txt && rm made.txt",
        "git -c user.name=n -c user.email=e add code.py && git -c user.name=n -c user.email=e commit -qm first",
        "git checkout -q -b topic && git status --short && git log --oneline",
        "python3 -c 'import multiprocessing, tempfile; print(tempfile.mkdtemp())'",
        "python3 -m venv --without-pip /tmp/venv",
        "printf 'int main(){return 0;}' > /tmp/a.c; command -v cc && cc -o /tmp/a /tmp/a.c && /tmp/a; true",
        """python3 -c 'import socket, threading; s = socket.create_server(("127.0.0.1", 0));"""
        """ socket.create_connection(s.getsockname())'""",
        "trap 'exit 5' TERM; kill -TERM $$",
    ]
    found = scene.run(*(("workspace", command) for command in work))
    assert [one["code"] for one in found] == [0] * 7 + [5], found
