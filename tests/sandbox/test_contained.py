"""Contained, so no question: what runs without asking because a sandbox bounds it, and what asks without a sandbox."""

from pathlib import Path

import pytest
from msgspec.structs import replace

from assent.approval import ExecDetails, Mode
from assent.events import CallScheduled
from assent.files.workspace import Workspace
from assent.plan import SandboxName
from assent.policy.action import Action
from assent.policy.decision import Verdict
from assent.policy.policy import Policy
from assent.policy.rulefile import parse_rules
from assent.policy.rules import BadRule, Rule
from assent.sandbox.bubblewrap import bubblewrap
from assent.sandbox.confinement import Confinement
from assent.scheduler.call import Failed, Success
from assent.scheduler.scheduler import Scheduler
from assent.scheduler.scheduler_options import SchedulerOptions
from assent.tools.registry import Registry
from assent.tools.shell import ShellTool
from assent.tools.support.files import Files
from assent.tools.support.shell_options import ShellOptions
from support.doubles import ListJournal
from support.scheduler_harness import SchedulerHarness

pytestmark = pytest.mark.spec("I1")
SHELL = "run_shell_command"
NONE: tuple[SandboxName, ...] = ("workspace", "network", "read-only")
NO_BUBBLEWRAP: tuple[SandboxName, ...] = ("workspace", "network")
CONTAINED = Rule(ruling="allow", tool=SHELL, contained=True, sandbox="workspace")
needs_sandbox = pytest.mark.skipif(bubblewrap() is None, reason="needs bubblewrap")


def details(command: str, missing: tuple[SandboxName, ...] = ()) -> ExecDetails:
    return ExecDetails(command=command, roots=(), directory="/w", risk="low", risk_reason="", no_sandbox=missing)


def verdict(about: ExecDetails, *rules: Rule, mode: Mode = "default") -> Verdict:
    return Policy(rules, mode, roots=("/w",)).judge(Action(tool=SHELL, args={}, details=about))


@pytest.mark.parametrize("command", ["make all", "rm -rf build", "python3 -c 'x'", "a | b > c", "$X", "if"])
def test_in_the_mode_contained_a_command_runs_in_the_sandbox_without_a_question(command: str):
    found = verdict(details(command), mode="contained")
    assert (found.ruling, found.source, found.sandbox) == ("allow", "mode", "workspace")


def test_a_rule_can_say_the_same_in_any_mode():
    found = verdict(details("make all"), CONTAINED)
    assert (found.ruling, found.source, found.sandbox) == ("allow", "rule", "workspace")
    assert verdict(details("make all")).ruling == "ask", "it is off by default"


def test_a_rule_about_words_allows_only_these_if_they_are_contained():
    make = replace(CONTAINED, command=("make",))
    found = verdict(details("make all"), make)
    assert found.ruling == "allow" and found.plan is not None
    assert (found.plan.sandbox, found.plan.only_confined) == ("workspace", True)
    assert verdict(details("rake all"), make).ruling == "ask"
    assert verdict(details("make all", NO_BUBBLEWRAP), make).ruling == "ask"


@pytest.mark.parametrize("missing", [NONE, NO_BUBBLEWRAP])
def test_without_a_working_sandbox_it_asks(missing: tuple[SandboxName, ...]):
    assert verdict(details("make all", missing), mode="contained").ruling == "ask"
    assert verdict(details("make all", missing), CONTAINED).ruling == "ask"


def test_rules_that_ask_or_deny_and_wider_permissions_take_precedence():
    asks = Rule(ruling="ask", tool=SHELL, command=("make",))
    denies = replace(asks, ruling="deny")
    wider = replace(details("make all"), wider=True, sandbox="network")
    guard = Rule(ruling="deny", tool="read_file", path="private/**")
    outside = Rule(ruling="allow", tool=SHELL, command=("make",), sandbox="off")
    assert verdict(details("make all"), asks, mode="contained").ruling == "ask"
    assert verdict(details("make all"), denies, mode="contained").ruling == "deny"
    assert verdict(wider, mode="contained").ruling == "ask"
    assert verdict(details("make all"), guard, mode="contained").ruling == "ask"
    assert verdict(details("make all"), outside, mode="contained").ruling == "ask"


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ('decision = "deny"\ncontained = true', "`contained` belongs to a rule that allows commands"),
        ('decision = "allow"\ncommand = "make"\nsandbox = "network"\ncontained = true', "leave `sandbox` out"),
    ],
)
def test_a_rule_that_makes_no_sense_is_refused(text: str, why: str):
    with pytest.raises(BadRule, match=why):
        parse_rules(f"[[rule]]\n{text}\n".encode(), "rules.toml", "user", [SHELL])


# --- no sandbox: it asks more ---


@pytest.mark.parametrize("command", ["ls -la", "cat a.txt | grep x", "git status", "git log -3", "wc -l a.txt"])
@pytest.mark.parametrize("missing", [NONE, NO_BUBBLEWRAP])
def test_plain_reading_goes_on_without_a_sandbox(command: str, missing: tuple[SandboxName, ...]):
    assert verdict(details(command, missing)).ruling == "allow"


@pytest.mark.parametrize("command", ["find . -name x", "sed -n 1p a.txt", "awk 1 a.txt", "sort a.txt", "tar tf a.tar"])
def test_what_relies_on_the_sandbox_asks_without_one(command: str):
    assert verdict(details(command)).ruling == "allow"
    assert verdict(details(command, NO_BUBBLEWRAP)).ruling == "allow", "Landlock bounds it"
    found = verdict(details(command, NONE))
    assert found.ruling == "ask"
    assert found.reason == "it should only read, but no sandbox works here that could ensure that"


def test_a_rule_that_names_a_sandbox_asks_if_that_does_not_work():
    make = Rule(ruling="allow", tool=SHELL, command=("make",))
    assert verdict(details("make all", NONE), make).ruling == "allow", "its words are allowed, whatever it runs in"
    found = verdict(details("make all", NONE), replace(make, sandbox="workspace"))
    assert (found.ruling, found.reason) == ("ask", "a rule requires the sandbox `workspace`, which does not work here")


# --- for real ---


@needs_sandbox
async def test_a_contained_command_really_is_and_the_record_says_so(tmp_path: Path):
    work, outside = tmp_path / "work", tmp_path / "outside"
    work.mkdir()
    outside.mkdir()
    masks = str(tmp_path / "masks")
    confinement = Confinement([str(work)], [masks], masks, {"HOME": str(tmp_path)})
    tool = ShellTool(Files(Workspace([str(work)], str(work))), ShellOptions(confinement=lambda: confinement))
    journal = ListJournal()
    policy = Policy([], "contained", roots=(str(work),))
    scheduler = Scheduler("s", Registry([tool]), policy, journal, SchedulerOptions(attended=False))
    harness = SchedulerHarness()
    commands = ("touch here", f"touch {outside}/there", "exec 3<>/dev/tcp/127.0.0.1/1")
    calls = [harness.call(SHELL, args={"command": command}) for command in commands]
    results = await scheduler.schedule(calls).results()
    assert all(isinstance(one, Success) for one in results), results
    assert (work / "here").exists()
    assert not (outside / "there").exists()
    recorded = [event.decision.sandbox for event in journal.events if isinstance(event, CallScheduled)]
    assert recorded == ["workspace"] * len(commands)


@needs_sandbox
async def test_a_contained_command_does_not_run_if_the_sandbox_fails_after_all(tmp_path: Path):
    masks = str(tmp_path / "masks")
    confinement = Confinement([str(tmp_path)], [masks], masks, {"HOME": "/nonexistent"})
    tool = ShellTool(Files(Workspace([str(tmp_path)], str(tmp_path))), ShellOptions(confinement=lambda: confinement))
    for number in range(210):
        (tmp_path / f"{number}.pem").touch()  # too many mounts
    scheduler = Scheduler("s", Registry([tool]), Policy([], "contained", roots=(str(tmp_path),)), ListJournal())
    [result] = await scheduler.schedule([SchedulerHarness().call(SHELL, args={"command": "touch here"})]).results()
    assert isinstance(result, Failed)
    assert not (tmp_path / "here").exists()
