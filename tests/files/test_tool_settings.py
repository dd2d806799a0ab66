"""What the lists of names do not know: hidden files, configuration at the top of a project, installed packages."""

from pathlib import Path
from string import ascii_lowercase

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assent.files.tool_settings import at_top, why_setting
from assent.files.workspace import Workspace

HIDDEN = """
    .mockery.yaml .ko.yaml .mill-jvm-opts .bloop/a.json .please/plz .pdm.toml .tmuxinator.yml .runsettings .roorules
    .gem/config .pixi/envs/a .pnp.loader.mjs .never-heard-of .tool/x.py src/.hidden/app.py a/b/.local.md
    .x/.gitignore .Hidden .gitignore/x .changeset/config.json a/.keep/b.txt
"""
CONFIGURATION = """
    ko.yaml rebar.config.script Emakefile terraform.rc atlantis.yaml Cheffile airflow.cfg prefect.yaml asv.conf.json
    tup.config nimble.cfg Anchor.toml Scarb.toml Move.toml new-tool.kdl x.dhall config.json config.yaml x.xml x.lock
    x.properties x.hcl x.neon x.opts x.edn x.plist x.ini.dist x.yml.local Newfile newrc run MANIFEST.in a.spec x.env
    x.conf.rb CODEOWNERS package.cue x.TOML deploy.ron README.toml LICENSE.yml x.json.
"""
IN_FOLDERS = """
    config/app.yml conf/server.conf etc/x/y.ini config/database.yml configs/a.toml Config/App.XML conf/plain
    config/deploy/x.json vendor/bin/phpunit vendor/github.com/x/y.go third_party/bin/tool bin/console bin/rails
    jspm_packages/x.js Pods/A/b.m app/vendor/bin/x
"""
COMPILED = "lib/libfoo.so lib/libz.so.1.2 src/x.pyd a/b.PYC build/Main.class addons/x.node libs/a.jar b/tool.exe x/y.o"
ORDINARY = """
    app.py main.go lib.rs index.js index.d.ts App.tsx Main.java Program.cs app.rb index.php schema.sql util.c util.h
    x.kt server.ex Main.hs a.ml x.swift x.dart x.scala x.clj x.lua x.pl x.r x.jl x.zig x.nim x.vue x.svelte x.astro
    script.sh run.bat x.ps1 x.proto x.graphql x.asm index.html styles.css a.scss logo.svg photo.png data.csv
    rows.tsv notes.txt README.md README.rst a.adoc guide.tex LICENSE LICENSE-MIT Readme COPYING NOTICE AUTHORS
    CHANGES CHANGELOG VERSION TODO notebook.ipynb messages.po config.json.md x.toml.txt query.sql manage.py
    .gitignore .dockerignore .prettierignore .editorconfig .gitkeep .keep .nojekyll src/.gitignore src/.gitkeep
    tests/data/x.json src/locales/de.yml locale/en.json i18n/de.yaml docs/guide.md docs/data.yml src/config/a.json
    src/config.yaml src/plain a/b/Newfile config/settings.py config/routes.rb config/README.md config/locales/de.yml
    src/vendor/order.ts app/models/vendor/x.rb bin/cli.js bin/run.sh src/bin/main.rs src/bin/plain third_party/x.py
    packages/a/src/index.ts examples/data.json k8s/deployment.yaml data/rows.json static/vendor.js
"""


@pytest.mark.spec("C7")
@pytest.mark.parametrize("name", f"{HIDDEN} {CONFIGURATION} {IN_FOLDERS} {COMPILED}".split())
def test_what_a_tool_may_obey_asks_although_no_list_names_it(name: str, tmp_path: Path) -> None:
    verdict = Workspace([str(tmp_path)], str(tmp_path)).classify(name, "create")
    assert verdict.kind == "inside"
    assert verdict.runs, name


@pytest.mark.spec("C7")
@pytest.mark.parametrize("name", ORDINARY.split())
def test_source_documents_and_data_stay_ordinary(name: str, tmp_path: Path) -> None:
    verdict = Workspace([str(tmp_path)], str(tmp_path)).classify(name, "create")
    assert (verdict.kind, verdict.runs) == ("inside", "")


def test_the_reason_is_in_plain_words() -> None:
    assert why_setting(["a", ".x", "b.py"]) == ".x is hidden, and tools obey many hidden files"
    assert why_setting(["new.toml"]) == (
        "new.toml is a configuration file at the top of the project and may decide what tools run"
    )
    assert why_setting(["config", "a.yml"]) == "config/a.yml is a configuration file and may decide what tools run"
    assert why_setting(["bin", "x"]) == "bin/x is a program of the project"
    assert why_setting(["lib", "x.so"]) == "x.so is compiled code, which programs load and run"
    assert why_setting(["vendor", "x.py"]) == "vendor holds installed packages, which tools load and run"


@pytest.mark.spec("C7")
@pytest.mark.parametrize(
    "manifest", ["package.json", "Cargo.toml", "go.mod", "pom.xml", ".git", "x.csproj", "Makefile"]
)
def test_a_folder_with_a_manifest_is_a_project_of_its_own(manifest: str, tmp_path: Path) -> None:
    inner = tmp_path / "packages" / "a"
    inner.mkdir(parents=True)
    workspace = Workspace([str(tmp_path)], str(tmp_path))
    assert not workspace.classify("packages/a/new.toml", "create").runs
    (inner / manifest).touch()
    for name in ("new.toml", "newrc", "config/a.yml", "vendor/x.py", "bin/x"):
        assert workspace.classify(f"packages/a/{name}", "create").runs, name
    for name in ("index.ts", "README.md", "src/a.json", "src/vendor/x.py"):
        assert not workspace.classify(f"packages/a/{name}", "create").runs, name


def test_a_link_to_a_manifest_counts_and_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "package.json").symlink_to("/nowhere/at/all")
    assert at_top(str(tmp_path))


def test_a_folder_that_cannot_be_listed_or_has_very_many_entries(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert not at_top(str(tmp_path / "missing"))
    (tmp_path / "a.txt").touch()
    assert not at_top(str(tmp_path))
    monkeypatch.setattr("assent.files.tool_settings._MAX_ENTRIES", 0)
    assert at_top(str(tmp_path)), "it may hold a manifest"


@pytest.mark.spec("C7")
def test_another_name_by_a_link_counts_too(tmp_path: Path) -> None:
    (tmp_path / "plain").mkdir()
    (tmp_path / ".tool").symlink_to("plain")
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep" / "a.json").touch()
    (tmp_path / "new.json").symlink_to("deep/a.json")
    workspace = Workspace([str(tmp_path)], str(tmp_path))
    assert workspace.classify("plain/x.py", "write").runs
    assert workspace.classify("deep/a.json", "write").runs


_NAMES = st.text(ascii_lowercase, min_size=1, max_size=8)


@given(
    folders=st.lists(_NAMES, max_size=4),
    hidden=_NAMES,
    at=st.integers(0, 4),
    ending=st.sampled_from(("", ".py", ".md")),
)
def test_whatever_is_in_a_hidden_folder_asks(folders: list[str], hidden: str, at: int, ending: str) -> None:
    names = [*folders[:at], f".{hidden}", *folders[at:], f"x{ending}"]
    assert why_setting(names) is not None
    assert why_setting([name.upper() for name in names]) is not None


@given(name=_NAMES, ending=st.text(ascii_lowercase, min_size=1, max_size=6))
def test_an_ending_that_nobody_knows_asks_at_the_top_and_not_below(name: str, ending: str) -> None:
    assert why_setting([f"{name}.x{ending}x"]) is not None
    assert why_setting(["src", f"{name}.x{ending}x"]) is None
