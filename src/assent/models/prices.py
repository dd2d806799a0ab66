"""What models cost: list prices as data with their date. A model that is not listed costs "unknown", never a guess."""

from collections.abc import Mapping

from assent.config import Price
from assent.parts import Usage

AS_OF = "2026-01"
"""When the list was compared with the provider's price page: ai.google.dev/gemini-api/docs/pricing."""

LONG_PROMPT = 200_000
"""Tokens of input beyond which some models take another price for the whole request."""

LIST_PRICES: dict[str, Price] = {
    "gemini-3-pro-preview": Price(2.00, 12.00, 0.20),
    "gemini-3-flash-preview": Price(0.50, 3.00, 0.05),
    "gemini-2.5-pro": Price(1.25, 10.00, 0.125),
    "gemini-2.5-flash": Price(0.30, 2.50, 0.03),
    "gemini-2.5-flash-lite": Price(0.10, 0.40, 0.01),
    "gemini-2.0-flash": Price(0.10, 0.40, 0.025),
    "gemini-2.0-flash-lite": Price(0.075, 0.30),
}

LONG_PRICES: dict[str, Price] = {
    "gemini-3-pro-preview": Price(4.00, 18.00, 0.40),
    "gemini-2.5-pro": Price(2.50, 15.00, 0.25),
}
"""For requests with a long prompt, where that makes a difference."""


class Prices:
    """The list, with the user's own prices before it."""

    def __init__(self, own: Mapping[str, Price] | None = None) -> None:
        self._own = dict(own or {})

    def cost(self, model: str, usage: Usage) -> float | None:
        """Dollars for one request; None when nobody knows what the model costs."""
        price = self._price(model, usage.input)
        if price is None:
            return None
        cached = price.input if price.cached is None else price.cached
        fresh = max(0, usage.input - usage.cached)  # the provider counts cached tokens among the input
        dollars = fresh * price.input + usage.cached * cached + (usage.output + usage.thoughts) * price.output
        return dollars / 1_000_000

    def is_own(self, model: str) -> bool:
        return model in self._own

    def _price(self, model: str, prompt: int) -> Price | None:
        if model in self._own:
            return self._own[model]
        if prompt > LONG_PROMPT and model in LONG_PRICES:
            return LONG_PRICES[model]
        return LIST_PRICES.get(model)
