"""Old output is removed from a long conversation first; one that the provider rejects is shortened. Rows F6, K4."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assent.agent import token_estimate
from assent.agent.pruning import KEPT_SHARE, plan_pruning, pruned
from assent.commands import Submit
from assent.events import ChatCompressed, FileChange, OutputPruned, TurnFinished
from assent.parts import Call, Message, ModelMessage, Result, Text, Todo, UserMessage
from assent.scheduler.call import Success
from assent.session.essentials import essentials
from assent.session.state import SessionState, fold
from support.session_harness import SessionHarness, above, call, text

pytestmark = pytest.mark.spec("F6")

LONG = "words " * 2_000


def exchange(number: int, output: str) -> tuple[Message, ...]:
    call_id = f"c{number}"
    result = Result(call_id, "read_file", {"output": output})
    return ModelMessage((Call(call_id, "read_file", {"path": "a"}),)), UserMessage((result,))


def everything(_: str) -> bool:
    return True


def test_the_oldest_long_output_is_pruned_and_the_newest_stays() -> None:
    messages = (UserMessage((Text("go"),)), *exchange(1, LONG), *exchange(2, "short"), *exchange(3, LONG))
    plan = plan_pruning(messages, everything)
    assert plan.call_ids == ("c1",)
    assert plan.after < plan.before * 0.6


def test_output_that_cannot_be_repeated_is_never_pruned() -> None:
    messages = (*exchange(1, LONG), *exchange(2, LONG), *exchange(3, LONG))
    assert plan_pruning(messages, lambda tool: tool != "read_file").call_ids == ()


def test_the_failure_is_still_reported() -> None:
    result = Result("c1", "run_shell_command", {"error": "exit code 2", "output": LONG})
    assert pruned(result).response["error"] == "exit code 2"
    assert token_estimate.of_result(pruned(result)) < 50


@given(st.lists(st.integers(0, 3_000), max_size=30))
def test_pruning_never_makes_it_longer_and_keeps_the_newest_part(sizes: list[int]) -> None:
    messages = [message for n, size in enumerate(sizes) for message in exchange(n, "x" * size)]
    plan = plan_pruning(messages, everything)
    assert plan.after <= plan.before
    newest, kept = 0, set[str]()
    for message in reversed(messages):
        newest += token_estimate.of_message(message)
        if newest > plan.before * KEPT_SHARE:
            break
        kept |= {part.call_id for part in message.parts if isinstance(part, Result)}
    assert not kept & set(plan.call_ids)


def reading(count: int, **usage: int) -> list[dict[str, Any]]:
    replies = [{"chunks": [call("read_note", f"c{n}", text=f"note {n}")], "usage": usage} for n in range(count)]
    return [*replies, text("Done.")]


async def worked(harness: SessionHarness, **options: object) -> SessionHarness:
    """The note tools give long output here."""
    harness.options.update(options)
    harness.world.output = LONG
    async with await harness.open() as runner:
        await harness.send(runner, Submit("Please read."))
        await harness.until_done()
    return harness


async def test_a_conversation_that_is_too_long_loses_old_output_before_it_is_summarised() -> None:
    harness = await worked(SessionHarness(*reading(4)), compress_above=above(7_000))
    assert harness.recorded(OutputPruned) and not harness.recorded(ChatCompressed)
    assert harness.recorded(OutputPruned)[0].call_ids[0] == "c0"
    sent = str(harness.model.requests[-1].messages)
    assert "Old output removed" in sent and LONG.strip() in sent


async def test_pruned_output_stays_removed_when_the_session_is_opened_again() -> None:
    harness = await worked(SessionHarness(*reading(4)), compress_above=above(7_000))
    state = fold(harness.session, await harness.log.read(harness.session))
    assert "Old output removed" in str(state.history())
    assert LONG.strip() in str(next(call.result for call in state.calls.values() if isinstance(call, Success)))


@pytest.mark.spec("K4")
async def test_what_the_provider_finds_too_long_is_shortened_and_sent_once_more() -> None:
    replies = reading(3)
    too_long = {"chunks": [{"error": {"kind": "context_too_long", "message": "at most 4096 tokens"}}]}
    harness = await worked(SessionHarness(*replies[:-1], too_long, text("# Facts\nthree notes"), text("Done.")))
    assert harness.recorded(OutputPruned)
    assert harness.recorded(TurnFinished)[-1].status == "completed"


@pytest.mark.spec("K4")
async def test_what_cannot_be_shortened_fails_with_the_providers_message() -> None:
    too_long = {"chunks": [{"error": {"kind": "context_too_long", "message": "at most 4096 tokens"}}]}
    harness = await worked(SessionHarness(too_long))
    finished = harness.recorded(TurnFinished)[-1]
    assert finished.failure is not None and finished.failure.type == "context_too_long"
    assert finished.failure.message.startswith("at most 4096 tokens. Start a new session")
    assert len(harness.model.requests) == 1


async def test_a_summary_keeps_first_request_steps_and_changed_files_word_for_word() -> None:
    state = SessionState("s")
    state.first_prompt, state.latest_prompt = "Build the shop.", "go on"
    state.todos = (Todo("write tests", "in_progress"),)
    state.changes = {
        "c1": FileChange(path="/w/shop.py", after="digest"),
        "c2": FileChange(path="/w/old.py", after="digest"),
    }
    state.undone = {"c2"}
    kept = essentials(state)
    assert "Build the shop." in kept and "- [in_progress] write tests" in kept
    assert "- /w/shop.py" in kept and "old.py" not in kept


async def test_a_summary_keeps_later_requests_as_far_as_there_is_room_and_nothing_twice() -> None:
    state = SessionState("s")
    state.requests = ["Build the shop.", "x" * 3_000, "Never touch prod.", "Add a cart.", "Use euros.", "go on"]
    state.first_prompt, state.latest_prompt, state.open_prompt = "Build the shop.", "go on", "p"
    kept = essentials(state, kept=["Use euros."])
    assert kept.endswith(
        f"Later requests of the user, word for word:\n- {'x' * 3_000}\n- Never touch prod.\n- Add a cart."
    )
    state.conversation.window = 130
    assert essentials(state).endswith("word for word:\n- Add a cart.\n- Use euros.")


async def test_a_long_first_request_says_what_is_missing_in_a_summary() -> None:
    state = SessionState("s")
    state.first_prompt = "a" * 3_000 + "b" * 3_000
    assert "aa ... [2,000 characters omitted] ... bb" in essentials(state)
    state.conversation.window = 200_000
    assert state.first_prompt in essentials(state)
