"""The files around the code: links hold, the site has every page, hooks and CI call what exists."""

import re
import runpy
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted({*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("examples/**/*.md")})
MAKE_TARGETS = set(re.findall(r"^([a-z]+):.*##", (ROOT / "Makefile").read_text(), re.MULTILINE))


def parsed(name: str) -> Any:
    return yaml.safe_load((ROOT / name).read_text())


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_link_to_a_file_leads_to_one(page: Path) -> None:
    text = re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    links = [link.partition("#")[0] for link in re.findall(r"\]\((?!https?:)([^)\s]+)\)", text)]
    leads_somewhere = Path.exists if "examples" in page.parts else Path.is_file  # the site cannot link to folders
    missing = [link for link in links if link and not leads_somewhere(page.parent / link)]
    assert missing == []


def test_every_page_is_in_the_contents_of_the_site() -> None:
    contents = runpy.run_path(str(ROOT / "docs/conf.py"))["CONTENTS"]
    listed = {page for pages in contents.values() for page in pages}
    wanted = {
        str(page.relative_to(ROOT).with_suffix("")) for page in PAGES if page.parts[len(ROOT.parts)] != "examples"
    }
    assert {page for page in wanted if not page.startswith("README")} == listed


def test_hooks_call_programs_that_the_setup_installs() -> None:
    for repo in parsed(".pre-commit-config.yaml")["repos"]:
        assert repo["repo"] == "local", "nothing is fetched"
        for hook in repo["hooks"]:
            assert hook["language"] == "system"
            assert (ROOT / hook["entry"].split()[0]).exists(), hook["entry"]


def test_ci_and_the_documents_call_make_targets_that_exist() -> None:
    jobs = parsed(".github/workflows/ci.yml")["jobs"].values()
    commands = [step["run"] for job in jobs for step in job["steps"] if "run" in step]
    assert {"make check", "make test"} <= set(commands)
    named = {target for command in commands for target in re.findall(r"make ([a-z]+)", command)}
    for page in PAGES:
        named |= set(re.findall(r"`make ([a-z]+)", page.read_text(encoding="utf-8")))
    assert named - MAKE_TARGETS <= {"deploy", "install", "test"}, "docs/policy.md has examples of other projects"


def test_issue_templates_are_forms_with_names() -> None:
    forms = [path for path in (ROOT / ".github/ISSUE_TEMPLATE").glob("*.yml") if path.name != "config.yml"]
    assert forms
    for form in forms:
        content = parsed(str(form.relative_to(ROOT)))
        assert content["name"] and content["description"] and content["body"], form


def test_no_change_is_listed_twice_in_the_changelog() -> None:
    """A merge that moves lines easily leaves a copy behind."""
    begins = [line[:40] for line in (ROOT / "CHANGELOG.md").read_text().splitlines() if line.startswith("- ")]
    assert [begin for begin in set(begins) if begins.count(begin) > 1] == []
