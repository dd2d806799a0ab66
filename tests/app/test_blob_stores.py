"""What is too large for the log, kept for all nodes: the same contract on a real PostgreSQL and a real S3 server."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest
from botocore.auth import S3SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials as TheirCredentials
from hypothesis import given
from hypothesis import strategies as st

from assent.app.session_blobs import CONTENTS, OUTPUTS, SessionBlobs, forget_deleted
from assent.blob_store import BlobStore, BlobUnavailable
from assent.config import BadSettings, BlobSettings
from assent.events import SessionCreated
from assent.postgres.postgres_blobs import PART
from assent.postgres.postgres_log import PostgresLog
from assent.s3 import s3_blobs
from assent.s3.s3_blobs import S3Blobs, shared_client
from assent.s3.signature import Credentials, Request, encoded_path, encoded_query, signed_headers
from support.s3_server import ENV, S3Server

pytestmark = pytest.mark.spec("M3")
POSTGRES = pytest.param("postgres", marks=pytest.mark.needs("postgres"))


@pytest.fixture(scope="module")
def s3_server() -> Iterator[S3Server]:
    server = S3Server()
    server.start()
    yield server
    server.stop()


@pytest.fixture(params=["s3", POSTGRES])
async def blobs(request: pytest.FixtureRequest, s3_server: S3Server) -> AsyncIterator[BlobStore]:
    if request.param == "s3":
        store = S3Blobs.configured(await s3_server.new_bucket(), ENV)
        yield store
        await store.close()
        return
    log = PostgresLog(request.getfixturevalue("database"))
    yield log.blobs
    await log.close()


# --- the contract ---


async def test_any_piece_of_a_blob_can_be_read(blobs: BlobStore):
    data = bytes(number % 251 for number in range(2 * PART + 1000))
    await blobs.put("s", "outputs/a b+ü.txt", data)
    for offset, limit in ((0, len(data)), (0, 1), (PART - 1, 2), (PART, PART), (2 * PART + 999, 50), (3 * PART, 10)):
        found = await blobs.piece("s", "outputs/a b+ü.txt", offset, limit)
        assert found is not None
        assert (found.data, found.total) == (data[offset : offset + limit], len(data))
    assert await blobs.sizes("s") == {"outputs/a b+ü.txt": len(data)}


async def test_a_blob_may_be_empty_and_is_replaced_by_a_newer_one(blobs: BlobStore):
    await blobs.put("s", "a", b"x" * (PART + 1))
    await blobs.put("s", "a", b"")
    found = await blobs.piece("s", "a", 0, 10)
    assert found is not None and (found.data, found.total) == (b"", 0)
    assert await blobs.sizes("s") == {"a": 0}


async def test_a_missing_blob_is_none(blobs: BlobStore):
    assert await blobs.piece("s", "a", 0, 10) is None
    assert await blobs.sizes("s") == {}
    await blobs.remove("s")


async def test_a_copy_has_what_was_named_and_outlives_the_original(blobs: BlobStore):
    for name in ("a", "b"):
        await blobs.put("s", name, name.encode())
    await blobs.copy("s", "t", ["a", "no such"])
    await blobs.remove("s")
    assert (await blobs.sizes("s"), await blobs.sizes("t")) == ({}, {"a": 1})


async def test_sessions_whose_names_begin_alike_are_kept_apart(blobs: BlobStore):
    await blobs.put("s1", "a", b"1")
    await blobs.put("s12", "a", b"12")
    assert await blobs.sizes("s1") == {"a": 1}
    await blobs.remove("s1")
    assert await blobs.sizes("s12") == {"a": 2}


@pytest.mark.needs("postgres")
async def test_blobs_in_the_database_are_deleted_with_their_session(database: str):
    log = PostgresLog(database)
    await log.create("s", 1.0, SessionCreated(folder="/w", model="m", mode="default", version="0"))
    await log.blobs.put("s", "a", b"x")
    await log.delete("s")
    assert await log.blobs.sizes("s") == {}
    await log.close()


# --- S3 ---


async def test_a_listing_of_many_pages_is_read_to_the_end(s3_server: S3Server, monkeypatch: pytest.MonkeyPatch):
    store = S3Blobs.configured(await s3_server.new_bucket(""), ENV)
    for number in range(5):
        await store.put("s", f"n{number}", b"")
    send = store._client.send  # pyright: ignore[reportPrivateUsage]

    async def in_pages(method: str, path: str, **more: Any) -> s3_blobs.Response:
        query = more.pop("query", None)
        return await send(method, path, query=query and {**query, "max-keys": "2"}, **more)

    monkeypatch.setattr(store._client, "send", in_pages)  # pyright: ignore[reportPrivateUsage]
    assert len(await store.sizes("s")) == 5
    await store.close()


async def test_a_refusal_says_what_the_server_said(s3_server: S3Server):
    store = S3Blobs.configured(BlobSettings(url="s3://no-such-bucket", endpoint=s3_server.endpoint), ENV)
    with pytest.raises(BlobUnavailable, match=r"refused the request: 404, NoSuchBucket"):
        await store.put("s", "a", b"")
    await store.close()


async def test_an_unreachable_server_is_named(unused_tcp_port: int):
    store = S3Blobs.configured(BlobSettings(url="s3://b", endpoint=f"http://127.0.0.1:{unused_tcp_port}"), ENV)
    with pytest.raises(BlobUnavailable, match=r"cannot reach http://127\.0\.0\.1:\d+: connection refused"):
        await store.sizes("s")


@pytest.mark.parametrize(
    ("settings", "env", "problem"),
    [
        (BlobSettings(url="https://x"), ENV, "s3://BUCKET"),
        (BlobSettings(url="s3://b"), {}, "AWS_ACCESS_KEY_ID"),
        (BlobSettings(url="s3://b", endpoint="minio.example.org"), ENV, "not the URL of a server"),
    ],
)
def test_settings_that_cannot_be_used_are_explained(settings: BlobSettings, env: dict[str, str], problem: str):
    with pytest.raises(BadSettings, match=problem):
        S3Blobs.configured(settings, env)


@given(
    path=st.text(alphabet="abcÄ /+=%~-_.&?", min_size=1, max_size=20),
    query=st.dictionaries(
        st.text(alphabet="ab-", min_size=1, max_size=4), st.text(alphabet="a/ +ü", max_size=6), max_size=3
    ),
    body=st.binary(max_size=20),
    token=st.sampled_from(["", "session-token"]),
)
def test_requests_are_signed_as_amazons_own_library_signs_them(
    path: str, query: dict[str, str], body: bytes, token: str
):
    path = f"/bucket/{path.replace('//', '/').strip('/') or 'x'}"
    if any(part in (".", "..") for part in path.split("/")) or "//" in path:
        return  # their library removes these; we send none
    request = Request(
        method="PUT", host="s3.example.org", path=path, query=query, headers={"Range": "bytes=0-1"}, body=body
    )
    ours = signed_headers(request, "eu-west-3", Credentials("KEY", "SECRET", token), "20261118T120000Z")
    url = f"https://s3.example.org{encoded_path(path)}" + (f"?{encoded_query(query)}" if query else "")
    theirs: Any = AWSRequest(
        "PUT", url, headers={"Range": "bytes=0-1", "x-amz-content-sha256": ours["x-amz-content-sha256"]}, data=body
    )
    if token:
        theirs.headers["x-amz-security-token"] = token
    theirs.headers["X-Amz-Date"] = "20261118T120000Z"
    theirs.context["timestamp"] = "20261118T120000Z"
    auth: Any = S3SigV4Auth(TheirCredentials("KEY", "SECRET"), "s3", "eu-west-3")
    canonical = auth.canonical_request(theirs)
    signature = auth.signature(auth.string_to_sign(theirs, canonical), theirs)
    assert ours["authorization"].endswith(f"Signature={signature}")


# --- the blobs of a session ---


def node(store: BlobStore, tmp_path: Path, name: str, **more: Any) -> SessionBlobs:
    return SessionBlobs(store, {"ASSENT_HOME": str(tmp_path / name)}, "s", **more)


async def test_whoever_continues_a_session_has_its_outputs_and_contents(blobs: BlobStore, tmp_path: Path):
    one, other = (node(blobs, tmp_path, name) for name in ("one", "other"))
    with one.outputs.create("c1.txt") as file:
        file.write(b"all of it")
    kept = one.contents.keep(b"before")
    await one.settle()
    assert set(await blobs.sizes("s")) == {f"{OUTPUTS}c1.txt", f"{CONTENTS}{kept}"}
    await other.restore()
    assert other.contents.kept(kept) == b"before"
    assert Path(other.outputs.path, "c1.txt").read_bytes() == b"all of it"
    assert Path(other.outputs.path, "c1.txt").stat().st_mode & 0o777 == 0o600


async def test_a_prompt_that_mentions_an_uploaded_file_finds_it_where_the_session_runs(
    blobs: BlobStore, tmp_path: Path
):
    await blobs.put("s", f"{OUTPUTS}pasted.png", b"picture")
    worker = node(blobs, tmp_path, "worker")
    text = await worker.here("look at @/srv/server/outputs/s/pasted.png and @/srv/server/outputs/other/x.png")
    assert text == f"look at @{worker.outputs.path}/pasted.png and @/srv/server/outputs/other/x.png"
    assert Path(worker.outputs.path, "pasted.png").read_bytes() == b"picture"


async def test_a_session_keeps_a_limited_number_of_bytes(blobs: BlobStore, tmp_path: Path):
    one = node(blobs, tmp_path, "one", limit=10)
    for name, data in (("a", b"12345"), ("b", b"123456"), ("c", b"12345")):
        with one.outputs.create(name) as file:
            file.write(data)
    await one.settle()
    assert set(await blobs.sizes("s")) == {f"{OUTPUTS}a", f"{OUTPUTS}c"}


async def test_an_unreachable_store_delays_nobody_and_gets_everything_later(tmp_path: Path):
    store, now = _Away(), [0.0]
    one = node(store, tmp_path, "one", clock=lambda: now[0])
    for name in ("a", "b"):
        with one.outputs.create(name) as file:
            file.write(b"x")
        await one.settle()
    assert store.asked == 1, "nobody waits for it again within half a minute"
    store.away, now[0] = False, 31.0
    await asyncio.gather(one.settle(), one.settle())
    assert store.put_names == [f"{OUTPUTS}a", f"{OUTPUTS}b"]


class _Away:
    def __init__(self) -> None:
        self.away, self.asked = True, 0
        self.put_names: list[str] = []

    async def sizes(self, session: str) -> dict[str, int]:
        self.asked += 1
        if self.away:
            raise BlobUnavailable("away")
        return {}

    async def put(self, session: str, name: str, data: bytes) -> None:
        self.put_names.append(name)

    async def piece(self, session: str, name: str, offset: int, limit: int) -> None: ...

    async def copy(self, session: str, to: str, names: object) -> None: ...

    async def remove(self, session: str) -> None: ...


@pytest.mark.needs("postgres")
async def test_a_worker_forgets_what_belonged_to_sessions_that_were_deleted_elsewhere(database: str, tmp_path: Path):
    log, env = PostgresLog(database), {"ASSENT_HOME": str(tmp_path)}
    await log.create("kept", 1.0, SessionCreated(folder="/w", model="m", mode="default", version="0"))
    for session in ("kept", "deleted"):
        of = SessionBlobs(log.blobs, env, session)
        of.contents.keep(b"before")
        of.outputs.create("x").close()
    assert await forget_deleted(env, log) == 1
    assert {path.name for path in tmp_path.glob("*/*")} == {"kept"}
    await log.close()


async def test_all_sessions_of_a_process_use_the_same_connections(s3_server: S3Server):
    settings = await s3_server.new_bucket()
    one, other = shared_client(settings, ENV), shared_client(settings, dict(ENV))
    assert one is other
    await asyncio.gather(*(one.put("s", str(number), b"") for number in range(8)))
    assert len(await one.sizes("s")) == 8
    await one.close()
