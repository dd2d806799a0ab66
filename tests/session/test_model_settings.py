"""The model, its effort and its window may change in the middle of a conversation, and a smaller model may help."""

from collections import defaultdict
from typing import Any

import pytest

from assent.commands import Compress, SetEffort, SetModel, Submit
from assent.events import ChatCompressed, EffortChanged, ModelWarning
from assent.models.model_protocol import Model, Transient
from assent.models.scripted.scripted_model import ScriptedModel
from assent.parts import Usage
from assent.session.runner import create_session
from support.session_harness import SessionHarness, text

LONG = "word " * 400


def scripted(name: str, *replies: dict[str, Any]) -> ScriptedModel:
    return ScriptedModel(SessionHarness(*replies).scenario, name)


async def prompted(harness: SessionHarness, runner: Any, prompt: str, count: int) -> None:
    await harness.send(runner, Submit(prompt))
    await harness.until_done(count)


@pytest.mark.spec("K1")
async def test_the_effort_goes_with_every_request_and_stays_after_reopening() -> None:
    harness = SessionHarness(text("One."), text("Two."), text("Three."))
    async with await harness.open() as runner:
        await prompted(harness, runner, "a", 1)
        await harness.send(runner, SetEffort("high", by="ann"))
        await prompted(harness, runner, "b", 2)
        assert [request.effort for request in harness.model.requests] == [None, "high"]
    assert harness.recorded(EffortChanged) == [EffortChanged("high", "ann")]
    async with await harness.open() as again:
        assert again.state.effort == "high"
        await harness.send(again, SetEffort(None))
        assert again.state.effort is None


@pytest.mark.spec("K1")
async def test_every_request_names_its_conversation_and_the_longest_reply() -> None:
    harness = SessionHarness(text("One."))
    harness.options["max_tokens"] = 1_234
    async with await harness.open() as runner:
        await prompted(harness, runner, "a", 1)
    (request,) = harness.model.requests
    assert (request.conversation, request.max_tokens) == (harness.session, 1_234)


@pytest.mark.spec("K2")
async def test_the_window_of_the_model_in_use_decides_when_to_compress() -> None:
    harness = SessionHarness(text(LONG), text(LONG))
    small = scripted("small", text("notes"), text("Done."))
    windows = defaultdict[str, int](lambda: 1_000_000, {"small": 300})
    harness.options["compress_above"] = windows.__getitem__
    async with await harness.open(open_model=lambda _: small) as runner:
        await prompted(harness, runner, LONG, 1)
        await prompted(harness, runner, LONG, 2)
        assert not harness.recorded(ChatCompressed)
        await harness.send(runner, SetModel("small"))
        await prompted(harness, runner, "go on", 3)
    (compressed,) = harness.recorded(ChatCompressed)
    assert not compressed.problem and compressed.tokens_after < compressed.tokens_before


async def compressed_with(small: Model | None) -> tuple[SessionHarness, ChatCompressed]:
    harness = SessionHarness(text(LONG), text("own notes"))
    harness.options["small_model"] = lambda tokens: small  # pyright: ignore[reportUnknownLambdaType]
    async with await harness.open() as runner:
        await prompted(harness, runner, LONG, 1)
        assert await harness.send(runner, Compress()) == ""
    (compressed,) = harness.recorded(ChatCompressed)
    return harness, compressed


async def test_a_smaller_model_writes_the_summary_and_is_named_with_it() -> None:
    small = scripted("small", text("short notes", usage={"input": 50, "output": 5}))
    harness, compressed = await compressed_with(small)
    assert "short notes" in compressed.summary and len(harness.model.requests) == 1
    assert (compressed.model, compressed.usage) == ("small", Usage(input=50, output=5))


async def test_where_the_smaller_model_has_no_room_the_own_one_writes_it() -> None:
    _, compressed = await compressed_with(None)
    assert "own notes" in compressed.summary and compressed.model == ""


async def test_where_the_smaller_model_fails_the_own_one_writes_it() -> None:
    class Broken(ScriptedModel):
        def stream(self, request: Any) -> Any:
            raise Transient("not now")

    _, compressed = await compressed_with(Broken(SessionHarness().scenario))
    assert "own notes" in compressed.summary and compressed.model == ""


@pytest.mark.spec("K2")
async def test_what_to_know_about_a_model_is_recorded_once() -> None:
    async def inspect(name: str) -> str:
        return f"{name} cannot call tools" if name == "mute" else ""

    mute = scripted("mute")
    harness = SessionHarness(text("One."))
    harness.options["inspect_model"] = inspect
    async with await harness.open(open_model=lambda _: mute) as runner:
        assert await harness.send(runner, SetModel("mute")) == ""
        await harness.until_event(ModelWarning)
        assert await harness.send(runner, SetModel("mute")) == ""
    assert harness.recorded(ModelWarning) == [ModelWarning("mute", "mute cannot call tools")]


async def test_a_session_without_a_model_takes_the_name_of_the_first_that_answers() -> None:
    harness = SessionHarness(text("One."))
    harness.session = await create_session(harness.log, "/w", "", "default")
    async with await harness.open() as runner:
        assert runner.state.model == ""
        await prompted(harness, runner, "a", 1)
        assert runner.state.model == harness.model.name
