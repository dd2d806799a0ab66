"""Where a path lies, by its text; the name of a program; what can be seen; which variables are plain."""

import pytest

from assent.plan import Part, Word
from assent.policy.shell import check
from assent.policy.shell.characters import hidden
from assent.policy.shell.command_rules import covering, loose, program
from assent.policy.shell.paths import inside, may_be_protected, place, protected, secret
from assent.policy.shell.variable_prefixes import harmless


@pytest.mark.parametrize(
    ("text", "placed"),
    [("a", "/w/a"), ("./a/../b", "/w/b"), ("..", "/"), ("/a//b", "/a/b"), ("~", "~"), ("~/a/../b", "~/b"), ("", "/w")],
)
def test_a_path_is_placed_by_its_text(text: str, placed: str) -> None:
    assert place(text, "/w") == placed


@pytest.mark.parametrize(
    ("path", "roots", "is_inside"),
    [
        ("/w", ["/w"], True),
        ("/w/a", ["/w"], True),
        ("/w/a", ["/w/"], True),
        ("/wx", ["/w"], False),
        ("/", ["/w"], False),
        ("/a", ["/"], True),
        ("/v/a", ["/w", "/v"], True),
        ("/u", ["/w", "/v"], False),
        ("/u", [], False),
        ("~", ["/w"], False),
    ],
)
def test_a_path_is_inside_by_whole_names(path: str, roots: list[str], *, is_inside: bool) -> None:
    assert inside(path, roots) is is_inside


@pytest.mark.parametrize(
    ("path", "roots", "is_protected"),
    [
        ("/w/a", ["/w"], False),
        ("/w/.git/x", ["/w"], True),
        ("/w/Makefile", ["/w"], True),
        ("/w/.github", ["/w"], True),
        ("/x/.git/w/a", ["/x/.git/w"], False),
        ("/x/.git/w", ["/x/.git/w"], False),
        ("/x/.git/w/a", ["/x/.git/w/"], False),
        ("/x/.git/w/a", ["/v", "/x/.git/w"], False),
        ("/x/.git/wa", ["/x/.git/w"], True),
        ("/.git/x", [], True),
    ],
)
def test_a_file_is_protected_below_the_workspace_only(path: str, roots: list[str], *, is_protected: bool) -> None:
    assert protected(path, roots) is is_protected


@pytest.mark.parametrize(
    ("text", "is_secret"),
    [
        *((".env", True), ("a", False), ("/etc/shadow", True), ("/dev/sda", True), ("/dev/null", False)),
        *(("/dev/stdin", False), ("/proc/1/mem", True), ("/proc/cpuinfo", False), ("id_*", False), (".e*", False)),
    ],
)
def test_a_secret_is_known_by_its_name(text: str, *, is_secret: bool) -> None:
    assert secret(Word(text), "/w") is is_secret


@pytest.mark.parametrize(
    ("text", "is_secret"),
    [
        *((".e*", True), (".*", True), (".x?", True), ("id_*", True), ("id_[r]sa", True), ("shado?", True)),
        *(("*/id_*", True), ("id_*/x", True), ("*", False), ("c*", False), ("id*", False), ("*.py", False)),
        *((".esli*", True), (".eslin*", False), (".environment*", True), ("*.json", False)),
        *(("cr*", False), ("cre*", True)),
        *(("$HOME", False), (".x", False), ("." + "*" * 254, True), ("*" * 255, False), ("*" * 256, True)),
    ],
)
def test_a_wildcard_counts_for_all_it_could_match(text: str, *, is_secret: bool) -> None:
    assert secret(Word(text, literal=False, parts=(Part("glob", text),)), "/w") is is_secret


@pytest.mark.parametrize(
    ("name", "may_be"),
    [
        *(("Makefile", True), ("a.txt", False), ("M*", True), ("zz*", False), ("z" * 300, False)),
        *(("zz" + "*" * 253, False), ("zz" + "*" * 254, True)),
    ],
)
def test_a_wildcard_may_bring_a_protected_file(name: str, *, may_be: bool) -> None:
    assert may_be_protected(name) is may_be


@pytest.mark.parametrize(
    ("word", "name"),
    [
        *((f"{folder}/ls", "ls") for folder in ("/bin", "/usr/bin", "/usr/local/bin", "/sbin", "/usr/sbin")),
        ("/opt/homebrew/bin/ls", "ls"),
        ("/usr/bin/x/ls", "/usr/bin/x/ls"),
        ("/tmp/ls", "/tmp/ls"),
        ("./ls", "./ls"),
        ("ls", "ls"),
    ],
)
def test_a_program_goes_by_its_name_only_in_a_folder_of_the_system(word: str, name: str) -> None:
    assert program(word) == name


def test_a_deny_rule_is_not_escaped_by_spelling() -> None:
    assert [loose(word) for word in ("RM", "/x/rm", "rm.exe", "./Rm.EXE")] == ["rm"] * 4


def test_the_longest_rule_speaks() -> None:
    assert covering([("git",), ("git", "log"), ("ls",)], ("git", "-C", "x", "log"), ("git", "log")) == ("git", "log")
    assert covering([("git", "log")], ("git",)) is None


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("ls -l\t\n", []),
        ("\u00e9\u4e2d\u20ac", []),
        ("a\x07\x1b\x07", ["<U+0007>", "<U+001B>"]),
        ("a\u00a0b", ["<U+00A0>"]),
        ("\u200b\u200b", ["<U+200B>"]),
        ("\u3164\u2800\ufe0f", ["<U+3164>", "<U+2800>", "<U+FE0F>"]),
        ("\x07\u00a0", ["<U+0007>", "<U+00A0>"]),
    ],
)
def test_what_cannot_be_seen_is_named(text: str, names: list[str]) -> None:
    assert hidden(text) == names


@pytest.mark.parametrize(
    ("name", "value", "plain"),
    [
        *(("CI", "1", True), ("CI", "x", False), ("LC_ALL", "C", True), ("LC_ALL", "/x", False)),
        *(("LC_FOO", "C", False), ("PATH", "x", False), ("PAGER", "cat", True), ("PAGER", "sh", False)),
    ],
)
def test_a_variable_is_plain_by_its_name_and_its_value(name: str, value: str, *, plain: bool) -> None:
    assert harmless(name, value) is plain


@pytest.mark.parametrize(
    ("line", "decision"),
    [
        ({"command": "ls", "allow": ["ls"]}, "allow"),
        ({"command": "ls"}, "ask"),
        ({}, "ask"),
        ({"command": "ls", "allow": ["ls"], "ask": ["ls"]}, "ask"),
        ({"command": "ls", "allow": ["ls"], "deny": ["ls"]}, "deny"),
        ({"command": "touch a", "allow": ["touch"]}, "allow"),
        ({"command": "touch /x/a", "allow": ["touch"]}, "ask"),
        ({"command": "touch /x/a", "allow": ["touch"], "cwd": "/x"}, "allow"),
        ({"command": "touch /x/a", "allow": ["touch"], "cwd": "/y", "roots": ["/x"]}, "allow"),
        ({"command": "touch a", "allow": ["touch"], "cwd": "/y", "roots": ["/x"]}, "ask"),
    ],
)
def test_a_json_line_may_omit_defaults(line: dict[str, object], decision: str) -> None:
    assert check(line)["decision"] == decision


def test_a_json_line_gets_the_reason_for_a_refusal() -> None:
    assert check({"command": "ls"})["reasons"] == ["No rule allows `ls`."]
    assert check({"command": "ls", "allow": ["ls"]})["reasons"] == []
