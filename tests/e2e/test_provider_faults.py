"""What a provider may do to us: cut, garbage, 429, 500, hang. It is asked again; nothing half is run or printed."""

import asyncio
import signal

import pytest

from support.fake_gemini import FakeGemini
from support.program import Ended, Json, Program, asks_for, says, shell

AT_ONCE = {"retry-after": "0"}


def half(*more: Json, **settings: Json | int) -> Json:
    """A reply that breaks off after its call, or in it."""
    return {"chunks": [{"text": "Half "}, {"call": shell("echo x >> canary")}, *more], **settings}


FAULTS: dict[str, Json] = {
    "cut after the call": half({"cut": True}),
    "cut in the middle of the call": half(drop_after=370),
    "reset": half({"abort": True}),
    "an event that is no JSON": half({"raw": "data: {\r\n\r\n"}),
    "an error in the stream": half({"error": {"kind": "transient"}}),
    "nothing at all": {"chunks": []},
    "429": {"status": 429, "headers": AT_ONCE, "body": {"error": {"code": 429, "message": "slow down"}}},
    "500": {"status": 500, "headers": AT_ONCE, "body": "<html>oops</html>"},
    "503": {"status": 503, "headers": AT_ONCE, "body": {"error": {"code": 503, "message": "overloaded"}}},
}


async def run(program: Program, fake: FakeGemini, *args: str) -> Ended:
    env = {"GEMINI_API_KEY": "test-key", "GOOGLE_GEMINI_BASE_URL": fake.url}
    return await program.run_beside("-p", "go", "--approval-mode", "yolo", *args, env=env)


@pytest.mark.spec("F9")
@pytest.mark.spec("F8")
@pytest.mark.parametrize("fault", FAULTS)
async def test_a_failed_reply_is_asked_for_again_and_nothing_of_it_is_run_or_printed(program: Program, fault: str):
    replies = [FAULTS[fault], asks_for(shell("echo x >> canary"), text="Whole. "), says("Done.")]
    async with FakeGemini({"replies": replies}) as fake:
        ended = await run(program, fake)
        requests = [request.body["contents"] for request in fake.requests]
    assert (ended.code, ended.out) == (0, "Whole. \nDone.\n")
    assert "trying again" in ended.err
    assert (program.folder / "canary").read_text() == "x\n"
    assert requests[0] == requests[1]
    assert len(requests) == 3
    assert len(program.events_of_type("model.message")) == 2


@pytest.mark.spec("F1")
@pytest.mark.spec("F9")
async def test_a_retry_is_an_event_of_the_stream_and_only_whole_replies_are_in_the_result(program: Program):
    async with FakeGemini({"replies": [FAULTS["cut after the call"], says("Whole.")]}) as fake:
        ended = await run(program, fake, "-o", "stream-json")
    (retry,) = ended.of_type("model.retry")
    assert (retry["attempt"], retry["seq"]) == (1, 0)
    assert [line["text"] for line in ended.of_type("model.text")] == ["Half ", "Whole."]
    assert (ended.result["status"], ended.result["response"]) == ("success", "Whole.")
    assert not (program.folder / "canary").exists()


@pytest.mark.spec("F8")
async def test_a_provider_that_stays_away_ends_the_turn_after_five_attempts(program: Program):
    async with FakeGemini({"replies": [FAULTS["503"] | {"repeat": 9}]}) as fake:
        ended = await run(program, fake, "-o", "stream-json")
        assert len(fake.requests) == 5
    assert (ended.code, ended.result["error"]["type"]) == (1, "unavailable")
    assert len(ended.of_type("model.retry")) == 4


@pytest.mark.spec("F8")
async def test_a_used_up_quota_is_not_tried_again(program: Program):
    quota = {"chunks": [{"error": {"kind": "quota", "message": "daily limit"}}]}
    async with FakeGemini({"replies": [quota, says("never")]}) as fake:
        ended = await run(program, fake, "-o", "json")
        assert len(fake.requests) == 1
    assert (ended.code, ended.result["error"]["type"]) == (1, "quota")


@pytest.mark.spec("F8")
async def test_an_unknown_model_is_named_and_not_tried_again(program: Program):
    gone = {"status": 404, "body": {"error": {"code": 404, "message": "models/gemini-0 is not found"}}}
    async with FakeGemini({"replies": [gone, says("never")]}) as fake:
        ended = await run(program, fake, "-m", "gemini-2.5-por")
        assert [request.method for request in fake.requests] == ["POST", "GET"], "the list is asked for near names"
    assert ended.code == 42
    assert "model gemini-2.5-por not found" in ended.err and "Did you mean gemini-2.5-pro or" in ended.err


@pytest.mark.spec("F9")
async def test_cancelling_a_reply_that_hangs_keeps_its_text_and_runs_none_of_its_calls(program: Program):
    hanging = {"chunks": [{"text": "I begin"}, {"call": shell("echo x >> canary")}, {"hang": True}]}
    async with FakeGemini({"replies": [hanging]}) as fake:
        env = {"GEMINI_API_KEY": "test-key", "GOOGLE_GEMINI_BASE_URL": fake.url}
        with program.start("-p", "go", "--approval-mode", "yolo", "-o", "stream-json", env=env) as running:
            await asyncio.to_thread(running.until_type, "model.text")
            running.signal(signal.SIGINT)
            ended = await asyncio.to_thread(running.wait)
    assert (ended.code, ended.result["status"], ended.result["response"]) == (130, "cancelled", "I begin")
    (kept,) = program.events_of_type("model.message")
    assert (kept["finish"], [part["type"] for part in kept["parts"]]) == ("cancelled", ["text"])
    assert not (program.folder / "canary").exists()


@pytest.mark.spec("F8")
@pytest.mark.parametrize(
    ("url", "said"),
    [("nonsense", "is not an address"), ("ftp://x", "is not an address"), ("http://example.com", "it must use https")],
)
def test_an_address_to_which_no_key_should_go_is_refused(program: Program, url: str, said: str):
    ended = program.run("-p", "go", env={"GEMINI_API_KEY": "test-key", "GOOGLE_GEMINI_BASE_URL": url})
    assert ended.code == 1
    assert said in ended.err
    assert "test-key" not in ended.err


@pytest.mark.spec("F9")
@pytest.mark.parametrize("finish", ["max_tokens", "safety", "other"])
async def test_a_reply_that_stopped_early_has_its_own_exit_code_and_says_so(program: Program, finish: str):
    async with FakeGemini({"replies": [says("Half of it", finish=finish), says("never asked for")]}) as fake:
        ended = await run(program, fake, "-o", "json")
    assert (ended.code, ended.result["status"], ended.result["response"]) == (58, "incomplete", "Half of it")
    assert "reply" in ended.result["error"]["message"]


@pytest.mark.spec("F9")
@pytest.mark.parametrize("chunks", [[], [{"thought": "**Plan** for ages"}]])
async def test_an_output_limit_without_an_answer_costs_one_request(program: Program, chunks: list[Json]):
    async with FakeGemini({"replies": [{"chunks": chunks, "finish": "max_tokens"}, says("never asked for")]}) as fake:
        ended = await run(program, fake)
        assert len(fake.requests) == 1
    assert (ended.code, ended.out) == (58, "")
    assert "reached its output limit before it wrote an answer" in ended.err


@pytest.mark.spec("F5")
async def test_an_endless_reply_is_stopped_and_its_connection_given_up(program: Program):
    reply = {"chunks": [{"text": "The same again. "}] * 200_000}
    async with FakeGemini({"replies": [reply]}) as fake:
        ended = await run(program, fake)
    assert ended.code == 53
    assert len(ended.out) < 10_000
    assert "repeated the same text" in ended.err
