"""`assent serve`: checks where to listen, starts the server, announces its address, and stops it in order."""

import asyncio
import logging
import os
import resource
import signal
import socket
import sys
import time
from collections.abc import Callable, Coroutine, Generator, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Literal

import msgspec
import uvicorn

from assent import __version__
from assent.app.audit_access import AuditEntry
from assent.app.engine_setup import Workspaces
from assent.app.identity import me
from assent.app.private_files import save_private
from assent.app.session_log import LogError, SessionLog
from assent.app.stop_signals import on_stop_signal
from assent.app.storage import open_log
from assent.config import Settings, data_folder, load_settings
from assent.front.web.access_tokens import DISCOVERY, Discovery
from assent.front.web.app_state import AppState, Setup, real_folder
from assent.front.web.asgi_app import build
from assent.front.web.gc_tuning import collect_when_calm
from assent.front.web.housekeeping import Housekeeping
from assent.front.web.listening import (
    BadPlace,
    Where,
    address_of,
    check_certificate,
    check_place,
    listen,
    load_certificate,
    place_for,
)
from assent.front.web.request_limits import RequestLimits
from assent.front.web.request_timeouts import TimeoutProtocol
from assent.front.web.server_lock import alone
from assent.front.web.server_log import LibraryLog, ServerLog, no_log

SHUTDOWN_TIMEOUT = 5
"""Seconds for requests in progress when the server stops; streams are ended first."""


def make_setup(
    settings: Settings,
    env: Mapping[str, str],
    user: str,
    roots: tuple[str, ...],
    models: tuple[str, ...],
    limits: RequestLimits,
    remote_engine: str = "",
    workspaces: Workspaces = (),
) -> Setup:
    here = os.path.realpath(os.getcwd())
    home = os.path.realpath(env.get("HOME") or "/")
    found = tuple(map(os.path.normpath if remote_engine else real_folder, roots))
    if not remote_engine and (missing := [root for root in found if not os.path.isdir(root)]):
        raise BadPlace(f"--root must be an existing folder, not {missing[0]}")
    return Setup(
        settings=settings,
        env=env,
        user=user,
        folder=found[0] if remote_engine and found else here,
        roots=found or (home, here),
        limits=limits,
        models=models,
        remote_engine=remote_engine,
        workspaces=workspaces,
    )


class Server:
    """One running server. `ready` is called with its address once it listens."""

    def __init__(
        self, log: SessionLog, setup: Setup, where: Where, data: Path, server_log: ServerLog | None = None
    ) -> None:
        check_place(where)
        check_certificate(where)
        self._log, self._where, self._data = log, where, data
        self._server_log = server_log or no_log()
        self.app_state = AppState(log, setup, data, self._server_log)
        self.tokens = self.app_state.access.tokens
        self.address = ""
        self.port = 0
        """Where it listens; behind a proxy, clients use another URL."""
        self.token = ""
        self._uvicorn: uvicorn.Server | None = None
        self._housekeeping = Housekeeping(log.audit, lambda: self.app_state.settings.audit, me(), self._server_log)

    async def run(self, ready: Callable[["Server"], None]) -> None:
        _raise_file_limit()
        logging.getLogger("uvicorn").setLevel(logging.ERROR)  # anyone can trigger its warnings, as often as they like
        listener = listen(self._where)
        self.port = listener.getsockname()[1]
        self.address = address_of(self._where, self.port)
        self.app_state.notices.address = self.app_state.push.address = self.address
        try:
            app = build(self.app_state, place_for(self._where, self.port))
        except BaseException:
            listener.close()
            raise
        config = _config(app, self._where, self._server_log)
        self._uvicorn = _Uvicorn(config, lambda: ready(self), self.app_state.streams.stop)
        await self.app_state.access.tokens.refresh()
        self._announce()
        libraries = LibraryLog(self._server_log)
        logging.getLogger().addHandler(libraries)
        background = [asyncio.create_task(work) for work in self._background()]
        try:
            await self.app_state.start()
            await self._record("server.started")
            await self._uvicorn.serve(sockets=[listener])
        finally:
            logging.getLogger().removeHandler(libraries)
            for task in background:
                task.cancel()
            await self._stop()

    def _background(self) -> Iterator[Coroutine[Any, Any, None]]:
        engine = self.app_state.engine
        yield collect_when_calm(lambda: engine.calm, lambda: engine.parked)
        yield self.app_state.access.keep_saving()
        yield self._housekeeping.run()

    async def _record(self, kind: Literal["server.started", "server.stopped", "settings.reloaded"]) -> None:
        entry = AuditEntry(kind=kind, ts=time.time(), by=me(), about=self.address)
        with suppress(LogError):  # serving must not fail because of this; decisions are recorded elsewhere
            await self._log.audit.record(entry)
        self._server_log.info(kind, address=self.address, version=__version__, pid=os.getpid())

    # --- reloading ---

    async def reload(self, read: Callable[[], Settings]) -> None:
        """New certificates, settings and log file, without interrupting anyone. What cannot be used is reported, and
        the old one stays."""
        self._server_log.reopen()
        try:
            if self._uvicorn is not None:
                load_certificate(self._where, self._uvicorn.config.ssl)
            self.app_state.use_settings(await asyncio.to_thread(read))
            await self._housekeeping.prune()
        except (ValueError, LogError) as error:
            self._server_log.error("reload.failed", detail=str(error))
            return
        await self._record("settings.reloaded")

    def stop(self) -> None:
        if self._uvicorn is not None:
            self._uvicorn.should_exit = True

    async def _stop(self) -> None:
        """The streams and requests have ended; now stops what is running."""
        await self.app_state.stop()
        await self._record("server.stopped")
        with suppress(LogError):
            await self._housekeeping.log_head()
        self.app_state.access.end()
        with suppress(OSError):
            (self._data / DISCOVERY).unlink()
        await self._log.close()

    def login_address(self, session: str = "") -> str:
        """Where the page opens, at this session if one is named. The code in it works once."""
        return f"{self.address}/#code={self.app_state.access.codes.issue()}{session and f'&session={session}'}"

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


def _config(app: object, where: Where, log: ServerLog) -> uvicorn.Config:
    return uvicorn.Config(
        app,  # pyright: ignore[reportArgumentType]
        http=TimeoutProtocol.with_log(log),
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


async def serve(where: Where, setup: Setup, ready: Callable[[Server], None], log: ServerLog) -> None:
    data = data_folder(setup.env)
    with alone(data):
        await _serve(Server(open_log(setup.env, busy=True), setup, where, data, log), setup, ready)


async def _serve(server: Server, setup: Setup, ready: Callable[[Server], None]) -> None:
    def interrupted() -> None:
        with suppress(OSError):  # the terminal may be gone
            sys.stderr.write(
                "Stopping; calls that wait for an answer keep waiting. Press Ctrl-C again to exit at once.\n"
            )
        server.stop()

    on_stop_signal(interrupted)
    reloading: set[asyncio.Task[None]] = set()

    def reload() -> None:
        task = asyncio.create_task(server.reload(lambda: load_settings(setup.env)))
        reloading.add(task)
        task.add_done_callback(reloading.discard)

    asyncio.get_running_loop().add_signal_handler(signal.SIGHUP, reload)
    await server.run(ready)
