"""Translates the usage that a chat completion reports. Pure."""

from msgspec import Struct

from assent.models.wire_json import Count, count
from assent.parts import Usage


class _InputDetails(Struct):
    cached_tokens: Count = None
    cache_write_tokens: Count = None


class _OutputDetails(Struct):
    reasoning_tokens: Count = None


class ChatUsage(Struct):
    prompt_tokens: Count = None
    completion_tokens: Count = None
    prompt_tokens_details: _InputDetails | None = None
    completion_tokens_details: _OutputDetails | None = None
    prompt_cache_hit_tokens: Count = None
    """DeepSeek's name for cached tokens."""


def read_usage(usage: ChatUsage) -> Usage:
    said_of_input = usage.prompt_tokens_details or _InputDetails()
    said_of_output = usage.completion_tokens_details or _OutputDetails()
    prompt = count(usage.prompt_tokens)
    cached = _within(said_of_input.cached_tokens or usage.prompt_cache_hit_tokens, prompt)
    completion = count(usage.completion_tokens)
    thoughts = _within(said_of_output.reasoning_tokens, completion)
    return Usage(
        input=prompt,
        output=completion - thoughts,
        thoughts=thoughts,
        cached=cached,
        cache_written=_within(said_of_input.cache_write_tokens, prompt - cached),
    )


def _within(tokens: Count, most: int) -> int:
    return min(count(tokens), most)
