"""Going back to an earlier prompt: the model no longer knows what came after it; the log does. Row J10."""

import pytest

from assent.commands import Compress, Rewind, Submit
from assent.events import ConversationRewound, PromptSubmitted
from assent.parts import Message, Text
from assent.session.runner import Runner
from support.session_harness import SessionHarness, call, calls, crash, text


async def say(harness: SessionHarness, runner: Runner, *prompts: str) -> None:
    for prompt in prompts:
        done = len(harness.recorded(PromptSubmitted)) + 1
        await harness.send(runner, Submit(prompt))
        await harness.until_done(done)
        await harness.until(lambda: runner.idle)


def texts(messages: tuple[Message, ...]) -> list[str]:
    return [part.text for message in messages for part in message.parts if isinstance(part, Text)]


@pytest.mark.spec("J10")
async def test_after_going_back_the_model_knows_nothing_of_what_came_after():
    harness = SessionHarness(text("One."), calls(call("read_note", "a", text="x")), text("Two."), text("Again."))
    async with await harness.open() as runner:
        await say(harness, runner, "first", "second")
        point = runner.state.rewind_points()[1]
        assert point.text == "second"
        before = runner.state.conversation.tokens
        assert await harness.send(runner, Rewind(point.prompt_id, by="ann")) == ""
        assert runner.state.conversation.tokens < before
        assert [one.text for one in runner.state.rewind_points()] == ["first"]
        await say(harness, runner, "something else")
    assert texts(harness.model.requests[-1].messages) == ["first", "One.", "something else"]


@pytest.mark.spec("J10")
async def test_going_back_survives_a_crash():
    harness = SessionHarness(text("One."), text("Two."))
    runner = await harness.open()
    await say(harness, runner, "first", "second")
    await harness.send(runner, Rewind(runner.state.rewind_points()[0].prompt_id))
    await crash(harness, runner)
    async with await harness.open() as runner:
        assert runner.state.history() == () and runner.state.rewind_points() == []
        assert len(await harness.stored(ConversationRewound)) == 1


async def test_during_a_turn_there_is_no_going_back():
    harness = SessionHarness(text("One."), calls(call("run_note", "a", text="x")))
    async with await harness.open() as runner:
        await say(harness, runner, "first")
        await harness.send(runner, Submit("second"))
        await harness.until_waiting(runner)
        refused = await harness.send(runner, Rewind(runner.state.rewind_points()[0].prompt_id))
        assert refused == "a turn is running; stop it first"
        assert "no longer has this prompt" not in refused


async def test_what_was_compressed_cannot_be_gone_back_to():
    harness = SessionHarness(text("word " * 9_000), text("Two."), text("# Requests"))
    async with await harness.open() as runner:
        await say(harness, runner, "first", "second")
        first, last = runner.state.rewind_points()
        await harness.send(runner, Compress())
        await harness.until(lambda: runner.idle)
        assert first.prompt_id not in [one.prompt_id for one in runner.state.rewind_points()]
        assert "no longer has this prompt" in await harness.send(runner, Rewind(first.prompt_id))
        assert await harness.send(runner, Rewind(last.prompt_id)) == ""
        assert "second" not in texts(runner.state.history()) and "# Requests" in texts(runner.state.history())[0]
