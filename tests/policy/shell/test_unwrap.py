"""Commands inside commands are found, for the question and for deny rules; what is not run is no command."""

import pytest

from assent.plan import Word
from assent.policy.shell import judge, rules
from assent.policy.shell.command_survey import MAX_BYTES, Found, survey, word
from assent.policy.shell.unwrap import MAX_COMMANDS, MAX_DEPTH, unwrap


def inner(command: str) -> tuple[str, ...]:
    return judge(command, rules(), cwd="/w", roots=["/w"]).inner


@pytest.mark.spec("C8")
@pytest.mark.parametrize(
    "command",
    [
        *(f"find . {option} rm x \\;" for option in ("-exec", "-execdir", "-ok", "-okdir")),
        *(f"fd a {option} rm x" for option in ("-x", "-X", "--exec", "--exec-batch")),
        *("fdfind a -x rm x", "find . -exec rm x + -name y", "find . -exec rm x \\; -name y"),
        *("find . -exec rm x '\\;' -name y", "find . -name y -exec rm x"),
        *(
            "cmd.exe rm x",
            "env rm x",
            "env A=1 rm x",
            "timeout 5 rm x",
            "/usr/bin/env rm x",
            "./ENV rm x",
            "xargs rm x",
        ),
        *("eval rm x", "ssh host rm x", "docker exec box rm x", "watch rm x", "watch -c rm x", "watch -n 1 rm x"),
        *("bash -c 'rm x'", "bash -xc 'rm x'", "su -c 'rm x' ann", "su --command='rm x'", "npx --call 'rm x'"),
        *("parallel ::: ls 'rm x'", "parallel {} x ::: ls rm", "parallel '{1} x' ::: rm", "parallel 'rm x; ls' ::: y"),
        *("hyperfine ls 'rm x'", "concurrently ls 'rm x'", "sort --compress-program='rm x' f"),
        *("echo $(rm x)", "echo `rm x`", "diff <(rm x) y", "tee >(rm x)", "cat <<E\n$(rm x)\nE", "cat <<E\n`rm x`\nE"),
        *("cat <<-E\n\t$(rm x)\n\tE", "echo $(if ls; then rm x; fi)"),
        *("cat <<'E'\nE\necho $(rm x)", "sudo bash -c 'env rm x'", "echo $(echo $(rm x))"),
    ],
)
def test_a_command_inside_another_is_found(command: str) -> None:
    assert "rm x" in inner(command)


_FILE_SHELLS = "bash sh zsh dash ksh ash fish csh tcsh rbash su runuser script"


@pytest.mark.parametrize(
    "command",
    [
        *(
            "ls rm",
            "mytool rm x",
            "command -v rm",
            "command -V rm",
            "find . -exec \\;",
            "find . rm",
            "ssh host",
            "eval",
        ),
        *("sort --compress-program=-x f", "echo -exec rm x", "cat <<'E'\n$(rm x)\nE", "cat <<'E'\n`rm x`\nE"),
        *("cat <<E\n` `\nE", "cat <<E\n``\nE", "env", "timeout 5", "sudo -u rm", "nice"),
        *(f"{shell} rm" for shell in _FILE_SHELLS.split()),
    ],
)
def test_a_word_that_is_not_run_is_not_a_command(command: str) -> None:
    assert inner(command) == ()


def _found(text: str) -> Found:
    return Found(words=tuple(map(Word, text.split())), text=text)


def test_wrappers_are_opened_to_a_depth_and_the_result_is_marked_incomplete() -> None:
    commands, complete = unwrap([_found("nice " * MAX_DEPTH + "ls")])
    assert (len(commands), complete) == (MAX_DEPTH, True)
    commands, complete = unwrap([_found("nice " * (MAX_DEPTH + 1) + "ls")])
    assert (len(commands), complete) == (MAX_DEPTH, False)


def test_a_limited_number_of_commands_is_opened_and_the_result_is_marked_incomplete() -> None:
    assert unwrap([_found("ls")] * MAX_COMMANDS) == ((), True)
    assert unwrap([_found("ls")] * (MAX_COMMANDS + 1)) == ((), False)
    commands, complete = unwrap([_found("nice ls")] * MAX_COMMANDS)
    assert (len(commands), complete) == (MAX_COMMANDS, True)
    commands, complete = unwrap([_found("nice nice ls")] * MAX_COMMANDS)
    assert (len(commands), complete) == (MAX_COMMANDS, False)


def test_what_is_deep_but_complete_is_not_denied_for_a_mere_word() -> None:
    command = "nice " * MAX_DEPTH + "echo rm"
    assert judge(command, rules(["nice", "echo"], deny=["rm"]), cwd="/w", roots=["/w"]).decision == "allow"


# --- the second reader ---


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ("a b 'c d'", ["a b c d"]),
        ("A=1 a b", ["a b"]),
        ("a <x >y 2>&1", ["a"]),
        ("a b <<<x", ["a b"]),
        ("a <<E\nx\nE", ["a"]),
        ("a # b", ["a"]),
        ("a; b | c && d || e & f", ["a", "b", "c", "d", "e", "f"]),
        ("(a; b)", ["a", "b"]),
        ("a (b)", ["a", "b"]),
        ("{ a; }", ["a"]),
        ("if a; then b; else c; fi", ["a", "b", "c"]),
        ("while a; do b; done", ["a", "b"]),
        ("case x in y) a;; esac", ["a"]),
        ("f() { a; }", ["a"]),
        ("! a", ["a"]),
        ("[[ -f x ]]", ["[[ -f x ]]"]),
        ("[ -f x ]", ["[ -f x ]"]),
        ("export A=1", ["export A=1"]),
        ("unset A", ["unset A"]),
        ("A=1", []),
        ("a\\\nb c", ["ab c"]),
    ],
)
def test_the_second_reader_finds_every_command_with_its_words(source: str, words: list[str]) -> None:
    assert [" ".join(word.text for word in found.words) for found in survey(source).commands] == words


@pytest.mark.parametrize(
    ("source", "writes"),
    [
        ("a >x 2>y >>z &>v >|u 3>t", ("x", "y", "z", "v", "u", "t")),
        ("a <x", ()),
        ("a 2>&1", ()),
        ("a >&2", ()),
        ("a >&-", ()),
        ("a 2>&-", ()),
        ("a >$X", ("$X",)),
        ("a > $(b)", ("$(b)",)),
    ],
)
def test_the_second_reader_finds_the_files_that_are_written(source: str, writes: tuple[str, ...]) -> None:
    assert survey(source).writes == writes


def test_the_second_reader_finds_the_words_of_a_condition() -> None:
    (found,) = survey("[ -f x ]").commands
    assert [word.text for word in found.words] == ["[", "-f", "x", "]"]


def test_the_second_reader_says_what_it_did_not_understand() -> None:
    assert survey("a").complete
    assert not survey("a ((").complete
    assert survey("a " + "x" * (MAX_BYTES - 2)).complete
    assert not survey("a " + "x" * (MAX_BYTES - 1)).complete


@pytest.mark.parametrize(
    ("source", "text", "literal"),
    [
        ("a", "a", True),
        ("'a b'", "a b", True),
        ('"a b"', "a b", True),
        ('"a\\"b\\$\\c"', 'a"b$\\c', True),
        ("$'\\x72m'", "rm", True),
        ("$'\\xZZ'", "\\xZZ", True),
        ("a\\ b", "a b", True),
        ("a'b'\"c\"", "abc", True),
        ("", "", True),
        ("a$x", "a$x", False),
        ('"a$x"', '"a$x"', False),
        ("*", "*", False),
        ("a`b`c", "a`b`c", False),
    ],
)
def test_the_second_reader_knows_what_a_word_stands_for(source: str, text: str, *, literal: bool) -> None:
    assert (word(source).text, word(source).literal) == (text, literal)


@pytest.mark.spec("C8")
@pytest.mark.parametrize("rule", ["sudo ls", "nice ls", "strace ls", "timeout 5 ls"])
def test_a_rule_for_a_wrapper_does_not_say_what_it_may_run(rule: str) -> None:
    assert judge(rule, rules([rule]), cwd="/w", roots=["/w"]).decision == "ask"
    assert judge(f"{rule} -l", rules([rule]), cwd="/w", roots=["/w"]).decision == "ask"
