"""Trust is bound to content: row I4."""

from pathlib import Path

import pytest

from assent.app.rule_sources import collect_rules
from assent.policy.trust import TrustStore

pytestmark = pytest.mark.spec("I4")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    path = tmp_path / "project"
    (path / ".assent").mkdir(parents=True)
    (path / ".assent" / "policy.toml").write_text('[[rule]]\ntool = "write_file"\ndecision = "allow"\n')
    return path


@pytest.fixture
def store(tmp_path: Path) -> TrustStore:
    return TrustStore(tmp_path / "home" / "trust.json")


def test_a_folder_without_configuration_needs_no_trust(tmp_path: Path, store: TrustStore):
    assert store.look(tmp_path).state == "nothing"


def test_a_new_folder_is_not_trusted_and_then_it_is(folder: Path, store: TrustStore):
    seen = store.look(folder)
    assert (seen.state, list(seen.files)) == ("untrusted", [".assent/policy.toml"])
    store.trust(folder, seen)
    assert store.look(folder).state == "trusted"
    store.forget(folder)
    assert store.look(folder).state == "untrusted"


@pytest.mark.parametrize("change", ["edit", "add", "remove", "link"])
def test_any_change_ends_the_trust(folder: Path, store: TrustStore, change: str):
    store.trust(folder, store.look(folder))
    rules = folder / ".assent" / "policy.toml"
    match change:
        case "edit":
            rules.write_text(rules.read_text() + " ")
        case "add":
            (folder / ".assent" / "hooks").write_text("x")
        case "remove":
            rules.unlink()
            (folder / ".assent" / "other").write_text("x")
        case _:
            content = rules.read_bytes()
            (folder / "elsewhere").write_bytes(content)
            rules.unlink()
            rules.symlink_to(folder / "elsewhere")
    assert store.look(folder).state == ("untrusted" if change == "link" else "changed")


def test_only_regular_files_can_be_trusted(folder: Path, store: TrustStore):
    rules = folder / ".assent" / "policy.toml"
    rules.rename(folder / "notes.toml")
    rules.symlink_to("../notes.toml")
    store.trust(folder, store.look(folder))
    assert store.look(folder).state == "untrusted"
    (folder / ".assent").rename(folder / "elsewhere")
    (folder / ".assent").symlink_to("elsewhere")
    store.trust(folder, store.look(folder))
    assert store.look(folder).state == "untrusted"


def test_a_configuration_folder_that_is_a_link_is_never_trusted(folder: Path, store: TrustStore):
    (folder / ".assent").rename(folder / "plain")
    (folder / ".assent").symlink_to("plain")
    store.trust(folder, store.look(folder))
    assert store.look(folder).state == "untrusted"


def test_a_link_to_a_folder_inside_the_configuration_is_never_trusted(folder: Path, store: TrustStore):
    (folder / "elsewhere").mkdir()
    (folder / ".assent" / "more").symlink_to("../elsewhere")
    store.trust(folder, store.look(folder))
    assert store.look(folder).state == "untrusted"


def test_what_changed_between_looking_and_trusting_is_not_trusted(folder: Path, store: TrustStore):
    seen = store.look(folder)
    (folder / ".assent" / "policy.toml").write_text("# other")
    store.trust(folder, seen)
    assert store.look(folder).state == "changed"


def test_a_damaged_store_trusts_nothing_and_the_store_is_private(folder: Path, store: TrustStore, tmp_path: Path):
    store.trust(folder, store.look(folder))
    path = tmp_path / "home" / "trust.json"
    assert path.stat().st_mode & 0o777 == 0o600
    path.write_text("not json")
    assert store.look(folder).state == "untrusted"


def test_rules_of_a_folder_allow_only_when_it_is_trusted(folder: Path, tmp_path: Path):
    env = {"ASSENT_HOME": str(tmp_path / "home")}
    assert collect_rules(env, str(folder), ["write_file"]) == ()
    TrustStore(tmp_path / "home" / "trust.json").trust(folder, TrustStore(tmp_path / "x").look(folder))
    (rule,) = collect_rules(env, str(folder), ["write_file"])
    assert (rule.ruling, rule.tier) == ("allow", "workspace")


def test_a_context_file_is_trusted_by_content_and_an_unreadable_one_does_not_count(folder: Path, store: TrustStore):
    (folder / "AGENTS.md").write_text("Be brief.\n")
    (folder / "GEMINI.md").symlink_to("/dev/null")
    assert sorted(store.look(folder).files) == [".assent/policy.toml", "AGENTS.md"]
    store.trust(folder, store.look(folder))
    (folder / "AGENTS.md").write_text("Be long.\n")
    assert (store.look(folder).state, store.look(folder).changed) == ("changed", ("AGENTS.md",))
    assert store.rules(folder).state == "trusted"
