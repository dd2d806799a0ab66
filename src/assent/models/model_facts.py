"""What is known about a model by its name: the size of its context window, and what it costs.

The price of a model that is not listed is unknown, never guessed. A window that is guessed too small only makes
compression start early.
"""

import time
from collections.abc import Callable, Mapping

from assent.config import Price
from assent.models.model_protocol import BadRequest
from assent.models.provider import KnownModel, Provider
from assent.models.provider_registry import OwnProviders, find_provider, split_name
from assent.parts import Usage

UNKNOWN_WINDOW = 128_000


def context_window(name: str, own: OwnProviders | None = None) -> int:
    """`own`: the providers in the settings."""
    provider, known = _look_up(name, own)
    if known is not None:
        return known.window
    return provider.default_window if provider is not None else UNKNOWN_WINDOW


def known_window(name: str, own: OwnProviders | None = None) -> int | None:
    """None for a model that is not listed."""
    _, known = _look_up(name, own)
    return known.window if known is not None else None


def price_date(name: str) -> str:
    """When the listed price was last compared with its source; empty for a model without a price."""
    provider, known = _look_up(name)
    return provider.price_date(known.name) if provider is not None and known is not None else ""


def _today() -> str:
    return time.strftime("%Y-%m-%d")


class Prices:
    """The providers' price lists; the user's own prices take precedence."""

    def __init__(self, own: Mapping[str, Price] | None = None, today: Callable[[], str] = _today) -> None:
        self._own = dict(own or {})
        self._today = today

    def cost(self, model: str, usage: Usage) -> float | None:
        """Dollars for one request; None if the price of the model is unknown."""
        price = self._price(model, usage.input)
        if price is None:
            return None
        cached = price.input if price.cached is None else price.cached
        written = price.input if price.cache_written is None else price.cache_written
        fresh = max(0, usage.input - usage.cached - usage.cache_written)
        dollars = fresh * price.input + usage.cached * cached + usage.cache_written * written
        return (dollars + (usage.output + usage.thoughts) * price.output) / 1_000_000

    def of(self, model: str) -> Price | None:
        """For a request of ordinary length."""
        return self._price(model, 0)

    def is_own(self, model: str) -> bool:
        return model in self._own

    def _price(self, model: str, prompt: int) -> Price | None:
        if model in self._own:
            return self._own[model]
        _, known = _look_up(model)
        if known is None:
            return None
        if known.later_price is not None and self._today() >= known.later_from:
            return known.later_price
        return known.long_price if known.long_price is not None and prompt > known.long_input else known.price


def _look_up(name: str, own: OwnProviders | None = None) -> tuple[Provider | None, KnownModel | None]:
    try:
        provider_name, model = split_name(name, own)
        provider = find_provider(provider_name, own)
    except BadRequest:
        return None, None
    return provider, provider.known(model)
