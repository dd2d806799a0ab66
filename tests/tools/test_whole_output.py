"""The file with all of a command's output: the same however the output arrives, and without secrets."""

import itertools
import re
import tempfile
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from unittest import mock

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assent.files.private_folder import PrivateFolder
from assent.process.plain_text import plain
from assent.secrets.mask import Masker
from assent.tools.support import whole_output
from assent.tools.support.clean_output import OutputCleaner
from assent.tools.support.whole_output import WholeOutput

TOKEN = "ghp_" + "a1B2c3D4e5F6g7H8i9J0" * 2
KEY = "-----BEGIN PRIVATE KEY-----\n" + "MIIEvQIBADANBgkqhkiG9w0BAQEFAASC\n" * 4 + "-----END PRIVATE KEY-----\n"
KEY_MARK = "[secret: private key]"
LINES = ["a line\n", "\n", f"it is {TOKEN}\n", "10%\r99%\n", "\x1b[31mred\x1b[0m\n", KEY, "DB_PASSWORD=hunter2-and\n"]
masker = Masker()


@contextmanager
def small_blocks(block: int, line: int) -> Generator[None]:
    with (
        mock.patch.object(whole_output, "_BLOCK", block),
        mock.patch.object(whole_output, "_MAX_LINE_LENGTH", line),
        mock.patch.object(whole_output, "MODEL_CHARACTERS", 10),
    ):
        yield


def written(text: str, cuts: list[int]) -> str:
    """What is in the file after the text has arrived in these pieces."""
    with tempfile.TemporaryDirectory() as folder:
        whole = WholeOutput(PrivateFolder(folder), "x.txt", OutputCleaner(masker))
        places = [0, *sorted(cut for cut in cuts if cut < len(text)), len(text)]
        for start, end in itertools.pairwise(places):
            whole.add(text[start:end])
        whole.close()
        return Path(whole.path).read_text() if whole.path else ""


@pytest.mark.spec("I3")
@given(st.lists(st.sampled_from(LINES), max_size=20), st.lists(st.integers(0, 900), max_size=20), st.integers(50, 300))
def test_the_file_is_the_same_and_masked_however_the_output_arrives(
    lines: list[str], cuts: list[int], block: int
) -> None:
    text = "".join(lines)
    with small_blocks(block, line=1_000):
        told = written(text, cuts)
        assert told == written(text, [])
    if len(text) > 10:
        assert re.sub(rf"({re.escape(KEY_MARK)})+", KEY_MARK, told) == masker.text(plain(text))  # one for each block


@pytest.mark.spec("I3")
@given(
    st.lists(st.sampled_from(["word ", f"{TOKEN} ", " ", "\n"]), min_size=3, max_size=30),
    st.lists(st.integers(0, 900), max_size=20),
)
def test_a_line_too_long_to_wait_for_is_cut_and_the_secret_at_the_cut_is_masked(
    words: list[str], cuts: list[int]
) -> None:
    text = "".join(words)
    with small_blocks(60, line=100):
        told = written(text, cuts)
        assert told == written(text, [])
    assert TOKEN[4:14] not in told
