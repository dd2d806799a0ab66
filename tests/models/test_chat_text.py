"""What stands in the text of a reply although it is none: thoughts in tags, and calls in tags or fences."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assent.models.model_protocol import CallChunk, Chunk, Finished, TextChunk, ThoughtChunk
from assent.models.openai_chat.chat_written_calls import read_written_calls
from support.chat_events import call, delta, read, reader, text
from support.cuts import cut_at

STOP = delta("stop")
TOOLS = ("read_file", "ls")


def joined(chunks: list[Chunk]) -> tuple[str, str]:
    """All thoughts, and all text."""
    thoughts = "".join(chunk.text for chunk in chunks if isinstance(chunk, ThoughtChunk))
    return thoughts, "".join(chunk.text for chunk in chunks if isinstance(chunk, TextChunk))


def said(*pieces: str, offered: tuple[str, ...] = ()) -> list[Chunk]:
    return read(*map(text, pieces), STOP, reply=reader(offered))


# --- <think> ---


@pytest.mark.parametrize(
    ("content", "thoughts", "rest"),
    [
        ("<think>hm</think>hi", "hm", "hi"),
        ("\n<think>\nhm\n</think>\n\nhi", "hm\n", "hi"),
        ("<thinking>hm</thinking>hi", "hm", "hi"),
        ("<think></think>hi", "", "hi"),
        ("<think>a</think>\n<think>b</think>hi", "ab", "hi"),
        ("<think>1 < 2 </thin </think>hi", "1 < 2 </thin ", "hi"),
        ("<think>never closed", "never closed", ""),
        ("hi <think>no</think>", "", "hi <think>no</think>"),
        ("<thin air", "", "<thin air"),
        ("<", "", "<"),
        ("  hi", "", "  hi"),
        ("</think>hi", "", "</think>hi"),
    ],
)
def test_thoughts_in_tags_are_found_however_the_stream_splits_them(content: str, thoughts: str, rest: str) -> None:
    assert joined(said(content)) == (thoughts, rest)
    assert joined(said(*content)) == (thoughts, rest)
    for place in range(1, len(content)):
        assert joined(said(content[:place], content[place:])) == (thoughts, rest)


def test_thoughts_in_tags_stream_as_they_come() -> None:
    assert said("<think>", "a", "b", "</think>", "hi")[:-1] == [ThoughtChunk("a"), ThoughtChunk("b"), TextChunk("hi")]


@given(st.text(alphabet="<think>/ \nab", max_size=40), st.lists(st.integers(0, 40), max_size=5))
def test_no_letter_of_a_text_without_tags_in_front_is_lost(content: str, cuts: list[int]) -> None:
    content = f"x{content}"
    pieces = [piece.decode() for piece in cut_at(content.encode(), cuts)]
    assert joined(said(*pieces)) == ("", content)


# --- calls written as text ---

ONE = '{"name": "read_file", "arguments": {"path": "a"}}'
TWO = '{"name": "ls", "parameters": {}}'
READ, LIST = CallChunk("read_file", {"path": "a"}), CallChunk("ls", {})


@pytest.mark.parametrize(
    ("content", "calls"),
    [
        (f"<tool_call>{ONE}</tool_call>", [READ]),
        (f"\n<tool_call>\n{ONE}\n</tool_call>\n<tool_call>\n{TWO}\n</tool_call>\n", [READ, LIST]),
        (f"```json\n{ONE}\n```", [READ]),
        (f"```\n{ONE}\n```\n", [READ]),
        (f"```tool_call\n[{ONE}, {TWO}]\n```", [READ, LIST]),
        (
            '```json\n{"name": "ls", "arguments": {"a": "```\\n</tool_call>"}}\n```',
            [CallChunk("ls", {"a": "```\n</tool_call>"})],
        ),
        (f"<think>hm</think>\n<tool_call>{ONE}</tool_call>", [READ]),
    ],
)
def test_a_reply_of_nothing_but_written_calls_makes_these_calls(content: str, calls: list[CallChunk]) -> None:
    for pieces in ([content], list(content)):
        chunks = said(*pieces, offered=TOOLS)
        assert [chunk for chunk in chunks if not isinstance(chunk, ThoughtChunk)] == [*calls, Finished("stop")]


@pytest.mark.spec("F9")
@pytest.mark.parametrize(
    "content",
    [
        f"I call it: <tool_call>{ONE}</tool_call>",
        f"<tool_call>{ONE}</tool_call> Shall I?",
        f"<tool_call>{ONE}",
        f"<tool_call>{ONE[:-1]}</tool_call>",
        f"<tool_call>{ONE}</tool_call>\n<tool_call>",
        '<tool_call>{"name": "rm", "arguments": {}}</tool_call>',
        '<tool_call>{"name": "ls"}</tool_call>',
        '<tool_call>{"name": "ls", "arguments": "{}"}</tool_call>',
        '<tool_call>{"name": "ls", "arguments": [1]}</tool_call>',
        '<tool_call>{"name": "ls", "arguments": {}, "parameters": {}}</tool_call>',
        '<tool_call>{"name": "ls", "arguments": {}, "why": "x"}</tool_call>',
        '<tool_call>{"arguments": {}}</tool_call>',
        f"<tool_call>[{ONE}, 3]</tool_call>",
        "<tool_call>[]</tool_call>",
        f"```python\n{ONE}\n```",
        f"```json\n{ONE}\n```\nThis reads the file.",
        "```json\n[1, 2]\n```",
        "```json\nnot json\n```",
        ONE,
        "```",
        "<tool_call>",
    ],
)
def test_anything_else_is_text_to_the_last_letter(content: str) -> None:
    for pieces in ([content], list(content)):
        chunks = said(*pieces, offered=TOOLS)
        assert joined(chunks) == ("", content)
        assert not any(isinstance(chunk, CallChunk) for chunk in chunks)


def test_a_written_call_beside_a_real_one_is_text() -> None:
    chunks = read(text(f"<tool_call>{ONE}</tool_call>"), call(0, "aaaa", "ls", "{}"), STOP, reply=reader(TOOLS))
    assert [chunk for chunk in chunks if isinstance(chunk, CallChunk)] == [CallChunk("ls", {}, "aaaa")]


def test_a_written_call_of_a_reply_that_reached_its_limit_is_text() -> None:
    chunks = read(text(f"<tool_call>{ONE}</tool_call>"), delta("length"), reply=reader(TOOLS))
    assert not any(isinstance(chunk, CallChunk) for chunk in chunks)


def test_without_tools_nothing_is_held_back() -> None:
    content = f"<tool_call>{ONE}</tool_call>"
    assert said(content, " and more")[:-1] == [TextChunk(content), TextChunk(" and more")]


def test_code_in_a_fence_streams_as_it_comes() -> None:
    chunks = said("```python\n", "print(1)\n", "```", offered=TOOLS)
    assert chunks[:-1] == [TextChunk("```python\n"), TextChunk("print(1)\n"), TextChunk("```")]


def test_deeply_nested_json_is_not_a_call() -> None:
    assert read_written_calls("<tool_call>" + "[" * 100_000 + "</tool_call>", TOOLS) == []
