"""What looks like a question of a program, and what only looks like its end."""

import pytest

from assent.process.prompt_shapes import is_prompt


@pytest.mark.parametrize(
    "line",
    ["Password:", "Go on? [y/N] ", "Overwrite (yes/no)?", ">>> ", "user@host$ ", "csh% ", "[sudo] password for ann: "],
)
def test_a_prompt_is_recognised(line: str):
    assert is_prompt(line)


@pytest.mark.parametrize(
    "line",
    ["100%", "[##        ] 40 %", "downloading [=====>    ]", "████░░░░ 7%", "(....      )", "compiling x.c", "done."],
)
def test_progress_is_not_mistaken_for_a_prompt(line: str):
    assert not is_prompt(line)
