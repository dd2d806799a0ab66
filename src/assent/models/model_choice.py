"""From a model's name to a model. The provider's package is imported here, and only when it is chosen."""

from collections.abc import AsyncGenerator, Mapping

from assent.models.model_protocol import AuthFailed, BadRequest, Chunk, Model, Request, Searching
from assent.models.provider import Access, Provider
from assent.models.provider_registry import find_provider, split_name
from assent.parts import SearchAnswer


def open_model(name: str, env: Mapping[str, str]) -> Model:
    """Raises ModelError. Nothing is connected yet."""
    provider_name, model = split_name(name)
    provider = find_provider(provider_name)
    return provider.connect(model or provider.default_model, access_to(provider, env))


def access_to(provider: Provider, env: Mapping[str, str]) -> Access:
    """How to reach a provider from here. Raises AuthFailed without a key, BadRequest for an unusable address."""
    key = find_key(provider, env)
    if not key and provider.key_variables and not provider.key_optional:
        raise AuthFailed(_no_key(provider))
    url = env.get(provider.base_url_variable, "").strip() or provider.base_url
    if not url:
        return Access(base_url="", key=key, env=env)
    from assent.models.proxy import proxy_for

    if key:
        _check_safe(url, provider)
    return Access(base_url=url, key=key, proxy=proxy_for(url, env), env=env)


def find_key(provider: Provider, env: Mapping[str, str]) -> str:
    return next((key for name in provider.key_variables if (key := env.get(name, "").strip())), "")


def _no_key(provider: Provider) -> str:
    return (
        f"No key for the model. Get one at {provider.key_page}\n"
        f"and set it in the shell that starts Assent: export {provider.key_variables[0]}=<your key>\n"
        "To try Assent without a key: make run, or assent tour."
    )


def _check_safe(url: str, provider: Provider) -> None:
    """The key goes to this address, so it must not go there in the clear, except inside the machine."""
    from assent.http.loopback import is_loopback
    from assent.models.streaming_client import parse_origin

    origin = parse_origin(url)
    if origin.scheme == "http" and not is_loopback(origin.host):
        variable = provider.base_url_variable
        raise BadRequest(f"{variable} is {url}: it must use https, or your key can be read on the way")


class DeferredModel:
    """A model that is opened with its first request. Until then nothing is missed if the key is missing: the person
    can look around, and is told how to get one when they ask something.
    """

    def __init__(self, name: str, env: Mapping[str, str]) -> None:
        self.name = name
        self._env = env
        self._model: Model | None = None

    def stream(self, request: Request) -> AsyncGenerator[Chunk, None]:
        if self._model is None:
            self._model = open_model(self.name, self._env)
        return self._model.stream(request)

    async def search(self, query: str) -> SearchAnswer:
        if self._model is None:
            self._model = open_model(self.name, self._env)
        if not isinstance(self._model, Searching):
            raise BadRequest(f"{self.name} cannot search the web")
        return await self._model.search(query)

    async def close(self) -> None:
        if self._model is not None:
            await self._model.close()
