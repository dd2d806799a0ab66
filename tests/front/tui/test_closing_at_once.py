"""What is looked up in the background and no longer wanted leaves no coroutine behind that nobody awaited."""

import gc
import warnings
from collections.abc import Generator, Sequence
from contextlib import contextmanager

import pytest
from textual.app import App, ComposeResult

from assent.front.tui.lists import Column, ListScreen, Row
from assent.front.tui.prompt.completion import Candidate
from assent.front.tui.prompt.prompt_box import PromptBox

pytestmark = pytest.mark.spec("G1")


class Things:
    """What can be completed here."""

    def commands(self) -> Sequence[Candidate]:
        return [Candidate("model")]

    async def learn_commands(self) -> bool:
        return False

    async def arguments(self, command: str, typed: str) -> Sequence[Candidate]:
        return [Candidate("gemini-pro")]

    async def files(self) -> Sequence[str]:
        return ["README.md"]


class BoxApp(App[None]):
    def compose(self) -> ComposeResult:
        yield PromptBox(Things(), "Ask something")


@contextmanager
def everything_is_awaited() -> Generator[None]:
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        yield
        gc.collect()
    assert [str(one.message) for one in seen if "never awaited" in str(one.message)] == []


@pytest.mark.parametrize("typed", ["/model gem", "/mo", "look at @READ"])
async def test_a_completion_that_is_looked_up_while_the_app_closes(typed: str):
    """Fast typing, then the end: the worker is cancelled before it has begun."""
    app = BoxApp()
    async with app.run_test() as pilot:
        await pilot.pause()
        box = app.query_one(PromptBox)
        with everything_is_awaited():
            box.input.load(typed)
            box.completions.text_changed()
            app.workers.cancel_all()
            await pilot.pause()


async def test_a_list_that_closes_while_it_loads():
    async def rows() -> Sequence[Row]:
        return [Row("a", ("a",))]

    app = BoxApp()
    async with app.run_test() as pilot:
        screen = ListScreen("Things", [Column("Name")], rows)
        await app.push_screen(screen)
        await pilot.pause()
        with everything_is_awaited():
            screen.reload()
            app.workers.cancel_all()
            await pilot.pause()
