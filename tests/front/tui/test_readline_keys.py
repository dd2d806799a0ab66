"""The keys of the shell in the input: moving, deleting, and inserting again what was deleted."""

from collections.abc import Callable

import pytest
from textual.app import App

from assent.front.tui.prompt.kill_ring import KillRing
from assent.front.tui.steady_input import SteadyInput
from support.app_harness import AppHarness

MakeHarness = Callable[..., AppHarness]
pytestmark = pytest.mark.spec("G1")
LONG = "word " * 40 + "end"


@pytest.mark.parametrize(
    ("text", "keys", "shown"),
    [
        ("one two three", "ctrl+w ctrl+y", "one two three"),
        ("one two three", "ctrl+w ctrl+w ctrl+a ctrl+y", "two threeone "),
        ("one two", "ctrl+u ctrl+y ctrl+y", "one twoone two"),
        ("one two", "ctrl+a ctrl+k ctrl+y", "one two"),
        ("run --foo_bar=1", "ctrl+w", "run "),
        ("run --foo_bar=1  ", "ctrl+w", "run "),
        ("run --foo_bar=1", "alt+backspace", "run --foo_bar="),
        ("one\ntwo", "ctrl+w ctrl+w", "one"),
        ("one two", "ctrl+a alt+d ctrl+e ctrl+y", " twoone"),
        ("one two", "alt+backspace x ctrl+w ctrl+y alt+y", "one two"),
        ("one two", "alt+b X", "one Xtwo"),
        ("one two", "ctrl+a alt+f X", "oneX two"),
        ("one two", "ctrl+b ctrl+b X ctrl+f Y", "one tXwYo"),
        ("one two", "ctrl+h", "one tw"),
        ("one two", "ctrl+t", "one tow"),
        ("one two", "alt+b alt+u", "one TWO"),
        ("ONE", "ctrl+a alt+l", "one"),
        ("one", "ctrl+a alt+c", "One"),
        ("one two", "ctrl+w ctrl+underscore", "one two"),
        (LONG, "ctrl+a X", f"X{LONG}"),
        (LONG, "ctrl+u", ""),
        (LONG, "ctrl+a ctrl+k", ""),
        ("one\ntwo", "ctrl+a ctrl+h", "onetwo"),
    ],
)
async def test_the_keys_of_the_shell(harness: MakeHarness, text: str, keys: str, shown: str):
    async with harness().open() as on:
        on.app.prompt.load(text)
        await on.pilot.press(*keys.split())
        assert on.app.prompt.text == shown


@pytest.mark.parametrize(
    ("secret", "key", "left"),
    [(False, "ctrl+w", "run "), (False, "alt+backspace", "run --foo_bar="), (True, "ctrl+w", "")],
)
async def test_a_field_of_one_line_has_the_same_keys(secret: bool, key: str, left: str):
    app = App[None]()
    async with app.run_test() as pilot:
        field = SteadyInput("run --foo_bar=1", password=secret)
        await app.mount(field)
        field.focus()
        await pilot.press("end", key)
        assert field.value == left


async def test_ctrl_p_and_ctrl_n_recall_earlier_prompts(harness: MakeHarness):
    async with harness().open() as on:
        on.app.prompt.remember(["first", "second"])
        await on.pilot.press("ctrl+p", "ctrl+p")
        assert on.app.prompt.text == "first"
        await on.pilot.press("ctrl+n")
        assert on.app.prompt.text == "second"


def test_deletions_in_a_row_are_inserted_together_and_others_one_by_one():
    kills = KillRing()
    kills.kill("b", before=True, continues=False)
    kills.kill("a", before=True, continues=True)
    kills.kill("c", before=False, continues=True)
    kills.kill("x", before=True, continues=False)
    assert (kills.newest(), kills.earlier(), kills.earlier()) == ("x", "abc", "x")


def test_nothing_was_deleted_yet():
    assert KillRing().newest() == "" == KillRing().earlier()
