"""Replies that stop before they are complete, and replies that never end: rows F5, F9."""

import asyncio
from collections.abc import AsyncGenerator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assent.agent.model_caller import Retries
from assent.agent.repetition import CODE, MAX_REPLY_LENGTH, PROSE, RepetitionDetector, ReplyGuard
from assent.commands import Submit
from assent.events import ModelReplied, ModelRetry, TextDelta, TurnFinished
from assent.models.model_protocol import CallChunk, Chunk, Finished, Request, TextChunk, ThoughtChunk
from assent.models.scripted.scripted_model import ScriptedModel
from assent.parts import Call, Text
from support.session_harness import SessionHarness, call, text


async def ending_of(harness: SessionHarness) -> TurnFinished:
    async with await harness.open() as runner:
        await harness.send(runner, Submit("go"))
        return await harness.until_done()


@pytest.mark.parametrize(
    ("finish", "kind", "words"),
    [
        ("max_tokens", "max_tokens", "output limit"),
        ("safety", "safety", "safety rules"),
        ("other", "stopped", "without marking it complete"),
        ("too_long", "too_long", "did not end, so Assent stopped it"),
    ],
)
@pytest.mark.spec("F9")
async def test_a_reply_that_stopped_early_is_not_a_success_and_says_why(finish: str, kind: str, words: str):
    harness = SessionHarness({"chunks": [{"text": "The first half"}], "finish": finish})
    finished = await ending_of(harness)
    assert finished.status == "incomplete"
    assert finished.failure is not None and finished.failure.type == kind
    assert words in finished.failure.message
    assert harness.recorded(ModelReplied)[0].parts == (Text("The first half"),)


@pytest.mark.parametrize("chunks", [[], [{"thought": "**Thinking** hard"}]])
@pytest.mark.spec("F9")
async def test_an_output_limit_before_the_answer_is_told_at_once_and_not_asked_for_again(chunks: list[dict[str, str]]):
    harness = SessionHarness(
        {"chunks": chunks, "finish": "max_tokens", "usage": {"input": 7, "output": 9}}, text("never asked for")
    )
    finished = await ending_of(harness)
    assert finished.status == "incomplete"
    assert finished.failure is not None and "before it wrote an answer" in finished.failure.message
    assert not [e for e in harness.events if isinstance(e.event, ModelRetry)]
    assert (finished.usage.input, finished.usage.output) == (7, 9)


async def test_after_a_cut_reply_the_conversation_goes_on():
    harness = SessionHarness({"chunks": [], "finish": "max_tokens"}, text("Here you are."))
    async with await harness.open() as runner:
        await harness.send(runner, Submit("go"))
        assert (await harness.until_done()).status == "incomplete"
        await harness.send(runner, Submit("continue"))
        assert (await harness.until_done(2)).status == "completed"


async def test_whole_calls_of_a_reply_that_reached_its_limit_still_run():
    harness = SessionHarness({"chunks": [call("read_note", "a", text="x")], "finish": "max_tokens"}, text("Done."))
    assert (await ending_of(harness)).status == "completed"


@pytest.mark.spec("F5")
async def test_a_text_that_repeats_without_end_is_stopped():
    harness = SessionHarness(
        {"chunks": [{"text": "I will now fix the bug. "}] * 5_000 + [call("read_note", "a", text="x")]}
    )
    finished = await ending_of(harness)
    assert finished.status == "loop_detected"
    assert finished.failure is not None and "same text" in finished.failure.message
    shown = sum(len(e.event.text) for e in harness.events if isinstance(e.event, TextDelta))
    assert shown < 2 * PROSE
    assert not any(isinstance(part, Call) for part in harness.recorded(ModelReplied)[0].parts)


@pytest.mark.spec("F5")
@pytest.mark.parametrize("kind", [TextChunk, ThoughtChunk])
def test_a_reply_of_unlimited_size_is_stopped(kind: type[TextChunk] | type[ThoughtChunk]):
    guard = ReplyGuard()
    numbers = (guard.observe(kind("".join(str(n) + " " for n in range(n, n + 9_999)))) for n in range(0, 10**9, 9_999))
    end = next(found for found in numbers if found is not None)
    assert end.reason == "too_long" and f"{MAX_REPLY_LENGTH:,}" in end.said


class _NeverDone(ScriptedModel):
    """Says something, calls something, and then nothing more, although the connection stays alive."""

    async def stream(self, request: Request) -> AsyncGenerator[Chunk, None]:
        yield TextChunk("Let me see")
        yield CallChunk("run_note", {"text": "x"})
        await asyncio.Event().wait()


@pytest.mark.spec("F5")
@pytest.mark.spec("K5")
async def test_a_reply_that_never_ends_is_stopped_and_none_of_its_calls_runs():
    harness = SessionHarness()
    harness.real = _NeverDone(harness.scenario)
    async with await harness.open(retries=Retries(longest_reply=0.0)) as runner:
        await harness.send(runner, Submit("go"))
        finished = await harness.until_done()
    assert finished.status == "incomplete" and finished.failure is not None
    assert "did not end, so Assent stopped it (0 minutes)" in finished.failure.message
    assert harness.recorded(ModelReplied)[0].parts == (Text("Let me see"),)


def test_a_reply_with_unlimited_calls_is_stopped():
    guard = ReplyGuard()
    assert any(guard.observe(CallChunk("read_file", {"path": str(n)})) for n in range(10_000))


def detects(*pieces: str) -> bool:
    detector = RepetitionDetector()
    return any(detector.feed(piece) for piece in pieces)


@given(st.text(min_size=1, max_size=400), st.integers(1, 50), st.text(max_size=300))
def test_every_repetition_is_found_however_it_is_cut(passage: str, size: int, before: str):
    whole = before.replace("`", "") + passage.replace("`", "'") * (12_000 // len(passage) + 12)
    assert detects(*(whole[at : at + size] for at in range(0, len(whole), size)))


def test_long_repetition_in_code_is_found_later_than_in_prose():
    row = "    0, 0, 0, 0, 0, 0, 0, 0,\n"
    assert not detects("```c\n", *[row] * (CODE // len(row) - 20), "```\n", *(f"done {n}\n" for n in range(200)))
    assert detects("```c\n", *[row] * (2 * CODE // len(row)))


@pytest.mark.parametrize(
    "line",
    [
        "| item {n} | 0 | 0 |\n",
        "- [ ] step {n} of the plan\n",
        "def test_{n}(): assert value() == 1\n",
        "{n},0,0,0,0\n",
    ],
)
def test_similar_lines_are_not_a_loop(line: str):
    assert not detects(*(line.format(n=n) for n in range(5_000)))


def test_a_finished_reply_has_nothing_to_stop():
    assert ReplyGuard().observe(Finished("stop")) is None
