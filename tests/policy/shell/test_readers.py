"""The strict reader against real bash, and against a canary that must never be approved."""

import os
import shutil
import string
import subprocess
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from assent.plan import simple_commands
from assent.policy.shell import judge, rules
from assent.policy.shell.lexer import Refused
from assent.policy.shell.reader import read

_BASH = shutil.which("bash") or "bash"
_PIECES = [
    *[
        "a",
        "b2",
        "-x",
        "--long=v",
        "'q r'",
        '"d q"',
        "\\ ",
        "\\$",
        "''",
        '""',
        "'$(id)'",
        '"a\\"b"',
        '"\\n"',
        "x=1",
    ],
    *[
        '"e$"',
        "f\\.g",
        "HEAD~1",
        "@{0}",
        "{}",
        "#no",
        "a#b",
        "!",
        "%",
        "+",
        ",",
        "^",
        "]",
        ":",
        "é",
        "'\n'",
        '"\\\\"',
    ],
    *["\\'", '\\"', "'\"'", '"\'"', "\\a", "a\\;b", "'a;b'", '"a|b"', "=", "~x", "$", "\\~", "'*'", "\\*"],
    *[
        "$x",
        "`id`",
        "$(id)",
        "{a,b}",
        "\\\n",
        "$'a'",
        "*",
        "~",
        "\t",
        "<",
        ">",
        "&",
        "(",
        ")",
        "[",
        "{",
        "}",
        "\\",
    ],
]


@pytest.fixture(scope="module")
def stub(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a program that records its arguments."""
    folder = tmp_path_factory.mktemp("stub")
    (folder / "bin").mkdir()
    program = folder / "bin" / "show"
    program.write_text('#!/bin/bash\nprintf "%s\\0" show "$@" $\'\\x01\' >> "$LOG"\n')
    program.chmod(0o755)
    return folder


def _bash_argv(source: str, folder: Path) -> list[list[str]]:
    log = folder / "log"
    log.unlink(missing_ok=True)
    subprocess.run(
        [_BASH, "--noprofile", "--norc", "-c", source],
        cwd=folder / "bin",
        env={"PATH": f"{folder}/bin:/usr/bin:/bin", "HOME": "/home/x", "LANG": "C.UTF-8", "LOG": str(log)},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=False,
    )
    text = log.read_bytes() if log.exists() else b""
    records = text.decode(errors="surrogateescape").split("\x01\0")
    return [record.split("\0")[:-1] for record in records if record]


@pytest.mark.spec("C8")
@pytest.mark.needs("bash")
@settings(
    max_examples=250,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
    database=None,
)
@given(
    st.lists(
        st.tuples(
            st.lists(st.lists(st.sampled_from(_PIECES), min_size=1, max_size=4).map("".join), max_size=4),
            st.sampled_from([";", "\n", " && ", " ; ", ";\n", " # c\n", " 2>/dev/null;", " 2>&1\n"]),
        ),
        min_size=1,
        max_size=3,
    )
)
def test_words_are_what_bash_passes_to_the_program_or_need_approval(
    stub: Path, lines: list[tuple[list[str], str]]
) -> None:
    source = "".join("show " + " ".join(words) + joint for words, joint in lines).rstrip("&; \n") + "\n"
    try:
        steps = read(source)
    except Refused:
        return
    stages = list(simple_commands(steps))
    if any(redirect.kind == "read" for stage in stages for redirect in stage.redirects):
        return  # bash does not start a program whose input is missing
    if any(stage.words[0].text != "show" for stage in stages):
        return  # only `show` records what it gets
    if all(word.literal for stage in stages for word in stage.words):
        assert [[word.text for word in stage.words] for stage in stages] == _bash_argv(source, stub)


_HARMLESS = [
    "ls",
    "ls -la",
    "echo hi",
    "git status",
    "cat f | head",
    "ls 2>/dev/null",
    "echo 'a b'",
    "find . -name x",
]
_HOLES = [
    "{c}",
    "{h}; {c}",
    "{h} && {c}",
    "{h} || {c}",
    "{h} | {c}",
    "{h} & {c}",
    "{h}\n{c}",
    "$({c})",
    "echo $({c})",
    "echo `{c}`",
    'echo "$({c})"',
    'echo "`{c}`"',
    "ls <({c})",
    "ls >({c})",
    "if {h}; then {c}; fi",
    "({c})",
    "{{ {c}; }}",
    "for i in 1; do {c}; done",
    "while {c}; do {h}; done",
    "f() {{ {c}; }}; f",
    "! {c}",
    "time {c}",
    "cat <<E\n$({c})\nE",
    "cat <<E\n`{c}`\nE",
    "env {c}",
    "sudo {c}",
    "xargs {c}",
    "timeout 5 {c}",
    "nice {c}",
    "bash -c '{c}'",
    "eval {c}",
    "find . -exec {c} \\;",
    "echo ${{x:-$({c})}}",
    "A=$({c}) ls",
    "ls > $({c})",
    "coproc {c}",
    "echo $(( $({c}) ))",
    "case a in a) {c};; esac",
    "[[ -n $({c}) ]]",
    "echo $\\\n({c})",
    "cat <<'E'\nx\nE\n{c}",
    "ls # x\n{c}",
    "ls \\\n; {c}",
    "trap '{c}' EXIT",
    "command {c}",
    "exec {c}",
    "ls |& {c}",
]


@pytest.mark.spec("C8")
@settings(max_examples=400, deadline=None, database=None)
@given(st.data())
def test_a_canary_anywhere_in_a_program_is_never_approved(data: st.DataObject) -> None:
    source = data.draw(st.sampled_from(["canary", "canary --now", "/tmp/canary", "'canary'", "can\\ary x"]))
    for _ in range(data.draw(st.integers(1, 3))):
        hole = data.draw(st.sampled_from(_HOLES))
        source = hole.format(c=source, h=data.draw(st.sampled_from(_HARMLESS)))
    allow = [
        "ls",
        "echo",
        "git status",
        "cat",
        "head",
        "find",
        "env",
        "xargs",
        "timeout",
        "nice",
        "time",
        "command",
    ]
    assert judge(source, rules(allow), cwd="/w", roots=["/w"]).decision != "allow"


@settings(max_examples=400, deadline=None, database=None)
@given(st.text(alphabet=string.printable + "\u00a0\u200bé\x00", max_size=60))
def test_no_text_at_all_makes_it_fail_or_run_an_unnamed_program(source: str) -> None:
    found = judge(source, rules(["ls"]), cwd="/w", roots=["/w"])
    if found.plan is not None:
        names = {stage.words[0].text for stage in simple_commands(found.plan.steps)}
        assert names <= {"ls", "/bin/ls", "/usr/bin/ls"}


@pytest.mark.spec("C8")
@pytest.mark.parametrize("position", range(5))
def test_an_invisible_character_in_a_command_always_asks(position: int) -> None:
    for number in [
        *range(0x09),
        *range(0x0B, 0x20),
        0x7F,
        0x85,
        0xA0,
        0xAD,
        *range(0x2000, 0x2010),
        *range(0x2028, 0x2030),
        *range(0x2060, 0x2070),
        0x3000,
        0xFEFF,
        0xE0041,
        0xFE0F,
    ]:
        source = "ls -a"[:position] + chr(number) + "ls -a"[position:]
        assert judge(source, rules(["ls"]), cwd="/w", roots=["/w"]).decision == "ask", hex(number)


def test_the_file_names_that_a_wildcard_finds_never_become_options(tmp_path: Path) -> None:
    from assent.process.pipeline import Pipeline

    (tmp_path / "-la").touch()
    plan = judge("echo *", rules(["echo"]), cwd=str(tmp_path), roots=[str(tmp_path)]).plan
    assert plan is not None
    reading, writing = os.pipe()
    assert Pipeline(plan, writing).run() == 0
    os.close(writing)
    assert os.read(reading, 100) == b"./-la\n"
    os.close(reading)


@pytest.mark.parametrize(
    "source",
    [
        "ls {v}> x",
        "ls {v}>/dev/null",
        "if ls",
        "{ ls",
        "coproc ls",
        "cat <<E\n$(id)\nE",
        "cat <<E\n`id`\nE",
        "cat <<E\n\\a\nE",
        "CI=~ ls",
        "CI=$HOME ls",
        "A[0]=1 ls",
        "A+=1 ls",
        "ls 3>/dev/null",
        "ls <&1",
        "ls $'a'",
        "ls {a..c}",
        "ls {a,{b,c}}",
        "ls {,}",
        "{ls,x}",
        "ls < {a,b}",
        "A={a,b} ls",
        "ls {a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}",
        "ls [^a]",
        "ls a\\\nb",
        'ls "a\\\nb"',
        "ls < *",
        "cat <<E",
        "ls |",
        "ls &&",
        "A=1",
        "> /dev/null",
        "ls 'a",
        'ls "a',
        "ls; ; ls",
    ],
)
def test_the_strict_reader_alone_refuses_what_is_not_plain(source: str) -> None:
    with pytest.raises(Refused):
        read(source)
