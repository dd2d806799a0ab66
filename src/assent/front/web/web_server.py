"""`assent serve`: checks where to listen, starts the server, announces its address, and stops it in order."""

import asyncio
import logging
import os
import re
import resource
import signal
import socket
import ssl
import sys
from collections.abc import Callable, Coroutine, Generator, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import msgspec
import uvicorn
from msgspec import Struct

from assent.app.crash import mask_log
from assent.app.private_files import save_private
from assent.app.session_log import SessionLog
from assent.app.storage import open_log
from assent.config import Settings, data_folder
from assent.front.web.access_tokens import DISCOVERY, Discovery
from assent.front.web.app_state import AppState, Setup, real_folder
from assent.front.web.asgi_app import build
from assent.front.web.gc_tuning import collect_when_calm
from assent.front.web.request_limits import RequestLimits
from assent.front.web.request_timeouts import TimeoutProtocol
from assent.front.web.security import Place, place_of
from assent.front.web.server_lock import alone
from assent.http.loopback import is_loopback

SHUTDOWN_TIMEOUT = 5
"""Seconds for requests in progress when the server stops; streams are ended first."""


EVERYWHERE = ("0.0.0.0", "::")
_LAST_PORT = 65_535
_NAME = re.compile(r"[A-Za-z0-9._:-]+")


class BadPlace(ValueError):
    """The server cannot listen there; the message says what to do instead."""


class Where(Struct, frozen=True, kw_only=True):
    """Where to listen, as given on the command line."""

    host: str = "127.0.0.1"
    port: int = 8420
    tls_cert: str | None = None
    tls_key: str | None = None
    behind_proxy: str | None = None
    """The URL that clients use, if a proxy in front of us handles TLS."""
    names: tuple[str, ...] = ()
    """Names and addresses that clients use, besides those that we know ourselves."""


def check_place(where: Where) -> None:
    """Beyond this machine, TLS is required: anybody could read an unencrypted token."""
    if not 0 <= where.port <= _LAST_PORT:
        raise BadPlace(f"--port must be a number from 0 to {_LAST_PORT}, not {where.port}")
    if bad := [name for name in where.names if not _NAME.fullmatch(name)]:
        raise BadPlace(f"--name must be a plain name or address, such as laptop.local or 192.168.1.5, not {bad[0]!r}")
    if (where.tls_cert is None) != (where.tls_key is None):
        raise BadPlace("TLS needs both --tls-cert and --tls-key")
    if where.behind_proxy is not None:
        parts = urlsplit(where.behind_proxy)
        if parts.scheme != "https" or not parts.hostname:
            raise BadPlace("--behind-proxy must be the URL that clients use, e.g. https://assent.example.org")
    elif where.tls_cert is None and not is_loopback(where.host):
        raise BadPlace(
            f"{where.host} can be reached from other machines: use --tls-cert and --tls-key, or --behind-proxy with "
            "the https URL of a proxy that handles TLS"
        )


def check_certificate(where: Where) -> None:
    """Checks it now, with a clear message; later, a library would raise its own exception."""
    if where.tls_cert is None:
        return
    try:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(where.tls_cert, where.tls_key, password=lambda: "")  # nobody can type one
    except OSError as error:
        why = error.strerror or str(error)
        raise BadPlace(f"{where.tls_cert} and {where.tls_key} cannot be used for TLS: {why}") from error


def place_for(where: Where, port: int) -> Place:
    if where.behind_proxy is not None:
        parts = urlsplit(where.behind_proxy)
        return place_of("https", [parts.hostname or ""], parts.port or 443)
    names = {where.host, *where.names}
    if is_loopback(where.host) or where.host in EVERYWHERE:
        names |= {"127.0.0.1", "localhost", "::1"}
    if not is_loopback(where.host):
        names.add(socket.gethostname())
    return place_of("https" if where.tls_cert else "http", names, port)


def address_of(where: Where, port: int) -> str:
    """The URL for people and programs."""
    if where.behind_proxy is not None:
        return where.behind_proxy.rstrip("/")
    own = socket.gethostname() if where.host in EVERYWHERE else where.host
    name = where.names[0] if where.names else own
    return f"{'https' if where.tls_cert else 'http'}://{f'[{name}]' if ':' in name else name}:{port}"


def make_setup(
    settings: Settings, env: Mapping[str, str], user: str, roots: tuple[str, ...], limits: RequestLimits
) -> Setup:
    here = os.path.realpath(os.getcwd())
    home = os.path.realpath(env.get("HOME") or "/")
    return Setup(
        settings=settings,
        env=env,
        user=user,
        folder=here,
        roots=tuple(map(real_folder, roots)) or (home, here),
        limits=limits,
    )


class Server:
    """One running server. `ready` is called with its address once it listens."""

    def __init__(self, log: SessionLog, setup: Setup, where: Where, data: Path) -> None:
        check_place(where)
        check_certificate(where)
        self._log, self._where, self._data = log, where, data
        self.app_state = AppState(log, setup, data)
        self.tokens = self.app_state.access.tokens
        self.address = ""
        self.port = 0
        """Where it listens; behind a proxy, clients use another URL."""
        self.token = ""
        self._uvicorn: uvicorn.Server | None = None

    async def run(self, ready: Callable[["Server"], None]) -> None:
        _raise_file_limit()
        logging.getLogger("uvicorn").setLevel(logging.ERROR)  # anybody can trigger its warnings, as often as they like
        mask_log()
        listener = _listen(self._where)
        self.port = listener.getsockname()[1]
        self.address = address_of(self._where, self.port)
        self.app_state.webhooks.address = self.address
        try:
            app = build(self.app_state, place_for(self._where, self.port))
        except BaseException:
            listener.close()
            raise
        self._uvicorn = _Uvicorn(_config(app, self._where), lambda: ready(self), self.app_state.streams.stop)
        self._announce()
        background = [asyncio.create_task(work) for work in self._background()]
        try:
            await self.app_state.start()
            await self._uvicorn.serve(sockets=[listener])
        finally:
            for task in background:
                task.cancel()
            await self._stop()

    def _background(self) -> Iterator[Coroutine[Any, Any, None]]:
        engine = self.app_state.engine
        yield collect_when_calm(lambda: engine.calm, lambda: engine.parked)
        yield self.app_state.access.keep_saving()

    def stop(self) -> None:
        if self._uvicorn is not None:
            self._uvicorn.should_exit = True

    async def _stop(self) -> None:
        """The streams and requests have ended; now stops what is running."""
        await self.app_state.stop()
        self.app_state.access.end()
        with suppress(OSError):
            (self._data / DISCOVERY).unlink()
        await self._log.close()

    def login_address(self) -> str:
        return f"{self.address}/#code={self.app_state.access.codes.issue()}"

    def _announce(self) -> None:
        """Tells the user's other programs the URL and this start's token."""
        self.token = self.app_state.access.announce().token
        found = Discovery(self.address, self.token, os.getpid())
        save_private(self._data / DISCOVERY, msgspec.json.encode(found))


class _Uvicorn(uvicorn.Server):
    """We handle signals ourselves. Streams never end on their own, so they are ended before it waits for them."""

    def __init__(self, config: uvicorn.Config, ready: Callable[[], None], end_streams: Callable[[], None]) -> None:
        super().__init__(config)
        self._ready, self._end_streams = ready, end_streams

    @contextmanager
    def capture_signals(self) -> Generator[None, None, None]:
        yield

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if self.started:
            self._ready()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self._end_streams()
        await super().shutdown(sockets)


def _listen(where: Where) -> socket.socket:
    family = socket.AF_INET6 if ":" in where.host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((where.host, where.port))
    except OSError as error:
        listener.close()
        raise BadPlace(f"cannot listen on {where.host} port {where.port}: {error.strerror}") from error
    listener.listen(1024)
    return listener


def _config(app: object, where: Where) -> uvicorn.Config:
    return uvicorn.Config(
        app,  # pyright: ignore[reportArgumentType]
        http=TimeoutProtocol,
        log_config=None,
        access_log=False,
        server_header=False,
        date_header=False,
        lifespan="on",
        ws="none",
        timeout_graceful_shutdown=SHUTDOWN_TIMEOUT,
        timeout_keep_alive=30,
        proxy_headers=where.behind_proxy is not None,
        forwarded_allow_ips="127.0.0.1,::1" if where.behind_proxy is not None else "",
        ssl_certfile=where.tls_cert,
        ssl_keyfile=where.tls_key,
    )


def _raise_file_limit() -> None:
    """Each stream needs a file descriptor; the soft limit is often lower than allowed."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = min(hard, 65_536) if hard != resource.RLIM_INFINITY else 65_536
    if soft < wanted:
        with suppress(ValueError, OSError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


async def serve(where: Where, setup: Setup, ready: Callable[[Server], None]) -> None:
    data = data_folder(setup.env)
    with alone(data):
        await _serve(where, setup, data, ready)


async def _serve(where: Where, setup: Setup, data: Path, ready: Callable[[Server], None]) -> None:
    server = Server(open_log(setup.env, busy=True), setup, where, data)
    loop = asyncio.get_running_loop()
    interrupts = 0

    def interrupted() -> None:
        nonlocal interrupts
        interrupts += 1
        if interrupts > 1:
            os._exit(130)
        sys.stderr.write("Stopping; calls that wait for an answer keep waiting. Press Ctrl-C again to exit at once.\n")
        server.stop()

    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, interrupted)
    await server.run(ready)
