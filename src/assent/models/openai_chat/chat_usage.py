"""Translates the usage that a chat completion reports. Pure."""

from msgspec import Struct

from assent.parts import Usage


class _InputDetails(Struct):
    cached_tokens: int | None = None
    cache_write_tokens: int | None = None


class _OutputDetails(Struct):
    reasoning_tokens: int | None = None


class ChatUsage(Struct):
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    prompt_tokens_details: _InputDetails | None = None
    completion_tokens_details: _OutputDetails | None = None
    prompt_cache_hit_tokens: int | None = None
    """DeepSeek's name for cached tokens."""


def read_usage(usage: ChatUsage) -> Usage:
    said_of_input = usage.prompt_tokens_details or _InputDetails()
    said_of_output = usage.completion_tokens_details or _OutputDetails()
    prompt = max(0, usage.prompt_tokens or 0)
    cached = _within(said_of_input.cached_tokens or usage.prompt_cache_hit_tokens, prompt)
    completion = max(0, usage.completion_tokens or 0)
    thoughts = _within(said_of_output.reasoning_tokens, completion)
    return Usage(
        input=prompt,
        output=completion - thoughts,
        thoughts=thoughts,
        cached=cached,
        cache_written=_within(said_of_input.cache_write_tokens, prompt - cached),
    )


def _within(tokens: int | None, most: int) -> int:
    return max(0, min(tokens or 0, most))
