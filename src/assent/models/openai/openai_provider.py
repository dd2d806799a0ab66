"""OpenAI as a provider: its address, its key, its models and what they cost."""

from assent.config import Price
from assent.models.openai.responses_model import BASE_URL, KEY_VARIABLE, ResponsesModel, list_models
from assent.models.provider import Access, KnownModel, Provider

LONG_INPUT = 272_000
"""Tokens of input above which the whole request costs more."""
CACHE_WRITE = 1.25
"""Factor on the input price."""


def _connect(model: str, access: Access) -> ResponsesModel:
    return ResponsesModel(model, access)


def _known(name: str, input: float, cached: float, output: float) -> KnownModel:
    """In a long request, input costs twice as much, and output one and a half times as much."""
    return KnownModel(
        name=name,
        window=1_050_000,
        output=128_000,
        price=Price(input, output, cached, input * CACHE_WRITE),
        long_price=Price(2 * input, 1.5 * output, 2 * cached, 2 * input * CACHE_WRITE),
        long_input=LONG_INPUT,
    )


OPENAI = Provider(
    name="openai",
    title="OpenAI",
    connect=_connect,
    list_models=list_models,
    base_url=BASE_URL,
    base_url_variable="OPENAI_BASE_URL",
    key_variables=(KEY_VARIABLE,),
    key_page="https://platform.openai.com/api-keys",
    default_model="gpt-6.1-sol",
    default_window=400_000,
    prices_as_of="2026-10",
    prices_source="release notes of OpenAI, LiteLLM's list of prices",
    models=(
        _known("gpt-6-astra", 10.00, 1.00, 50.00),
        _known("gpt-6.1-sol", 2.00, 0.10, 10.00),
        _known("gpt-6.1-terra", 1.00, 0.05, 5.00),
        _known("gpt-6-luna", 0.10, 0.01, 0.50),
    ),
)

PROVIDERS = {"openai": OPENAI}
