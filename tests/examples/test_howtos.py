"""The how-to pages work as written."""

import re
from pathlib import Path
from textwrap import dedent

import pytest

from support.newcomer import ROOT, SECONDS, Newcomer

pytestmark = pytest.mark.timeout(2 * SECONDS)


@pytest.fixture
def newcomer(tmp_path: Path) -> Newcomer:
    return Newcomer(tmp_path)


def test_a_newcomer_adds_a_tool_by_the_page_and_the_model_can_call_it(newcomer: Newcomer) -> None:
    newcomer.follows("add-a-tool.md")
    newcomer.declares_tools()
    tested = newcomer.tests("tests/tools/test_days_between.py")
    assert tested.code == 0 and "2 passed" in tested.out, tested.out
    used = newcomer.runs("assent", "-m", "scripted:scenario.json", "-p", "How long?", "-o", "stream-json")
    assert used.code == 0, used.err
    (finished,) = used.of_type("call.finished")
    assert finished["result"]["response"] == {"output": "38 days"}


def test_a_newcomer_adds_a_provider_by_the_page_and_it_answers(newcomer: Newcomer) -> None:
    newcomer.follows("add-a-provider.md")
    tested = newcomer.tests("tests/models/test_echo.py")
    assert tested.code == 0 and "1 passed" in tested.out, tested.out
    used = newcomer.runs("assent", "-m", "echo:", "-p", "Is anyone there?")
    assert (used.code, used.out) == (0, "Is anyone there?\n"), used.err


def test_the_code_on_the_page_about_front_ends_is_that_of_the_example() -> None:
    """The example itself is run by tests/app/test_minimal_front_end.py."""
    page = (ROOT / "docs/howto/add-a-front-end.md").read_text(encoding="utf-8")
    example = (ROOT / "examples/minimal_front_end.py").read_text(encoding="utf-8").splitlines()
    blocks = re.findall(r"^```python\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    assert blocks
    for block in blocks:
        size = len(block.splitlines())
        excerpts = {dedent("\n".join(example[at : at + size])) for at in range(len(example))}
        assert block.rstrip("\n") in excerpts, block
