"""Outputs, contents for undo and files of prompts as objects of an S3 bucket: `PREFIX/SESSION/NAME`."""

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from typing import Self
from urllib.parse import urlsplit
from xml.etree import ElementTree

from assent.blob_store import BlobPiece, BlobUnavailable
from assent.config import BadSettings, BlobSettings
from assent.s3.s3_client import Response, S3Client
from assent.s3.signature import Credentials, encoded_path

KEY, SECRET, SESSION_TOKEN = "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN"
_TOTAL = re.compile(r"bytes (?:\d+-\d+|\*)/(\d+)")
_OUT_OF_RANGE = 416


class S3Blobs:
    def __init__(self, client: S3Client, bucket: str, prefix: str) -> None:
        self._client, self._bucket, self._prefix = client, bucket, prefix

    @classmethod
    def configured(cls, settings: BlobSettings, env: Mapping[str, str]) -> Self:
        """Raises BadSettings."""
        parts = urlsplit(settings.url)
        if parts.scheme != "s3" or not parts.netloc:
            raise BadSettings(f"blobs.url must be s3://BUCKET or s3://BUCKET/PREFIX, not {settings.url!r}")
        if missing := [name for name in (KEY, SECRET) if not env.get(name)]:
            raise BadSettings(f"blobs.url is set, but {missing[0]}, the variable with its key, is not")
        endpoint = settings.endpoint or f"https://s3.{settings.region}.amazonaws.com"
        credentials = Credentials(env[KEY], env[SECRET], env.get(SESSION_TOKEN, ""))
        try:
            client = S3Client(endpoint, settings.region, credentials)
        except ValueError as error:
            raise BadSettings(f"blobs.endpoint: {error}") from error
        return cls(client, parts.netloc, parts.path.strip("/"))

    async def put(self, session: str, name: str, data: bytes) -> None:
        self._check(await self._client.send("PUT", self._path(session, name), body=data))

    async def piece(self, session: str, name: str, offset: int, limit: int) -> BlobPiece | None:
        wanted = {"range": f"bytes={offset}-{offset + max(limit, 1) - 1}"}
        reply = await self._client.send("GET", self._path(session, name), headers=wanted)
        found = _TOTAL.fullmatch(reply.headers.get("content-range", ""))
        match reply.status:
            case 404:
                return None
            case 206 if found is not None:
                return BlobPiece(reply.body[:limit], int(found[1]))
            case status if status == _OUT_OF_RANGE:
                return BlobPiece(b"", int(found[1]) if found else (await self.sizes(session)).get(name, 0))
            case _:
                self._check(reply)
                return BlobPiece(reply.body[offset : offset + limit], len(reply.body))

    async def sizes(self, session: str) -> dict[str, int]:
        below = self._key(session, "")
        sizes: dict[str, int] = {}
        query = {"list-type": "2", "prefix": below}
        while True:
            reply = await self._client.send("GET", f"/{self._bucket}", query=query)
            self._check(reply)
            listing = _parsed(reply.body)
            sizes |= {key.removeprefix(below): size for key, size in _objects(listing)}
            more = listing.findtext("{*}NextContinuationToken")
            if not more:
                return sizes
            query["continuation-token"] = more

    async def copy(self, session: str, to: str, names: Iterable[str]) -> None:
        there = await self.sizes(session)
        for name in names:
            if name in there:
                source = {"x-amz-copy-source": encoded_path(self._path(session, name))}
                self._check(await self._client.send("PUT", self._path(to, name), headers=source))

    async def remove(self, session: str) -> None:
        for name in await self.sizes(session):
            self._check(await self._client.send("DELETE", self._path(session, name)))

    async def close(self) -> None:
        self._client.close()

    def _path(self, session: str, name: str) -> str:
        return f"/{self._bucket}/{self._key(session, name)}"

    def _key(self, session: str, name: str) -> str:
        return "/".join((*filter(None, [self._prefix]), session, name))

    def _check(self, reply: Response) -> None:
        if reply.status >= 300:
            why = _problem(reply.body)
            raise BlobUnavailable(
                f"{self._client.endpoint} refused the request: {reply.status}{f', {why}' if why else ''}"
            )


def shared_client(settings: BlobSettings, env: Mapping[str, str]) -> S3Blobs:
    """One for all sessions of a process, so that they share its connections. Raises BadSettings."""
    return _client(settings, *(env.get(name, "") for name in (KEY, SECRET, SESSION_TOKEN)))


@cache
def _client(settings: BlobSettings, key: str, secret: str, token: str) -> S3Blobs:
    return S3Blobs.configured(settings, {KEY: key, SECRET: secret, SESSION_TOKEN: token})


def _parsed(body: bytes) -> ElementTree.Element:
    try:
        return ElementTree.fromstring(body)
    except ElementTree.ParseError as error:
        raise BlobUnavailable(f"the listing of the bucket cannot be read: {error}") from error


def _objects(listing: ElementTree.Element) -> Iterator[tuple[str, int]]:
    for one in listing.iterfind("{*}Contents"):
        yield one.findtext("{*}Key", ""), int(one.findtext("{*}Size", "0"))


def _problem(body: bytes) -> str:
    """What the server says about it."""
    try:
        found = ElementTree.fromstring(body)
    except ElementTree.ParseError:
        return ""
    return ": ".join(filter(None, (found.findtext("{*}Code"), found.findtext("{*}Message"))))
