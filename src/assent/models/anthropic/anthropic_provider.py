"""Anthropic as a provider: its address, its key, its models and what they cost."""

from assent.config import Price
from assent.models.anthropic.anthropic_model import BASE_URL, KEY_VARIABLE, LONGEST_REPLY, AnthropicModel, list_models
from assent.models.provider import Access, KnownModel, Provider

CACHE_WRITE = 1.25
"""Factor on the input price for what the provider caches for five minutes."""


def _connect(model: str, access: Access) -> AnthropicModel:
    known = ANTHROPIC.known(model)
    return AnthropicModel(model, access, known.output if known is not None else LONGEST_REPLY)


def _price(input: float, output: float, cached: float | None = None) -> Price:
    return Price(input, output, cached, input * CACHE_WRITE)


def _known(name: str, price: Price, long_price: Price | None = None, long_input: int = 0) -> KnownModel:
    return KnownModel(
        name=name, window=1_000_000, output=128_000, price=price, long_price=long_price, long_input=long_input
    )


ANTHROPIC = Provider(
    name="anthropic",
    title="Anthropic",
    connect=_connect,
    list_models=list_models,
    base_url=BASE_URL,
    base_url_variable="ANTHROPIC_BASE_URL",
    key_variables=(KEY_VARIABLE,),
    key_page="https://platform.claude.com/settings/keys",
    default_model="claude-sonnet-5-5",
    default_window=200_000,
    prices_as_of="2026-10",
    prices_source="platform.claude.com/docs/en/about-claude/pricing",
    models=(
        _known("claude-fable-5-1", _price(10.00, 50.00)),
        _known("claude-opus-5-5", _price(4.00, 20.00, 0.20)),
        _known("claude-sonnet-5-5", _price(2.00, 10.00, 0.20)),
        _known("claude-haiku-5-5", _price(0.10, 0.50), _price(0.50, 2.50), long_input=100_000),
        KnownModel(name="claude-haiku-4-5", window=200_000, output=64_000, price=_price(1.00, 5.00, 0.10)),
    ),
)

PROVIDERS = {"anthropic": ANTHROPIC}
