"""Where the engine is: `temporal://HOST:PORT/NAMESPACE`, with `?tls=true` for an encrypted connection."""

from datetime import timedelta
from urllib.parse import parse_qs, urlsplit

from msgspec import Struct
from temporalio.client import Client, KeepAliveConfig
from temporalio.service import RetryConfig

from assent.session.log import LogUnavailable

SCHEME = "temporal"
DEFAULT_PORT = 7233
RETRY = RetryConfig(max_elapsed_time_millis=5_000)
KEEP_ALIVE = KeepAliveConfig(interval_millis=5_000, timeout_millis=5_000)


class TemporalAddress(Struct, frozen=True):
    target: str
    namespace: str
    tls: bool = False

    async def connect(self, *, lazy: bool = False) -> Client:
        """`lazy` connects on first use, so that a server starts without the engine."""
        try:
            return await Client.connect(
                self.target,
                namespace=self.namespace,
                tls=self.tls,
                lazy=lazy,
                retry_config=RETRY,
                keep_alive_config=KEEP_ALIVE,
            )
        except RuntimeError as error:
            raise LogUnavailable(f"the engine at {self} cannot be reached: {error}") from error

    def __str__(self) -> str:
        return f"{SCHEME}://{self.target}/{self.namespace}"


RPC_TIMEOUT = timedelta(seconds=5)


def parse_address(url: str) -> TemporalAddress:
    """Raises LogUnavailable if it is not such a URL."""
    parts = urlsplit(url)
    try:
        port = parts.port or DEFAULT_PORT
    except ValueError:
        port = 0
    if parts.scheme != SCHEME or not parts.hostname or not port or "/" in parts.path.strip("/"):
        raise LogUnavailable("the engine must be a URL like temporal://HOST:PORT/NAMESPACE")
    tls = parse_qs(parts.query).get("tls", ["false"])[-1] == "true"
    host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
    return TemporalAddress(f"{host}:{port}", parts.path.strip("/") or "default", tls)
