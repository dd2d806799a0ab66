"""A server with the S3 API on this machine, written by others (moto). Started once, in a thread of its own."""

from collections.abc import Mapping

from moto.server import ThreadedMotoServer

from assent.config import BlobSettings
from assent.s3.s3_blobs import S3Blobs

ENV: Mapping[str, str] = {"AWS_ACCESS_KEY_ID": "assent", "AWS_SECRET_ACCESS_KEY": "not-a-secret"}


class S3Server:
    def __init__(self) -> None:
        self._server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
        self._buckets = 0

    def start(self) -> None:
        self._server.start()
        host, port = self._server.get_host_and_port()
        self.endpoint = f"http://{host}:{port}"

    def stop(self) -> None:
        self._server.stop()

    async def new_bucket(self, prefix: str = "/some/prefix") -> BlobSettings:
        """The settings for an empty one."""
        self._buckets += 1
        settings = BlobSettings(url=f"s3://bucket{self._buckets}{prefix}", endpoint=self.endpoint)
        blobs = S3Blobs.configured(settings, ENV)
        reply = await blobs._client.send("PUT", f"/bucket{self._buckets}")  # pyright: ignore[reportPrivateUsage]
        assert reply.status == 200
        await blobs.close()
        return settings
