"""Which models there are, and whether they can be used from here: for `assent models`, `/model` and the page.

All providers are asked at once, each with a short deadline; a provider without a key is not asked.
"""

import asyncio
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

from msgspec import Struct

from assent.app.model_access import ModelAccess
from assent.models.model_choice import access_to, base_url, key_in_environment
from assent.models.model_facts import Prices
from assent.models.model_protocol import AuthFailed, ModelError
from assent.models.provider import FoundModel, KnownModel, Provider
from assent.models.provider_registry import full_name

if TYPE_CHECKING:
    from assent.models.openai_chat.local_servers import LocalServer

LIST_TIMEOUT = 4.0
"""Seconds for a provider to list its models."""
CACHE_SECONDS = 60.0
"""Seconds for which an answer is reused."""

State = Literal["usable", "no key", "key refused", "not reachable", "not set up", "needs a file"]


class ModelView(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A model to choose; `name` is the argument for `-m`."""

    name: str
    window: int | None = None
    """Tokens."""
    output: int | None = None
    input_price: float | None = None
    """Dollars per million tokens, as for the next field."""
    output_price: float | None = None
    price_date: str = ""
    tools: bool | None = None
    """Whether it can call tools; None if unknown."""
    is_default: bool = False


class ProviderView(Struct, frozen=True, kw_only=True, omit_defaults=True):
    name: str
    title: str
    state: State
    problem: str = ""
    """Why it cannot be used, and what to do."""
    key_from: str = ""
    """Where the key comes from; never the key."""
    address: str = ""
    warning: str = ""
    models: tuple[ModelView, ...] = ()


class ModelCatalog:
    @property
    def _prices(self) -> Prices:
        return Prices(self._access.settings.prices)

    def __init__(self, access: ModelAccess, within: float = LIST_TIMEOUT) -> None:
        self._access = access
        self._within = within
        self._survey: asyncio.Task[list[ProviderView]] | None = None
        self._until = 0.0

    async def survey(self, only: str | None = None) -> list[ProviderView]:
        """Ask all providers, or this one. Raises ModelError if there is no such provider."""
        names = [only] if only is not None else [name for name in self._access.providers() if not self._is_alias(name)]
        providers = [self._access.find_provider(name) for name in names]
        local = await self._local_servers() if any(provider.is_local for provider in providers) else {}
        return list(await asyncio.gather(*(self._look(provider, local.get(provider.name)) for provider in providers)))

    async def _local_servers(self) -> "dict[str, LocalServer]":
        return {server.provider: server for server in await self._access.local_servers()}

    # --- for choosing ---

    async def choices(self, max_wait: float) -> list[ModelView]:
        """The models that can be used from here; after `max_wait` seconds, only those known so far.

        A provider that does not respond keeps its known models.
        """
        now = time.monotonic()
        if self._survey is None or (self._survey.done() and now > self._until):
            self._survey = asyncio.create_task(self.survey(), name="model survey")
            self._until = now + CACHE_SECONDS
        await asyncio.wait([self._survey], timeout=max_wait)
        if not self._survey.done():
            return self.known()
        views = [view for view in self._survey.result() if view.state in ("usable", "not reachable")]
        return self._with_configured([model for view in views for model in view.models])

    def known(self) -> list[ModelView]:
        """The known models of providers with a key, without asking the providers."""
        names = [name for name in self._access.providers() if not self._is_alias(name)]
        providers = [self._access.find_provider(name) for name in names]
        keyed = [provider for provider in providers if self._access.has_key(provider)]
        return self._with_configured([model for provider in keyed for model in self._models(provider, ())])

    def _with_configured(self, models: Sequence[ModelView]) -> list[ModelView]:
        """Models that the settings name and no provider lists come first."""
        settings, listed = self._access.settings, {model.name for model in models}
        names = (self._access.configured(), settings.fallback_model or "", settings.small_model or "")
        return [*(ModelView(name=name) for name in dict.fromkeys(names) if name and name not in listed), *models]

    async def close(self) -> None:
        if self._survey is not None:
            self._survey.cancel()
            await asyncio.gather(self._survey, return_exceptions=True)

    # --- one provider ---

    def _is_alias(self, name: str) -> bool:
        """Whether an earlier provider offers the same models with the same key: OpenAI has two APIs."""
        names = self._access.providers()
        this = self._access.find_provider(name)
        before = (self._access.find_provider(other) for other in names[: names.index(name)])
        return bool(this.key_variables) and any(_reach(this) == _reach(other) for other in before)

    async def _look(self, provider: Provider, local: "LocalServer | None") -> ProviderView:
        if local is not None:
            return self._view(provider, "usable", found=local.models, warning=local.warning)
        if provider.list_models is None and not provider.key_variables:
            return self._view(provider, "needs a file", f"name it with -m {provider.name}:PATH")
        if provider.is_local and not self._access.has_key(provider):
            return self._view(provider, "not reachable", f"no server answers at {base_url(provider, self._access.env)}")
        return await self._ask(provider)

    async def _ask(self, provider: Provider) -> ProviderView:
        try:
            access = await asyncio.to_thread(access_to, provider, self._access.env, self._access.keys.find)
        except AuthFailed:
            return self._view(provider, "no key", how_to_get_key(provider))
        except ModelError as error:
            return self._view(provider, "not set up", str(error))
        if provider.list_models is None:
            problem = await self._access.problem(full_name(provider.name, provider.default_model))
            return self._view(provider, "not set up" if problem else "usable", problem)
        try:
            async with asyncio.timeout(self._within):
                found = await provider.list_models(access)
        except AuthFailed as error:
            return self._view(provider, "key refused", str(error))
        except TimeoutError:
            return self._view(provider, "not reachable", f"no answer within {self._within:.0f} seconds")
        except ModelError as error:
            return self._view(provider, "not reachable", str(error))
        self._access.remember(provider.name, found)
        return self._view(provider, "usable", found=found)

    def _view(
        self,
        provider: Provider,
        state: State,
        problem: str = "",
        found: Sequence[FoundModel] = (),
        warning: str = "",
    ) -> ProviderView:
        return ProviderView(
            name=provider.name,
            title=provider.title,
            state=state,
            problem=problem,
            key_from=self._key_from(provider),
            address=base_url(provider, self._access.env),
            warning=warning,
            models=self._models(provider, found),
        )

    def _key_from(self, provider: Provider) -> str:
        if key_in_environment(provider, self._access.env):
            return next(name for name in provider.key_variables if self._access.env.get(name, "").strip())
        if provider.name in self._access.settings.keys:
            return "settings"
        return "assent login" if self._access.keys.has(provider.name) else ""

    def _models(self, provider: Provider, found: Sequence[FoundModel]) -> tuple[ModelView, ...]:
        """Known models first; a model that the provider no longer lists is left out."""
        told = {model.name: model for model in found}
        known = [model for model in provider.models if not told or model.name in told]
        others = [model for model in found if provider.known(model.name) is None]
        return (
            *(self._known_view(provider, model, told.get(model.name)) for model in known),
            *(self._found_view(provider, model) for model in others),
        )

    def _known_view(self, provider: Provider, model: KnownModel, found: FoundModel | None) -> ModelView:
        name = full_name(provider.name, model.name)
        price = self._prices.of(name)
        return ModelView(
            name=name,
            window=model.window,
            output=model.output or None,
            input_price=price.input if price else None,
            output_price=price.output if price else None,
            price_date="" if price is None or self._prices.is_own(name) else provider.price_date(model.name),
            tools=found.tools if found is not None else None,
            is_default=model.name == provider.default_model,
        )

    def _found_view(self, provider: Provider, model: FoundModel) -> ModelView:
        name = full_name(provider.name, model.name)
        price = self._prices.of(name)
        return ModelView(
            name=name,
            window=model.window,
            output=model.output,
            input_price=price.input if price else None,
            output_price=price.output if price else None,
            tools=model.tools,
            is_default=model.name == provider.default_model,
        )


def how_to_get_key(provider: Provider) -> str:
    variable = f", or set {provider.key_variables[0]}" if provider.key_variables else ""
    if provider.key_command:
        return f'under [keys] in settings.toml, put {provider.name} = {{ command = "{provider.key_command}" }}'
    return f"run `assent login {provider.name}`{variable}"


def _reach(provider: Provider) -> tuple[tuple[str, ...], str]:
    return tuple(provider.key_variables), provider.base_url_variable
