"""From a model's name to a model. Adapters are imported here, one by one, and only when they are chosen."""

from collections.abc import AsyncGenerator, Mapping

from assent.models.model_protocol import AuthFailed, BadRequest, Chunk, Model, Request, Searching
from assent.parts import SearchAnswer

SCRIPTED = "scripted:"

NO_KEY = (
    "No key for the model. Get one for free at https://aistudio.google.com/apikey\n"
    "and set it in the shell that starts Assent: export GEMINI_API_KEY=<your key>\n"
    "To try Assent without a key: make run, or assent tour."
)


def open_model(name: str, env: Mapping[str, str]) -> Model:
    """`scripted:PATH` plays a scenario; any other name is a Gemini model."""
    if name.startswith(SCRIPTED):
        return _scripted(name.removeprefix(SCRIPTED))
    return _gemini(name, env)


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


def _scripted(path: str) -> Model:
    from pathlib import Path

    from assent.models.scripted import ScriptedModel

    return ScriptedModel.from_file(Path(path))


def _gemini(name: str, env: Mapping[str, str]) -> Model:
    key = (env.get("GEMINI_API_KEY") or env.get("GOOGLE_API_KEY") or "").strip()
    if not key:
        raise AuthFailed(NO_KEY)
    from assent.models.gemini import BASE_URL, GeminiModel
    from assent.models.proxy import proxy_for

    url = env.get("GOOGLE_GEMINI_BASE_URL", "").strip() or BASE_URL
    _check_safe(url)
    return GeminiModel(name, key, url, proxy_for(url, env))


def _check_safe(url: str) -> None:
    """The key goes to this address, so it must not go there in the clear, except inside the machine."""
    from assent.http.loopback import is_loopback
    from assent.models.streaming_client import parse_origin

    origin = parse_origin(url)
    if origin.scheme == "http" and not is_loopback(origin.host):
        raise BadRequest(f"GOOGLE_GEMINI_BASE_URL is {url}: it must use https, or your key can be read on the way")
