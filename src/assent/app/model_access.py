"""Opens models for sessions: chooses one, finds its key and the size of its context window, and knows its limitations.

Assent looks for servers on this machine last, and only if no model is configured and there is no key.
"""

import asyncio
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

from assent.agent.loop import PREPARE_DELAY
from assent.app.stored_keys import StoredKeys
from assent.config import Settings
from assent.models.model_choice import access_to, key_in_environment, open_model
from assent.models.model_facts import context_window, known_window
from assent.models.model_protocol import AuthFailed, BadRequest, Chunk, Model, ModelError, Request, Searching
from assent.models.provider import FoundModel, Provider
from assent.models.provider_registry import find_provider, full_name, provider_names, shortest_name, split_name
from assent.parts import SearchAnswer

if TYPE_CHECKING:
    from assent.models.openai_chat.local_servers import LocalServer

__all__ = ("AuthFailed", "DeferredModel", "Model", "ModelAccess", "ModelError", "NoModel", "full_name")

PREFERRED_PROVIDERS = ("gemini", "anthropic", "openai")
"""If several providers have a key, these take precedence, in this order."""
INSPECT_TIMEOUT = 10.0
"""Seconds. Inspection happens in the background."""


class NoModel:
    """For a session opened only to carry out one command."""

    name = ""

    async def stream(self, request: Request) -> AsyncGenerator[Chunk, None]:
        raise AssertionError("this session must not call a model")
        yield

    async def close(self) -> None:
        pass


class ModelAccess:
    def __init__(self, env: Mapping[str, str], settings: Settings) -> None:
        self.env = env
        self.settings = settings
        self.keys = StoredKeys(env, settings)
        self._found: dict[str, FoundModel] = {}
        """What providers report about their models, by full name."""
        self._listed: dict[str, Sequence[str]] = {}
        """The names of those models, by provider."""

    def use(self, settings: Settings) -> None:
        """Replaces the settings, e.g. after their file has changed."""
        self.settings = settings
        self.keys = StoredKeys(self.env, settings)

    def open(self, name: str) -> Model:
        """Raises ModelError. May wait for a keyring or a command that provides the key."""
        model = self._open(name)
        provider = split_name(name, self.settings.providers)[0]
        if not self.keys.is_renewable(provider) or key_in_environment(self.find_provider(provider), self.env):
            return model
        from assent.app.renewed_model import renewed

        return renewed(model, lambda: self._open_anew(name, provider))

    def _open(self, name: str) -> Model:
        try:
            return open_model(name, self.env, self.settings.providers, self.keys.find)
        except AuthFailed as error:
            if damage := self.keys.damage():
                raise AuthFailed(f"{error}\n{damage}") from error
            raise

    def _open_anew(self, name: str, provider: str) -> Model:
        self.keys.drop(provider)
        return self._open(name)

    async def problem(self, name: str) -> str:
        """Why this model cannot be used from here; empty if nothing is known to prevent it. Asks nobody."""
        try:
            await (await asyncio.to_thread(self.open, name)).close()
        except ModelError as error:
            return str(error)
        return ""

    # --- which model ---

    def configured(self) -> str:
        """The default model: from the environment, the settings, or the first provider with a key."""
        return self.env.get("ASSENT_MODEL", "").strip() or self.settings.model or self._of_first_key()

    async def choose(self) -> str:
        """The same, or else one on this machine. If there is none, raises AuthFailed, which explains what to do."""
        if name := self.configured():
            return name
        servers = await self.local_servers()
        for server in servers:
            able = sorted((model for model in server.models if model.tools is not False), key=lambda m: not m.tools)
            if able:
                return full_name(server.provider, able[0].name)
        raise AuthFailed("\n".join(filter(None, (self._nothing(servers), self.keys.damage()))))

    def has_key(self, provider: Provider) -> bool:
        """Whether there is a key, without looking it up."""
        return bool(key_in_environment(provider, self.env)) or self.keys.has(provider.name)

    def providers(self) -> Sequence[str]:
        """All names, in order of precedence: a person's own providers, then the well-known ones."""
        own = self.settings.providers
        return tuple(dict.fromkeys((*own, *PREFERRED_PROVIDERS, *provider_names(own))))

    def find_provider(self, name: str) -> Provider:
        """Raises ModelError."""
        return find_provider(name, self.settings.providers)

    def _of_first_key(self) -> str:
        for name in self.providers():
            provider = self.find_provider(name)
            if provider.default_model and (self.has_key(provider) or self._needs_none(provider)):
                return full_name(name, provider.default_model)
        return ""

    def _needs_none(self, provider: Provider) -> bool:
        """Whether it is a person's own provider, configured without a key."""
        return provider.name in self.settings.providers and provider.key_optional

    def _nothing(self, servers: "Sequence[LocalServer]") -> str:
        keyed = next((one for name in self.providers() if self.has_key(one := self.find_provider(name))), None)
        if keyed is not None:
            return (
                f"There is a key for {keyed.title}, but no model is chosen. `assent models {keyed.name}` lists them;\n"
                f'choose one with -m {keyed.name}:MODEL, or with model = "{keyed.name}:MODEL" in the settings.'
            )
        unable = "".join(f"\n{server.title} is running, but has no model that can call tools." for server in servers)
        gguf = ", or name a model file: -m gguf:PATH" if "gguf" in provider_names() else ""
        return (
            f"There is no model to use: no key, and no model server on this machine.{unable}\n"
            "Three ways forward:\n"
            "  1. A key: run `assent login`, or set GEMINI_API_KEY, ANTHROPIC_API_KEY, OPENAI_API_KEY or another one\n"
            "     (`assent models` lists them all).\n"
            f"  2. A model on this machine: start Ollama, llama.cpp, LM Studio or vLLM{gguf}.\n"
            "  3. No model at all: `assent tour` shows Assent at work."
        )

    def can_search(self, name: str) -> bool:
        """Whether the provider of this model can search the web."""
        try:
            return self.find_provider(split_name(name, self.settings.providers)[0]).can_search
        except ModelError:
            return False

    async def nearest_models(self, name: str) -> Sequence[str]:
        """The provider's names most similar to this one. Asks the provider, unless that takes too long."""
        from difflib import get_close_matches

        try:
            provider_name, model = split_name(name, self.settings.providers)
            provider = self.find_provider(provider_name)
            with suppress(ModelError, TimeoutError):
                async with asyncio.timeout(INSPECT_TIMEOUT):
                    await self._list(provider)
        except ModelError:
            return ()
        names = dict.fromkeys((*(known.name for known in provider.models), *self._listed.get(provider_name, ())))
        return [full_name(provider_name, near) for near in get_close_matches(model, names, n=3, cutoff=0.5)]

    # --- what is known about a model ---

    def remember(self, provider: str, models: Sequence[FoundModel]) -> None:
        self._found |= {full_name(provider, model.name): model for model in models}
        self._listed[provider] = tuple(model.name for model in models)

    def window(self, name: str) -> int:
        """In tokens: from the settings, Assent's list or the provider; otherwise a cautious guess."""
        own = self.settings.providers
        found = self._found.get(shortest_name(name))
        told = found.window if found is not None else None
        return self.settings.context_window or known_window(name, own) or told or context_window(name, own)

    async def local_servers(self, only: str = "") -> "Sequence[LocalServer]":
        """The servers that respond; with `only`, at most the one of this provider."""
        from assent.models.openai_chat.local_servers import find_local_servers

        servers = await find_local_servers(self.env, only=only)
        for server in servers:
            self.remember(server.provider, server.models)
        return servers

    async def inspect(self, name: str) -> str:
        """What a person should know about this model and its key; empty if there is nothing. Asks its provider if
        necessary.
        """
        return "\n".join(filter(None, (await self._inspect(name), *self.keys.warnings())))

    async def _inspect(self, name: str) -> str:
        try:
            provider = self.find_provider(split_name(name, self.settings.providers)[0])
            async with asyncio.timeout(INSPECT_TIMEOUT):
                warning = await self._look(provider)
        except (ModelError, TimeoutError):
            return ""  # whatever is wrong, the first request reports it better
        found = self._found.get(shortest_name(name))
        if found is not None and found.tools is False:
            return f"{name} cannot call tools: it can answer, but not read files or run commands. Choose another model."
        return warning

    async def _look(self, provider: Provider) -> str:
        if provider.list_models is None or provider.models:
            return ""  # models that Assent lists can call tools, and their windows are known
        await asyncio.sleep(PREPARE_DELAY)  # a request that is about to be sent goes first: a person waits for it
        if provider.is_local:
            return "".join(server.warning for server in await self.local_servers(provider.name))
        await self._list(provider)
        return ""

    async def _list(self, provider: Provider) -> None:
        """Asks the provider which models it has, and remembers them. Raises ModelError."""
        if provider.list_models is not None:
            access = await asyncio.to_thread(access_to, provider, self.env, self.keys.find)
            self.remember(provider.name, await provider.list_models(access))


class DeferredModel:
    """A model that is opened with its first request, so that people can open a session without a key.

    Without a name, the model is chosen then: a server may have been started meanwhile.
    """

    def __init__(self, name: str, access: ModelAccess) -> None:
        self._name = name
        self._access = access
        self._model: Model | None = None

    @property
    def name(self) -> str:
        return self._name

    def stream(self, request: Request) -> AsyncGenerator[Chunk, None]:
        return self._model.stream(request) if self._model is not None else self._first(request)

    async def _first(self, request: Request) -> AsyncGenerator[Chunk, None]:
        model = await self._opened()
        async for chunk in model.stream(request):
            yield chunk

    @property
    def can_search(self) -> bool:
        if self._model is not None:
            return isinstance(self._model, Searching) and self._model.can_search
        return bool(self._name) and self._access.can_search(self._name)

    async def search(self, query: str) -> SearchAnswer:
        model = await self._opened()
        if not isinstance(model, Searching):
            raise BadRequest(f"{self.name} cannot search the web")
        return await model.search(query)

    async def _opened(self) -> Model:
        if self._model is None:
            self._name = self._name or await self._access.choose()
            self._model = await asyncio.to_thread(self._access.open, self._name)
        return self._model

    async def close(self) -> None:
        if self._model is not None:
            await self._model.close()
