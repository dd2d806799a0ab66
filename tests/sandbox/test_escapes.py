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


def opening_to_write(*paths: str) -> str:
    """Only opens: where a sandbox does not hold, nothing of this machine changes."""
    return "; ".join(f"test -e {path} && (exec 3<>{path}) 2>/dev/null && echo {CANARY}" for path in paths)


READS = {
    "a key in the home folder": "cat ~/.ssh/id_ed25519",
    "a token in the home folder": "cat ~/.netrc",
    "a token in settings that npm reads": "cat ~/.npmrc",
    "keys of programs with a folder of their own": "cat ~/.cargo/credentials.toml ~/.gem/credentials ~/.m2/settings.xml"
    " ~/.config/pip/pip.conf ~/.config/containers/auth.json ~/.gradle/gradle.properties ~/.subversion/auth/1",
    "a key behind a link in the home folder": "cat ~/.linked/credentials",
    "a key in a protected folder": "cat .vscode/deep/.env; mv .vscode/deep x; cat x/.env",
    "a secret of the workspace": "cat .env",
    "a secret through a link": "ln -s .env link; cat link",
    "a secret through a hard link": "ln .env hard; cat hard",
    "a secret under a second name that it has had": "cat second-name",
    "a secret through a descriptor without rights": 'python3 -c \'import os; fd = os.open(".env", os.O_PATH);'
    ' print(open(f"/proc/self/fd/{fd}").read())\'',
    "a secret through its folder": "cat $PWD/../work/.env",
    "a secret through another process's root": "cat /proc/1/root$PWD/.env; cat /proc/self/root$PWD/.env",
    "a secret through a descriptor": "timeout 5 cat /proc/*/fd/[3-9]* 2>/dev/null | grep -a canary",
    "a secret after moving it": "mv .env other; cat other",
    "a secret after moving its folder": "mv nested moved; cat moved/.env",
    "a secret in an archive": "tar cf - .env nested 2>/dev/null | grep -a canary",
    "Assent's own folder": "cat {data}/keys.json",
    "the environment of other processes": "cat /proc/*/environ | tr '\\0' '\\n' | grep CANARY_VARIABLE",
    "the paths that are hidden": "cat /proc/*/cmdline | tr '\\0' '\\n' | grep -q id_ed[2]5519 && echo canary-5f1c",
    "the files of root": "head -qn1 /etc/shadow /etc/ssh/ssh_host_*_key | sed 's/.*/canary-5f1c/'",
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
    "the place of the settings of a worktree": "echo /evil > .git/worktrees/wt/commondir; mv .git/worktrees .git/w2",
    "settings of a worktree that has none": "echo evil > .git/worktrees/wt/config.worktree",
    "settings of a submodule": "echo evil >> .git/modules/sub/config; mv .git/modules .git/m2",
    "hooks of a submodule": "mkdir -p .git/modules/sub/hooks; echo x > .git/modules/sub/hooks/post-checkout",
    "objects from elsewhere": "echo /evil > .git/objects/info/alternates; echo '* filter=x' > .git/info/attributes",
    "the settings of git replaced": "cp .git/config x.lock; echo evil >> x.lock; mv -f x.lock .git/config",
    "jobs for later": "echo x > /var/spool/cron/crontabs/x; mkdir -p ~/.config/systemd/user ~/.config/autostart",
    "a file outside through a root": "echo x > /proc/self/root{outside}/new; echo x > /proc/1/root{outside}/new",
    "a file outside through a mapping": "python3 -c 'import mmap;"
    ' mmap.mmap(open("{outside}/kept", "r+b").fileno(), 1)\'',
    "an attribute outside": 'python3 -c \'import os; os.setxattr("{outside}/kept", "user.x", b"1")\'',
    "a hard link to a file outside": "ln {outside}/kept hard && echo x > hard",
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
    "X11": connecting("AF_UNIX", '"\\0/tmp/.X11-unix/X{port}"'),
    "an IPv4 address in IPv6": connecting("AF_INET6", '("::ffff:127.0.0.1", {port})'),
    "Bluetooth": connecting("AF_BLUETOOTH", '("00:00:00:00:00:00", 1)'),
    "audit messages": f"""python3 -c 'import socket; socket.socket(16, 3, 9); print("{CANARY}")'""",
    "raw packets": f"""python3 -c 'import socket; socket.socket(17, 3, 3); print("{CANARY}")'""",
    "raw IP": f"""python3 -c 'import socket; socket.socket(2, 3, 1); print("{CANARY}")'""",
    "the kernel's cryptography": f"""python3 -c 'import socket; socket.socket(38, 5); print("{CANARY}")'""",
    "a name server": """python3 -c 'import socket; print(socket.getaddrinfo("example.org", 80) and "canary-5f1c")'""",
}
KERNEL = {
    "a user namespace": f"unshare -U echo {CANARY}",
    "a mount": f"mkdir -p m; mount -t tmpfs x m && echo {CANARY}",
    "io_uring": system_call(425, "8", "ctypes.create_string_buffer(120)"),
    "the keyring": system_call(250, "0", "-3", "0"),
    "another process": system_call(101, "16", "1", "0", "0"),
    "another process's memory": system_call(310, "1", "0", "0", "0", "0", "0"),
    "eBPF": system_call(321, "0", "ctypes.create_string_buffer(64)", "64"),
    "performance counters": system_call(298, "ctypes.create_string_buffer(128)", "0", "-1", "-1", "0"),
    "settings of the kernel": opening_to_write("/proc/sys/kernel/core_pattern", "/proc/sys/kernel/modprobe")
    + "; "
    + opening_to_write("/proc/sys/vm/drop_caches", "/proc/sysrq-trigger", "/proc/mtrr", "/sys/kernel/uevent_helper"),
    "cgroups": f"mkdir /sys/fs/cgroup/x && echo {CANARY}",
    "devices": opening_to_write("/dev/fuse", "/dev/kvm", "/dev/mem", "/dev/kmsg", "/dev/loop-control", "/dev/net/tun"),
    "a device of one's own": f"mknod disk b 8 0 && echo {CANARY}",
    "another root": f"chroot /tmp true && echo {CANARY}",
    "the other set of numbers": system_call(0x40000000 + 39),
    "page faults": system_call(323, "1"),
    "handles of files": system_call(304, "3", "ctypes.create_string_buffer(200)", "2"),
    "new mounts": "; ".join(
        system_call(number, "-100", 'ctypes.create_string_buffer(b"/")', "1") for number in (428, 430, 442, 467)
    ),
    "other namespaces": system_call(308, "os.open('/proc/1/ns/mnt', 0)", "0").replace("'/proc/1/ns/mnt'", "sys.argv[1]")
    + " /proc/1/ns/mnt",
    "descriptors of other processes": system_call(438, "call(434, 1, 0)", "0", "0"),
    "modules": system_call(175, "0", "0", "0"),
    "priority": f"nice -n -5 true 2>&1 | grep -q denied || echo {CANARY}",
    "typing into the terminal": f"""python3 -c 'import fcntl; fcntl.ioctl(0, 0x5412, b"x"); print("{CANARY}")'""",
    "processes outside": "kill -9 {pid} && echo canary-5f1c",
    "a program with the rights of its owner": "umask 0; cp /bin/true owned; chmod u+s owned; "
    + system_call(2, 'b"created"', "0o101", "0o4755")
    + "; "
    + system_call(133, 'b"made"', "0o104755", "0")
    + "; "
    + system_call(437, "-100", 'b"opened"', "(ctypes.c_uint64 * 3)(0o101, 0o4755, 0)", "24")
    + f"; find . -perm /4000 | grep -q . && echo {CANARY}",
    "more rights": f"grep -q 'NoNewPrivs:.0' /proc/self/status && echo {CANARY}",
    "capabilities": f"grep -q 'CapEff:.*[1-9a-f]' /proc/self/status && echo {CANARY}",
    "inherited descriptors": f"test $(ls /proc/self/fd | wc -l) -gt 4 && echo {CANARY}",
}


EXCHANGING = """exec python3 -c '
import ctypes, os
os.makedirs("a/.vscode"); os.symlink("OTHER", "b"); print("ready", flush=True)
exchange = ctypes.CDLL(None).renameat2
while True:
    exchange(-100, b"a", -100, b"b", 2)
'"""
"""`a` is a folder with a protected file, and then a link to another place, and so on."""


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
        files = [path for path in files if ".removed-by-assent" not in str(path)]
        return {str(path): (path.stat().st_mode, path.read_bytes()) for path in files}


PROTECTED = (
    *(".git/hooks", ".git/config", ".git/worktrees", ".git/modules", ".git/info", ".git/objects/info"),
    *(".assent", ".vscode", "nested/.vscode"),
)


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
        work / "deep/down/.env": CANARY,
        work / ".vscode/tasks.json": "{}",
        work / ".assent/settings.toml": "",
        work / "code.py": "print(1)\n",
        home / ".ssh/id_ed25519": CANARY,
        home / ".netrc": CANARY,
        home / ".npmrc": f"//registry/:_authToken={CANARY}",
        home / ".bashrc": "",
        home / ".cargo/credentials.toml": CANARY,
        home / ".gem/credentials": CANARY,
        home / ".m2/settings.xml": f"<password>{CANARY}</password>",
        home / ".config/pip/pip.conf": f"[global]\nindex-url = https://me:{CANARY}@packages.example.org/simple",
        home / ".config/containers/auth.json": CANARY,
        home / ".gradle/gradle.properties": f"repositoryPassword={CANARY}",
        home / ".subversion/auth/1": CANARY,
        home / "dotfiles/credentials": CANARY,
        work / ".vscode/deep/.env": CANARY,
        data / "keys.json": CANARY,
        outside / "kept": "kept",
    }
    for path, text in texts.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    subprocess.run(["git", "init", "-q", str(work)], check=True)
    _with_worktree_and_submodule(work)
    os.link(work / ".env", work / "second-name")
    (home / ".linked").symlink_to(home / "dotfiles")
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


def _with_worktree_and_submodule(work: Path) -> None:
    """As git leaves them."""
    for name, text in {"worktrees/wt/commondir": "../..\n", "modules/sub/config": "[core]\n"}.items():
        (work / ".git" / name).parent.mkdir(parents=True)
        (work / ".git" / name).write_text(text)
    (work / ".git/modules/sub/hooks").mkdir()


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


def test_a_secret_cannot_be_moved_where_the_next_command_could_read_it(scene: Scene):
    found = scene.run(("workspace", "mv deep/down deep/node_modules; mv deep venv"), ("workspace", "cat */*/.env"))
    assert CANARY not in found[1]["output"]
    assert (scene.work / "deep/down/.env").exists()


def test_a_folder_that_becomes_a_link_while_the_sandbox_is_built_opens_no_other_place(scene: Scene):
    """A command in the background exchanges a folder all the time; the others are built on what it left."""
    other = os.path.relpath(scene.outside, scene.work)
    exchanging = EXCHANGING.replace("OTHER", other)
    found = scene.run(("beside", exchanging), *(("workspace", "echo x > {outside}/new; echo x > a/new; true"),) * 40)
    assert len(found) == 40
    assert sorted(path.name for path in scene.outside.iterdir()) == ["kept", "socket"]


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
