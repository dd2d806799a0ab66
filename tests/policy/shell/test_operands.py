"""The place of an operand decides what it means, and a word that may become several has no certain place."""

import subprocess
from pathlib import Path

import pytest

from assent.plan import Word
from assent.policy.built_in import READ_ONLY
from assent.policy.shell import judge, rules
from assent.policy.shell.operands import meanings
from assent.policy.shell.options import examine
from assent.policy.shell.program_models import ProgramModel, model, names
from assent.policy.shell.reader import read
from assent.process.pipeline import Pipeline
from support.plans import stage_of

BUILT_IN = [" ".join(words) for words in READ_ONLY]


def decision(command: str, *allow: str) -> str:
    return judge(command, rules(allow or BUILT_IN), cwd="/w", roots=["/w"]).decision


@pytest.mark.parametrize(
    ("declared", "several", "meant"),
    [
        ("read", "1", ["read"]),
        ("read", "1 1", ["read", "unknown"]),
        ("read", "n", ["read unknown"]),
        ("", "1", ["unknown"]),
        ("read*", "n 1 n", ["read", "read", "read"]),
        ("read* write", "1", ["write"]),
        ("read* write", "n 1", ["read", "write"]),
        ("read* write", "1 n", ["read", "read write"]),
        ("text read*", "1 n", ["text", "read"]),
        ("text read*", "n 1", ["read text", "read"]),
        ("read read text text", "1 n", ["read", "read text unknown"]),
        ("read read text text", "n 1 1", ["read text unknown", "read text unknown", "text unknown"]),
    ],
)
def test_a_word_has_every_meaning_that_one_of_its_words_could_get(
    declared: str, several: str, meant: list[str]
) -> None:
    found = meanings(declared.split(), [one == "n" for one in several.split()])
    assert [" ".join(sorted(one)) for one in found] == meant


@pytest.mark.spec("C8")
@pytest.mark.parametrize(
    "command",
    [
        *("uniq a.txt b.txt", "uniq [ab].txt", "uniq src/*.py", "uniq .git/[Cc]*", "uniq -c *.txt", "uniq ?.txt"),
        *("uniq -f 1* x", "uniq --skip-fields 1* x", "uniq a b*", "uniq -- *.txt", "uniq -c ./*.txt", "uniq a?"),
        *("sort x | uniq - *.txt", "cd src && uniq *.py", "uniq $PWD/*.txt", "uniq ~/*.txt", "uniq {a,b}.txt"),
        *("find . -name '*.txt' -exec uniq {} +", "find . -name '*.txt' -exec uniq -c {} +"),
        *("find . -name '*.txt' | xargs uniq", "find . -name '*.txt' -exec uniq x {} \\;", "ls | xargs -n2 uniq"),
        *("cmp [ab].txt", "find . -name '*.txt' -exec cmp a {} +", "find . -name '*.txt' | xargs cmp a"),
        *("date +*", "sed -n *p a.txt", "sed *.txt", "sed s* a.txt", "sed -e s* a.txt", "sed --expression=s* a.txt"),
        *("jq * a.json", "jq .* a.json", "jq e* a.json", "jq *.json", "find . -name '*.json' -exec jq {} +"),
        *("sort -k 1* a.txt", "head -n 1* a.txt", "git -C * status", "git -C s* status", "git log -n 1*"),
        *("u* a.txt", "[u]niq a.txt", "./u* a.txt", "/usr/bin/u* a.txt", "timeout 5* ls", "git st*", "git remote s*"),
        *("git diff ../[ab]", "git reflog e*", "git branch n*", "git tag v*"),
    ],
)
def test_a_word_that_may_become_several_asks_where_places_differ(command: str) -> None:
    assert decision(command, *BUILT_IN, "xargs", "timeout") == "ask"


@pytest.mark.spec("C8")
@pytest.mark.parametrize(
    ("rule", "command"),
    [
        ("xxd", "xxd ?.txt"),
        ("xxd", "xxd -l 1* a"),
        ("python3 -m json.tool", "python3 -m json.tool [a-b].json"),
        ("python -m json.tool", "python -m json.tool *.json"),
        ("base64", "base64 *.txt"),
        ("basenc", "basenc --base64 *.txt"),
        ("ffprobe", "ffprobe *.mp4"),
        ("pdfinfo", "pdfinfo *.pdf"),
        ("look", "look a *.txt"),
        ("look", "look a*"),
        ("awk", "awk B* a.txt"),
        ("awk", "awk *.awk a.txt"),
        ("awk", "awk -v x=1* '{print}' a.txt"),
        ("yq", "yq .* a.yml"),
        ("yq", "yq e l* a.yml"),
        ("sqlite3", "sqlite3 *.db .tables"),
        ("sqlite3", "sqlite3 a.db s*"),
        ("sqlite3", "sqlite3 *.db"),
        ("identify", "identify a*"),
        ("identify", "find . -name '*.png' -exec identify {} +"),
        ("identify", "find . -exec identify {} \\;"),
        ("git symbolic-ref", "git symbolic-ref H*"),
        ("git config", "git config core.*"),
        ("git config", "git config user.[ab]"),
        ("git remote", "git remote get-url o*"),
        ("kubectl", "kubectl get s*"),
        ("kubectl", "kubectl get p* -n x"),
        ("getent", "getent s*"),
        ("printenv", "printenv T*"),
        ("npm", "npm config get t*"),
        ("gh", "gh api g*"),
        ("go list", "go list m*"),
        ("man", "man m*"),
        ("ifconfig", "ifconfig e*"),
        ("host", "host a*"),
        ("openssl", "openssl rand 1*"),
        ("ping", "ping a*"),
        ("timeout", "timeout 1* ls"),
        ("nice", "nice -n 1* ls"),
        ("env", "env A=* ls"),
        ("cp", "cp a *.txt"),
        ("cp", "cp *.txt"),
        ("mv", "mv [ab].txt"),
        ("tee", "tee *.txt"),
        ("touch", "touch *.txt"),
        ("rm", "rm *.txt"),
        ("aws", "aws s3 l*"),
        ("dotnet test", "dotnet test *.csproj"),
        ("helm template", "helm template a*"),
    ],
)
def test_a_rule_does_not_cover_a_wildcard_in_a_special_place(rule: str, command: str) -> None:
    assert decision(command, rule, "ls", "find", "xargs") == "ask"


@pytest.mark.spec("C7")
@pytest.mark.parametrize(
    "command",
    [
        *("cat *.txt", "head -n 3 src/*.py", "wc -l *.py", "grep -n foo *.py", "grep foo.* a.txt", "sort *.txt"),
        *("uniq a.txt", "uniq -c", "sort *.txt | uniq -c", "sed -n 1,3p *.txt", "jq .name *.json", "jq -r .a x*.json"),
        *("diff a.txt b.txt", "cmp a.txt b.txt", "comm -3 a b", "ls *", "ls src/*", "stat *.py", "file *", "du -s *"),
        *(
            "grep -r --include=*.py foo .",
            "find . -name '*.txt' -exec uniq {} \\;",
            "find . -name '*.py' | xargs wc -l",
        ),
        *("find . -name '*.py' -exec grep -n x {} +", "find . -name '*.py' -exec head -n1 {} +", "rg foo src/*.py"),
        *("git log *.py", "git diff *.py", "git ls-files *.py", "echo *", "basename -a src/*.py"),
        *("tail -n 5 *.txt", "md5sum *", "sha256sum dist/*.whl", "tree s*", "test -f x*", "printf '%s\\n' *"),
    ],
)
def test_a_wildcard_for_files_to_read_is_covered(command: str) -> None:
    assert decision(command, *BUILT_IN, "xargs") == "allow"


def _models(path: tuple[str, ...], one: ProgramModel) -> list[tuple[tuple[str, ...], ProgramModel]]:
    found = [(path, one)]
    for name, inner in one.sub.items():
        if not inner.same:
            found += _models((*path, name), inner)
    return found


_COUNTED = [
    path
    for name in names()
    if (found := model(name)) is not None
    for path, one in _models((name,), found)
    if one.operands and one.wrapper is None and not one.operands.endswith("*") and one.check not in ("cd", "cloud")
]


def test_there_are_models_in_which_places_differ() -> None:
    assert len(_COUNTED) > 60


@pytest.mark.spec("C8")
@pytest.mark.parametrize("path", _COUNTED, ids=" ".join)
def test_every_model_with_a_fixed_number_of_operands_minds_a_wildcard(path: tuple[str, ...]) -> None:
    command = " ".join((*path, "[ab].txt"))
    words = stage_of(read(command)).words
    use = examine(path[0], words)
    assert use is not None
    assert use.problems or use.writes, command  # what a wildcard writes asks in `verdict`


@pytest.mark.spec("C8")
@pytest.mark.parametrize("path", _COUNTED, ids=" ".join)
def test_every_model_with_a_fixed_number_of_operands_minds_words_from_elsewhere(path: tuple[str, ...]) -> None:
    words = tuple(map(Word, (*path, "{}")))
    for use in (examine(path[0], words, many="{}"), examine(path[0], words[:-1], more=True)):
        assert use is not None
        assert use.problems or use.writes, path


@pytest.mark.spec("C8")
@pytest.mark.needs("git")
def test_a_file_that_a_wildcard_matches_is_only_ever_a_file(tmp_path: Path) -> None:
    work = tmp_path / "work"
    work.mkdir()
    git = ["git", "-C", str(work), "-c", "user.name=n", "-c", "user.email=e"]
    subprocess.run(["git", "init", "-q", str(work)], check=True)
    (work / ".env").write_text("hunter2")
    subprocess.run([*git, "add", "."], check=True)
    subprocess.run([*git, "commit", "-qm", "x"], check=True)
    for name in ("-n", "@opts", "|touch x", "+x", "a:b", "HEAD:.env", "host:x.tar", "plain", "~", "é:x", "(", "!"):
        (work / name).write_text("content")

    shown = "./! ./( ./+x ./-n ./@opts ./HEAD:.env ./a:b ./host:x.tar plain ./|touch x ./~ ./é:x\n"
    assert printed("echo *", work) == shown
    assert "hunter2" not in printed("git show H*", work)


def printed(command: str, work: Path) -> str:
    plan = judge(command, rules(["echo", "git show"]), cwd=str(work), roots=[str(work)]).plan
    assert plan is not None, command
    with open(work.parent / "output", "w+b") as output:
        Pipeline(plan, output.fileno()).run()
        output.seek(0)
        return output.read().decode()


@pytest.mark.spec("C7")
def test_a_folder_may_be_called_like_a_file_that_tools_run() -> None:
    assert decision("mkdir -p build", "mkdir") == "allow"
    assert decision("touch build/x", "touch") == "allow"
    assert decision("touch BUILD", "touch") == "ask"
    assert decision("mkdir .vscode", "mkdir") == "ask"


@pytest.mark.spec("C7")
@pytest.mark.parametrize(
    ("command", "decision"),
    [
        *(("git rm -rf .", "ask"), ("git rm -r --force src", "ask"), ("git rm -fr src", "ask")),
        *(("git rm -r src", "allow"), ("git rm -f a.txt", "allow"), ("git rm -rf --cached src", "allow")),
    ],
)
def test_removing_whole_folders_with_unsaved_changes_needs_approval(command: str, decision: str) -> None:
    assert judge(command, rules(allow=["git rm"]), cwd="/w", roots=("/w",)).decision == decision


@pytest.mark.parametrize(
    ("command", "decision"),
    [
        *(("chmod -R u+w src", "allow"), ("chmod -R u+rwX src", "allow"), ("chmod -R 777 src", "ask")),
        *(("chmod -R +x src", "ask"), ("chmod -R u+s src", "ask"), ("chmod -R u+w ../x", "ask")),
    ],
)
def test_giving_oneself_access_to_whole_folders_is_an_ordinary_permission(command: str, decision: str) -> None:
    assert judge(command, rules(allow=["chmod"]), cwd="/w", roots=("/w",)).decision == decision
