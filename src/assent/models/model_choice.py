"""From a model's name to a model. The provider's package is imported here, and only when it is chosen."""

from collections.abc import AsyncGenerator, Mapping

from assent.models.model_protocol import AuthFailed, BadRequest, Chunk, Model, Request, Searching
from assent.models.provider import Access, Provider
from assent.models.provider_registry import OwnProviders, find_provider, split_name
from assent.parts import SearchAnswer


def open_model(name: str, env: Mapping[str, str], own: OwnProviders | None = None) -> Model:
    """`own`: the providers of the settings. Raises ModelError. Nothing is connected yet."""
    provider_name, model = split_name(name, own)
    provider = find_provider(provider_name, own)
    return provider.connect(model or provider.default_model, access_to(provider, env))


def access_to(provider: Provider, env: Mapping[str, str]) -> Access:
    """How to reach a provider from here. Raises AuthFailed without a key, BadRequest for an unusable address."""
    key = find_key(provider, env)
    if not key and provider.key_variables and not provider.key_optional:
        raise AuthFailed(_no_key(provider))
    url = base_url(provider, env)
    if not url:
        if provider.base_url_variable:
            raise BadRequest(f"{provider.title} has no address of its own: set {provider.base_url_variable}")
        return Access(base_url="", provider=provider.name, key=key, env=env)
    from assent.models.proxy import proxy_for

    if key:
        _check_safe(url, provider)
    return Access(base_url=url, provider=provider.name, key=key, proxy=proxy_for(url, env), env=env)


def base_url(provider: Provider, env: Mapping[str, str]) -> str:
    """Where it is reached from here; empty if it has no address."""
    url = env.get(provider.base_url_variable, "").strip() or provider.base_url
    return provider.complete_url(url) if url and provider.complete_url is not None else url


def find_key(provider: Provider, env: Mapping[str, str]) -> str:
    return next((key for name in provider.key_variables if (key := env.get(name, "").strip())), "")


def _no_key(provider: Provider) -> str:
    where = f" Get one at {provider.key_page}" if provider.key_page else ""
    return (
        f"No key for the model.{where}\n"
        f"and set it in the shell that starts Assent: export {provider.key_variables[0]}=<your key>\n"
        "To try Assent without a key: make run, or assent tour."
    )


def _check_safe(url: str, provider: Provider) -> None:
    """The key goes to this address, so it must not go there in the clear, except inside the machine."""
    from assent.http.loopback import is_loopback
    from assent.models.streaming_client import parse_origin

    origin = parse_origin(url)
    if origin.scheme == "http" and not is_loopback(origin.host):
        place = provider.base_url_variable or f"providers.{provider.name}.base_url"
        raise BadRequest(f"{place} is {url}: it must use https, or your key can be read on the way")


class DeferredModel:
    """A model that is opened with its first request. Until then nothing is missed if the key is missing: the person
    can look around, and is told how to get one when they ask something.
    """

    def __init__(self, name: str, env: Mapping[str, str], own: OwnProviders | None = None) -> None:
        self.name = name
        self._env, self._own = env, own
        self._model: Model | None = None

    def stream(self, request: Request) -> AsyncGenerator[Chunk, None]:
        return self._opened().stream(request)

    async def search(self, query: str) -> SearchAnswer:
        model = self._opened()
        if not isinstance(model, Searching):
            raise BadRequest(f"{self.name} cannot search the web")
        return await model.search(query)

    def _opened(self) -> Model:
        if self._model is None:
            self._model = open_model(self.name, self._env, self._own)
        return self._model

    async def close(self) -> None:
        if self._model is not None:
            await self._model.close()
