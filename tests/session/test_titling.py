"""A small model names new sessions, in the background: nobody waits for it, and a person's own name stays."""

import asyncio
from collections.abc import AsyncGenerator
from typing import Any

from assent.commands import Rename, Submit
from assent.config import SpendingLimits
from assent.events import SessionRenamed
from assent.models.model_protocol import Chunk, Request
from assent.models.scripted.scripted_model import ScriptedModel
from assent.parts import Text
from support.session_harness import SessionHarness, text


def small_model(*replies: dict[str, Any]) -> ScriptedModel:
    return ScriptedModel(SessionHarness(*replies).scenario, "small")


def named_by(small: ScriptedModel | None, *replies: dict[str, Any]) -> SessionHarness:
    harness = SessionHarness(*(replies or (text("Done."),)))
    harness.options |= {"makes_titles": True, "small_model": lambda tokens: small}  # pyright: ignore
    return harness


async def test_the_small_model_names_a_session_by_its_first_prompt() -> None:
    small = small_model(text('"Repair of the cart"\n', usage={"input": 40, "output": 5}))
    harness = named_by(small, text("Done."), text("Done again."))
    harness.options["cost"] = lambda model, usage: 0.5 if model == "small" else 0.0  # pyright: ignore
    async with await harness.open() as runner:
        await harness.send(runner, Submit("The total of the cart is wrong.\nRepair it!"))
        await harness.until_event(SessionRenamed)
        await harness.send(runner, Submit("and now?"))
        await harness.until_done(2)
        assert runner.state.title == "Repair of the cart"
        assert (runner.state.spending.tokens, runner.state.spending.dollars) == (45, 0.5)
    (request,) = small.requests
    assert request.messages[0].parts == (Text("The total of the cart is wrong.\nRepair it!"),)
    (named,) = harness.recorded(SessionRenamed)
    assert (named.by, named.model, named.usage.input) == ("", "small", 40)


class _Slow(ScriptedModel):
    async def stream(self, request: Request) -> AsyncGenerator[Chunk, None]:
        self.requests.append(request)
        await asyncio.Event().wait()
        yield  # pyright: ignore


async def test_neither_the_turn_nor_the_end_of_the_session_waits_for_it() -> None:
    small = _Slow(SessionHarness().scenario, "small")
    harness = named_by(small)
    async with await harness.open() as runner:
        await harness.send(runner, Submit("go"))
        assert (await harness.until_done()).status == "completed"
        await harness.until(lambda: small.requests)
    assert harness.recorded(SessionRenamed) == []


async def test_a_name_that_a_person_gave_it_meanwhile_stays() -> None:
    asked, go_on = asyncio.Event(), asyncio.Event()

    async def pause(_: float) -> None:
        asked.set()
        await go_on.wait()

    small = small_model({"chunks": [{"pause_ms": 1}, {"text": "Too late"}]})
    small._sleep = pause  # pyright: ignore[reportPrivateUsage]
    harness = named_by(small)
    async with await harness.open() as runner:
        await harness.send(runner, Submit("go"))
        await asked.wait()
        await harness.send(runner, Rename("Mine", by="ann"))
        go_on.set()
        await harness.until_done()
        await harness.until(lambda: not [task for task in asyncio.all_tasks() if task.get_name() == "title"])
        assert runner.state.title == "Mine"


async def test_without_a_usable_title_the_session_keeps_its_first_line() -> None:
    failing = {"chunks": [{"error": {"kind": "quota", "message": "no"}}]}
    for small in (None, small_model(failing), small_model(text(" ")), small_model(text("word " * 100))):
        harness = named_by(small)
        async with await harness.open() as runner:
            await harness.send(runner, Submit("Repair it!"))
            await harness.until_done()
            await harness.until(lambda: not [task for task in asyncio.all_tasks() if task.get_name() == "title"])
            assert runner.state.title == "Repair it!"


async def test_beyond_a_limit_no_title_is_asked_for() -> None:
    before, small = SessionHarness(text("Done.")), small_model(text("A title"))
    async with await before.open() as runner:
        await before.send(runner, Submit("one"))
        await before.until_done()
    harness = named_by(small)
    harness.log = before.log
    harness.options["limits"] = SpendingLimits(requests_per_day=1)
    async with await harness.open() as runner:
        await harness.send(runner, Submit("two"))
        assert (await harness.until_done()).status == "limit_reached"
        await harness.until(lambda: not [task for task in asyncio.all_tasks() if task.get_name() == "title"])
    assert small.requests == [] and harness.recorded(SessionRenamed) == []
