"""The profile for macOS, checked as text: it is parsed, and its rules are applied as Seatbelt does."""

import re
from pathlib import Path

import pytest

from assent.sandbox import confinement, seatbelt
from assent.sandbox.boxes import Box, BoxProblem
from assent.sandbox.kept_places import KeptPlaces
from assent.sandbox.profiles import NETWORK, READ_ONLY, WORKSPACE, Profile
from assent.sandbox.seatbelt import PROGRAM, seatbelt_launcher, seatbelt_profile

pytestmark = pytest.mark.spec("I1b")
TOKEN = re.compile(r'\s*(?:(\()|(\))|#?"((?:[^"\\]|\\.)*)"|([^\s()"]+))')
Node = str | list["Node"]

BOX = Box(
    profile=WORKSPACE,
    roots=("/w",),
    writable=("/home/me/.cache/pip",),
    protected=("/w/.git/hooks", "/w/a/b/.assent"),
    hidden=("/w/.env", "/home/me/.ssh"),
    emptied=("/w/.npmrc",),
    kept=KeptPlaces(empty=("/w/.git/config.worktree",)),
)


def parse(text: str) -> list[Node]:
    """The lists of a profile; fails if it is not one."""
    stack: list[list[Node]] = [[]]
    at = 0
    while text[at:].strip():
        found = TOKEN.match(text, at)
        assert found is not None, text[at : at + 40]
        at = found.end()
        opening, closing, string, word = found.groups()
        if opening:
            stack.append([])
        elif closing:
            done = stack.pop()
            stack[-1].append(done)
        else:
            stack[-1].append(re.sub(r"\\(.)", r"\1", string) if string is not None else word)
    assert len(stack) == 1, "a parenthesis is missing"
    return stack[0]


def allows(profile: str, operation: str, path: str = "") -> bool:
    decision = False
    for rule in parse(profile)[1:]:
        assert isinstance(rule, list) and rule[0] in ("allow", "deny")
        if not _is_about(str(rule[1]), operation):
            continue
        filters = rule[2:]
        if not filters or any(_matches(one, path) for one in filters):
            decision = rule[0] == "allow"
    return decision


def _is_about(name: str, operation: str) -> bool:
    return name in ("default", operation) or (name.endswith("*") and operation.startswith(name[:-1]))


def _matches(one: Node, path: str) -> bool:
    match one:
        case ["literal", str(text)]:
            return path == text
        case ["subpath", str(text)]:
            return path == text or path.startswith(text + "/")
        case ["regex", "#", str(text)] | ["regex", str(text)]:
            return re.search(text, path) is not None
        case _:
            return False


def write(box: Box, path: str) -> bool:
    return allows(seatbelt_profile(box), "file-write-data", path)


def read(box: Box, path: str) -> bool:
    return allows(seatbelt_profile(box), "file-read-data", path)


def for_profile(profile: Profile) -> Box:
    return Box(profile=profile, roots=("/w",), hidden=BOX.hidden, protected=BOX.protected)


def test_the_workspace_can_be_written_and_nothing_else():
    assert all(write(BOX, path) for path in ("/w/x", "/w/.git/index", "/home/me/.cache/pip/x", "/private/tmp/x"))
    assert not any(write(BOX, path) for path in ("/etc/x", "/home/me/x", "/wx", "/home/me/.cache/x"))


@pytest.mark.parametrize("path", ["/w/.git/hooks", "/w/.git/hooks/x", "/w/a/b/.assent/x", "/w/.git/config.worktree"])
def test_protected_paths_stay_as_they_are_and_absent_ones_absent(path: str):
    assert not write(BOX, path)
    assert read(BOX, path)


@pytest.mark.parametrize("path", ["/w", "/w/a", "/w/a/b", "/w/.git"])
def test_folders_above_protected_paths_cannot_be_moved(path: str):
    assert not allows(seatbelt_profile(BOX), "file-write-unlink", path)
    assert allows(seatbelt_profile(BOX), "file-write-unlink", "/w/x")


@pytest.mark.parametrize("path", ["/w/.env", "/home/me/.ssh/id", "/w/.npmrc"])
def test_secrets_can_be_neither_read_nor_replaced(path: str):
    assert not read(BOX, path) and not write(BOX, path)
    assert read(BOX, "/w/.env.example")


def test_the_read_only_profile_writes_nothing_but_to_devices():
    box = for_profile(READ_ONLY)
    assert not any(write(box, path) for path in ("/w/x", "/private/tmp/x", "/etc/x"))
    assert write(box, "/dev/null") and read(box, "/w/x")


@pytest.mark.parametrize("profile", [READ_ONLY, WORKSPACE], ids=lambda profile: profile.name)
@pytest.mark.parametrize(
    "operation", ["network-outbound", "network-bind", "network-inbound", "system-socket", "mach-register", "iokit-open"]
)
def test_there_is_no_network_and_no_way_to_other_programs(profile: Profile, operation: str):
    assert not allows(seatbelt_profile(for_profile(profile)), operation)


@pytest.mark.parametrize("name", ['x") (allow default) ("', 'a"b', "a\\", "a b", "a)b", "ä", "a;b", '\\"'])
def test_no_name_gets_out_of_its_quotes(name: str):
    box = Box(profile=WORKSPACE, roots=(f"/{name}",), hidden=(f"/{name}/{name}",))
    assert write(box, f"/{name}/x") and not write(box, "/x")
    assert not read(box, f"/{name}/{name}")
    assert not allows(seatbelt_profile(box), "network-outbound")


@pytest.mark.parametrize("name", ["a\nb", "a\x00b", "a\x1b[0m"])
def test_a_name_that_cannot_be_written_down_is_refused(name: str):
    with pytest.raises(BoxProblem):
        seatbelt_profile(Box(profile=WORKSPACE, roots=(f"/{name}",)))


def test_there_is_no_profile_with_a_network():
    with pytest.raises(BoxProblem, match="no sandbox with a network"):
        seatbelt_profile(for_profile(NETWORK))


def test_the_launcher_hands_the_profile_to_sandbox_exec():
    launcher = seatbelt_launcher(BOX)
    assert launcher.argv == (PROGRAM, "-p", seatbelt_profile(BOX))
    assert launcher.inputs == (), "there is no supervisor on macOS that could hand them over"


async def test_a_sandbox_exec_that_confines_nothing_is_not_trusted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """The same test as everywhere decides whether there is a sandbox."""
    program = tmp_path / "sandbox-exec"
    program.write_text('#!/bin/sh\nshift 2\nexec "$@"\n')
    program.chmod(0o755)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setattr(confinement, "bubblewrap", lambda: None)
    monkeypatch.setattr(seatbelt, "PROGRAM", str(program))
    found = confinement.Confinement([str(tmp_path)], [], str(tmp_path / "masks"), {"HOME": str(tmp_path)})
    assert await found.problem() == (
        "the sandbox does not hold: writing outside the workspace: POSSIBLE, but must not be"
    )
    with pytest.raises(confinement.Unconfined):
        await found.confine("workspace", str(tmp_path))
