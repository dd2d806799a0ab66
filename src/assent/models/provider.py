"""What Assent knows about a provider without asking it: how to reach it, and which models it has.

Each provider package exports one or more of these; `provider_registry` finds them by name. Nothing here connects.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence

from msgspec import Struct

from assent.config import Price
from assent.models.model_protocol import Model
from assent.models.proxy import Proxy
from assent.models.streaming_client import Timeouts


class KnownModel(Struct, frozen=True, kw_only=True):
    """A model as its provider describes it."""

    name: str
    window: int
    """Tokens that fit into one request."""
    output: int = 0
    """Tokens of the longest reply; 0 if unknown."""
    price: Price | None = None
    long_price: Price | None = None
    """For a request whose input is longer than `long_input` tokens."""
    long_input: int = 0
    later_price: Price | None = None
    """What it will cost from the day `later_from` on, where the provider has said so."""
    later_from: str = ""
    """As in 2026-12-01."""
    price_as_of: str = ""
    """Where it is not the provider's `prices_as_of`."""


class FoundModel(Struct, frozen=True, kw_only=True):
    """A model that a provider says it has."""

    name: str
    window: int | None = None
    output: int | None = None
    tools: bool | None = None
    """Whether it can call tools; None if the provider does not say."""


class Access(Struct, frozen=True, kw_only=True):
    """How to reach a provider. It holds the key, so it is never recorded or shown."""

    base_url: str
    provider: str = ""
    """The name by which it was chosen: its own, or that of an entry in the settings. It prefixes model names."""
    key: str = ""
    proxy: Proxy | None = None
    timeouts: Timeouts | None = None
    env: Mapping[str, str] = {}
    """For what only one provider uses: projects, regions, API versions."""


class Provider(Struct, frozen=True, kw_only=True):
    name: str
    """The part before the colon in `provider:model`."""
    title: str
    connect: Callable[[str, Access], Model]
    """Makes a model from its name without the prefix; opens no connection. Raises ModelError."""
    list_models: Callable[[Access], Awaitable[Sequence[FoundModel]]] | None = None
    """Asks the provider which models it has; also the cheapest way to check a key. Raises ModelError."""
    models: Sequence[KnownModel] = ()
    default_model: str = ""
    """The model to use if only the provider was chosen."""
    default_window: int = 128_000
    """For models that are not listed."""
    base_url: str = ""
    base_url_variable: str = ""
    """The environment variable that overrides `base_url`."""
    complete_url: Callable[[str], str] | None = None
    """Completes what people write as a base URL, such as a bare host."""
    key_variables: Sequence[str] = ()
    """Environment variables that may hold the key, in order of precedence. Empty: the provider takes no key."""
    key_optional: bool = False
    key_page: str = ""
    """Where people get a key."""
    prices_as_of: str = ""
    prices_source: str = ""
    can_search: bool = False
    """Its models can search the web (`Searching`)."""
    is_local: bool = False
    """The server runs on this machine, so Assent may look for it there."""
    has_credentials: Callable[[Mapping[str, str]], bool] | None = None
    """Whether this machine has credentials from which the provider's package can create keys itself."""
    key_command: str = ""
    """A command that prints a key, for providers whose keys are short-lived."""

    def price_date(self, model: str) -> str:
        """When the listed price was last compared with its source; empty for a model without a price."""
        known = self.known(model)
        return "" if known is None or known.price is None else known.price_as_of or self.prices_as_of

    def known(self, model: str) -> KnownModel | None:
        """What is listed for this model. In a name such as `claude-haiku-4-5-20251001`, the date does not count."""
        exact = next((known for known in self.models if known.name == model), None)
        if exact is not None:
            return exact
        starts = [known for known in self.models if model.startswith(f"{known.name}-") and _is_date(model, known.name)]
        return max(starts, key=lambda known: len(known.name), default=None)


def _is_date(model: str, name: str) -> bool:
    return model.removeprefix(f"{name}-").replace("-", "").isdigit()
