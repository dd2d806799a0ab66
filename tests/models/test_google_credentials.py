"""Vertex AI with Google's Application Default Credentials, against a server that checks signatures."""

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa

from assent.models.gemini.google_credentials import CredentialsFile, TokenSource, credentials_path
from assent.models.model_choice import open_model
from assent.models.model_protocol import AuthFailed, BadRequest, Model, TextChunk, Transient
from support.fake_gemini import FakeGemini
from support.talk import HELLO
from support.token_server import EMAIL, PERSON, TokenServer, private_key

pytestmark = pytest.mark.spec("K3")
HI: dict[str, Any] = {"chunks": [{"text": "hi"}]}
EXPIRED: dict[str, Any] = {"status": 401, "body": {"error": {"code": 401, "message": "expired"}}}


@pytest.fixture
async def google() -> AsyncIterator[TokenServer]:
    async with TokenServer() as server:
        yield server


def service_account(google: TokenServer, **more: str) -> dict[str, str]:
    return {
        "type": "service_account",
        "project_id": "p-1",
        "private_key_id": "k1",
        "private_key": private_key(),
        "client_email": EMAIL,
        "token_uri": google.url,
    } | more


def person(google: TokenServer, **more: str) -> dict[str, str]:
    return {"type": "authorized_user", "quota_project_id": "p-2", "token_uri": google.url} | PERSON | more


def env(tmp_path: Path, fake: FakeGemini, credentials: dict[str, str]) -> dict[str, str]:
    path = tmp_path / "credentials.json"
    path.write_text(json.dumps(credentials))
    return {"GOOGLE_APPLICATION_CREDENTIALS": str(path), "GOOGLE_VERTEX_BASE_URL": fake.url, "HOME": str(tmp_path)}


async def ask(model: Model) -> None:
    assert TextChunk("hi") in [chunk async for chunk in model.stream(HELLO)]


@pytest.mark.parametrize(("make", "project"), [(service_account, "p-1"), (person, "p-2")])
async def test_a_file_of_credentials_is_all_it_takes(
    tmp_path: Path, google: TokenServer, make: Any, project: str
) -> None:
    async with FakeGemini({"replies": [HI, HI]}) as fake:
        model = open_model("vertex:gemini-2.5-pro", env(tmp_path, fake, make(google)))
        await ask(model)
        await ask(model)
        await model.close()
    assert {request.headers["authorization"] for request in fake.requests} == {"Bearer ya29.token-1"}
    assert f"/projects/{project}/" in fake.requests[0].path and google.given == 1


async def test_a_token_that_is_refused_is_replaced_once(tmp_path: Path, google: TokenServer) -> None:
    async with FakeGemini({"replies": [EXPIRED, HI, EXPIRED, EXPIRED]}) as fake:
        model = open_model("vertex:gemini-2.5-pro", env(tmp_path, fake, person(google)))
        await ask(model)
        with pytest.raises(AuthFailed):
            await ask(model)
        await model.close()
    tokens = [request.headers["authorization"].rpartition("-")[2] for request in fake.requests]
    assert tokens == ["1", "2", "2", "3"]


async def test_a_token_is_replaced_before_it_expires(google: TokenServer) -> None:
    now = 1_000_000.0
    tokens = TokenSource(CredentialsFile(**person(google)), {}, lambda: now)
    assert await tokens.token() == "ya29.token-1"
    now += 3000
    assert await tokens.token() == "ya29.token-1"
    now += 550
    assert await tokens.token() == "ya29.token-2"
    await tokens.close()


async def test_the_wrong_key_is_told_without_showing_it(google: TokenServer) -> None:
    pem, form = serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8
    other = rsa.generate_private_key(65537, 2048).private_bytes(pem, form, serialization.NoEncryption()).decode()
    tokens = TokenSource(CredentialsFile(**service_account(google, private_key=other)), {})
    with pytest.raises(AuthFailed, match="Invalid JWT Signature") as refused:
        await tokens.token()
    await tokens.close()
    assert "PRIVATE" not in str(refused.value) and google.given == 0


async def test_a_login_that_was_revoked_says_how_to_renew_it(google: TokenServer) -> None:
    tokens = TokenSource(CredentialsFile(**person(google, refresh_token="old")), {})
    with pytest.raises(AuthFailed, match=r"revoked.*\n.*application-default login"):
        await tokens.token()
    await tokens.close()


async def test_a_failure_of_the_endpoint_may_pass(google: TokenServer) -> None:
    google.fails = 503
    tokens = TokenSource(CredentialsFile(**person(google)), {})
    with pytest.raises(Transient):
        await tokens.token()
    google.fails = 0
    assert await tokens.token() == "ya29.token-1"
    await tokens.close()


@pytest.mark.parametrize(
    ("text", "words"),
    [("{}", "of the kind ''"), ("no", "cannot read"), ('{"type": "external_account"}', "gcloud")],
)
def test_a_file_that_cannot_be_used_is_named(tmp_path: Path, text: str, words: str) -> None:
    path = tmp_path / "c.json"
    path.write_text(text)
    with pytest.raises(AuthFailed, match=words) as refused:
        open_model("vertex:gemini-2.5-pro", {"GOOGLE_APPLICATION_CREDENTIALS": str(path)})
    assert str(path) in str(refused.value)


def test_a_key_that_is_no_key_is_told(tmp_path: Path) -> None:
    file = CredentialsFile(type="service_account", private_key="-----BEGIN x", token_uri="https://oauth2.test/token")
    with pytest.raises(AuthFailed, match="cannot be read"):
        TokenSource(file, {})._grant(0)  # pyright: ignore[reportPrivateUsage]


def test_secrets_do_not_go_over_an_open_connection() -> None:
    with pytest.raises(BadRequest, match="not encrypted"):
        TokenSource(CredentialsFile(token_uri="http://oauth2.evil.test/token"), {})


def test_the_login_of_gcloud_is_found_where_gcloud_keeps_it(tmp_path: Path) -> None:
    assert credentials_path({"HOME": str(tmp_path)}) is None
    kept = tmp_path / ".config/gcloud/application_default_credentials.json"
    kept.parent.mkdir(parents=True)
    kept.write_text("{}")
    assert credentials_path({"HOME": str(tmp_path)}) == kept
    assert credentials_path({"HOME": "/", "CLOUDSDK_CONFIG": str(kept.parent)}) == kept


async def test_a_token_of_the_environment_takes_precedence(tmp_path: Path, google: TokenServer) -> None:
    async with FakeGemini({"replies": [HI]}) as fake:
        variables = env(tmp_path, fake, person(google)) | {"GOOGLE_OAUTH_ACCESS_TOKEN": "ya29.mine-own"}
        model = open_model("vertex:gemini-2.5-pro", variables | {"GOOGLE_CLOUD_PROJECT": "p"})
        await ask(model)
        await model.close()
    assert fake.requests[0].headers["authorization"] == "Bearer ya29.mine-own" and google.given == 0
