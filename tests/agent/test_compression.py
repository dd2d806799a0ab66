"""Compression: the older part of a conversation becomes a summary; no call is lost. Rows F6, F1."""

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assent.agent import token_estimate
from assent.agent.compression import ASKED, CUT_OFF, EMPTY, INTRODUCTION, LATEST, NOT_SMALLER, NOTHING, cut_position
from assent.commands import CancelTurn, Compress, SetModel, Submit
from assent.events import (
    Attached,
    CallFinished,
    CallRequest,
    CallRequested,
    ChatCompressed,
    DurableEvent,
    Envelope,
    ModelReplied,
    PromptSubmitted,
    SessionCreated,
)
from assent.models.model_protocol import Model
from assent.parts import Call, Media, Message, ModelMessage, PlainDisplay, Result, Text, UserMessage
from assent.scheduler.call import Cancelled
from assent.session.conversation import UNDERSTOOD
from assent.session.fork import fork_session
from assent.session.state import SessionState, fold
from support.session_harness import SessionHarness, above, call, calls, text

pytestmark = pytest.mark.spec("F6")

LONG = "A long story. " * 200


def texts(messages: tuple[Message, ...]) -> list[str]:
    return [part.text for message in messages for part in message.parts if isinstance(part, Text)]


# --- asked for by a person ---


async def test_the_summary_sees_the_ends_of_long_attachments():
    harness = SessionHarness(text("Seen."), text("# Requests\nNone."))
    attached = Attached("a.txt", parts=(Text("begin" + "x" * 100_000 + "end"),))

    async def load() -> tuple[Attached, ...]:
        return (attached,)

    harness.options["load_mentions"] = lambda text, policy: load()  # pyright: ignore
    async with await harness.open() as runner:
        await harness.send(runner, Submit("read @a.txt"))
        await harness.until_done()
        assert await harness.send(runner, Compress()) == ""
    (transcript,) = texts(harness.model.requests[1].messages)
    assert "User: read @a.txt\nNamed by the user: " in transcript
    assert "begin" in transcript and "end" in transcript
    assert len(transcript) < 6_000


@pytest.mark.spec("F1")
async def test_the_older_part_becomes_a_summary_and_the_newest_stays_word_for_word():
    harness = SessionHarness(text(LONG), text("Short."), text("# Requests\nA story."), text("Yes."))
    async with await harness.open() as runner:
        for count, prompt in enumerate(("tell", "more"), start=1):
            await harness.send(runner, Submit(prompt))
            await harness.until_done(count)
        assert await harness.send(runner, Compress(by="ann")) == ""
        history = texts(runner.state.history())
        await harness.send(runner, Submit("go on"))
        await harness.until_done(3)
    (done,) = harness.recorded(ChatCompressed)
    summary = f"{INTRODUCTION}\n\n# Requests\nA story.\n\nThe user's first request, word for word:\ntell"
    assert history == [summary, UNDERSTOOD.parts[0].text, "more", "Short."]  # pyright: ignore
    assert (done.replaced, done.by, done.problem) == (2, "ann", "")
    assert done.tokens_before > 700 > 100 > done.tokens_after
    summary_request, next_request = harness.model.requests[2:]
    (transcript,) = texts(summary_request.messages)
    assert transcript == f"<transcript>\nUser: tell\nAgent: {LONG}\n</transcript>"
    assert summary_request.tools == ()
    assert texts(next_request.messages) == [*history, "go on"]


async def test_a_question_that_the_model_asked_survives_the_summary_word_for_word():
    harness = SessionHarness(text(LONG), text("It is old.\n\nShall I delete it?"), text("# Facts\nx"), text("Done."))
    harness.options["compress_above"] = above(1_500)
    async with await harness.open() as runner:
        for count, prompt in enumerate(("tell", "check", LONG * 3), start=1):
            await harness.send(runner, Submit(prompt))
            await harness.until_done(count)
    summary, *rest = texts(harness.model.requests[-1].messages)
    assert summary.endswith(f"word for word:\n- check\n\n{ASKED}\nShall I delete it?")
    assert rest[-1] == LONG * 3


async def test_notes_that_the_output_limit_cut_say_so():
    harness = SessionHarness(text(LONG), text("# Facts\nx", finish="max_tokens"))
    async with await harness.open() as runner:
        await harness.send(runner, Submit("tell"))
        await harness.until_done()
        assert await harness.send(runner, Compress()) == ""
        assert f"# Facts\nx\n{CUT_OFF}" in texts(runner.state.history())[0]


@pytest.mark.parametrize(
    ("reply", "problem"),
    [
        (text(LONG * 2), NOT_SMALLER),
        (text(" "), EMPTY),
        ({"chunks": [{"error": {"kind": "bad_request", "message": "no"}}]}, "the model could not summarise: no"),
    ],
)
async def test_a_useless_summary_leaves_the_conversation_unchanged_and_says_so(reply: dict[str, object], problem: str):
    harness = SessionHarness(text(LONG), reply)
    async with await harness.open() as runner:
        await harness.send(runner, Submit("tell"))
        await harness.until_done()
        before = runner.state.history()
        assert await harness.send(runner, Compress()) == problem
        assert runner.state.history() == before
    assert [event.problem for event in harness.recorded(ChatCompressed)] == [problem]


async def test_an_empty_conversation_has_nothing_to_compress():
    harness = SessionHarness()
    async with await harness.open() as runner:
        assert await harness.send(runner, Compress()) == NOTHING
    assert harness.model.requests == []


async def test_it_waits_for_the_end_of_the_turn_and_prompts_wait_for_it():
    harness = SessionHarness(calls(call("run_note", "a", text="x")), text(LONG), text("# Requests"), text("Last."))
    async with await harness.open() as runner:
        await harness.send(runner, Submit("first"))
        await harness.until_waiting(runner)
        await runner.send(Compress())
        await runner.send(Submit("second"))
        await harness.answer(runner, "a")
        await harness.until_done(2)
    order = [type(e.event) for e in harness.events if isinstance(e.event, PromptSubmitted | ChatCompressed)]
    assert order == [PromptSubmitted, ChatCompressed, PromptSubmitted]


async def test_it_can_be_cancelled_and_the_session_goes_on():
    harness = SessionHarness(text(LONG), {"chunks": [{"pause_ms": 1}, {"text": "never"}]}, text("Here."))
    begun = asyncio.Event()

    async def pause(_: float) -> None:
        begun.set()
        await asyncio.Event().wait()

    runner = await harness.open()
    harness.model._sleep = pause  # pyright: ignore[reportPrivateUsage]
    async with runner:
        await harness.send(runner, Submit("tell"))
        await harness.until_done()
        key = await runner.send(Compress())
        await begun.wait()
        assert await harness.send(runner, CancelTurn()) == ""
        await harness.until(lambda: harness._taken(key))  # pyright: ignore[reportPrivateUsage]
        await harness.send(runner, Submit("still there?"))
        assert (await harness.until_done(2)).status == "completed"
    assert harness.recorded(ChatCompressed) == []
    assert harness._taken(key).problem == "cancelled"  # pyright: ignore


async def test_a_cancelled_compression_that_had_not_begun_is_taken_too():
    harness = SessionHarness(text(LONG), text("Here."))
    async with await harness.open() as runner:
        await harness.send(runner, Submit("tell"))
        await harness.until_done()
    await harness.log.put(harness.session, "k", Compress())
    await harness.log.put(harness.session, "c", CancelTurn())
    async with await harness.open() as runner:
        await harness.until(lambda: harness._taken("k"))  # pyright: ignore[reportPrivateUsage]
        await harness.send(runner, Submit("still there?"))
        assert (await harness.until_done(2)).status == "completed"
    assert harness._taken("k").problem == "cancelled"  # pyright: ignore
    assert harness.recorded(ChatCompressed) == []


# --- by itself ---


async def test_a_long_conversation_is_compressed_in_the_middle_of_a_turn_and_the_request_is_kept():
    harness = SessionHarness(
        {"chunks": [call("read_note", "a", text=LONG)], "usage": {"input": 600, "output": 10}},
        {"chunks": [call("read_note", "b", text="y")], "usage": {"input": 3_000, "output": 10}},
        text("# Facts\nx", usage={"input": 300, "output": 20}),
        text("Done.", usage={"input": 200, "output": 5}),
    )
    harness.options["compress_above"] = above(1_500)
    async with await harness.open() as runner:
        await harness.send(runner, Submit("Please read."))
        finished = await harness.until_done()
        assert runner.state.conversation.tokens < 1_500
    (done,) = harness.recorded(ChatCompressed)
    assert done.prompt_id.endswith("########0")
    assert finished.status == "completed" and finished.usage.input == 4_100
    last = harness.model.requests[-1].messages
    assert texts(last)[0] == f"{INTRODUCTION}\n\n# Facts\nx\n\n{LATEST}\nPlease read."
    calls_left = [part.call_id for message in last for part in message.parts if isinstance(part, Call)]
    results_left = [part.call_id for message in last for part in message.parts if isinstance(part, Result)]
    assert calls_left == results_left == ["b"]


async def test_after_a_failure_it_is_not_tried_before_every_request():
    harness = SessionHarness(
        {"chunks": [call("read_note", "a", text=LONG)], "usage": {"input": 100}},
        {"chunks": [call("read_note", "b", text="x")], "usage": {"input": 1_000}},
        text(LONG * 9),
        *({"chunks": [call("read_note", f"d{n}", text="x")], "usage": {"input": 1_000}} for n in range(3)),
        text("Done."),
    )
    harness.options["compress_above"] = above(800)
    async with await harness.open() as runner:
        await harness.send(runner, Submit("go"))
        assert (await harness.until_done()).status == "completed"
    assert [event.problem for event in harness.recorded(ChatCompressed)] == [NOT_SMALLER]


async def test_no_request_is_spent_when_all_that_is_long_is_new():
    harness = SessionHarness({"chunks": [call("read_note", "a", text=LONG)]}, text("Done."))
    harness.options["compress_above"] = above(100)
    async with await harness.open() as runner:
        await harness.send(runner, Submit("go"))
        assert (await harness.until_done()).status == "completed"
    assert len(harness.model.requests) == 2 and harness.recorded(ChatCompressed) == []


async def test_without_a_limit_nothing_is_compressed():
    harness = SessionHarness({"chunks": [call("read_note", "a", text="x")], "usage": {"input": 10**9}}, text("Done."))
    async with await harness.open() as runner:
        await harness.send(runner, Submit("go"))
        await harness.until_done()
    assert harness.recorded(ChatCompressed) == []


# --- for a model with a small window ---


def transcripts(harness: SessionHarness) -> list[str]:
    """What the requests for a summary contained."""
    last = [texts(request.messages)[-1] for request in harness.model.requests]
    return [told for told in last if "<transcript>" in told]


async def test_a_transcript_that_is_longer_than_the_window_is_summarised_in_parts():
    story = [f"Chapter {number}. {LONG}" for number in range(4)]
    notes = [text(f"# Requests\nUp to part {number}.", usage={"input": 100}) for number in range(8)]
    harness = SessionHarness(*map(text, story), text("The end."), *notes)
    harness.options["window"] = above(1_500)
    harness.options["cost"] = lambda model, usage: 0.25  # pyright: ignore
    async with await harness.open() as runner:
        for count in range(5):
            await harness.send(runner, Submit("go on"))
            await harness.until_done(count + 1)
        assert await harness.send(runner, Compress()) == ""
    parts = transcripts(harness)
    assert len(parts) == 4 and all(token_estimate.of_text(part) < 1_500 for part in parts)
    assert [f"Chapter {number}." in part for number, part in enumerate(parts)] == [True] * 4
    assert ["Up to part" in part for part in parts] == [False, True, True, True]
    (done,) = harness.recorded(ChatCompressed)
    assert "Up to part 3." in done.summary and "Up to part 2." not in done.summary
    assert (done.usage.input, done.cost, done.window) == (400, 1.0, 1_500)
    assert done.tokens_after < 500


async def test_a_summary_that_the_model_finds_too_long_is_tried_in_smaller_parts():
    """The window of a model that is not listed is a guess."""
    refusal = {"chunks": [{"error": {"kind": "context_too_long", "message": "too long"}}]}
    harness = SessionHarness(text(LONG), text(LONG), refusal, text("# Requests\n1"), text("# Requests\n2"))
    async with await harness.open() as runner:
        for count in range(2):
            await harness.send(runner, Submit("go on"))
            await harness.until_done(count + 1)
        assert await harness.send(runner, Compress()) == ""
    whole, first, second = transcripts(harness)
    assert LONG in first and LONG in second and len(whole) > len(first) + len(LONG) // 2


async def test_of_a_conversation_larger_than_the_window_only_what_fits_is_kept():
    messages = [UserMessage((Text("x" * 4_000),)), ModelMessage((Text("y" * 4_000),))] * 20
    kept = sum(map(token_estimate.of_message, messages[cut_position(messages, 8_000) :]))
    assert kept <= 8_000 * 0.3
    assert cut_position(messages) == 28


@pytest.mark.spec("K2")
async def test_a_switch_to_a_model_with_a_smaller_window_compresses_before_the_next_request():
    harness = SessionHarness(
        *(text(LONG) for _ in range(4)), *(text(f"# Requests\n{n}") for n in range(4)), text("Hi.")
    )
    windows = {"small": 2_000}
    harness.options["window"] = lambda name: windows.get(name, 100_000)  # pyright: ignore
    harness.options["compress_above"] = lambda name: windows.get(name, 100_000) // 2  # pyright: ignore
    harness.options["open_model"] = lambda name: _Named(harness.model, name)  # pyright: ignore
    async with await harness.open() as runner:
        for count in range(4):
            await harness.send(runner, Submit("go on"))
            await harness.until_done(count + 1)
        full = runner.state.conversation.window_share
        assert await harness.send(runner, SetModel("small")) == ""
        assert runner.state.conversation.window_share > 1 > full > 0
        await harness.send(runner, Submit("hello"))
        assert (await harness.until_done(5)).status == "completed"
        assert runner.state.conversation.window_share < 0.5
    (done,) = harness.recorded(ChatCompressed)
    assert done.tokens_before > 2_000 > 1_000 > done.tokens_after
    assert all(token_estimate.of_text(part) < 2_000 for part in transcripts(harness))


class _Named:
    """A model under another name."""

    def __init__(self, model: Model, name: str) -> None:
        self.name, self.stream, self.close = name, model.stream, model.close


# --- afterwards ---


async def test_a_resumed_and_a_forked_session_remember_the_summary():
    harness = SessionHarness(text(LONG), text("# Requests"))
    async with await harness.open() as runner:
        await harness.send(runner, Submit("tell"))
        await harness.until_done()
        await harness.send(runner, Compress())
        before = runner.state.history()
    assert texts(before)[0] == f"{INTRODUCTION}\n\n# Requests\n\nThe user's first request, word for word:\ntell"
    copy = await fork_session(harness.log, harness.session)
    for session in (harness.session, copy):
        state = fold(session, await harness.log.read(session))
        assert state.history() == before


# --- where it may be cut ---


def reply(*call_ids: str) -> tuple[ModelMessage, UserMessage]:
    return (
        ModelMessage(tuple(Call(id, "t", {}) for id in call_ids)),
        UserMessage(tuple(Result(id, "t", {"output": "x" * 100}) for id in call_ids)),
    )


def test_the_cut_is_never_between_a_call_and_its_result():
    prompt = UserMessage((Text("p"),))
    history: list[Message] = [prompt]
    for number in range(10):
        history += reply(f"a{number}", f"b{number}")
        cut = cut_position(history)
        assert not isinstance(history[cut].parts[0], Result)
        assert cut < len(history), "the newest calls stay until the model has answered their results"
    history.append(ModelMessage((Text("x" * 100_000),)))
    assert cut_position(history) == len(history)


@given(
    batches=st.lists(st.integers(0, 3), min_size=1, max_size=6),
    answered=st.integers(0, 20),
    replaced=st.integers(0, 20),
)
def test_the_fold_keeps_every_call_that_has_no_result(batches: list[int], answered: int, replaced: int):
    """Whatever an event says: calls and results stay together, and nothing unanswered goes."""
    events: list[object] = [
        SessionCreated(folder="/w", model="m", mode="default", version="1"),
        PromptSubmitted("p", "go", "ann"),
    ]
    ids: list[str] = []
    for number, size in enumerate(batches):
        mine = [f"{number}-{place}" for place in range(size)]
        parts = tuple(Call(id, "t", {}) for id in mine) or (Text("said"),)
        events.append(ModelReplied(prompt_id="p", model="m", parts=parts, finish="stop"))
        events += [CallRequested(CallRequest(call_id=id, tool="t", args={}, prompt_id="p")) for id in mine]
        ids += mine
    for id in ids[:answered]:
        events.append(CallFinished(call_id=id, status="cancelled", result=Result(id, "t", {"output": "x"})))
    events.append(ChatCompressed(prompt_id="p", replaced=replaced, summary="summary", tokens_before=10, tokens_after=5))
    state = SessionState("s")
    for seq, event in enumerate(events, start=1):
        state.apply(Envelope(seq, 0.0, "s", event))  # pyright: ignore
    history = state.history()
    left = [part.call_id for message in history for part in message.parts if isinstance(part, Call)]
    results = [part.call_id for message in history for part in message.parts if isinstance(part, Result)]
    assert left == results
    assert set(ids[answered:]) <= set(left)
    assert [type(message) for message in history[:1]] == [UserMessage]


def test_estimates_are_near_what_providers_count():
    assert token_estimate.of_text("a" * 400) == 101
    assert 140 <= token_estimate.of_text("字" * 100) <= 160


def finished_call(call_id: str, display: PlainDisplay | None) -> list[DurableEvent]:
    request = CallRequest(call_id=call_id, tool="t", args={}, prompt_id="p")
    result = Result(call_id, "t", {"output": LONG * 10}, media=(Media("image/png", "eHh4"),))
    return [
        ModelReplied(prompt_id="p", model="m", parts=(Call(call_id, "t", {}),), finish="stop"),
        CallRequested(request),
        CallFinished(call_id=call_id, status="cancelled", result=result, display=display),
    ]


def test_what_the_model_will_never_see_again_is_not_kept_in_memory():
    shown = PlainDisplay("what the person saw")
    events: list[DurableEvent] = [
        SessionCreated(folder="/w", model="m", mode="default", version="1"),
        PromptSubmitted("p", "go", "ann"),
        *finished_call("left", shown),
        *finished_call("only", None),
        *finished_call("stays", shown),
        ChatCompressed(prompt_id="p", replaced=5, summary="summary", tokens_before=10, tokens_after=5),
    ]
    state = fold("s", [Envelope(seq, 0.0, "s", event) for seq, event in enumerate(events, start=1)])
    left, only, stays = (call for call in state.calls.values() if isinstance(call, Cancelled))
    assert (left.display, left.result.media) == (shown, ())
    assert len(str(left.result.response)) < 200
    assert only.result.response == stays.result.response == {"output": LONG * 10}, "someone may still look at it"
