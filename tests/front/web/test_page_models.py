"""What the page shows of a real model: what it costs, and the title that a small one gives."""

import os
import re
import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import msgspec
import pytest
from playwright.sync_api import Browser, expect

from support.page import Windows, a_server, needs_browser
from support.program import Json

pytestmark = needs_browser
SETTINGS = """
small_model = "litellm:titler"
[prices."deepseek-v4-pro"]
input = 2
output = 10
cached = 0.5
[prices."litellm:titler"]
input = 1
output = 1
"""
ANSWER: Json = {
    "chunks": [{"text": "It is a bug."}],
    "usage": {"input": 1_000_000, "output": 100_000, "cached": 600_000},
}
TITLE: Json = {"chunks": [{"text": "Why the total is wrong"}], "usage": {"input": 500_000, "output": 0}}


@contextmanager
def chat_server(scenario: Path, *replies: Json) -> Generator[str]:
    """A fake that speaks chat completions, in a process of its own; its address."""
    scenario.write_bytes(msgspec.json.encode({"replies": replies}))
    process = subprocess.Popen(
        [sys.executable, "-m", "support.wire_formats", "chat", "--scenario", scenario],
        env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
        stdout=subprocess.PIPE,
        text=True,
    )
    with process:
        assert process.stdout is not None
        try:
            yield process.stdout.readline().strip()
        finally:
            process.kill()


@pytest.mark.spec("F8")
def test_the_page_shows_what_a_session_costs_and_the_title_that_it_got(browser: Browser, tmp_path: Path) -> None:
    with (
        chat_server(tmp_path / "answer.json", ANSWER) as answers,
        chat_server(tmp_path / "title.json", TITLE) as titles,
    ):
        env = {"DEEPSEEK_API_KEY": "k" * 20, "DEEPSEEK_BASE_URL": answers, "LITELLM_BASE_URL": titles}
        with a_server(has_key=False, settings=SETTINGS, env=env) as served:
            windows = Windows(served, browser)
            tab = windows.open()
            tab.begin("deepseek-v4-pro", served.project(), "why is the total wrong?")
            tab.sees("It is a bug.")
            expect(tab.page).to_have_title(re.compile("Why the total is wrong"))
            # 400,000 new, 600,000 cached and 100,000 written tokens, and 500,000 for the title
            tab.sees(re.compile(r"\$2\.60$"))
            windows.close()
