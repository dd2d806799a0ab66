"""Searches that come upon secrets by themselves, run with the real programs: what they show and what not."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryFile

import pytest

from assent.files.protected import why_secret
from assent.files.secret_names import secret_folders, secret_globs, secret_pattern
from assent.plan import Plan, Word
from assent.policy.shell import judge, rules
from assent.policy.shell.options import examine
from assent.policy.shell.recursive_search import walks
from assent.process.name_filter import sift
from assent.process.pipeline import Pipeline
from support.plans import stage_of

SECRET = [
    ".env",
    ".env.local",
    ".env.production",
    ".env.temp",
    ".env.examples",
    ".env_backup",
    ".env-old",
    "sub/.env",
    "sub/server.pem",
    "sub/tls.key",
    "id_rsa",
    "id_rsa.bak",
    "sub/prod.env",
    "terraform.tfvars",
    ".envrc",
    ".ssh/config",
    ".aws/anything",
    ".kube/config",
    "credentials",
    "sub/credentials.json",
    ".netrc",
    ".npmrc",
    ".bash_history",
    ".config/gh/hosts.yml",
    ".config/gcloud/legacy/adc.json",
    ".docker/config.json",
    ".ENV",
    ".env~",
    ".Env.Local",
    "sub/.env.bak",
    "#.env#",
    "..env.swp",
    "sub/ID_RSA.old",
    "id_rsa~",
    "id_rsa.uat",
    "sub/id_ed25519_github",
    "id_ecdsa-prod",
    "server.key-prod",
    "server.pem.1",
    "sub/credentials.bak",
    "credentials.json.old",
    "secrets.yaml.uat",
    ".npmrc.bak",
    "deploy_rsa",
    "kubeconfig.yaml",
]
PLAIN = [
    "main.py.bak",
    "notes.old",
    "draft~",
    "release-prod",
    "x_github",
    "sub/a.uat",
    "credentials.py",
    "kubeconfig.go",
    "test_rsa.py",
    ".env.example",
    ".env.sample",
    ".env.template",
    ".env.dist",
    "sub/.env.default",
    "a.py",
    "sub/key.py",
    "id_rsa.pub",
    "env.py",
    ".gitignore",
]
PROGRAMS = [
    "grep",
    "egrep",
    "fgrep",
    "rgrep",
    "rg",
    "xargs",
    "find",
    "diff",
    "cat",
    "wc",
    "head",
    "sort",
    "git",
    "sed",
    "echo",
    "cd",
    "timeout",
]


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    for name in (*SECRET, *PLAIN):
        path = tmp_path / "w" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"needle in {name}\n")
    shutil.copytree(tmp_path / "w", tmp_path / "w" / "other")
    for path in (tmp_path / "w" / "other").rglob("*"):
        if path.is_file():
            path.write_text(path.read_text() + "needle too\n")
    return tmp_path / "w"


def plan_of(command: str, tree: Path) -> Plan:
    found = judge(command, rules(PROGRAMS), cwd=str(tree), roots=[str(tree)])
    assert found.plan is not None, found.why
    return found.plan


def output(command: str, tree: Path) -> str:
    return run_plan(plan_of(command, tree))


def run_plan(plan: Plan) -> str:
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    with TemporaryFile("w+") as file:  # a pipe would hold 64 KB and then the program
        Pipeline(plan, file.fileno(), {"PATH": path}).run()
        file.seek(0)
        return file.read()


@pytest.mark.spec("C8")
@pytest.mark.parametrize(
    "command",
    [
        "find . -name '*.yml' -exec cat {} +",
        "find . -name '*.json' -o -name '*.yml' -exec cat {} \\;",
        "find . -type f -name '*.yml' -exec head -n 1 {} +",
        "find . -name '*.yml' | xargs cat",
    ],
)
def test_files_of_a_kind_are_shown_without_the_secrets_among_them(command: str, tmp_path: Path) -> None:
    for name in ("config.yml", "sub/x.yml", "secrets.yml", "db-secret.yml", ".kube/x.yml", "SUB/Secrets.YML"):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"needle in {name}\n")
    shown = [line for line in output(command, tmp_path).splitlines() if line.startswith("needle")]
    assert sorted(shown) == ["needle in config.yml", "needle in sub/x.yml"]
    assert "|" in command or plan_of(command, tmp_path).sweeps, "a reader is told that some may be missing"


@pytest.mark.spec("C8")
@pytest.mark.parametrize(
    "command",
    [
        "grep -r needle .",
        "grep -rn needle",
        "grep -R needle .",
        "grep --recursive --exclude='*.md' needle .",
        "grep --dereference-recursive needle .",
        "fgrep -r needle .",
        "rgrep needle .",
        "rg --hidden needle",
        "rg -uuu needle .",
        "rg --hidden --no-ignore -g '!*.md' needle",
        "rg --hidden --no-ignore --glob '*' needle",
        "find . -type f | xargs grep needle",
        "find . -type f | xargs fgrep needle",
        "find . -type f | xargs egrep needle",
        "find . -type f -print0 | xargs -0 grep -H needle",
        "find . -type f | xargs -I{} grep needle {}",
        "find . -type f -exec grep -h needle {} +",
        "find . -type f -exec grep needle {} \\;",
    ],
)
def test_a_search_shows_everything_but_secrets(command: str, tree: Path) -> None:
    shown = output(command, tree)
    assert [name for name in SECRET if f"needle in {name}\n" in shown] == []
    assert [name for name in PLAIN if f"needle in {name}\n" not in shown] == []


@pytest.mark.parametrize("options", ["", "--include=*.py", "--exclude=c.py", "--include=*.py --include=*.x"])
def test_the_short_way_for_code_changes_nothing_about_what_is_searched(options: str, tmp_path: Path) -> None:
    names = ("a.py", "b.js", "c.py", "d.x", ".env.py", "vault_pass.sh", "sub/.env.py", "sub/e.py", "prod.env")
    (tmp_path / "sub").mkdir()
    for name in names:
        (tmp_path / name).write_text("needle\n")
    bare = ["grep", "-rl", *options.split(), "needle", "."]
    found = subprocess.run(bare, cwd=tmp_path, capture_output=True, text=True, check=True).stdout.split()
    expected = {name for name in found if why_secret(name.split("/")) is None}
    assert {*output(f"grep -rl {options} needle .", tmp_path).split()} == expected


def test_a_search_shows_no_variables_of_a_process(tree: Path) -> None:
    with subprocess.Popen(["sleep", "60"], env={"TOKEN": "needle"}) as sleeper:
        try:
            shown = output(f"find /proc/{sleeper.pid} -maxdepth 1 -name 'e*' -exec grep -as needle {{}} +", tree)
            shown += output(f"grep -ras --include='e*' needle /proc/{sleeper.pid}", tree)
        finally:
            sleeper.kill()
    assert "TOKEN" not in shown


@pytest.mark.parametrize("command", ["diff . other", "diff -r . other", "diff -rN other sub"])
def test_a_comparison_of_folders_shows_no_secrets(command: str, tree: Path) -> None:
    shown = output(command, tree)
    assert "needle" in shown
    told = [name for name in SECRET if name == name.lower()]  # in capitals it asks: see test_built_in
    assert [name for name in told if f"needle in {name}\n" in shown] == []


def test_find_gives_what_it_finds_to_a_program_that_reads(tree: Path) -> None:
    assert "needle in a.py" in output("find . -name '*.py' -exec sed -n 1p {} \\;", tree)
    assert "total" in output("find . -type f -exec wc -l {} +", tree)


@pytest.mark.parametrize("pattern", ["'*.py'", "'key.*'", "a.py"])
def test_a_pattern_of_the_command_stays_in_force(pattern: str, tree: Path) -> None:
    for command in (f"grep -r --include={pattern} needle .", f"rg --hidden -g {pattern} needle"):
        shown = output(command, tree)
        assert ".env" not in shown
        assert ("a.py" in shown) == (pattern != "'key.*'")


def test_a_blank_in_a_name_does_not_make_a_secret_of_it(tree: Path) -> None:
    (tree / "x .env y.py").write_text("plain\n")
    assert "needle in .env\n" not in output("find . -name '*.py' | xargs cat", tree)
    assert "plain" in output("find . -name '*.py' | xargs cat", tree)


@pytest.mark.parametrize("replace", ["-I{}", "-i", "--replace"])
def test_a_quote_in_a_name_does_not_make_a_secret_of_it(replace: str, tree: Path) -> None:
    (tree / ".e'n'v").write_text("plain\n")
    shown = output(f'find . -name "*\'*" | xargs {replace} cat {{}}', tree)
    assert shown == "plain\n"


_SHOWS_NO_CONTENT = """
    ls stat basename dirname realpath readlink md5sum sha1sum sha224sum sha256sum sha384sum sha512sum b2sum cksum echo
    true false wc du
"""


@pytest.mark.parametrize("name", _SHOWS_NO_CONTENT.split())
def test_a_program_that_shows_no_content_may_get_any_name(name: str) -> None:
    for command in (f"find . -type f | xargs {name}", f"find . -type f -exec {name} {{}} +"):
        assert judge(command, rules(["find", "xargs", name]), cwd="/w", roots=["/w"]).decision == "allow"


@pytest.mark.parametrize("command", ["printf %s\\\\n {}", "test -s {}", "[ -s {} ]"])
def test_find_may_give_any_name_to_a_test(command: str) -> None:
    allow = ["find", "printf", "test", "["]
    assert judge(f"find . -type f -exec {command} \\;", rules(allow), cwd="/w", roots=["/w"]).decision == "allow"


@pytest.mark.parametrize("option", ["-g ", "-g", "--glob=", "--glob ", "--iglob="])
def test_a_pattern_that_wants_secrets_asks(option: str) -> None:
    command = f"rg {option}.env needle"
    assert judge(command, rules(["rg"]), cwd="/w", roots=["/w"]).decision == "ask"


@pytest.mark.spec("C8")
@pytest.mark.parametrize(
    "end", ["| xargs cat", "-print0 | xargs -0 cat", "| sort | xargs -n 1 cat", "| xargs -I{} cat {}"]
)
def test_a_line_break_in_a_name_does_not_make_a_secret_of_it(end: str, tree: Path) -> None:
    (tree / "x\n.env\n.py").write_text("plain\n")
    (tree / "sub\n.env").mkdir()
    shown = output(f"find . -name '*.py' {end}", tree)
    assert "needle in .env\n" not in shown
    assert "needle in a.py\n" in shown


@pytest.mark.spec("C8")
@pytest.mark.parametrize(
    "command",
    [
        "find . -name '*.txt' | xargs cat",
        "find . -name '*.txt' -print0 | xargs -0 head",
        "find -L . -name '*.txt' | xargs cat",
        "find . -follow -name '*.txt' | timeout 9 xargs cat",
        "find . -name '*.txt' -exec cat {} +",
        "find . -maxdepth 1 -name '*.txt' -exec grep -h needle {} \\;",
        "find . -name '*.md' -o -name '*.txt' -exec cat {} +",
        "echo notes.txt outside.txt plain.txt | xargs grep needle",
        "echo 'notes.txt' \"plain.txt\" | xargs grep needle",
        "xargs grep needle < list",
        "grep -Rh needle --include='*.txt' .",
        "egrep -hR needle .",
        "grep --dereference-recursive needle .",
        "diff -r sub other/sub",
    ],
)
def test_a_link_found_by_a_search_shows_no_secret(command: str, tree: Path) -> None:
    (tree.parent / "elsewhere").write_text("needle elsewhere\n")
    (tree / "plain.txt").write_text("needle in plain.txt\n")
    (tree / "list").write_text("notes.txt\nplain.txt\noutside.txt\n")
    for folder in (tree, tree / "sub", tree / "other"):
        (folder / "notes.txt").symlink_to(tree / ".env")
        (folder / "outside.txt").symlink_to(tree.parent / "elsewhere")
        (folder / "also.txt").symlink_to(tree / "plain.txt")
    (tree / "other" / "sub" / "notes.txt").write_text("needle there\n")
    shown = output(command, tree)
    assert "needle in .env\n" not in shown
    assert "elsewhere\n" not in shown
    assert "needle" in shown


@pytest.mark.spec("C8")
@pytest.mark.parametrize("command", ["xargs grep -H needle < list", "xargs -d '\\n' grep -H needle < list"])
def test_a_step_back_behind_a_link_does_not_lead_out(command: str, tree: Path) -> None:
    (tree.parent / "there" / "deep").mkdir(parents=True)
    (tree.parent / "there" / "notes.txt").write_text("needle elsewhere\n")
    (tree / "link").symlink_to(tree.parent / "there" / "deep")
    (tree / "list").write_text("link/../notes.txt\nsub/../a.py\nlink/..\n")
    shown = output(command, tree)
    assert "elsewhere" not in shown
    assert "skipped: 2 name(s)" in shown
    assert "needle in a.py\n" in shown


def test_a_quote_that_does_not_end_is_told(tree: Path) -> None:
    (tree / "list").write_text("a.py\nit's.txt\n")
    shown = output("xargs grep needle < list", tree)
    assert "needle in a.py\n" in shown
    assert "xargs: a quote is not closed in: it's.txt" in shown


def test_names_are_taken_apart_as_xargs_does(tree: Path) -> None:
    names = [b"a b", b"c", b'"d"', b"e\\", b"f g h", b"", b"\xff"]
    line = b"""a\\ b \t c '"d"' "e\\" f" g "h '' \xff"""
    (tree / "list").write_bytes(line + b"\n")
    theirs = subprocess.run(["xargs", "printf", "%s\\0"], input=line, capture_output=True, check=True)
    with (tree / "list").open("rb") as source, (tree / "found").open("wb") as target:
        sift(source, target, "words", lambda _: True)
    assert (tree / "found").read_bytes().split(b"\0")[:-1] == names == theirs.stdout.split(b"\0")[:-1]


def test_an_endless_name_ends_the_reading(tree: Path) -> None:
    (tree / "list").write_text("a.py\n" + "x" * 2_500_000)
    shown = output("xargs grep needle < list", tree)
    assert "needle in a.py\n" in shown
    assert "xargs: a line is longer than 2,000,000 bytes" in shown


_FOR_ALL_OF_FIND = """
    -depth -d -mount -xdev -daystart -noleaf -nowarn -warn -maxdepth_1 -mindepth_1 -regextype_egrep -depth_-maxdepth_2
"""


@pytest.mark.spec("C8")
@pytest.mark.parametrize(
    ("command", "runs"),
    [
        ("find . -exec wc {} +", "find . ! -type l ! -type p ! -type b ! -type c ! -type s ( -exec wc {} + )"),
        ("find -exec wc {} +", "find ! -type l ! -type p ! -type b ! -type c ! -type s ( -exec wc {} + )"),
        (
            "find . -xdev -exec wc {} +",
            "find . -xdev ! -type l ! -type p ! -type b ! -type c ! -type s ( -exec wc {} + )",
        ),
        (
            "find a b -name c.py -o -exec wc {} +",
            "find a b ! -type l ! -type p ! -type b ! -type c ! -type s ( -name c.py -o -exec wc {} + )",
        ),
        (
            "find -P -O2 . -type f -exec wc {} +",
            "find -P -O2 . ! -type l ! -type p ! -type b ! -type c ! -type s ( -type f -exec wc {} + )",
        ),
        (
            "find . -name c.py -maxdepth 1 -exec cat {} +",
            "find . ! -type l ! -type p ! -type b ! -type c ! -type s ( -name c.py -maxdepth 1 -exec cat {} + )",
        ),
        *(
            (
                f"find . {one} -name c.py -exec cat {{}} +",
                f"find . {one} ! -type l ! -type p ! -type b ! -type c ! -type s ( -name c.py -exec cat {{}} + )",
            )
            for one in (option.replace("_", " ") for option in _FOR_ALL_OF_FIND.split())
        ),
        ("find . -name c.py -exec ls {} +", "find . -name c.py -exec ls {} +"),
        ("find -L . -name c.py -exec ls {} +", "find -L . -name c.py -exec ls {} +"),
    ],
)
def test_find_gives_no_links_to_a_program_that_opens_them(command: str, runs: str) -> None:
    found = judge(command, rules(["find", "wc", "cat", "ls"]), cwd="/w", roots=["/w"])
    assert found.plan is not None, found.why
    words = " ".join(word.text for word in stage_of(found.plan.steps).words)
    assert re.sub(r"\( (?:! -i(?:name|path) (?:copy of )?\S+ )+(-exec .*? [+]) \)", r"\1", words) == runs


@pytest.mark.spec("C8")
@pytest.mark.parametrize("command", ["find -L . -name c.py -exec cat {} +", "find . -follow -name c.py -exec cat {} +"])
def test_find_that_follows_links_gives_nothing_to_a_program_that_shows_content(command: str) -> None:
    found = judge(command, rules(["find", "cat"]), cwd="/w", roots=["/w"])
    assert (found.decision, found.why) == ("ask", "`find`: it follows links, which may lead to secrets.")


@pytest.mark.parametrize(
    ("command", "runs"),
    [
        ("grep -R R .", "grep -r R ."),
        ("grep -nRi R .", "grep -nri R ."),
        ("grep -R -eR .", "grep -r -eR ."),
        ("grep -R x -- R", "grep -r x -- R"),
        ("grep -R --directories=skip x .", "grep -r --directories=skip x ."),
        ("grep --dereference-rec x .", "grep --recursive x ."),
        ("grep -r -e -iR .", "grep -r -e -iR ."),  # a rule for exactly this: the value is no option
        ("diff -r a b", "diff --no-dereference -r a b"),
        ("diff --recursive a b", "diff --no-dereference --recursive a b"),
        ("diff a b", "diff a b"),
        ("ls -R a", "ls -R a"),
    ],
)
def test_only_the_option_that_follows_links_is_changed(command: str, runs: str) -> None:
    found = judge(command, rules(["grep", "diff", "ls", command]), cwd="/w", roots=["/w"])
    assert found.plan is not None, found.why
    words = [word.text for word in stage_of(found.plan.steps).words]
    assert " ".join(word for word in words if not word.startswith(("--exclude", "--include=[!"))) == runs


@pytest.mark.parametrize("name", ["rg", "rgrep", "diff", "ag", "ack"])
def test_some_programs_search_every_file_they_find(name: str) -> None:
    search = examine(name, (Word(name),))
    assert search is not None
    assert walks(search)


def test_listing_folders_does_not_search_file_contents() -> None:
    listing = examine("ls", (Word("ls"), Word("-R")))
    assert listing is not None
    assert not walks(listing)


def test_a_search_that_gets_names_skips_secrets() -> None:
    found = judge("echo a | xargs grep x", rules(PROGRAMS), cwd="/w", roots=["/w"])
    assert found.plan is not None
    assert Word("--exclude=.[eE][nN][vV]") in stage_of(found.plan.steps, 1).words


@pytest.mark.parametrize(
    ("options", "kind"),
    [
        *((option, "lines") for option in ("-I{}", "-i", "--replace", "-d '\\n'", "--delimiter='\\n'")),
        *((option, "null") for option in ("-0", "--null", "-d '\\0'", "--delimiter='\\0'")),
        *((option, "words") for option in ("", "-n 1", "-r")),
    ],
)
def test_names_are_split_as_xargs_does(options: str, kind: str) -> None:
    end = "{}" if "-I" in options or "-i" in options or "replace" in options else ""
    found = judge(f"echo a b | xargs {options} grep -h x {end}", rules(PROGRAMS), cwd="/w", roots=["/w"])
    assert found.plan is not None, found.why
    assert stage_of(found.plan.steps, 1).names == kind


@pytest.mark.spec("C8")
@pytest.mark.parametrize(
    "pattern", ["*.bak", "*.old", "*~", "*.uat", "*-prod", "*_github", "*.1", "*.swp", "*#", "*_rsa", "[is]*", "*.yaml"]
)
@pytest.mark.parametrize(
    "shows",
    [
        "-exec cat {} +",
        "-exec head -n 3 {} \\;",
        "! -exec cat {} \\;",
        "-o -name '*.md' -exec cat {} +",
        "-print0 | xargs -0 cat",
        "-exec grep -h needle {} +",
    ],
)
def test_a_copy_of_a_secret_is_passed_over_whatever_its_ending(pattern: str, shows: str, tree: Path) -> None:
    command = f"find . -name '{pattern}' {shows}"
    if judge(command, rules(PROGRAMS), cwd=str(tree), roots=[str(tree)]).decision == "ask":
        return
    shown = output(command, tree)
    assert [name for name in SECRET if f"needle in {name}\n" in shown] == []


def test_a_checksum_of_a_secret_is_not_told(tree: Path) -> None:
    allowed = rules([*PROGRAMS, "md5sum"])
    for command in ("find . -type f -exec md5sum {} +", "find . -type f | xargs md5sum"):
        found = judge(command, allowed, cwd=str(tree), roots=[str(tree)])
        assert found.plan is not None, found.why
        listed = run_plan(found.plan)
        assert "a.py" in listed
        assert ".env\n" not in listed
        assert "id_rsa\n" not in listed


def test_names_that_are_passed_over_are_counted(tree: Path) -> None:
    assert "skipped: 2 name(s)" in output("echo .env .npmrc a.py | xargs grep needle", tree)
    assert "skipped" not in output("find . -name '*.py' | xargs cat", tree)


@pytest.mark.parametrize("words", ["-a list", "--arg-file=list", "-d, ", "-dx"])
def test_names_that_cannot_be_looked_at_first_ask(words: str) -> None:
    command = f"echo a | xargs {words} grep needle"
    assert judge(command, rules(PROGRAMS), cwd="/w", roots=["/w"]).decision == "ask"


@pytest.mark.parametrize("program", ["ag", "ack"])
def test_other_searches_skip_secrets(program: str, tree: Path) -> None:
    found = judge(f"{program} needle .", rules([program]), cwd=str(tree), roots=[str(tree)])
    words = [word.text for word in stage_of(found.plan.steps).words] if found.plan else []
    told = [word for word in words if "ignore" in word or words[words.index(word) - 1] == "--ignore"]
    assert len(told) >= len(secret_globs()) + len(secret_folders())
    assert words[-2:] == ["needle", "."]
    assert found.plan is not None
    assert found.plan.sweeps


@pytest.mark.parametrize("command", ["ag -u needle", "ag -a x", "ag -t x", "ag --hidden x", "rg -L x", "rg --follow x"])
def test_a_search_that_cannot_skip_secrets_needs_approval(command: str) -> None:
    assert judge(command, rules(["ag", "rg"]), cwd="/w", roots=["/w"]).decision == "ask"


def test_a_pattern_that_leaves_secrets_out_does_not_ask() -> None:
    assert judge("rg -g '!x/.env' needle", rules(["rg"]), cwd="/w", roots=["/w"]).decision == "allow"


def test_words_from_a_pipe_are_no_options_of_a_counting_program(tree: Path) -> None:
    (tree / "--files0-from=.env").write_text("x\n")
    assert "needle" not in output("find . -type f -printf '%f\\n' | xargs wc -l", tree)


def test_words_from_a_pipe_are_no_options_of_a_search(tree: Path) -> None:
    for command in (
        "echo -r --include=.env . | xargs grep needle",
        "echo --include=.env | xargs -I{} grep -h needle {} .env.example",
        "rg --files --hidden | xargs grep needle",
    ):
        (tree / "--include=.env").touch()
        (tree / "-r").touch()
        assert "needle in .env\n" not in output(command, tree)


def test_outside_a_repository_git_compares_no_folders(tree: Path) -> None:
    (tree / "empty").mkdir()
    for command in ("git diff empty sub", "git diff .env.example a.py", "cd sub && git diff key.py .env.default"):
        assert "needle" not in output(command, tree)
    assert "needle" not in output("git grep needle", tree)


def test_a_pattern_in_any_case_brings_no_secret_back(tree: Path) -> None:
    shown = output("rg --hidden --iglob '*' needle .", tree)
    assert [name for name in SECRET if f"needle in {name}\n" in shown] == []


@pytest.mark.parametrize(
    "command",
    [
        "find . -path ./node_modules -prune -o -name '*.py' -print | xargs cat",
        "find . -type d \\( -name node_modules -o -name .git \\) -prune -o -name '*.py' -print | xargs cat",
        "find . -not -path '*/x/*' -name '*.py' | grep -v test | sort -u | head -5 | xargs cat",
        "find . \\( -name '*.py' -o -name '*.md' \\) -type f -print0 | xargs -0 head -3",
        "find . -name '*.py' | xargs -d '\\n' cat",
        "find . -name '*.py' | xargs -d '\n' cat",
        "find . -name '*.py' -print0 | xargs -d '\\0' cat",
        "find . -name '*.py' | xargs -I x cat x",
        "grep -rln needle --include='*.py' . | xargs cat",
        "rg -l needle | xargs cat",
        "rg --files | xargs cat",
        "rg --files-with-matches needle | xargs cat",
        "rg --files-without-match nothing | xargs cat",
        "grep -rL nothing . | xargs cat",
        "grep -r --files-with-matches needle . | xargs cat",
        "grep -r --files-without-match nothing . | xargs cat",
        "grep -Rl needle . | xargs cat",
        "grep --recursive -l needle . | xargs cat",
        "egrep -rl needle . | xargs cat",
        "find -L . -name '*.py' | xargs cat",
        "find -name '*.py' -newer /etc/passwd | xargs cat",
        "find . -iname '*.PY' | xargs cat",
        "find . -readable -name '*.py' | xargs cat",
        "find . -name '*.md' -or -name '*.py' | xargs cat",
        "find . -name '*.md' , -name '*.py' | xargs cat",
        "find . -name .env , -name '*.py' | xargs cat",
        "find . -name '*.py' -print -o -name .env | xargs cat",
        "find . -name '*.py' -name '*a*' | xargs cat",
        "find . -name '*.py' -a -name '*.*' -o -name b.py | xargs cat",
        "find . ! ! -name '*.py' | xargs cat",
        "find . ! \\( ! -name '*.py' ! -name '*.md' \\) | xargs cat",
        "find . " + "\\( " * 40 + "-name a.py" + " \\)" * 40 + " | xargs cat",
        "find . -name '*.py' -exec grep -h -e + -e needle {} +",
    ],
)
def test_names_of_ordinary_files_are_passed_on(command: str, tree: Path) -> None:
    assert "needle in a.py" in output(command, tree)


@pytest.mark.spec("C8")
@pytest.mark.parametrize(
    "command",
    [
        "find . -type f | xargs cat",
        "find . -name '*' | xargs cat",
        "find . -name '*.py' -o -type f | xargs cat",
        "find . -not -name '*.py' | xargs cat",
        "find . ! -name '*.py' | xargs cat",
        "find . -not \\( -name '*.py' \\) | xargs cat",
        "find . -name '*.p[ye][!x]' | xargs cat",
        "find . -name config | xargs cat",
        "find . -name '*env*' | xargs cat",
        "find . -name '*.py' -printf '.env' | xargs cat",
        "find . -name '.envx' | head -c 6 | xargs cat",
        "find . -name 'x.envx' | grep -o '.env' | xargs cat",
        "find . -name '*.py' | sort list | xargs cat",
        "find . -name '*.py' | sort < list | xargs cat",
        "find . -name '*.py' | cat | xargs cat",
        "find . -name '*.py' | xargs -a list cat",
        "find . -name nv | xargs -I{} cat .e{}",
        "find . -name nv | xargs -i cat .e{}",
        "find . -name nv | xargs -I x cat .ex",
        "find . -type f | xargs grep -r needle",
        "find . -type f | xargs grep -R needle",
        "find . -type f -exec grep -r needle {} +",
        "find . | xargs sort",
        "find . -type f | xargs grep --recursive needle",
        "find . -type f | xargs grep --dereference-recursive needle",
        "find . -type f | xargs rgrep needle",
        "find . -type f -exec diff {} x \\;",
        "find . -type f -exec rg needle {} \\;",
        "grep -r --include=.env needle .",
        "find . -type f | xargs rg needle",
        "find . -type f | xargs -I{} wc {}",
        "cat list | xargs cat",
        "find . -type f -exec cat {} +",
        "find . -exec cat {} \\; -name '*.py'",
        "find . -name '*.py' -o -exec cat {} +",
        "find . -name '*.py' -exec cat .e{} \\;",
        "find . -name '*.py' -exec cat .env \\;",
        "find . -name '*.py' -exec cat {}",
        "find . -name '*.py' -exec cat {} \\; -exec rm {} \\;",
        "find . -name '*.py' -exec cat {} \\; -delete",
        "find . -name '*.py' -exec git log {} +",
        "find . -name '*.py' -exec sort -o {} {} \\;",
        "find . -name '*.py' -exec xargs cat \\;",
        "find . -name '*.py' -execdir cat {} +",
        "find . -name '*.py' -exec mytool {} +",
        "find . -name '*.py' -exec find . -delete \\;",
        "find . -name '*.py' -exec grep -r needle . \\; -fprint x",
        "find . -name '*.py' -exec wc --files0-from=.env {} +",
        "git ls-files | xargs head",
        "find . -name '\\.env' | xargs cat",
        "find . -name '\\.env' -exec cat {} +",
        "find . -name '[^a]env' -exec cat {} +",
        "find . -name '[[:punct:]]env' | xargs cat",
        "find . -name '*production*' | xargs cat",
        *(f"find . -name '*.{kind}' | xargs cat" for kind in ("local", "production", "prod", "staging")),
        *(f"find . -name '*.{kind}' | xargs cat" for kind in ("development", "dev", "test")),
        *(f"find . -name '?.{kind}' | xargs cat" for kind in ("p[e]m", "k[e]y", "p[1]2", "p[f]x")),
        *(f"find . -name '{name}' | xargs cat" for name in ("ke?", "cred*.json", "?_histor?", "kcor?", "confi?")),
        "find . -name 'e?viron' | xargs cat",
        "find . -name .env -prune -o -name '*.py' | xargs cat",
        "find . \\( -name .env -prune -o -name a \\) -print | xargs cat",
        "find . -name .env -print -prune -o -name '*.py' -print | xargs cat",
        "find . -print -name '*.py' | xargs cat",
        "find . -print0 -name '*.py' | xargs -0 cat",
        "find . -print -prune -exec cat {} +",
        "find . -name '*.py' , -print | xargs cat",
        "find . -name '*.py' -ls | xargs cat",
        "find /proc -name environ | xargs cat",
        "find . -name environ | xargs cat",
        "find /home/ann/.ssh -name github | xargs cat",
        "find ~/.config/gh -name '*.yml' -exec cat {} +",
        "find $HOME -name '*.yml' -exec cat {} +",
        "find .. -name '*.py' | xargs cat",
        "cd .. && find . -name '*.py' | xargs cat",
        "find . -name '*.py' | xargs -d/ cat",
        "find . -name '*.py' | xargs --delimiter=e cat",
        "find . -name '*.py' | grep -l --label=.env x | xargs cat",
        "find . -name '*.py' | grep -A1 --group-separator=.env x | xargs cat",
        "grep -rl --label=.env needle . | xargs cat",
        "grep -rlc needle . | xargs cat",
        "rg -LIN needle list | xargs cat",
        "rg -l --json needle | xargs cat",
        "rg -l --passthru needle | xargs cat",
        "rg --files --path-separator x | xargs cat",
        "grep -rl needle /home/ann/.config | xargs cat",
        "find . -type f | xargs -I{} grep needle {} -h",
        "find . -name '*.py' -o " + "\\( " * 60 + "-name y" + " \\)" * 60 + " | xargs cat",
        "find . " + "\\( " * 41 + "-name a.py" + " \\)" * 41 + " | xargs cat",
        "find . " + "\\( " * 400 + "-name a.py" + " \\)" * 400 + " | xargs cat",
        "find . -exec \\;",
        "find . -name '*.py' -exec awk '{print}' {} +",
        "find . -name '*.py' -exec git --version \\;",
        "find . -name '*.py' -exec make {} \\;",
        "find . -name '*.py' -exec touch {} \\;",
        "find . -name '*.py' -exec find {} \\;",
        "find -L | xargs cat",
        "find . | xargs cat",
        "find . -name | xargs cat",
        "find . -name '*.py' \\) | xargs cat",
        "find . -name '*.py' x y | xargs cat",
        "find . -name '*.py' -or -name .env | xargs cat",
        "find . \\( -name '*.py' | xargs cat",
        "find . -name '*.py' -o -name .env | xargs cat",
        "find . -name .env -o -name '*.py' | xargs cat",
        "find . ! \\( ! -name '*.py' ! -name .env \\) | xargs cat",
        "find . ! \\( ! -name .env ! -name '*.py' \\) | xargs cat",
        "find . -name '.x*' | xargs cat",
        "find . .. -name '*.py' | xargs cat",
        "find ./.ssh -name x | xargs cat",
        "cd .. && find -name '*.py' | xargs cat",
        "find . -name '*.py' | grep -v -c x | xargs cat",
        "find . -name '*.py' | mytool | xargs cat",
        "mytool | xargs cat",
        "echo a | xargs cat",
        "grep -rl needle a* | xargs cat",
        "rg -l needle a* | xargs cat",
        "grep -rn needle . | xargs cat",
        "grep -l needle a | xargs cat",
        "git grep --no-index needle",
        "git grep --untracked needle",
        "git diff --no-index . other",
        "git diff /tmp/empty .",
        "git diff -- ../empty sub",
        "git diff sub/../../empty sub",
        "git diff ~/empty .",
        "git diff $HOME .",
        "git diff *",
    ],
)
def test_names_that_may_be_those_of_secrets_ask(command: str) -> None:
    allow = [*PROGRAMS, "git ls-files", "git grep", "git diff", "mytool", "awk", "make", "touch", "cd"]
    found = judge(command, rules(allow), cwd="/w", roots=["/w"])
    assert found.decision == "ask"
    assert not found.why.startswith("No rule")


@pytest.mark.parametrize("name", [*SECRET, *PLAIN])
def test_the_globs_say_what_the_list_says(name: str) -> None:
    from fnmatch import fnmatchcase

    parts = name.split("/")
    by_globs = any(fnmatchcase(parts[-1].lower(), glob) for glob in secret_globs()) or bool(
        {*parts} & {*secret_folders()}
    )
    assert by_globs == (why_secret(parts) is not None)
    assert (re.search(secret_pattern(), f"/w/{name.lower()}") is not None) == by_globs


def test_a_name_from_a_pipe_is_looked_at_where_it_leads_with_its_dots(tree: Path, tmp_path: Path) -> None:
    tokens = tmp_path / "home" / ".config" / "gh"
    (tokens / "deep").mkdir(parents=True)
    (tokens / "hosts.yml").write_text("needle in a token\n")
    (tree / "link").symlink_to(tokens / "deep")
    assert output("echo a.py | xargs grep -h needle", tree) == "needle in a.py\n"
    assert "token" not in output("echo link/../hosts.yml | xargs grep -h needle", tree)


def test_a_user_without_a_name_makes_no_other_word(tree: Path) -> None:
    assert output("echo $USER", tree) == f"{os.getuid()}\n"


@pytest.mark.spec("C8")
@pytest.mark.parametrize(("option", "decision"), [("", "allow"), ("-d ,", "ask"), ("-a list", "ask")])
def test_parts_of_names_and_names_from_elsewhere_are_not_those_of_the_pipe(option: str, decision: str) -> None:
    command = f"find . -name '*.py' | xargs {option} -I{{}} wc {{}}"
    assert judge(command, rules(["find", "xargs", "wc"]), cwd="/w", roots=["/w"]).decision == decision
