"""A long-running program that exchanges lines: own session, input and output; its errors are kept for whoever asks.

`close` returns only when the program and all its descendants are gone. It knows no protocol: lines are bytes.
"""

import asyncio
import contextlib
import os
from collections.abc import Mapping, Sequence

from assent.process.family import Family
from assent.process.kill import end_family
from assent.process.output_buffer import Decoder, Kept
from assent.process.pty import CHUNK, Channel
from assent.process.spawn import Launcher, spawn

LINE_LIMIT = 32 << 20
"""Maximum bytes of one line: an image fits, an endless flood does not."""
ERRORS_KEPT = 20_000


class LineTooLong(Exception):
    """The program wrote more than one line may contain; nothing more can be read from it."""


class Peer:
    """Use `Peer.start`; the caller must close it."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._reader = asyncio.StreamReader(LINE_LIMIT, self._loop)
        self._errors = Kept(ERRORS_KEPT)
        self._decoder = Decoder(self._errors.add, sniff=False)
        self._exited = asyncio.Event()
        self._closing: asyncio.Task[None] | None = None
        self._reading: asyncio.ReadTransport | None = None

    @classmethod
    async def start(
        cls, argv: Sequence[str], *, cwd: str, env: Mapping[str, str], launcher: Launcher | None = None
    ) -> "Peer":
        """Raises OSError if the program cannot be started."""
        peer = cls()
        await peer._spawn(argv, cwd, env, launcher)
        connecting = asyncio.create_task(peer._connect())
        try:
            await asyncio.shield(connecting)
        except BaseException:
            await asyncio.wait([connecting])
            await peer.close(0, 0)
            raise
        return peer

    async def _spawn(self, argv: Sequence[str], cwd: str, env: Mapping[str, str], launcher: Launcher | None) -> None:
        """The program's descriptors are closed on our side, whatever happens."""
        mark = os.urandom(8).hex()
        output, errors = Channel(None), Channel(None)
        theirs, ours = os.pipe()
        try:
            self._process = await spawn(
                argv, cwd, env, mark, output=output.theirs, errors=errors.theirs, input=theirs, launcher=launcher
            )
        except BaseException:
            output.close()
            errors.close()
            os.close(ours)
            raise
        finally:
            os.close(theirs)
        output.close_theirs()
        errors.close_theirs()
        self._input, self._output, self._error_output = ours, output.ours, errors.ours
        self.pid = self._process.pid
        self._family = Family(self.pid, mark, output.name, self._process.reaper, self._process.since)
        self._process.on_exit(self._on_exit)

    async def _connect(self) -> None:
        """Our own pipes, not the process's: they close when we say so, whoever else holds the other end."""
        self._loop.add_reader(self._error_output, self._read_errors)
        read = os.fdopen(self._output, "rb", 0)
        write = os.fdopen(self._input, "wb", 0)
        protocol = asyncio.StreamReaderProtocol(self._reader, loop=self._loop)
        self._reading, _ = await self._loop.connect_read_pipe(lambda: protocol, read)
        self._writing, flow = await self._loop.connect_write_pipe(asyncio.streams.FlowControlMixin, write)
        self._writer = asyncio.StreamWriter(self._writing, flow, None, self._loop)
        if self._exited.is_set():
            self._let_go()

    # --- talking ---

    async def read_line(self) -> bytes | None:
        """The next line without its end; None if there will be no more."""
        try:
            return (await self._reader.readuntil(b"\n"))[:-1]
        except asyncio.IncompleteReadError:
            return None
        except asyncio.LimitOverrunError as error:
            raise LineTooLong(f"a line of more than {LINE_LIMIT:,} bytes") from error

    async def write_line(self, line: bytes) -> None:
        """Waits while the program does not read. Raises OSError if it has exited."""
        self._writer.write(line + b"\n")
        await self._writer.drain()

    def end_input(self, last: bytes = b"") -> None:
        """Send this and then nothing more; the program may read it or not."""
        self._writer.write(last)
        self._writer.close()

    async def read(self, most: int) -> bytes:
        """What it has written; empty if there will be no more."""
        return await self._reader.read(most)

    def errors(self) -> str:
        """The beginning and the end of its standard error."""
        return self._errors.excerpt().text()

    async def gone(self, max_wait: float) -> bool:
        """Whether it exits within this many seconds."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(max_wait):
                await self._exited.wait()
        return self._exited.is_set()

    def status(self) -> int | None:
        """How it ended: the exit code, or minus the signal; None while it runs."""
        return self._process.status()

    def _read_errors(self) -> None:
        with contextlib.suppress(BlockingIOError):
            data = os.read(self._error_output, CHUNK)
            if data:
                self._decoder.feed(data)
            else:
                self._stop_reading_errors()

    def _stop_reading_errors(self) -> None:
        if self._error_output >= 0:
            self._loop.remove_reader(self._error_output)
            os.close(self._error_output)
            self._error_output = -1

    def _on_exit(self) -> None:
        """A grandchild may hold the output open; the program itself says nothing more."""
        self._process.status()
        self._exited.set()
        self._let_go()

    def _let_go(self) -> None:
        """It may have exited before we were connected to it."""
        if self._reading is not None:
            self._loop.call_later(0.1, self._reading.close)

    # --- the end ---

    async def close(self, max_wait: float = 1.0, grace: float = 0.5) -> None:
        """Closes its input, which asks it to exit; then sends signals. Completes even if cancelled."""
        if self._closing is None:
            self._closing = asyncio.create_task(self._close(max_wait, grace))
        try:
            await asyncio.shield(self._closing)
        except asyncio.CancelledError:
            await asyncio.wait([self._closing])
            raise

    async def _close(self, max_wait: float, grace: float) -> None:
        if not self._writing.is_closing():  # it closes by itself when the program has exited
            self._writing.abort()
        swallowing = asyncio.create_task(self._swallow())
        await self.gone(max_wait)
        await end_family(self._family, self.pid, grace, asyncio.Event())
        swallowing.cancel()
        self._process.close()
        if self._reading is not None:
            self._reading.close()
        self._stop_reading_errors()

    async def _swallow(self) -> None:
        """A program that is blocked writing cannot notice that its input has ended."""
        while await self._reader.read(CHUNK):
            pass
