"""The how-to pages work as written."""

from pathlib import Path

import pytest

from support.newcomer import SECONDS, Newcomer

pytestmark = pytest.mark.timeout(2 * SECONDS)


@pytest.fixture
def newcomer(tmp_path: Path) -> Newcomer:
    return Newcomer(tmp_path)


def test_a_newcomer_adds_a_tool_by_the_page_and_the_model_can_call_it(newcomer: Newcomer) -> None:
    newcomer.follows("add-a-tool.md")
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
    used = newcomer.runs("assent", "-m", "echo:", "-p", "Is anybody there?")
    assert (used.code, used.out) == (0, "Is anybody there?\n"), used.err
