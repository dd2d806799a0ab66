"""Compound commands: each part is judged as if it stood alone, where it stands, and nothing hides in the shape."""

import subprocess
from pathlib import Path

import pytest

from assent.approval import ExecDetails
from assent.policy.command_grants import folder_of
from assent.policy.command_policy import CommandJudge
from assent.policy.rules import Rule
from assent.policy.shell import judge, rules
from assent.policy.shell.arithmetic import NoNumber, evaluate


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "src").mkdir()
    for name in ("a.txt", ".env", "src/x.py"):
        (tmp_path / name).write_text("x\n")
    return tmp_path


def ruling(command: str, folder: Path, *given: Rule) -> str:
    details = ExecDetails(command=command, roots=(), directory=str(folder), risk="low", risk_reason="")
    return CommandJudge(details, given, [], "default", (str(folder),)).verdict().ruling


_HARMLESS = r"""
(cd src && ls)
{ ls; pwd; }
( ls; cat a.txt ) 2>/dev/null | head
{ cat a.txt; ls; } 2>&1 | head -3
! grep -q x a.txt
time ls
time git status
time (ls; pwd)
for f in a.txt src/x.py; do wc -l "$f"; done
for f in *.txt; do echo "== $f"; cat "$f"; done
for f in $(git ls-files); do wc -l $f; done
for i in 1 2 3; do echo $i; done
for d in src .; do (cd "$d" && ls); done
for f in src/*.py; do head -5 "$f"; echo; done
for cmd in git rg jq; do command -v $cmd; done
for x in a b; do for y in c d; do echo $x$y; done; done
if [ -f a.txt ]; then cat a.txt; else echo none; fi
if git diff --quiet; then echo clean; else echo dirty; fi
if ! command -v rg; then echo missing; elif grep -q x a.txt; then echo found; fi
echo "$(git rev-parse HEAD)"
echo $(date)
echo "Branch: $(git branch --show-current)"
git log $(git describe --tags --abbrev=0)..HEAD
wc -l $(git ls-files '*.py')
cat $(find . -name '*.txt')
grep -n foo $(find src -name '*.py')
ls $(git rev-parse --show-toplevel)
ls; echo $?
echo "exit: $?"
test $? -eq 0 && echo ok
echo $((1024 * 1024))
[ "$(git status --porcelain)" = "" ] && echo clean
basename "$(pwd)"
printf '%s\n' "$(ls | wc -l)"
(ls && pwd) || echo no
x=5; echo "$x" $((x+1))
f=a.txt; cat "$f"
f=a.txt && wc -l "$f"
DIR=src; ls "$DIR"
v=$(git rev-parse HEAD); echo "$v"
v=$(git rev-parse HEAD); git show "$v"
n=$(wc -l < a.txt); echo "$n lines"
echo "${PWD##*/}"
[ "${PWD##*/}" = src ] && echo yes
x=a.b; echo "${x%.*}"
for f in *.txt; do echo "${f%.txt}"; done
for f in a.txt; do wc -l "${f%.txt}.txt"; done
"""


@pytest.mark.spec("C7")
@pytest.mark.parametrize("command", _HARMLESS.strip().splitlines())
def test_a_compound_command_of_harmless_parts_runs(command: str, folder: Path) -> None:
    assert ruling(command, folder) == "allow"


_STOPPED = r"""
(cat .env)
{ cat .env; }
! cat .env
time cat .env
for f in .env; do cat $f; done
for f in .e*; do cat $f; done
for f in .en; do cat ${f}v; done
for f in nv; do cat .e$f; done
for f in *; do cat "../$f"; done
for c in rm; do $c -rf src; done
for f in a.txt; do rm $f; done
for f in *.txt; do rm "$f"; done
for f in *.txt; do echo > "$f"; done
for o in --output=x; do git log $o; done
for o in -delete; do find . $o; done
for f in a; do git log -1 "--output=$f"; done
for x in /etc; do ls $x; done
for x in "$HOME"; do ls $x; done
for x in ~; do ls $x; done
for f in 'a b'; do cat $f; done
for f in $(rm a.txt); do echo $f; done
for f in $(echo -delete); do find . $f; done
if cat .env; then true; fi
if true; then rm a.txt; fi
if true; then ls; else rm a.txt; fi
if false; then ls; elif rm a.txt; then ls; fi
if ls; then cd /; fi; cat etc/passwd
for x in / .; do cd $x; done; cat etc/passwd
for x in *; do cd "$x"; done; cat y
{ cd /; }; cat etc/passwd
{ cd /; ls; }
true || { cd ..; }; cat x
(cd / && cat etc/passwd)
(cd ..; cat outside)
! cd .. && cat x
! { cd src; } && cat ../x
echo $(cd .. && cat x)
echo $(if true; then cd ..; fi; cat x)
echo $(cat .env)
echo "$(cat /etc/passwd)"
cat $(echo .env)
cat $(printf '.e%s' nv)
cat $(cat a.txt)
ls $(echo -la)
ls $(echo /)
$(echo rm) a.txt
"$(echo cat)" .env
echo $(rm a.txt)
echo $(echo $(rm a.txt))
echo "$(echo "$(rm a.txt)")"
find . $(echo -delete)
find $(pwd) -delete
find $(pwd)
sed $(echo -i) s/x/y/ a.txt
sed -n "$(cat a.txt)" a.txt
awk "$(cat a.txt)" a.txt
git $(echo push)
git "$(pwd)" status
git -C "$(pwd)" status
git log --output="$(pwd)/x"
git log -n $(pwd)
git show $(git rev-parse HEAD):.env
git branch $(git rev-parse HEAD)
git tag $(git rev-parse HEAD)
sort -o $(pwd) a.txt
sort $(ls)
uniq $(ls)
uniq a.txt $(ls)
diff $(ls)
xargs $(echo rm)
env $(echo A=b) ls
timeout $(pwd) ls
bash -c "$(cat a.txt)"
echo $(<a.txt)
time rm a.txt
! rm a.txt
time -o x ls
(rm a.txt)
{ ls; rm a.txt; }
ls | (rm a.txt)
ls | { cat; rm a.txt; }
echo a > $(pwd)/x
cat < $(ls a.txt)
A=$(pwd) ls
cat "$(pwd)/.env"
cd "$(pwd)" && ls
date -s "$(pwd)"
printenv $?
head -n $? a.txt
test -v 'a[$(id)]'
[ -v "a[$(id)]" ]
exit $?
x=rm; $x -rf src
x=--output=f.x; git log "${x%.x}"
x=.env; cat $x
x=env; cat ".$x"
x=.env.x; cat "${x%.x}"
x=/etc/passwd; cat "$x"
x=../..; cat $x/y
x=a.txt; if true; then x=.env; fi; cat $x
x=a.txt; for i in 1 2; do x=.env; done; cat $x
x=a.txt; { x=.env; }; cat $x
x=a.txt; x=.env; cat $x
(x=a.txt; ls); cat $x
x=a.txt | cat; cat $x
false && x=a.txt; cat $x
v=$(pwd); cd src; ls
v=$(cat .env); echo "$v"
v=$(rm a.txt); echo "$v"
v=$(git rev-parse HEAD); rm "$v"
v=$(git rev-parse HEAD); $v
v=$(git rev-parse HEAD) && echo "$v"
x='a[$(rm y)]'; echo $((x))
x=010; echo $((x))
for f in *; do echo $((f)); done
v=$(git rev-parse HEAD); echo $((v))
PATH=.; ls
HOME=/x; ls
IFS=x; ls
LD_PRELOAD=./x; ls
BASH_ENV=x; ls
http_proxy=x; ls
x="*.txt"; ls $x
x="a b"; ls $x
x=~/a; cat $x
x=$HOME; ls $x
x=5; echo "${x:-$(rm y)}"
x=5; echo "${x/a/b}"
x=a; echo "${!x}"
x=a; echo "${x@P}"
for f in *; do rm "${f%.bak}"; done
for d in */; do cat "${d%/}/.env"; done
cat ${PWD##*/}
cat "${PWD%/*}/x"
ls ${PWD%/*}
x=5
"""


@pytest.mark.spec("C8")
@pytest.mark.parametrize("command", _STOPPED.strip().splitlines())
def test_what_would_ask_alone_asks_in_a_compound_command(command: str, folder: Path) -> None:
    assert ruling(command, folder) == "ask"


_SHAPES = [
    *("( {} )", "{{ {}; }}", "! {}", "time {}", "for x in 1; do {}; done", "for x in *; do {}; done"),
    *("if {}; then true; fi", "if true; then {}; fi", "if true; then ls; elif {}; then ls; fi"),
    *("if true; then ls; else {}; fi", "echo $({})", 'echo "$({})"', "( ls | ( {} ) )", "cat $(ls $({}))"),
    *("for x in $({}); do ls; done", "{{ ls; ! {}; }} 2>&1 | head"),
]


@pytest.mark.spec("C8")
@pytest.mark.parametrize("shape", _SHAPES)
@pytest.mark.parametrize("decision", ["ask", "deny"])
def test_a_rule_against_a_command_holds_in_every_shape(shape: str, decision: str, folder: Path) -> None:
    rule = Rule(ruling="deny" if decision == "deny" else "ask", command=("git", "push"))
    assert ruling(shape.format("git push"), folder, rule) == decision
    assert ruling(shape.format("git push --force origin"), folder, rule) == decision


@pytest.mark.spec("C8")
@pytest.mark.parametrize(
    "command",
    [
        "for c in push; do git $c; done",
        "for p in git; do $p push; done",
        "c=push; git $c",
        "c=push.x; git ${c%.x}",
        "ls; p=git; $p push",
    ],
)
def test_a_denied_command_is_seen_where_a_loop_puts_it_together(command: str, folder: Path) -> None:
    assert ruling(command, folder, Rule(ruling="deny", command=("git", "push"))) == "deny"


@pytest.mark.parametrize(
    "command",
    [
        *(
            "(cat src/x.py)",
            "for f in src/x.py; do cat $f; done",
            "for f in x; do cat src/$f.py; done",
            "(cd src; cat x.py)",
        ),
        *(
            "if cat src/x.py; then ls; fi",
            "echo $(cat src/x.py)",
            "cat $(git ls-files)",
            "for f in src/*; do cat $f; done",
            'for f in src/*; do cat "${f%x}"; done',
            "x=src/x.py; cat $x",
            'x=src; cat "$x/x.py"',
            "x=src/x.py.z; cat ${x%.z}",
            'x=$(ls); cat "$x"',
            'cd src && for f in *; do cat "${f%.z}"; done',
        ),
    ],
)
def test_a_guarded_file_is_seen_in_every_shape(command: str, folder: Path) -> None:
    assert ruling(command, folder, Rule(ruling="deny", tool="run_shell_command", path="src/**")) == "deny"


@pytest.mark.spec("C8")
@pytest.mark.parametrize(
    "command",
    [
        "x=a.txt; read x < a.txt; cat $x",
        "for x in a.txt; do read x < a.txt; cat $x; done",
        "x=a.txt; command read x < a.txt; cat $x",
        "x=a.txt; printf -v x %s a; cat $x",
        "readonly x=$(tail -1 a.txt)\nx=a.txt\ncat $x",
        "declare -u x; x=a.txt; cat $x",
        "c=readonly; $c x=b\nx=a.txt\ncat $x",
        "x=a.txt; . ./b; cat $x",
    ],
)
def test_a_variable_that_may_be_set_again_may_name_a_guarded_file(command: str, folder: Path) -> None:
    rule = Rule(ruling="deny", tool="run_shell_command", path="src/**")
    details = ExecDetails(command=command, roots=(), directory=str(folder), risk="low", risk_reason="")
    assert CommandJudge(details, [rule], [], "yolo", (str(folder),)).verdict().ruling != "allow"


@pytest.mark.spec("C8")
@pytest.mark.parametrize(
    "command",
    [
        "x=a.txt; builtin printf -v x %s%s sr c/x.py; cat $x",
        "x=a.txt; unset x; cat $x",
        "x=a.txt; set -- b; cat $x",
        "x=a.txt; export $(echo x)=b; cat $x",
        "x=a.txt; printf -vx %s%s sr c/x.py; cat $x",
        "printf -vHOME %s%s {folder}/sr c; cat ~/x.py",
        "o=$(echo v); x=a.txt; printf '-'$o x %s%s sr c/x.py; cat $x",
        "o=$(echo -v); x=a.txt; printf $o x %s%s sr c/x.py; cat $x",
        "export IFS=,; x=a.txt,src/x.py; cat $x",
        "export IFS=,; for f in a.txt,src/x.py; do cat $f; done",
        "shopt -s extglob\nx='@(sr)c/x.py'; cat $x",
        "shopt -s nocaseglob; x=1; cat SR[C]/x.py",
        "shopt -so posix; x=a.txt; x=src/x.py :; cat $x",
        "export POSIXLY_CORRECT=1; x=a.txt; x=src/x.py :; cat $x",
        "x=a.txt; trap 'x=sr?/x.py' DEBUG; cat $x",
        "x=ésrc/x.py; cat ${x#??}",
        "export HOME={folder}/src; cat ~/x.py",
        "export PWD={folder}/src; cat $PWD/x.py",
        "printf -v HOME %s%s {folder}/sr c; cat ~/x.py",
        "jobs -x printf -v HOME %s%s {folder}/sr c; cat ~/x.py",
        "HOME=$(echo {folder}/sr)c; cat ~/x.py",
        "HOME={folder}/src cd; cat x.py",
        "OLDPWD={folder}/src cd -; cat x.py",
        "CDPATH=src cd a; cat x.py",
        "export CDPATH=src; cd a; cat x.py",
        "test -v 'a[$(cat s?c/x.py)]'",
    ],
)
def test_a_line_that_changes_its_shell_may_name_a_guarded_file(command: str, folder: Path) -> None:
    rule = Rule(ruling="deny", tool="run_shell_command", path="src/**")
    text = command.replace("{folder}", str(folder))
    details = ExecDetails(command=text, roots=(), directory=str(folder), risk="low", risk_reason="")
    assert CommandJudge(details, [rule], [], "yolo", (str(folder),)).verdict().ruling != "allow"


@pytest.mark.spec("C7")
@pytest.mark.parametrize(
    "command",
    [
        "export CI=1; x=a.txt; cat $x",
        "set -e; x=a.txt; cat $x",
        "x=a.txt; printf '%s' $x",
        "set -x; pwd",
        "cd src && source .venv/bin/activate && pytest",
        'printf "$HOME"',
        "pwd; set -x; x=a.txt; cat $x",
        "x=a.txt; export y=x; cat $x",
        "x=a.txt; unset y; cat $x",
        "export LANG=C; cat a.txt",
        "printf -v y a; cat a.txt",
    ],
)
def test_a_line_that_changes_nothing_of_its_shell_is_understood(command: str, folder: Path) -> None:
    assert judge(command, rules([]), cwd=str(folder), roots=[str(folder)]).readable


def test_every_round_of_a_loop_is_what_was_judged(folder: Path) -> None:
    found = judge("for x in a b; do cat $x.txt; done", rules(["cat"]), cwd=str(folder), roots=[str(folder)])
    assert [part.words for part in found.parts] == [("cat", "a.txt"), ("cat", "b.txt")]


def test_loops_in_loops_have_a_limit(folder: Path) -> None:
    words = " ".join(map(str, range(20)))
    command = f"for x in {words}; do for y in {words}; do echo $x$y; done; done"
    found = judge(command, rules(["echo"]), cwd=str(folder), roots=[str(folder)])
    assert found.decision == "ask"
    assert "more than 200 commands" in found.why


@pytest.mark.parametrize(
    "text",
    [
        *("1+2*3", "(1+2)*3", "-7/2", "-7%3", "7 % -3", "1 - -1", "+5", "((2))", "0", "10*(2-12)"),
        *("2**8", "-2**2", "2**3**2", "3*2**2", "2**0", "(-3)**3", "2 ** 61", "7-2**2"),
    ],
)
def test_arithmetic_is_what_bash_calculates(text: str) -> None:
    said = subprocess.run(["bash", "-c", f"echo $(({text}))"], stdout=subprocess.PIPE, check=True)
    assert str(evaluate(text)) == said.stdout.decode().strip()


@pytest.mark.parametrize(
    "text",
    ["", "1/0", "1%0", "08", "1 2", "1--1", "2**-1", "2**65", "2***3", "2* *3", "(1", "1)", "x", "1+", "9" * 30, "()"],
)
def test_only_plain_numbers_are_calculated(text: str) -> None:
    with pytest.raises(NoNumber):
        evaluate(text)


@pytest.mark.parametrize(
    "command", ["(cd src && ls)", "{ cd src; ls; }", "if cd src; then ls; fi", 'echo "$(cd src && ls)"']
)
def test_a_grant_does_not_follow_a_command_to_another_folder(command: str) -> None:
    assert folder_of(command, "/w") != "/w"
