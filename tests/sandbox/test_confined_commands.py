"""Which commands are confined, what the person is shown, and what the model is told when the sandbox refuses."""

import asyncio
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from msgspec import structs

from assent.app.question_text import sandbox_in_words
from assent.approval import ExecDetails
from assent.config import Environment
from assent.files.workspace import Workspace
from assent.parts import TerminalDisplay
from assent.plan import Plan, SandboxName
from assent.policy.action import Action
from assent.policy.policy import Policy
from assent.policy.rulefile import parse_rules
from assent.policy.rules import BadRule, Rule
from assent.process import run_program
from assent.process.run_program import ProcessLimits
from assent.process.spawn import Launcher
from assent.sandbox.boxes import Box, BoxMaker
from assent.sandbox.bubblewrap import bubblewrap, bubblewrap_launcher
from assent.sandbox.confinement import Confinement
from assent.scheduler.digest import action_digest
from assent.tools.shell import ShellParams, ShellTool
from assent.tools.support.files import Files
from assent.tools.support.shell_options import ShellOptions
from assent.tools.tool import Permit, ToolFailed, ToolResult
from support.no_network import NoNetwork
from support.waiting import until

SHELL = "run_shell_command"
pytestmark = pytest.mark.spec("I1")
needs_sandbox = pytest.mark.skipif(sys.platform != "linux" or bubblewrap() is None, reason="needs bubblewrap")


def details(command: str, folder: str, *, sandbox: SandboxName = "off", wider: bool = False) -> ExecDetails:
    return ExecDetails(
        command=command,
        roots=(),
        directory=folder,
        risk="low",
        risk_reason="",
        sandbox=sandbox,
        wider=wider,
    )


def plan_of(command: str, folder: Path, *rules: Rule) -> Plan | None:
    policy = Policy(rules, roots=(str(folder),))
    return policy.judge(Action(tool=SHELL, args={}, details=details(command, str(folder)))).plan


def allow(words: str, sandbox: SandboxName | None = None) -> Rule:
    return Rule(ruling="allow", tool=SHELL, command=tuple(words.split()), sandbox=sandbox)


@pytest.mark.parametrize(
    ("command", "words", "sandbox"),
    [
        ("ls -la", "", "read-only"),
        ("cat a.txt | wc -l", "", "read-only"),
        ("git status", "", "read-only"),
        ("ls", "ls", "read-only"),
        ("npm test", "npm test", "workspace"),
        ("make all", "make", "workspace"),
        ("./check.sh", "./check.sh", "workspace"),
        ("timeout 5 make all", "make", "workspace"),
        ("npm install left-pad", "npm install", "off"),
        ("git add a.txt", "git add", "off"),
        ("gh pr view 1", "gh pr view", "off"),
    ],
)
def test_a_command_gets_the_tightest_sandbox_in_which_it_works(tmp_path: Path, command: str, words: str, sandbox: str):
    (tmp_path / "a.txt").touch()
    (tmp_path / "check.sh").write_text("true\n")
    plan = plan_of(command, tmp_path, *([allow(words)] if words else []))
    assert plan is not None and plan.sandbox == sandbox


def test_a_rule_chooses_the_sandbox(tmp_path: Path):
    plan = plan_of("npm install x", tmp_path, allow("npm install", "network"))
    assert plan is not None and plan.sandbox == "network"


def test_a_rule_without_a_sandbox_asks(tmp_path: Path):
    policy = Policy([allow("make", "off")], roots=(str(tmp_path),))
    verdict = policy.judge(Action(tool=SHELL, args={}, details=details("make all", str(tmp_path))))
    assert (verdict.ruling, "outside the sandbox" in verdict.reason) == ("ask", True)


def test_a_model_that_asks_for_more_needs_approval_whatever_the_rules_allow(tmp_path: Path):
    asked = details("make all", str(tmp_path), sandbox="network", wider=True)
    verdict = Policy([allow("make")], roots=(str(tmp_path),)).judge(Action(tool=SHELL, args={}, details=asked))
    assert (verdict.ruling, verdict.reason) == ("ask", "the model asks for network access, which the sandbox refused")


@pytest.mark.parametrize("text", ['decision = "deny"\ncommand = "make"', 'decision = "allow"\ntool = "read_file"'])
def test_only_a_rule_that_allows_a_command_has_a_sandbox(text: str):
    rule = f'[[rule]]\n{text}\nsandbox = "workspace"\n'
    with pytest.raises(BadRule, match="`sandbox` belongs to a rule that allows a command"):
        parse_rules(rule.encode(), "rules.toml", "user", [SHELL, "read_file"])


@pytest.mark.parametrize(
    ("sandbox", "wider", "words"),
    [
        ("off", False, ""),
        ("off", True, "outside the sandbox"),
        ("workspace", False, "in a sandbox: it can write to the workspace and has no network"),
        ("network", True, "in a sandbox: it can write to the workspace and connect to hosts that you allow"),
    ],
)
def test_the_question_says_where_a_command_runs(sandbox: SandboxName, wider: bool, words: str):
    assert sandbox_in_words(details("x", "/w", sandbox=sandbox, wider=wider)) == words


@pytest.mark.parametrize(
    "other",
    [
        {"sandbox": "workspace"},
        {"domains": ("a.test",)},
        {"writable": ("/srv",)},
        {"wider": True},
        {"background": True},
    ],
)
def test_a_yes_covers_where_a_command_runs_and_what_it_may_reach(other: dict[str, object]):
    shown = details("make", "/w", sandbox="network")
    digests = {action_digest("s", "c", SHELL, {}, one) for one in (shown, structs.replace(shown, **other))}
    assert len(digests) == 2


# --- commands that really run ---


class Quiet(NoNetwork):
    """Nobody watches."""

    def __init__(self) -> None:
        self.printed = ""

    def output(self, text: str) -> None:
        self.printed += text

    def received(self, total: int) -> None: ...

    def process(self, pid: int) -> None: ...


def permit(plan: Plan | None = None) -> Permit:
    return Permit(call_id="c", digest="d", by_person=plan is None, plan=plan)


def run(folder: Path, command: str, *, works: bool = True) -> ToolResult:
    invocation = shell_tool(folder, works=works).invocation(ShellParams(command=command))
    return asyncio.run(invocation.execute(permit(), Quiet()))


def shell_tool(folder: Path, *, works: bool = True) -> ShellTool:
    data = folder.parent / "data"
    confinement = Confinement([str(folder)], [str(data)], str(data / "sandbox"), os.environ)
    if not works:
        confinement.problem = confinement.landlock_problem = _no_sandbox  # type: ignore[method-assign]
    return ShellTool(
        Files(Workspace([str(folder)], str(folder))),
        ShellOptions(
            environment=Environment(),
            confinement=lambda: confinement,
            approved="workspace",
        ),
    )


async def _no_sandbox() -> str:
    return "bubblewrap is not installed"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "work").mkdir()
    return tmp_path / "work"


@needs_sandbox
def test_the_model_is_told_what_the_sandbox_refused_and_how_to_ask_for_it(folder: Path):
    refused = str(run(folder, "echo x > /etc/assent-test").content)
    assert "which probably refused writing to /etc/assent-test" in refused
    assert 'call again with sandbox="off"; the user is asked.' in refused
    offline = "python3 -c 'import socket; socket.getaddrinfo(\"example.org\", 80)'"
    assert "which probably refused" in str(run(folder, offline).content)


def connects(address: str) -> str:
    """A command that tries to, says nothing about it, and succeeds."""
    attempt = f"import socket; socket.create_connection(('{address}', 80), timeout=5)"
    return f'python3 -c "{attempt}" 2>/dev/null | head'


@needs_sandbox
@pytest.mark.parametrize("address", ["192.0.2.1", "2001:db8::1"])
def test_a_missing_network_is_reported_although_the_command_says_nothing_about_it(folder: Path, address: str):
    live = Quiet()
    invocation = shell_tool(folder).invocation(ShellParams(command=connects(address)))
    result = asyncio.run(invocation.execute(permit(), live))
    content, told = str(result.content), "The command tried to use the network, and the sandbox `workspace` has none"
    assert "Exit Code: 0" in content and "Output: (empty)" in content
    assert told in content and 'call again with sandbox="network"; the user is asked.' in content
    assert isinstance(result.display, TerminalDisplay) and f"[{told}" in result.display.text
    assert f"[{told}" in live.printed


@needs_sandbox
def test_a_command_that_stays_on_its_own_machine_misses_no_network(folder: Path):
    assert "network" not in str(run(folder, connects("127.0.0.1")).content)
    assert "network" not in str(run(folder, "echo nothing | head").content)


@needs_sandbox
def test_a_missing_network_that_the_output_shows_is_reported_once(folder: Path):
    shown = str(run(folder, connects("192.0.2.1").replace(" 2>/dev/null | head", "")).content)
    assert "which probably refused the network" in shown and "tried to use" not in shown


@needs_sandbox
def test_a_command_that_fails_by_itself_is_not_blamed_on_the_sandbox(folder: Path):
    assert "sandbox" not in str(run(folder, "echo broken; exit 3").content)


@needs_sandbox
def test_what_decides_which_hooks_run_is_removed_and_reported(folder: Path):
    content = str(run(folder, "git init -q . && true").content)
    assert "Exit Code: 0" in content
    made = str(run(folder, "echo ../evil > .git/commondir").content)
    assert "The sandbox removed" in made and not (folder / ".git/commondir").exists()


@needs_sandbox
def test_hooks_for_submodules_to_come_are_removed(folder: Path):
    subprocess.run(["git", "init", "-q", str(folder)], check=True)
    made = str(run(folder, "mkdir -p .git/modules/m/hooks; echo x > .git/modules/m/hooks/post-checkout").content)
    assert "The sandbox removed" in made and not (folder / ".git/modules").exists()


@needs_sandbox
def test_hooks_for_another_submodule_to_come_are_removed(folder: Path):
    subprocess.run(["git", "init", "-q", str(folder)], check=True)
    subprocess.run(["git", "init", "-q", "--bare", str(folder / ".git/modules/libs/here")], check=True)
    creating = "mkdir -p .git/modules/libs/new/hooks .git/modules/other; touch .git/modules/libs/here/description"
    made = str(run(folder, creating).content)
    assert made.count("The sandbox removed") == 2
    modules = folder / ".git/modules"
    assert not (modules / "libs/new").exists() and not (modules / "other").exists()
    assert (modules / "libs/here/HEAD").exists()


@needs_sandbox
def test_what_runs_at_a_login_does_not_appear_in_a_home_folder(folder: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("HOME", str(folder))
    (folder / ".config").mkdir()
    creating = "echo evil > .bashrc; mkdir -p .ssh .config/autostart; touch .ssh/authorized_keys .config/autostart/x"
    made = str(run(folder, f"{creating}; echo kept > notes.txt").content)
    assert made.count("The sandbox removed") == 3
    assert [(folder / name).exists() for name in (".bashrc", ".ssh", ".config/autostart", "notes.txt")] == [
        *(False,) * 3,
        True,
    ]


@pytest.fixture
def home(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Outside /tmp, which is empty in a sandbox."""
    with TemporaryDirectory(prefix="assent-home-", dir=Path.home()) as name:
        monkeypatch.setenv("HOME", name)
        yield Path(name)


@pytest.fixture
def vanishing(home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A secret that is gone as soon as a sandbox was planned that hides it."""
    secret = home / ".netrc"
    secret.write_text("machine a.example")

    def planned(*args: Any) -> Launcher:
        launcher = bubblewrap_launcher(*args)
        secret.unlink(missing_ok=True)
        return launcher

    monkeypatch.setattr("assent.sandbox.confinement.bubblewrap_launcher", planned)
    return secret


@needs_sandbox
def test_a_sandbox_is_planned_again_if_what_it_hides_is_gone_when_it_is_built(folder: Path, vanishing: Path):
    ran = run(folder, "echo done")
    assert isinstance(ran.display, TerminalDisplay) and ran.display.text == "done\n"
    assert not vanishing.exists()


@needs_sandbox
def test_a_command_whose_sandbox_cannot_be_built_fails_and_says_why(
    folder: Path, vanishing: Path, monkeypatch: pytest.MonkeyPatch
):
    plan = BoxMaker.box

    def box(maker: BoxMaker, *args: Any) -> Box:
        vanishing.write_text("machine a.example")
        return plan(maker, *args)

    monkeypatch.setattr(BoxMaker, "box", box)
    with pytest.raises(ToolFailed, match="its sandbox could not be built: bwrap: "):
        run(folder, "echo done")


@needs_sandbox
def test_nothing_keeps_running_after_a_command_in_a_sandbox(folder: Path):
    seconds = 100_000 + os.getpid()  # by which it is recognized
    content = str(run(folder, f"setsid sleep {seconds} > /dev/null 2>&1 & echo started").content)
    assert "started" in content and "Background PIDs" not in content
    # The kernel ends the processes of the sandbox when its first one has ended, which takes a moment.
    asyncio.run(
        until(lambda: not any(f"sleep\0{seconds}" in words(pid) for pid in os.listdir("/proc") if pid.isdigit()))
    )


def words(pid: str) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_text()
    except OSError:
        return ""


def test_a_command_shown_in_a_sandbox_does_not_run_without_one(folder: Path):
    with pytest.raises(ToolFailed, match="there is no sandbox: bubblewrap is not installed"):
        run(folder, "touch made", works=False)
    assert not (folder / "made").exists()


def test_that_there_is_no_sandbox_is_said_once(folder: Path):
    tool = shell_tool(folder, works=False)
    plan = plan_of("ls", folder)
    assert plan is not None

    def said() -> bool:
        result = asyncio.run(tool.invocation(ShellParams(command="ls")).execute(permit(plan), Quiet()))
        assert isinstance(result.display, TerminalDisplay)
        text = "There is no sandbox here: bubblewrap is not installed."
        assert (text in str(result.content)) is (text in result.display.text)
        return text in result.display.text

    assert [said(), said()] == [True, False]


@needs_sandbox
@pytest.mark.parametrize("place", [".", "nested"])
def test_hooks_that_appear_in_a_repository_without_any_are_removed(folder: Path, place: str):
    subprocess.run(["git", "init", "-q", "--template=", str(folder / place)], check=True)
    content = str(run(folder, f"mkdir {place}/.git/hooks && echo evil > {place}/.git/hooks/pre-commit").content)
    assert "The sandbox removed" in content
    assert not (folder / place / ".git/hooks").exists()


@needs_sandbox
def test_settings_that_are_a_pipe_do_not_block_a_command(folder: Path):
    os.mkfifo(folder / ".npmrc")
    assert "Exit Code: 0" in str(run(folder, "cat .npmrc").content)


@needs_sandbox
@pytest.mark.parametrize("folder", ["/tmp", "/var/tmp", "/dev/shm", "/dev"])
async def test_what_it_puts_into_its_temporary_folders_counts_as_memory(tmp_path: Path, folder: str):
    confinement = Confinement([str(tmp_path)], [], str(tmp_path / "data"), os.environ)
    confined = await confinement.confine("workspace", str(tmp_path))
    assert confined is not None
    hoarding = f"head -c 90000000 /dev/zero > {folder}/hoard; sleep 300"
    limits = ProcessLimits(memory=80_000_000, look=0.05)
    finished = await run_program.run(
        ["/bin/sh", "-c", hoarding], cwd=str(tmp_path), launcher=confined.launcher, limits=limits
    )
    assert finished.ended == "too_much_memory"
