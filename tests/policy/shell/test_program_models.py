"""The program models are whole: the index is current, every name in them means something."""

import json
import tomllib
from pathlib import Path

import pytest

from assent.policy.shell import judge, program_models, rules
from assent.policy.shell.checks import CHECKS
from assent.policy.shell.program_models import ProgramModel

_FOLDER = Path(program_models.__file__).parent / "programs"


def _all(one: ProgramModel) -> list[ProgramModel]:
    return [one, *(inner for sub in one.sub.values() for inner in _all(sub))]


def test_the_index_names_the_file_of_every_program() -> None:
    found = {name: file.stem for file in _FOLDER.glob("*.toml") for name in tomllib.loads(file.read_text())}
    assert json.loads((_FOLDER / "index.json").read_text()) == found


@pytest.mark.parametrize("name", program_models.names())
def test_a_model_refers_only_to_what_exists(name: str) -> None:
    found = program_models.model(name)
    assert found is not None
    for one in _all(found):
        assert one.check == "" or one.check in CHECKS
        assert one.kind not in ("shell", "wrapper") or (one.wrapper is not None and not one.sub)
        assert all(group in found.groups for group in one.uses)
        assert one.same == "" or program_models.model(one.same) is not None
        lists = (one.flags, one.values, one.optional, one.reads, one.writes, one.changes, one.executes)
        assert all(option.startswith("-") for line in lists for option in line.split())
        roles = {role.rstrip("*") for role in one.operands.split()}
        assert roles <= {"read", "write", "text", "item", "runs", "script", "dir"}
        assert "write" not in roles or one.effect == "write"
        assert one.wrapper is None or one.wrapper.skip in (0, 1)
        assert one.wrapper is None or not one.wrapper.trusted or one.wrapper.payload == "argv", (
            "else nobody looks at it"
        )
        assert one.writes == "" or one.effect in ("read", "write")
    program_models.options((name,), found)


def test_only_the_needed_file_is_read() -> None:
    program_models.family.cache_clear()
    program_models.model.cache_clear()
    program_models.model("ls")
    assert program_models.family.cache_info().currsize == 1


@pytest.mark.parametrize(
    "name", [name for name in program_models.names() if (m := program_models.model(name)) and m.kind == "shell"]
)
def test_no_shell_is_allowed_by_its_name(name: str) -> None:
    for command in (name, f"{name} x", f"{name} -c x", f"echo x | {name}"):
        assert judge(command, rules([name, "echo"]), cwd="/w", roots=["/w"]).decision == "ask"


def _options(use: str) -> list[tuple[str, str]]:
    rows: list[tuple[str, str]] = []
    for name in program_models.names():
        found = program_models.model(name)
        if found is not None and not found.sub and found.kind == "program":
            rows += [(name, option) for option, kind in program_models.options((name,), found).items() if kind == use]
    return rows


@pytest.mark.spec("C8")
@pytest.mark.parametrize("use", ["execute", "change", "write"])
def test_an_option_that_runs_or_writes_asks_in_every_spelling(use: str) -> None:
    for name, option in _options(use):
        spellings = [
            f"{name} {option} x",
            f"{name} {option}=x",
            f"{name} a {option} x",
            f"{name} '{option}' x",
        ]
        if not option.startswith("--") and len(option) == 2:
            spellings += [f"{name} {option}x", f"{name} -{option[1]}"]
        for command in spellings:
            found = judge(command, rules([name]), cwd="/w", roots=["/w"])
            assert found.decision == "ask", command


@pytest.mark.spec("C8")
def test_a_shortened_long_option_is_the_option_it_stands_for() -> None:
    for command in ("sort --outp=x f", "sort --compress=sh f", "sed --in-pl p f", "date --se now"):
        assert judge(command, rules([command.split()[0]]), cwd="/w", roots=["/w"]).decision == "ask"
    assert judge("sort --rev f", rules(["sort"]), cwd="/w", roots=["/w"]).decision == "allow"


def test_a_bundle_with_one_bad_letter_asks() -> None:
    for command in ("sort -ruo x f", "sed -ni p f", "tar -tvI x", "rg -iz x"):
        assert judge(command, rules([command.split()[0]]), cwd="/w", roots=["/w"]).decision == "ask"
