"""Gemini as a provider, with a key or through Vertex AI: addresses, keys, its models and what they cost."""

from collections.abc import Mapping

from assent.config import Price
from assent.models.gemini.gemini_model import (
    BASE_URL,
    KEY_VARIABLE,
    TOKEN_COMMAND,
    VERTEX_URL,
    GeminiModel,
    SearchingModel,
    list_models,
)
from assent.models.provider import Access, KnownModel, Provider

LONG_INPUT = 200_000
"""Tokens of input above which some models charge another price for the whole request."""


def _connect(model: str, access: Access) -> GeminiModel:
    return GeminiModel(model, access.key, access.base_url, access.proxy, access.timeouts, access.provider)


def _connect_vertex(model: str, access: Access) -> SearchingModel:
    from assent.models.gemini.vertex_model import VertexModel

    return VertexModel(model, access)


def _has_credentials(env: Mapping[str, str]) -> bool:
    from assent.models.gemini.google_credentials import credentials_path

    return credentials_path(env) is not None


def _known(name: str, price: Price, long_price: Price | None = None) -> KnownModel:
    return KnownModel(
        name=name, window=1_048_576, output=65_536, price=price, long_price=long_price, long_input=LONG_INPUT
    )


def _announced(name: str, price: Price, later_price: Price, later_from: str) -> KnownModel:
    """A model whose price is known to change; LiteLLM's list says from what to what, and when."""
    return KnownModel(
        name=name,
        window=1_048_576,
        output=65_536,
        price=price,
        later_price=later_price,
        later_from=later_from,
        price_as_of="2026-10",
    )


GEMINI = Provider(
    name="gemini",
    title="Google Gemini",
    connect=_connect,
    list_models=list_models,
    base_url=BASE_URL,
    base_url_variable="GOOGLE_GEMINI_BASE_URL",
    key_variables=(KEY_VARIABLE, "GOOGLE_API_KEY"),
    key_page="https://aistudio.google.com/apikey",
    default_model="gemini-2.5-pro",
    default_window=1_048_576,
    prices_as_of="2026-01",
    prices_source="ai.google.dev/gemini-api/docs/pricing, LiteLLM's list of prices",
    can_search=True,
    models=(
        _announced("gemini-4-argon", Price(2.00, 10.00, 0.10), Price(4.00, 20.00, 0.20), "2026-12-01"),
        _announced("gemini-3.8-flash", Price(0.75, 3.75, 0.075), Price(1.50, 7.50, 0.15), "2027-01-01"),
        _known("gemini-3-pro-preview", Price(2.00, 12.00, 0.20), Price(4.00, 18.00, 0.40)),
        _known("gemini-3-flash-preview", Price(0.50, 3.00, 0.05)),
        _known("gemini-2.5-pro", Price(1.25, 10.00, 0.125), Price(2.50, 15.00, 0.25)),
        _known("gemini-2.5-flash", Price(0.30, 2.50, 0.03)),
        _known("gemini-2.5-flash-lite", Price(0.10, 0.40, 0.01)),
        _known("gemini-2.0-flash", Price(0.10, 0.40, 0.025)),
        _known("gemini-2.0-flash-lite", Price(0.075, 0.30)),
    ),
)

VERTEX = Provider(
    name="vertex",
    title="Google Vertex AI",
    connect=_connect_vertex,
    base_url=VERTEX_URL,
    base_url_variable="GOOGLE_VERTEX_BASE_URL",
    key_variables=("GOOGLE_OAUTH_ACCESS_TOKEN",),
    key_page="https://cloud.google.com/docs/authentication/rest",
    key_command=TOKEN_COMMAND,
    has_credentials=_has_credentials,
    default_model=GEMINI.default_model,
    default_window=GEMINI.default_window,
    prices_as_of=GEMINI.prices_as_of,
    prices_source=GEMINI.prices_source,
    can_search=True,
    models=GEMINI.models,
)

PROVIDERS = {"gemini": GEMINI, "vertex": VERTEX}
