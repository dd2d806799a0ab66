"""Gemini through Vertex AI: the same requests and replies, at the address of a project, with an access token.

The token comes from the environment, from a command, or from Google's Application Default Credentials. It is valid for
about an hour; only the last of these renews it automatically.
"""

import re
from urllib.parse import quote

from assent.models.gemini.gemini_model import TOKEN_COMMAND, VERTEX_URL, GeminiFormat, SearchingModel
from assent.models.gemini.google_credentials import (
    CredentialsFile,
    TokenSource,
    credentials_path,
    read_credentials,
)
from assent.models.model_protocol import AuthFailed, BadRequest
from assent.models.provider import Access
from assent.models.provider_registry import full_name
from assent.models.proxy import proxy_for
from assent.models.streamed_model import check_key
from assent.models.streaming_client import HttpClient, Response

TOKEN_VARIABLE = "GOOGLE_OAUTH_ACCESS_TOKEN"
PROJECT_VARIABLE = "GOOGLE_CLOUD_PROJECT"
LOCATION_VARIABLE = "GOOGLE_CLOUD_LOCATION"
ADVICE = (
    f"Get a new token: {TOKEN_COMMAND}. Assent does this itself if [keys] in settings.toml has\n"
    f'  vertex = {{ command = "{TOKEN_COMMAND}" }}'
)
_LOCATION = re.compile(r"[a-z0-9-]{1,40}")
_CONTINENTS = frozenset({"us", "eu"})


class VertexModel(SearchingModel):
    def __init__(self, model: str, access: Access) -> None:
        file = None if access.key else _credentials(access)
        if file is None:
            check_key(access.key, TOKEN_VARIABLE)
        project, location = _project(access, file), _location(access)
        folder = f"/v1beta1/projects/{quote(project, safe='')}/locations/{location}/publishers/google/models"
        url = address(location) if access.base_url == VERTEX_URL else access.base_url
        super().__init__(
            full_name("vertex", model),
            HttpClient(url, proxy_for(url, access.env), access.timeouts),
            GeminiFormat(model, folder, "vertex", ADVICE),
            (("Authorization", f"Bearer {access.key}"), ("x-goog-user-project", project)),
            access.key,
        )
        self._tokens = None if file is None else TokenSource(file, access.env)

    async def post(self, path: str, body: bytes) -> Response:
        if self._tokens is None:
            return await super().post(path, body)
        token = await self._use_token(self._tokens)
        try:
            return await super().post(path, body)
        except AuthFailed:
            if not self._tokens.drop(token):
                raise
            await self._use_token(self._tokens)
            return await super().post(path, body)

    async def _use_token(self, tokens: TokenSource) -> str:
        token = await tokens.token()
        self.use_key(token, ("Authorization", f"Bearer {token}"))
        return token

    async def close(self) -> None:
        await super().close()
        if self._tokens is not None:
            await self._tokens.close()


def address(location: str) -> str:
    if location == "global":
        return VERTEX_URL
    if location in _CONTINENTS:
        return f"https://aiplatform.{location}.rep.googleapis.com"
    return f"https://{location}-aiplatform.googleapis.com"


def _credentials(access: Access) -> CredentialsFile | None:
    path = credentials_path(access.env)
    return None if path is None else read_credentials(path)


def _project(access: Access, file: CredentialsFile | None) -> str:
    project = access.env.get(PROJECT_VARIABLE, "").strip() or (file.project if file is not None else "")
    if not (project and project.isascii() and project.isprintable()):
        raise BadRequest(f"Vertex AI needs your project: set {PROJECT_VARIABLE} to its id")
    return project


def _location(access: Access) -> str:
    """It becomes part of the host that the token is sent to, so it must be a plain location."""
    location = access.env.get(LOCATION_VARIABLE, "").strip() or "global"
    if _LOCATION.fullmatch(location) is None:
        raise BadRequest(f"{LOCATION_VARIABLE} is {location!r}, which is not a location of Google Cloud")
    return location
