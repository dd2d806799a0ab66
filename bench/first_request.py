"""From the start of the process to the first request at each provider, against the minimal client."""

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from bench.measure import Sample, interleaved
from bench.provider import SHORT_REPLY, Provider
from bench.report import Row

RATIO = 2.0
VERTEX = {"GOOGLE_OAUTH_ACCESS_TOKEN": "bench", "GOOGLE_CLOUD_PROJECT": "bench"}


class Contestant(NamedTuple):
    """A provider: the wire format that it speaks, a model, and how it is found."""

    wire_format: str
    model: str
    url_variable: str
    env: dict[str, str]


PROVIDERS = {
    "gemini": Contestant("gemini", "gemini-2.5-flash", "GOOGLE_GEMINI_BASE_URL", {"GEMINI_API_KEY": "bench"}),
    "vertex": Contestant("gemini", "vertex:gemini-2.5-flash", "GOOGLE_VERTEX_BASE_URL", VERTEX),
    "anthropic": Contestant("messages", "claude-opus-5-5", "ANTHROPIC_BASE_URL", {"ANTHROPIC_API_KEY": "bench"}),
    "openai": Contestant("responses", "gpt-6.1-sol", "OPENAI_BASE_URL", {"OPENAI_API_KEY": "bench"}),
    "deepseek": Contestant("chat", "deepseek-v4-pro", "DEEPSEEK_BASE_URL", {"DEEPSEEK_API_KEY": "bench"}),
    "llamacpp (no key)": Contestant("chat", "llamacpp:bench", "LLAMACPP_BASE_URL", {}),
}
REPLIES: dict[str, Any] = {"replies": [SHORT_REPLY["replies"][0] | {"repeat": 10}]}
"""More than one: a local server may be asked what it can do."""


def measure(quick: bool) -> Iterator[Row]:
    for name, contestant in PROVIDERS.items():
        with Provider(contestant.wire_format) as provider:
            medians = _start_to_request(provider, contestant, 5 if quick else 31)
        yield Row(f"start to first request, {name}", medians["assent"], "ms", medians["floor"], RATIO)


def _start_to_request(provider: Provider, contestant: Contestant, runs: int) -> dict[str, float]:
    env = contestant.env | {contestant.url_variable: provider.url}

    def first_request(program: Callable[[], Sample]) -> float:
        started = program().started_ns
        return (provider.arrivals()[0] - started) / 1e6

    return interleaved(
        {
            "assent": lambda: first_request(lambda: provider.assent_as(contestant.model, env, REPLIES)),
            "floor": lambda: first_request(lambda: provider.text_floor(REPLIES)),
        },
        runs,
    )
