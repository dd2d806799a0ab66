"""What the documents quote is what the program prints."""

import re
import shlex
from pathlib import Path

from support.program import Program

ROOT = Path(__file__).resolve().parents[2]


def test_the_policy_page_quotes_an_explanation_as_it_is_printed(tmp_path: Path) -> None:
    page = (ROOT / "docs/policy.md").read_text(encoding="utf-8")
    quoted = re.findall(r"^```\n\$ assent (policy explain [^\n]+)\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    assert quoted
    for command, output in quoted:
        assert Program(tmp_path).run(*shlex.split(command)).out == output
