"""Out of the box only what reads inside the workspace runs without a question, wherever a `cd` may have led."""

import os
from pathlib import Path

import pytest

from assent.approval import ExecDetails
from assent.plan import Plan, Stage, Step, Word
from assent.policy.action import Action
from assent.policy.built_in import stays_inside
from assent.policy.cwd_tracking import value, with_folders
from assent.policy.globs import path_matches, text_matches
from assent.policy.policy import Policy
from assent.policy.shell import judge, rules
from assent.policy.shell.reader import read
from assent.policy.symlink_checks import secret_behind
from assent.policy.target_checks import write_behind
from support.plans import stage_of


def ruling(text: str, directory: str, *roots: str) -> str:
    details = ExecDetails(command=text, roots=(), directory=directory, risk="high", risk_reason="")
    action = Action(tool="run_shell_command", args={"command": text}, details=details, main=text, paths=("/w/",))
    return Policy(roots=roots).judge(action).ruling


def plan(text: str, directory: str = "/w") -> Plan:
    return Plan(steps=read(text), cwd=directory, roots=("/w",))


@pytest.mark.spec("C7")
@pytest.mark.parametrize(
    "text",
    [
        *(
            "ls",
            "pr -t a",
            "ls a",
            "ls .",
            "cat a/b",
            "ls /w",
            "ls /w/a",
            "ls /v/a",
            "wc -l < a",
            "ls --color=auto",
            "cut -d= -f1 a",
        ),
        *(
            "cd a && cat b",
            "cd a && cat ../b",
            "cd /w/a && cat ../b",
            "cd a; cat b",
            "cd a && cd .. && ls",
            "cd a | ls",
        ),
        *("cd a || cat b", "grep -r x .", "find . -name x", "find . -type f -name '*.py' -exec wc {} +", "head -c5 a"),
        *("git log -- a", "ls -I x", "du -h a", "tree -a", "rg x", "egrep -r x a", "fgrep -r x a"),
    ],
)
def test_what_reads_inside_the_workspace_is_allowed(text: str) -> None:
    assert ruling(text, "/w", "/w", "/v") == "allow"


@pytest.mark.parametrize("search", ["grep -R x .", "grep --dereference-recursive x .", "egrep -R x .", "fgrep -R x ."])
def test_a_search_that_would_follow_links_runs_as_one_that_does_not(search: str) -> None:
    plan = judge(search, rules(["grep", "egrep", "fgrep"]), cwd="/w", roots=["/w"]).plan
    assert ruling(search, "/w", "/w") == "allow"
    assert plan is not None
    words = {word.text for word in stage_of(plan.steps).words}
    assert words & {"-r", "--recursive"} and not words & {"-R", "--dereference-recursive"}


@pytest.mark.parametrize("tests", ["-name '*.py'", "-type d", "-name f", "-xtype f", ""])
def test_found_files_are_opened_unless_they_are_links(tests: str) -> None:
    command = f"find . {tests} -exec wc {{}} +"
    plan = judge(command, rules(["find", "wc"]), cwd="/w", roots=["/w"]).plan
    assert ruling(command, "/w", "/w") == "allow"
    assert plan is not None
    assert "! -type l ! -type p" in " ".join(word.text for word in stage_of(plan.steps).words)


@pytest.mark.spec("C8")
@pytest.mark.parametrize(
    "text",
    [
        *("ls /", "ls ..", "ls /wx", "cat a ../b", "cat /etc/passwd", "ls ~", "ls $HOME", "wc -l < ../x", "ls a ~/x"),
        *("cd", "cd && ls", "cd .. && ls", "cd -P a && ls", "cd a && cat ../../b", "cd /w/a && cat ../../b"),
        *("cd a; cat < ../x", "cd a | cat < ../x", "cd a || cat < ../x", "cd a && ls; cat < ../x"),
        *("cd a || cd b && cat < ../../x", "cd a/b || cd c && cat < ../../x"),
        *("ls -L a", "ls --dereference a", "du -L a", "du --dereference a", "tree -l", "find -L .", "find . -follow"),
        *("rg -L x", "rg --follow x", "ls $PWD/x", "cat $USER", "cat a/$USER"),
        *("diff --from-file=/etc/passwd a", "diff --from-file=../x a", "date -r/etc/passwd", "ls -I=/etc", "ls -I../x"),
    ],
)
def test_a_command_that_may_read_outside_needs_approval(text: str) -> None:
    assert ruling(text, "/w", "/w", "/v") == "ask"


def test_a_folder_inside_does_not_make_its_parent_one() -> None:
    assert ruling("cd /w && cat < ../x", "/w/a", "/w") == "ask"
    assert ruling("cd .. && cat < x", "/w/a", "/w") == "allow"


@pytest.mark.spec("C8")
@pytest.mark.parametrize("text", ["cd sub | cat n", "cd no; cat n", "cd no || cat n", "cd && cat n", "cd ~ && cat n"])
def test_a_link_to_a_secret_is_looked_for_wherever_the_command_may_run(
    text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / ".env").touch()
    (tmp_path / "n").symlink_to(".env")
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "n").touch()
    directory = str(tmp_path / "sub" if "~" in text or text == "cd && cat n" else tmp_path)
    found = judge(text, rules(["cd", "cat"]), cwd=directory, roots=[str(tmp_path)])
    assert found.plan is not None
    assert secret_behind(found.plan) == f"`n` leads to {tmp_path}/.env, which may hold secrets"


def test_words_are_looked_behind_as_they_will_be_expanded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USER", "ann")
    (tmp_path / ".env").touch()
    for name in ("n", "ann", "[x]a", "long"):
        (tmp_path / name).symlink_to(".env")
    (tmp_path / "plain").touch()
    seen = {
        text: secret_behind(plan(text, str(tmp_path))) is not None
        for text in (
            *("diff --from-file=n a", "date -fn", "date -uflong", "date --file=$PWD/n", "diff -- n a"),
            *("cat ~/n", "cat $HOME/n", "cat $PWD/n", "cat $USER", "cat $HOME/?", "cat '[x]'*", "cat < n", "cat *"),
            *("cat ~/plain", "cat pl*", "ls n", "cat no", "cat '?'", "cat [p]lain", "wc ~/n"),
        )
    }
    assert [text for text, found in seen.items() if not found] == [
        *("cat ~/plain", "cat pl*", "ls n", "cat no", "cat '?'", "cat [p]lain", "wc ~/n")
    ]


def test_too_many_matches_are_not_looked_through(tmp_path: Path) -> None:
    for number in range(2_001):
        (tmp_path / str(number)).touch()
    why = secret_behind(plan("cat *", str(tmp_path)))
    assert why == "`*` matches more than 2000 files, too many to check for secrets"
    (tmp_path / "0").unlink()
    assert secret_behind(plan("cat *", str(tmp_path))) is None


# --- folders ---


@pytest.mark.parametrize(
    ("text", "folders"),
    [
        ("ls", ["/w"]),
        ("cd a && ls", ["/w/a"]),
        ("cd /b && ls", ["/b"]),
        ("cd a && cd .. && ls", ["/w"]),
        ("/usr/bin/cd a && ls", ["/w"]),
        ("cd -P a && ls", ["/w/a"]),
        ("cd a -P && ls", ["/w/a"]),
        ("cd -P && ls", ["/home/ann"]),
        ("cd a | ls", ["/w"]),
        ("cd a | cat && ls", ["/w"]),
        ("cd a; ls", ["/w", "/w/a"]),
        ("cd a || ls", ["/w", "/w/a"]),
        ("cd a && pwd; ls", ["/w", "/w/a"]),
        ("cd a || cd b && ls", ["/w", "/w/a", "/w/b", "/w/a/b"]),
        ("cd a && cd b; cd c && ls", ["/w/c", "/w/a/c", "/w/a/b/c"]),
        ("cd ~ && ls", ["/home/ann"]),
        ("cd && ls", ["/home/ann"]),
        ("cd $PWD/a && ls", ["/w/a"]),
    ],
)
def test_a_command_runs_where_the_folders_before_it_may_have_led(
    text: str, folders: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", "/home/ann")
    *_, (_, last) = with_folders(plan(text))
    assert list(last) == folders


def test_with_too_many_folders_none_is_known() -> None:
    often = ";".join(f"cd {number}" for number in range(6)) + "; cat x"
    *_, (_, last) = with_folders(plan(often))
    assert last == ()
    assert not stays_inside(plan(often), ("/w",))
    assert secret_behind(plan(often)) == "it changes its folder too often to check its file names for secrets"
    fewer = ";".join(f"cd {number}" for number in range(5)) + "; cat x"
    *_, (_, last) = with_folders(plan(fewer))
    assert len(last) == 32
    assert stays_inside(plan(fewer), ("/w",))


# --- globs ---


@pytest.mark.parametrize(
    ("glob", "path", "matches"),
    [
        *(("a", "a", True), ("a", "b", False), ("a", "", False), ("", "", True), ("", "a", False), ("a", "ab", False)),
        *(
            ("*.py", "a.py", True),
            ("*.py", ".py", True),
            ("*.py", "x/a.py", False),
            ("a*", "a", True),
            ("a*", "a/b", False),
        ),
        *(("?", "a", True), ("?", "", False), ("?", "/", False), ("?", "ab", False), ("a?c", "abc", True)),
        *(
            ("**", "a/b", True),
            ("a/**", "a/b/c", True),
            ("a/**", "b/c", False),
            ("**/x", "x", True),
            ("**/x", "a/b/x", True),
        ),
        *(("**/x", "ax", False), ("a/**/b", "a/b", True), ("a/**/b", "a/x/y/b", True), ("a/**/b", "ab", False)),
        *(("**/a/**/b", "x/a/y/b", True), ("**/a/**/b", "a/b", True), ("a**", "a/b", True), ("[a]", "a", False)),
        *(("*a*b", "xaxb", True), ("*a*b", "xaxbx", False), ("**a", "x/ya", True)),
    ],
)
def test_a_glob_matches_whole_paths(glob: str, path: str, *, matches: bool) -> None:
    assert path_matches(glob, path) is matches


@pytest.mark.parametrize(
    ("glob", "text", "matches"),
    [
        *(
            ("a*", "a/b c", True),
            ("*", "", True),
            ("a", "a", True),
            ("a", "b", False),
            ("a?", "ab", True),
            ("a?", "a", False),
        ),
        *(("*b", "a/b", True), ("a*c", "abcd", False)),
    ],
)
def test_in_a_text_a_star_matches_anything(glob: str, text: str, *, matches: bool) -> None:
    assert text_matches(glob, text) is matches


def test_a_plan_without_any_command_looks_nowhere() -> None:
    empty = Plan(steps=(), cwd=os.sep, roots=("/w",))
    assert stays_inside(empty, ("/w",))
    assert secret_behind(empty) is None
    assert stays_inside(Plan(steps=(Step("", (Stage(words=(Word("ls"),)),)),), cwd="/w", roots=("/w",)), ("/w",))


def test_without_a_home_and_a_name_they_stand_for_the_root_and_the_number(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("HOME", raising=False)
    monkeypatch.delenv("USER", raising=False)
    assert [value("home", "~", "/w"), value("variable", "HOME", "/w")] == ["/", "/"]
    assert value("variable", "USER", "/w") == str(os.getuid())


@pytest.mark.spec("C8")
def test_a_wildcard_is_looked_through_for_secrets_or_asks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("ab", "ac"):
        (tmp_path / name).touch()
    assert secret_behind(plan("cat a*", str(tmp_path))) is None
    monkeypatch.setattr("assent.policy.symlink_checks._MAX_MATCHES", 1)
    assert "too many" in (secret_behind(plan("cat a*", str(tmp_path))) or "")
    (tmp_path / "id_rsa").touch()
    assert "secrets" in (secret_behind(plan("cat i*", str(tmp_path))) or "")


def test_nothing_is_behind_a_start_outside_or_a_copy_of_nothing() -> None:
    assert secret_behind(plan("find /etc")) is None
    assert write_behind(plan("cp --help")) is None


@pytest.mark.spec("C8")
def test_diff_of_folders_opens_the_links_in_them(tmp_path: Path) -> None:
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
    (tmp_path / ".env").touch()
    assert secret_behind(plan("diff one two", str(tmp_path))) is None
    (tmp_path / "two" / "notes").symlink_to(tmp_path / ".env")
    assert "secrets" in (secret_behind(plan("diff one two", str(tmp_path))) or "")


@pytest.mark.spec("I3")
@pytest.mark.parametrize(
    "text",
    ["git -C nested log -p", "cd nested && git status", "git -C nested diff HEAD", "cd nested && git show | head"],
)
def test_a_repository_that_leads_out_of_the_workspace_asks(tmp_path: Path, text: str) -> None:
    root, outside = tmp_path / "work", tmp_path / "outside"
    for git in (root / "nested" / ".git", outside / ".git"):
        (git / "objects" / "info").mkdir(parents=True)
        (git / "refs").mkdir()
        (git / "HEAD").write_text("ref: refs/heads/main\n")
        (git / "config").write_text("")
    assert ruling(text, str(root), str(root)) == "allow"
    (root / "nested/.git/objects/info/alternates").write_text(f"{outside}/.git/objects\n")
    assert ruling(text, str(root), str(root)) == "ask"
    (root / "nested/.git/objects/info/alternates").unlink()
    (root / "nested/.git/config").write_text(f"[core]\n\tworktree = {outside}\n")
    assert ruling(text, str(root), str(root)) == "ask"
    (root / "nested/.git/config").write_text("[core]\n\tworktree = ../../nested\n")
    assert ruling(text, str(root), str(root)) == "allow"


@pytest.mark.spec("C7")
@pytest.mark.parametrize(
    "text",
    [
        *("cat /proc/cpuinfo | head -5", "grep -c processor /proc/cpuinfo", "head -3 /proc/meminfo /proc/loadavg"),
        *("cat /etc/os-release", "cat /sys/fs/cgroup/memory.max", "wc -l < /proc/cpuinfo", "cat /proc/../proc/version"),
        *("ldd /bin/ls", "ldd /usr/bin/git | grep libc", "file /bin/ls", "head -5 /usr/include/stdio.h"),
        *("yes | head -2", "yes no | head -1", "man ls | head", "man 3 printf", "man -w ls"),
        *("git check-ref-format --branch main", "git sparse-checkout list", "echo x | git stripspace"),
    ],
)
def test_reading_facts_about_the_machine_needs_no_rule(text: str) -> None:
    assert ruling(text, "/w", "/w") == "allow"


@pytest.mark.spec("C8")
@pytest.mark.parametrize(
    "text",
    [
        *("cat /proc/self/environ", "cat /proc/1/environ", "cat /proc/cmdline", "cat /proc/kcore", "cat /proc/*info"),
        *("cat /proc/cpuinfo/../self/environ", "ls /proc", "grep -r x /proc", "cat /proc/version /etc/passwd"),
        *("cat /etc/passwd", "cat /etc/shadow", "cat /etc/*-release", "cat /etc/hosts", "find /usr/bin", "ls /usr/lib"),
        *("cat /usr/local/bin/x", "cat /sys/kernel/debug/x", "cat /sys/devices/system/cpu/../../../kernel/debug/x"),
        *("ldd ./x", "ldd /tmp/x", "ldd x", "ldd /bin/../w/x", "ldd /bin/*"),
        *("man ./x", "man -P ./evil ls", "man -l x", "man -H./evil ls", "MANPAGER=./x man ls", "man -M . ls"),
        *("echo x > /proc/sys/vm/swappiness", "tee /proc/sys/kernel/hostname", "cp /bin/ls x", "yes > x"),
        *("git sparse-checkout set x", "git sparse-checkout disable", "git submodule update --init"),
        *("git stripspace -x", "git check-ref-format > x"),
    ],
)
def test_reading_more_than_such_facts_asks(text: str) -> None:
    assert ruling(text, "/w", "/w") == "ask"
