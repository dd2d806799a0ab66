"""Custom commands: templates, arguments that mean harm, files of users and folders, and the trust they need."""

import shlex
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assent.app.custom_commands import (
    BadTemplate,
    Insert,
    Shell,
    Stopped,
    Words,
    command_name,
    expand,
    fill,
    load_custom,
    parse_template,
)
from assent.app.rule_sources import trust_store

pytestmark = pytest.mark.spec("G5")

HOSTILE = [
    "'; rm -rf ~ #",
    '"; rm -rf ~ #',
    "$(touch pwned)",
    "`touch pwned`",
    "a\nrm -rf ~",
    "}; rm -rf ~; !{id}",
    "@{/etc/passwd}",
    "{{args}}",
    "\\",
    "*",
]


# --- templates ---


def test_a_template_is_words_commands_and_files():
    assert parse_template("a !{ls -l} b @{x/y.md} c") == (
        Words("a "),
        Shell("ls -l"),
        Words(" b "),
        Insert("x/y.md"),
        Words(" c"),
    )


def test_braces_inside_a_command_must_be_balanced():
    assert parse_template("!{awk '{print $1}' f}") == (Shell("awk '{print $1}' f"),)
    with pytest.raises(BadTemplate, match="never closed"):
        parse_template("see !{ls { }")


@pytest.mark.parametrize("template", ["!{}", "@{  }"])
def test_an_empty_placeholder_is_rejected(template: str):
    with pytest.raises(BadTemplate, match="is empty"):
        parse_template(template)


@pytest.mark.parametrize("template", ['!{grep "{{args}}" .}', "!{grep '{{args}}' .}", "!{echo `cat {{args}}`}"])
def test_arguments_in_quotes_of_the_template_are_refused(template: str):
    with pytest.raises(BadTemplate, match="remove these quotes"):
        parse_template(template)


def test_quotes_that_are_closed_or_escaped_do_no_harm():
    assert parse_template("""!{grep -e "it's" {{args}} 'x'}""") and parse_template(r"!{echo \" {{args}}}")


def test_arguments_are_put_in_as_they_are_and_quoted_in_commands():
    assert fill("Fix {{args}}: !{git log {{args}}} @{docs/{{args}}}", "a b") == (
        Words("Fix a b: "),
        Shell("git log 'a b'"),
        Words(" "),
        Insert("docs/a b"),
    )


def test_arguments_without_a_place_come_at_the_end():
    assert fill("Say hello.", "to ann") == (Words("Say hello."), Words("\n\nto ann"))
    assert fill("Say hello.", "") == (Words("Say hello."),)


@pytest.mark.parametrize("args", HOSTILE)
def test_a_hostile_argument_stays_one_word_of_the_command(args: str):
    pieces = fill("!{printf %s {{args}}}", args)
    assert len(pieces) == 1 and isinstance(pieces[0], Shell)
    assert shlex.split(pieces[0].command) == ["printf", "%s", args]


@pytest.mark.parametrize("args", HOSTILE)
def test_a_real_shell_takes_a_hostile_argument_as_one_word(args: str, tmp_path: Path):
    (command,) = fill("!{printf %s {{args}}}", args)
    assert isinstance(command, Shell)
    ran = subprocess.run(["bash", "-c", command.command], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert ran.stdout == args and list(tmp_path.iterdir()) == []


@given(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=40))
def test_an_argument_cannot_add_a_placeholder(args: str):
    pieces = fill("a {{args}} !{x {{args}}}", args)
    assert [type(piece) for piece in pieces] == [Words, Shell]


async def test_what_files_and_commands_contain_is_text_and_nothing_else():
    ran: list[str] = []

    async def run(command: str) -> str:
        ran.append(command)
        return "!{rm -rf ~} @{/etc/shadow} {{args}}"

    async def read(path: str) -> str:
        return "!{curl evil} {{args}}"

    text = await expand("@{a.md} !{ls} {{args}}", "!{id}", run=run, read=read)
    assert text == "!{curl evil} {{args}} !{rm -rf ~} @{/etc/shadow} {{args}} !{id}" and ran == ["ls"]


async def test_a_refusal_stops_everything_after_it():
    ran: list[str] = []

    async def run(command: str) -> str:
        ran.append(command)
        raise Stopped("no")

    async def read(path: str) -> str:
        raise AssertionError("must not be read")

    with pytest.raises(Stopped):
        await expand("!{a} !{b} @{c}", "", run=run, read=read)
    assert ran == ["a"]


# --- files ---


def put(base: Path, name: str, text: str) -> Path:
    path = base / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


@pytest.fixture
def env(tmp_path: Path) -> dict[str, str]:
    return {"ASSENT_HOME": str(tmp_path / "home"), "HOME": str(tmp_path)}


@pytest.fixture
def own(tmp_path: Path) -> Path:
    return tmp_path / "home" / "commands"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "work"
    folder.mkdir()
    return folder


def test_folders_make_names_with_colons(own: Path, folder: Path, env: dict[str, str]):
    put(own, "hi.toml", 'prompt = "Say hi."')
    put(own, "git/commit.toml", 'prompt = "Commit."\ndescription = "Writes a commit"')
    put(own, "notes.txt", "no command")
    loaded = load_custom(env, str(folder), ())
    assert {(one.name, one.description) for one in loaded.commands} == {
        ("git:commit", "Writes a commit"),
        ("hi", "from hi.toml"),
    }
    assert loaded.problems == ()


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("a b.toml", "a_b"),
        ("git/Ünï.toml", "git:_n_"),
        ("x;rm -rf.toml", "x_rm_-rf"),
        ("a:b.toml", "a_b"),
        ("--help.toml", "help"),
        ("😀.toml", "_"),
    ],
)
def test_odd_names_become_harmless(path: str, name: str):
    assert command_name(Path(path)) == name


def test_a_bad_file_is_reported_with_its_line_and_the_others_still_work(own: Path, folder: Path, env: dict[str, str]):
    put(own, "good.toml", 'prompt = "x"')
    put(own, "syntax.toml", 'description = "d"\nprompt = oops\n')
    put(own, "missing.toml", 'description = "d"\n')
    put(own, "hole.toml", 'description = "d"\nprompt = """\nfirst\nsee !{ls\n"""\n')
    put(own, "empty.toml", 'prompt = "  "\n')
    (own / "bytes.toml").write_bytes(b'prompt = "\xff"')
    (own / "link.toml").symlink_to("/etc/passwd")
    loaded = load_custom(env, str(folder), ())
    assert [one.name for one in loaded.commands] == ["good"]
    told = {Path(problem.split(":", 1)[0]).name: problem.split(":", 2) for problem in loaded.problems}
    lines = {name: parts[1] for name, parts in told.items()}
    assert lines["syntax.toml"] == "2" and lines["hole.toml"] == "4"
    assert set(lines) == {"syntax.toml", "missing.toml", "hole.toml", "empty.toml", "bytes.toml", "link.toml"}
    assert "prompt" in told["missing.toml"][2]


def test_no_command_takes_the_name_of_a_built_in_one(own: Path, folder: Path, env: dict[str, str]):
    put(own, "quit.toml", 'prompt = "x"')
    loaded = load_custom(env, str(folder), {"quit"})
    assert loaded.commands == () and "/quit is a built-in command" in loaded.problems[0]


def test_a_folder_has_no_commands_until_it_is_trusted_as_it_is(own: Path, folder: Path, env: dict[str, str]):
    path = put(folder, ".assent/commands/build.toml", 'prompt = "Build."')
    untrusted = load_custom(env, str(folder), ())
    assert untrusted.commands == () and "assent trust" in untrusted.problems[0]
    store = trust_store(env)
    store.trust(folder, store.look(folder))
    trusted = load_custom(env, str(folder), ())
    assert [one.source for one in trusted.commands] == [str(path)] and trusted.problems == ()
    path.write_text('prompt = "Build, and !{curl evil}"')
    assert load_custom(env, str(folder), ()).commands == ()


def test_a_folder_does_not_take_the_name_of_the_users_own_command(own: Path, folder: Path, env: dict[str, str]):
    mine = put(own, "build.toml", 'prompt = "Mine."')
    put(folder, ".assent/commands/build.toml", 'prompt = "Theirs."')
    store = trust_store(env)
    store.trust(folder, store.look(folder))
    loaded = load_custom(env, str(folder), ())
    assert [one.prompt for one in loaded.commands] == ["Mine."] and str(mine) in loaded.problems[0]
