"""Compound commands run as bash would run them: the same output, the same exit code, the same folder."""

import os
import subprocess
import threading
import time
from pathlib import Path

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from assent.plan import Plan, without
from assent.policy.shell import judge, rules
from assent.process.pipeline import Pipeline

_ALLOW = [
    "true",
    "false",
    "echo",
    "cat",
    "wc",
    "head",
    "pwd",
    "cd",
    "ls",
    "grep",
    "test",
    "[",
    "sort",
    "printf",
    "git",
    "yes",
    "seq",
]
_ENVIRONMENT = {"PATH": "/usr/bin:/bin", "HOME": "/home/x", "LC_ALL": "C"}


def plan_of(command: str, folder: Path) -> Plan | None:
    return judge(command, rules(_ALLOW), cwd=str(folder), roots=[str(folder)]).plan


def run(command: str, folder: Path) -> tuple[int, str]:
    plan = plan_of(command, folder)
    assert plan is not None, command
    return run_plan(plan, folder)


def run_plan(plan: Plan, folder: Path) -> tuple[int, str]:
    with open(folder.parent / "output", "w+b") as output:
        code = Pipeline(replace(plan, inside=True), output.fileno(), _ENVIRONMENT).run()
        output.seek(0)
        return code, output.read().decode()


def bash(command: str, folder: Path) -> tuple[int, str]:
    done = subprocess.run(
        ["bash", "--norc", "-c", command],
        cwd=folder,
        env=_ENVIRONMENT,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        check=False,
    )
    return done.returncode, done.stdout.decode()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    inside = tmp_path / "work"
    (inside / "sub").mkdir(parents=True)
    (inside / "a.txt").write_text("one\ntwo\n")
    (inside / "b.txt").write_text("three\n")
    (inside / "sub" / "c d.txt").write_text("four\n")
    return inside


_SAME = [
    "( echo a; false ) && echo no || echo yes",
    "(cd sub && pwd); pwd",
    "{ cd sub; pwd; }; pwd",
    "cd sub && { pwd; cd ..; } && pwd",
    "{ echo a; echo b; } | wc -l",
    "( echo a; echo b ) | head -1",
    "echo a | { cat; echo b; }",
    "echo a | ( cat; cat ) | wc -l",
    "{ cat nofile; echo a; } 2>/dev/null",
    "{ cat a.txt; cat nofile; } 2>&1 >/dev/null | wc -l",
    "(echo a) >/dev/null",
    "! true; echo $?",
    "! false && echo yes",
    "! grep -q none a.txt",
    "! true | false",
    "false; echo $?; echo $?",
    'true && false; echo "$?"',
    "(false); echo $?",
    "if true; then echo a; fi",
    "if false; then echo a; fi; echo $?",
    "if false; then echo a; elif [ -f a.txt ]; then echo b; else echo c; fi",
    "if ! grep -q none a.txt; then echo none; fi | cat",
    "if false; then echo a; else false; fi",
    "if (cd sub && [ -f a.txt ]); then echo a; else pwd; fi",
    "for x in 1 2 3; do echo $x; done",
    'for x in a b; do echo "$x.txt" ${x}y; done | sort -r',
    "for x in a b; do cat $x.txt; done",
    'for x in a nofile; do cat $x.txt 2>/dev/null || echo "no $x"; done',
    "for x in 'a b' c; do echo \"$x\"; done",
    "for x in -n a; do echo $x; done",
    'for f in *.txt; do wc -l "$f"; done',
    "for f in *.txt *.none; do echo $f; done",
    'for f in sub/*.txt; do cat "$f"; done',
    "for x in 1 2; do for y in a b; do echo $x$y; done; done",
    "for d in sub .; do (cd $d && ls); done",
    "for x in a; do false; done",
    "for x in {a,b}.txt; do cat $x; done",
    "echo $(echo a b) \"$(echo 'c  d')\"",
    "echo $(cat a.txt)",
    'echo "$(cat a.txt)"',
    'echo "x$(true)y" $(true) z',
    'echo ""$(true) a',
    "echo \"[$(printf 'a\\n\\n')]\"",
    "echo $(false) $?",
    "echo $(cd sub && pwd) && pwd",
    "echo $(echo $(echo deep))",
    "echo $( (echo a; echo b) | wc -l )",
    "wc -l $(ls *.txt)",
    "cat $(ls | grep b.txt)",
    "for f in $(ls *.txt); do cat $f; done",
    '[ "$(cat b.txt)" = three ] && echo yes',
    "[ $(ls *.txt | wc -l) -eq 2 ] && echo two",
    "echo $((2*3)) $((7/2)) $((-7/2)) $((-7%3)) $(( (1+2)*-3 ))",
    "printf '%s\\n' $(echo a b c) | wc -l",
    "true || { echo no; } && ( echo yes )",
    "yes | { head -1; }",
    "{ { { echo a; }; }; }",
    "( ( (echo a) ) )",
    'x=5; echo "$x" $((x+1)) $((2*$x))',
    "x=a.txt\ncat $x",
    "x='a  b'; echo \"$x\"",
    'x=; echo "[$x]"',
    'x="*.txt"; echo "$x"',
    'x=*.txt; echo "$x"',
    "x=5 && false || echo $x",
    "x=5 && echo $x; false",
    "echo a; x=5; echo $x; y=$x$x; echo $y",
    "false; x=$?; echo $x",
    'x=$(cat a.txt); echo "$x"',
    "x=$(false); echo $?",
    'x=$(printf "a\\n\\n"); echo "[$x]"; pwd',
    'x=$(echo a b); echo $x; echo "$x"',
    'x=$(wc -l < a.txt); echo "$x lines"',
    "x=sub; cd $x; pwd",
    "(x=5; echo $x); { y=6; echo $y; }",
    "if true; then x=5; echo $x; fi",
    "for i in 1 2; do x=a$i; echo $x; done",
    'for f in *.txt; do x=$f; echo "$x"; done',
    'echo "$(x=5; echo $x)" | cat',
    "x=-5; echo $((x*2)) $(( (x+1)*(x-1) ))",
    'echo ${PWD##*/} "${PWD%/*}"',
    "x=a.b.c; echo ${x%.*} ${x%%.*} ${x#*.} ${x##*.} ${x%.z} ${x#a} ${x%?} ${x#?.}",
    "x=/a/b/c.py; echo ${x##*/} ${x%/*} ${x%.py}.md",
    'for f in *.txt; do echo "${f%.txt}" ${f%.txt}.md; done',
    'for f in sub/*; do echo "${f##*/}"; done',
    "for f in $(ls *.txt); do echo ${f%.txt}; done",
]


@pytest.mark.spec("C7")
@pytest.mark.needs("bash")
@pytest.mark.parametrize("command", _SAME)
def test_a_compound_command_prints_and_returns_what_bash_would(command: str, folder: Path) -> None:
    assert run(command, folder) == bash(command, folder)


_LEAVES = st.sampled_from(
    [
        *(
            "true",
            "false",
            ":",
            "echo a",
            "echo b  c",
            "cat a.txt",
            "cat nofile 2>/dev/null",
            "pwd",
            "echo $?",
            "cat b.txt",
        ),
        *(
            "test -f a.txt",
            "grep -q one a.txt",
            "wc -l 2>/dev/null < a.txt",
            'echo "$(cat a.txt)"',
            "echo $(false)$?",
            "cd sub 2>/dev/null",
        ),
        *('echo "[$(pwd)]" $((3-1))', "cat *.txt", "echo *", "[ -d sub ]", "cat <<< word"),
    ]
)


def _lists(commands: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    joined = st.tuples(commands, st.sampled_from([" && ", " || ", "; ", "\n"]), commands).map("".join)
    return st.one_of(
        commands, joined, st.tuples(joined, st.sampled_from([" && ", " || ", "; "]), commands).map("".join)
    )


def _compound(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    lists = _lists(inner)
    return st.one_of(
        lists.map("( {} )".format),
        lists.map("{{ {}; }}".format),
        lists.map("{{ {}; }} 2>&1".format),
        inner.map(lambda one: one if one.startswith("!") else f"! {one}"),
        st.tuples(inner, st.sampled_from(["cat", "wc -l", "head -1", "{ cat; echo end; }", "( cat )"])).map(" | ".join),
        st.tuples(lists, lists).map(lambda two: f"if {two[0]}; then {two[1]}; fi"),
        st.tuples(lists, lists, lists).map(lambda three: "if {}; then {}; else {}; fi".format(*three)),
        lists.map("for x in 1 2; do {}; echo $x; done".format),
        lists.map('for x in *.txt; do {}; cat "$x"; done'.format),
        lists.map('echo "$({})"'.format),
        lists.map("echo $({})".format),
        lists.map("( v=5; {}; echo $v$((v*2)) )".format),
        lists.map('{{ w=$(cat a.txt); {}; echo "$w"; }}'.format),
        lists.map('( u=b.txt\n{}\ncat "$u" "${{u%.txt}}.txt" )'.format),
    )


@pytest.mark.spec("C8")
@pytest.mark.needs("bash")
@settings(
    max_examples=int(os.environ.get("ASSENT_EXAMPLES", "40")),
    deadline=None,
    database=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.filter_too_much, HealthCheck.too_slow],
)
@given(_lists(st.recursive(_LEAVES, _compound, max_leaves=8)))
def test_any_tree_of_harmless_commands_does_what_bash_does(folder: Path, command: str) -> None:
    plan = plan_of(command, folder)
    assume(plan is not None)
    assert plan is not None
    assert run_plan(plan, folder) == bash(command, folder)


@pytest.mark.needs("bash")
@settings(max_examples=100, deadline=None, database=None)
@given(
    value=st.text("ab./-", max_size=8),
    sign=st.sampled_from(["#", "##", "%", "%%"]),
    before=st.text("ab.?/-", max_size=3),
    star=st.sampled_from(["", "*"]),
    behind=st.text("ab.?/-", max_size=3),
)
def test_what_is_cut_off_a_variable_is_what_bash_cuts_off(
    value: str, sign: str, before: str, star: str, behind: str
) -> None:
    cut = f"{sign}{before}{star}{behind}"
    done = subprocess.run(
        ["bash", "-c", f'x=$1; printf %s "${{x{cut}}}"', "bash", value], stdout=subprocess.PIPE, check=True
    )
    assert without(value, cut) == done.stdout.decode()


def test_nothing_takes_long_to_be_cut_off() -> None:
    begun = time.process_time()
    assert without("b" * 50_000, "%b*c") == "b" * 50_000
    assert time.process_time() - begun < 1


# --- what is known only when it runs ---


@pytest.mark.parametrize(
    ("make", "command", "said"),
    [
        ("-la", "ls $(ls)", "must not be an option"),
        (".env", "cat $(ls -A)", "may hold secrets"),
        (".env", 'for f in $(ls -A); do cat "$f"; done', "may hold secrets"),
        ("*", "cat $(ls)", "unquoted wildcard"),
        ("*", "for f in $(ls); do cat $f; done", "unquoted wildcard"),
        ("b:c", "git log $(ls)", "name of a commit"),
        ("--output=x", "git log $(ls)", "must not be an option"),
        ("/etc/passwd", "cat $(realpath link)", "leads out of the workspace"),
        ("x", 'echo "${PWD%/*}"/w*', "unquoted wildcard"),
        (".env", 'x=$(ls -A); cat "$x"', ""),
        (".env", 'for f in $(ls -A); do cat "${f%.txt}"; done', "may hold secrets"),
        ("/etc/passwd", 'x=$(realpath link); cat "$x"', "leads out of the workspace"),
        ("/etc/passwd", 'for f in $(ls); do cat "${f%x}"; done', "leads out of the workspace"),
        ("/etc/passwd", 'for f in *; do cat "${f%x}"; done', "leads out of the workspace"),
    ],
)
def test_a_word_that_turns_out_to_be_more_than_a_name_is_refused(
    tmp_path: Path, make: str, command: str, said: str
) -> None:
    inside = tmp_path / "work"
    inside.mkdir()
    if make.startswith("/"):
        (inside / "link").symlink_to(make)
    else:
        (inside / make).write_text("HIDDEN\n")
        (inside / "a").write_text("other\n")
    plan = judge(command, rules([*_ALLOW, "realpath"]), cwd=str(inside), roots=[str(inside)]).plan
    assert plan is not None
    code, shown = run_plan(plan, inside)
    assert code != 0 or command.startswith("for")
    assert said in shown
    assert "root:" not in shown
    assert "HIDDEN" not in shown


@pytest.mark.spec("C8")
@pytest.mark.parametrize("command", ['for f in -*; do wc "$f"; done', "for f in -*; do wc $f; done"])
def test_a_file_whose_name_looks_like_an_option_is_only_a_file_in_a_loop(tmp_path: Path, command: str) -> None:
    (tmp_path / "--files0-from=names").write_text("one line\n")
    (tmp_path / "names").write_bytes(b"HIDDEN\0")
    plan = judge(command, rules(_ALLOW), cwd=str(tmp_path), roots=[str(tmp_path)]).plan
    assert plan is not None
    shown = run_plan(plan, tmp_path)[1]
    assert "./--files0-from=names" in shown
    assert "HIDDEN" not in shown


def test_a_loop_over_too_many_words_does_not_begin(folder: Path) -> None:
    code, shown = run("for n in $(seq 100001); do echo $n; done", folder)
    assert code == 126
    assert shown == "a loop over 100,001 words; the limit is 100,000\n"


def test_a_long_loop_that_nobody_reads_ends(folder: Path) -> None:
    assert run("for n in $(seq 90000); do echo $n; done | head -1", folder) == (0, "1\n")


def test_too_much_output_becomes_no_word(folder: Path) -> None:
    code, shown = run("echo $(yes)", folder)
    assert code == 126
    assert "too many for the words" in shown


def test_time_measures_a_whole_pipeline(folder: Path) -> None:
    code, shown = run("time ( cat a.txt; false )", folder)
    assert code == 1
    assert shown.startswith("one\ntwo\nreal 0.")


def test_cancel_ends_what_runs_in_a_group(folder: Path) -> None:
    plan = plan_of("{ yes; } | ( cat; cat ) | { cat >/dev/null; }", folder)
    assert plan is not None
    with open(os.devnull, "wb") as output:
        pipeline = Pipeline(plan, output.fileno())
        thread = threading.Thread(target=pipeline.run)
        thread.start()
        pipeline.cancel()
        thread.join(10)
    assert not thread.is_alive()


@pytest.mark.parametrize("command", ["echo /etc", 'echo "$HOME"', "grep -c /etc a.txt", "[[ -f a.txt ]] && echo yes"])
def test_a_word_that_is_only_text_leads_nowhere(command: str, folder: Path) -> None:
    assert run(command, folder) == bash(command, folder)


@pytest.mark.parametrize(
    ("command", "message"),
    [
        ('git commit -q -m "$(echo --amend)" --allow-empty', "--amend"),
        ('git commit -q -m "a $(cat a.txt)" --allow-empty', "a one\ntwo"),
        ("git commit -q -m \"$(cat <<'EOF'\nx\n\ny\nEOF\n)\" --allow-empty", "x\n\ny"),
    ],
)
def test_a_computed_text_is_the_message_and_nothing_else(command: str, message: str, folder: Path) -> None:
    for words in (["init", "-q"], ["config", "user.name", "x"], ["config", "user.email", "x@y"]):
        subprocess.run(["git", *words], cwd=folder, check=True)
    plan = judge(command, rules([*_ALLOW, "git commit"]), cwd=str(folder), roots=[str(folder)]).plan
    assert plan is not None
    assert run_plan(plan, folder)[0] == 0
    said = subprocess.run(["git", "log", "-1", "--format=%B"], cwd=folder, check=True, stdout=subprocess.PIPE)
    assert said.stdout.decode().strip() == message


@pytest.mark.parametrize(
    "command", ["git tag v$(cat a.txt)", "git tag v$(echo ' --delete x')", 'git tag "v$(echo ..)"']
)
def test_a_computed_name_must_be_one_plain_name(command: str, folder: Path) -> None:
    subprocess.run(["git", "init", "-q"], cwd=folder, check=True)
    plan = judge(command, rules([*_ALLOW, "git tag"]), cwd=str(folder), roots=[str(folder)]).plan
    assert plan is not None
    code, said = run_plan(plan, folder)
    assert code != 0
    assert "must be one plain name here" in said
