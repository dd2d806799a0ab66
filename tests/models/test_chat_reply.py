"""What a streamed chat completion means, event by event: the shapes that real servers send."""

from typing import Any

import pytest

from assent.models.model_protocol import (
    BrokenStream,
    CallChunk,
    Finished,
    QuotaExhausted,
    TextChunk,
    ThoughtChunk,
    Withheld,
)
from assent.parts import Usage
from support.chat_events import DONE, Event, call, delta, read, reader, text, usage

STOP = delta("stop")
CALLS = delta("tool_calls")


# --- text, usage, the end ---


@pytest.mark.spec("F1")
def test_text_then_stop_then_usage_then_done() -> None:
    chunks = read(delta(role="assistant", content=None), text("Hel"), text("lo"), STOP, usage(), DONE)
    assert chunks == [TextChunk("Hel"), TextChunk("lo"), Finished("stop", Usage(input=3, output=4))]


def test_a_reply_without_usage_still_finishes() -> None:
    assert read(text("hi"), STOP, DONE) == [TextChunk("hi"), Finished("stop")]


COUNTED = {"prompt_tokens": 3, "completion_tokens": 4}
PLACES: list[Event] = [
    {"choices": [{"index": 0, "delta": {}}], "usage": COUNTED},
    {"choices": [{"index": 0, "delta": {}, "usage": COUNTED}]},
    {"choices": [], "x_groq": {"usage": COUNTED}},
]


@pytest.mark.parametrize("last", PLACES)
def test_usage_is_found_wherever_a_server_puts_it(last: Event) -> None:
    assert read(text("hi"), STOP, last, DONE)[-1] == Finished("stop", Usage(input=3, output=4))


def test_usage_on_the_finish_chunk_is_taken() -> None:
    finish: Event = {"choices": [{"delta": {}, "finish_reason": "stop"}], "usage": COUNTED}
    assert read(text("hi"), finish, DONE)[-1] == Finished("stop", Usage(input=3, output=4))


def test_usage_reported_twice_is_not_added_up() -> None:
    assert read(text("hi"), usage(), STOP, usage(completion_tokens=5), DONE)[-1] == Finished("stop", Usage(3, 5))


def test_a_later_null_does_not_erase_the_usage() -> None:
    assert read(usage(), {"choices": [{"delta": {}, "finish_reason": "stop"}], "usage": None})[-1] == Finished(
        "stop", Usage(3, 4)
    )


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"prompt_tokens_details": {"cached_tokens": 2}}, Usage(3, 4, cached=2)),
        ({"prompt_cache_hit_tokens": 2, "prompt_cache_miss_tokens": 1}, Usage(3, 4, cached=2)),
        ({"completion_tokens_details": {"reasoning_tokens": 3}}, Usage(3, 1, thoughts=3)),
        ({"completion_tokens_details": {"reasoning_tokens": 9}}, Usage(3, 0, thoughts=4)),
        ({"prompt_tokens_details": {"cached_tokens": 1, "cache_write_tokens": 2}}, Usage(3, 4, 0, 1, 2)),
        ({"prompt_tokens_details": None, "completion_tokens": None}, Usage(3, 0)),
    ],
)
def test_the_parts_of_usage(fields: dict[str, Any], expected: Usage) -> None:
    assert read(text("hi"), STOP, usage(**fields))[-1] == Finished("stop", expected)


@pytest.mark.parametrize(
    ("said", "reason", "word"),
    [
        ("stop", "stop", ""),
        ("length", "max_tokens", ""),
        ("model_length", "max_tokens", ""),
        ("content_filter", "safety", "content_filter"),
        ("something_new", "other", "something_new"),
    ],
)
def test_finish_reasons_are_mapped(said: str, reason: Any, word: str) -> None:
    assert read(text("hi"), delta(said))[-1] == Finished(reason, Usage(), word)


def test_a_finish_without_the_end_marker_is_enough() -> None:
    assert read(text("hi"), STOP) == [TextChunk("hi"), Finished("stop")]


def test_the_end_marker_without_a_finish_is_enough_for_text() -> None:
    assert read(text("hi"), DONE) == [TextChunk("hi"), Finished("stop")]


def test_an_empty_finish_reason_is_none() -> None:
    with pytest.raises(BrokenStream):
        read(delta("", content="hi"))


@pytest.mark.spec("F9")
def test_an_end_before_the_finish_breaks_the_reply() -> None:
    with pytest.raises(BrokenStream, match="before it was complete"):
        read(text("hi"))


@pytest.mark.spec("F9")
def test_an_end_inside_an_event_breaks_the_reply() -> None:
    with pytest.raises(BrokenStream, match="in the middle of an event"):
        read(text("hi"), STOP, cut=True)


@pytest.mark.parametrize("word", ["insufficient_system_resource", "error"])
def test_a_failure_as_finish_reason_breaks_the_reply(word: str) -> None:
    with pytest.raises(BrokenStream, match=word):
        read(text("hi"), delta(word))


def test_what_comes_after_the_end_marker_is_ignored() -> None:
    assert read(text("hi"), STOP, DONE, text("more"), "not json") == [TextChunk("hi"), Finished("stop")]


def test_a_refusal_is_text_and_ends_for_safety() -> None:
    chunks = read(delta(refusal="I cannot "), delta(refusal="do that."), STOP, DONE)
    assert chunks == [TextChunk("I cannot "), TextChunk("do that."), Finished("safety")]


def test_a_completely_withheld_reply_is_an_error() -> None:
    with pytest.raises(Withheld, match="content_filter"):
        read(delta("content_filter"), DONE)


def test_unknown_fields_and_events_are_ignored() -> None:
    filters = {"choices": [], "prompt_filter_results": [{"prompt_index": 0}]}
    assert read(filters, {"type": "ping"}, delta(content="hi", audio=None, annotations=[]), STOP)[0] == TextChunk("hi")


@pytest.mark.parametrize(
    "event", ["{", "[]", '{"choices": 3}', '{"choices": [{"delta": {"content": 3}}]}', '{"choices":' + "[" * 10**5]
)
def test_an_event_of_another_shape_breaks_the_reply(event: str) -> None:
    with pytest.raises(BrokenStream, match="malformed"):
        read(event)


# --- errors inside a stream ---


def test_an_error_in_the_middle_breaks_the_reply() -> None:
    with pytest.raises(BrokenStream, match="died"):
        read(text("hi"), {"error": {"message": "died", "type": None, "code": "500"}})


def test_a_permanent_error_keeps_its_type() -> None:
    with pytest.raises(QuotaExhausted, match="credits"):
        read({"id": "1", "error": {"code": 402, "message": "not enough credits"}, "choices": []})


def test_an_error_of_mistral_is_recognised() -> None:
    with pytest.raises(BrokenStream, match="overheated"):
        read({"object": "error", "message": "overheated", "type": "internal", "code": 3000})


# --- calls ---


@pytest.mark.spec("F1")
def test_arguments_in_many_fragments_are_one_call() -> None:
    pieces = [call(0, arguments=piece) for piece in '{"path": "ä.txt"}']
    chunks = read(call(0, "call_ab12", "read_file", ""), *pieces, CALLS, usage(), DONE)
    assert chunks == [CallChunk("read_file", {"path": "ä.txt"}, "call_ab12"), Finished("stop", Usage(3, 4))]


def test_fragments_of_two_calls_may_be_mixed() -> None:
    chunks = read(
        call(0, "aaaa", "a", ""),
        call(1, "bbbb", "b", ""),
        call(1, arguments='{"n":'),
        call(0, arguments='{"n":'),
        call(0, arguments="1}"),
        call(1, arguments="2}"),
        CALLS,
    )
    assert chunks[:2] == [CallChunk("a", {"n": 1}, "aaaa"), CallChunk("b", {"n": 2}, "bbbb")]


def test_the_same_index_with_a_new_id_is_another_call() -> None:
    chunks = read(call(0, "aaaa", "a", '{"n":1}'), call(0, "bbbb", "a", '{"n":2}'), CALLS)
    assert chunks[:2] == [CallChunk("a", {"n": 1}, "aaaa"), CallChunk("a", {"n": 2}, "bbbb")]


def test_without_an_index_a_new_id_is_another_call() -> None:
    chunks = read(
        call(None, "aaaa", "a", '{"n":'),
        call(None, arguments="1}"),
        call(None, "bbbb", "b", '{"n":'),
        call(None, "bbbb", arguments="2}"),
        CALLS,
    )
    assert chunks[:2] == [CallChunk("a", {"n": 1}, "aaaa"), CallChunk("b", {"n": 2}, "bbbb")]


def test_without_index_and_id_a_name_after_a_whole_call_begins_another() -> None:
    chunks = read(call(None, None, "a", '{"n":1}'), call(None, None, "a", '{"n":2}'), CALLS)
    assert chunks[:2] == [CallChunk("a", {"n": 1}), CallChunk("a", {"n": 2})]


def test_an_id_and_a_name_in_every_fragment_are_one_call() -> None:
    chunks = read(call(0, "aaaa", "a", '{"n":'), call(0, "aaaa", "a", "1}"), call(0, "aaaa", "a", ""), CALLS)
    assert chunks[:-1] == [CallChunk("a", {"n": 1}, "aaaa")]


def test_a_name_that_is_repeated_without_arguments_begins_nothing() -> None:
    assert read(call(0, None, "a", '{"n":1}'), call(0, None, "a", ""), CALLS)[:-1] == [CallChunk("a", {"n": 1})]


def test_a_complete_call_in_the_last_chunk_is_a_call() -> None:
    whole = {"index": 0, "id": "aaaa", "function": {"name": "a", "arguments": '{"n":1}'}}
    assert read(delta("tool_calls", tool_calls=[whole]), DONE)[0] == CallChunk("a", {"n": 1}, "aaaa")


def test_arguments_that_are_an_object_already_are_taken() -> None:
    assert read(call(0, "aaaa", "a", {"n": 1}), CALLS)[0] == CallChunk("a", {"n": 1}, "aaaa")


@pytest.mark.parametrize("arguments", ["", None, "null", "{}", " \n"])
def test_no_arguments_are_an_empty_object(arguments: str | None) -> None:
    assert read(call(0, "aaaa", "a", arguments), CALLS)[0] == CallChunk("a", {}, "aaaa")


def test_the_old_function_call_is_a_call() -> None:
    chunks = read(
        delta(function_call={"name": "a", "arguments": '{"n":'}), delta(function_call={"arguments": "1}"}), STOP
    )
    assert chunks[0] == CallChunk("a", {"n": 1})


def test_calls_count_although_the_finish_says_stop() -> None:
    assert read(call(0, "aaaa", "a", "{}"), STOP) == [CallChunk("a", {}, "aaaa"), Finished("stop")]


def test_no_call_is_passed_on_before_the_end() -> None:
    reply = reader()
    assert [
        reply.chunks(b'{"choices":[{"delta":{"tool_calls":[{"index":0,"function":{"name":"a","arguments":"{}"}}]}}]}')
    ] == [[]]
    assert reply.chunks(b'{"choices":[{"delta":{},"finish_reason":"tool_calls"}]}') == []
    assert reply.end(cut=False)[0] == CallChunk("a", {})


@pytest.mark.spec("F9")
@pytest.mark.parametrize("arguments", ['{"path": "/etc', "", '{"path":'])
def test_a_call_that_the_limit_cut_is_dropped(arguments: str) -> None:
    chunks = read(text("hm"), call(0, "aaaa", "rm", arguments), delta("length"), usage(), DONE)
    assert chunks == [TextChunk("hm"), Finished("max_tokens", Usage(3, 4))]


def test_a_call_before_the_one_that_the_limit_cut_stays() -> None:
    chunks = read(call(0, "aaaa", "a", '{"n":1}'), call(1, "bbbb", "b", '{"n'), delta("length"))
    assert chunks == [CallChunk("a", {"n": 1}, "aaaa"), Finished("max_tokens")]


@pytest.mark.spec("F9")
@pytest.mark.parametrize("arguments", ['{"n": 1', "[1]", "3", '"x"', '{"n": 1} {"n": 2}', '{"n": 1} {', "[" * 10**5])
def test_arguments_that_are_no_object_break_the_reply(arguments: str) -> None:
    with pytest.raises(BrokenStream, match="an incomplete call of a"):
        read(call(0, "aaaa", "a", arguments), CALLS)


def test_a_call_without_a_name_breaks_the_reply() -> None:
    with pytest.raises(BrokenStream, match="without a name"):
        read(call(0, "aaaa", None, "{}"), CALLS)


@pytest.mark.spec("F9")
def test_a_call_that_may_have_lost_its_arguments_breaks_the_reply() -> None:
    """A gateway whose backend died may still send the end marker; without a finish reason, nothing says `whole`."""
    with pytest.raises(BrokenStream, match="an incomplete call"):
        read(call(0, "aaaa", "rm", ""), DONE)


@pytest.mark.parametrize("call_id", ["", "call_0", "0", "tool-12", "used"])
def test_an_id_that_names_no_single_call_is_not_kept(call_id: str) -> None:
    chunks = read(call(0, call_id, "a", "{}"), CALLS, reply=reader(used=("used",)))
    assert chunks[0] == CallChunk("a", {}, None)


def test_an_id_that_comes_twice_is_kept_once() -> None:
    chunks = read(call(0, "same", "a", "{}"), call(1, "other", "b", "{}"), CALLS)
    assert [chunk.call_id for chunk in chunks if isinstance(chunk, CallChunk)] == ["same", "other"]
    whole = [{"index": n, "id": "same", "function": {"name": "a", "arguments": f'{{"n":{n}}}'}} for n in range(2)]
    chunks = read(delta(tool_calls=whole[:1]), delta(tool_calls=whole[1:]), CALLS)
    assert [chunk for chunk in chunks if isinstance(chunk, CallChunk)] == [
        CallChunk("a", {"n": 0}, "same"),
        CallChunk("a", {"n": 1}, None),
    ]


# --- thoughts ---


@pytest.mark.parametrize("field", ["reasoning_content", "reasoning"])
def test_thoughts_precede_their_calls(field: str) -> None:
    chunks = read(delta(**{field: "hm"}), delta(**{field: " so"}), call(0, "aaaa", "a", "{}"), CALLS)
    assert chunks == [ThoughtChunk("hm"), ThoughtChunk(" so"), CallChunk("a", {}, "aaaa"), Finished("stop")]


def test_a_thought_in_two_fields_is_read_once() -> None:
    both = delta(reasoning_content="hm", reasoning="hm", content=None)
    assert read(both, text("hi"), STOP)[:-1] == [ThoughtChunk("hm"), TextChunk("hi")]


def test_a_thought_that_moves_to_another_field_is_not_repeated() -> None:
    details = [{"type": "reasoning.text", "text": "hm"}]
    assert read(delta(reasoning="hm"), delta(reasoning_details=details), text("hi"), STOP)[:-1] == [
        ThoughtChunk("hm"),
        TextChunk("hi"),
    ]


def test_details_alone_are_thoughts() -> None:
    events = [delta(reasoning_details=[{"type": "reasoning.summary", "summary": word}]) for word in ("hm", " so")]
    assert read(*events, text("hi"), STOP)[:-1] == [ThoughtChunk("hm"), ThoughtChunk(" so"), TextChunk("hi")]


def test_mistral_thinks_in_a_list() -> None:
    thinking = delta(content=[{"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]}])
    answer = delta(content=[{"type": "text", "text": "hi"}, {"type": "reference", "reference_ids": [1]}])
    assert read(thinking, answer, text(" there"), STOP)[:-1] == [
        ThoughtChunk("hm"),
        TextChunk("hi"),
        TextChunk(" there"),
    ]


def test_details_are_kept_completely_for_servers_that_need_them_back() -> None:
    pieces = [
        {"type": "reasoning.text", "index": 0, "text": "h", "format": "f"},
        {"type": "reasoning.text", "index": 0, "text": "m", "signature": None},
        {"type": "reasoning.text", "index": 0, "signature": "sig"},
        {"type": "reasoning.encrypted", "index": 1, "data": "x"},
        {"type": "reasoning.encrypted", "index": 1, "data": "y"},
    ]
    events = [delta(reasoning_details=[piece]) for piece in pieces]
    chunks = read(*events, call(0, "aaaa", "a", "{}"), CALLS, reply=reader(keeps_details=True))
    kept = chunks[2]
    assert chunks[:2] == [ThoughtChunk("h"), ThoughtChunk("m")] and isinstance(kept, ThoughtChunk) and not kept.text
    assert kept.signature == (
        '[{"type":"reasoning.text","index":0,"format":"f","signature":"sig","text":"hm"},'
        '{"type":"reasoning.encrypted","index":1,"data":"x"},{"type":"reasoning.encrypted","index":1,"data":"y"}]'
    )
    assert isinstance(chunks[3], CallChunk)


# --- a reply in one piece ---


def test_a_reply_in_one_piece_gives_the_same_chunks_as_a_stream() -> None:
    whole = {
        "object": "chat.completion",
        "choices": [
            {
                "index": 0,
                "finish_reason": "tool_calls",
                "message": {
                    "role": "assistant",
                    "content": "I look.",
                    "tool_calls": [{"id": "aaaa", "type": "function", "function": {"name": "a", "arguments": "{}"}}],
                },
            }
        ],
        "usage": {"prompt_tokens": 3, "completion_tokens": 4},
    }
    assert read(whole) == [TextChunk("I look."), CallChunk("a", {}, "aaaa"), Finished("stop", Usage(3, 4))]
