"""The server's log: one line for each thing that happened, as text or JSON, without secrets.

A thread formats and writes, so that a slow disk or terminal delays nobody. Whatever a line quotes, it stays one
line of printable ASCII: nobody can forge an entry or move a terminal's cursor.
"""

import json
import logging
import queue
import re
import threading
import time
from collections.abc import Callable, Mapping
from typing import Literal, Protocol

from msgspec import Struct

LogFormat = Literal["text", "json"]
LogLevel = Literal["debug", "info", "warning", "error", "off"]
LEVELS: tuple[LogLevel, ...] = ("debug", "info", "warning", "error", "off")
Value = str | int | float | bool | None
MAX_WAITING = 10_000
"""Lines that may wait to be written; more are dropped and counted."""
MAX_TEXT = 8_000
_PLAIN = re.compile(r"[A-Za-z0-9_./:@%+,~\[\]-]+")


class Sink(Protocol):
    """Where lines go; `write` raises OSError if it fails."""

    def write(self, data: bytes) -> None: ...
    def reopen(self) -> None: ...
    def close(self) -> None: ...


class _Line(Struct, frozen=True):
    ts: float
    level: LogLevel
    event: str
    fields: Mapping[str, Value]


class ServerLog:
    def __init__(
        self,
        sink: Sink,
        format: LogFormat = "text",
        level: LogLevel = "info",
        mask: Callable[[str], str] = str,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._sink, self._mask, self._clock = sink, mask, clock
        self._format = _as_json if format == "json" else _as_text
        self.level = level
        self.dropped = 0
        """Lines that could not be written."""
        self._lines: queue.Queue[_Line | Callable[[], None] | None] = queue.Queue(MAX_WAITING)
        self._thread = threading.Thread(target=self._run, name="server-log", daemon=True)
        self._thread.start()

    # --- logging ---

    def debug(self, event: str, **fields: Value) -> None:
        self._put("debug", event, fields)

    def info(self, event: str, **fields: Value) -> None:
        self._put("info", event, fields)

    def warning(self, event: str, **fields: Value) -> None:
        self._put("warning", event, fields)

    def error(self, event: str, **fields: Value) -> None:
        self._put("error", event, fields)

    def _put(self, level: LogLevel, event: str, fields: Mapping[str, Value]) -> None:
        if LEVELS.index(level) < LEVELS.index(self.level):
            return
        try:
            self._lines.put_nowait(_Line(self._clock(), level, event, fields))
        except queue.Full:
            self.dropped += 1

    def reopen(self) -> None:
        """After a rotation."""
        self._lines.put(self._sink.reopen)

    def close(self) -> None:
        """Writes what is waiting."""
        self._lines.put(None)
        self._thread.join()
        self._sink.close()

    # --- in the thread ---

    def _run(self) -> None:
        while (item := self._lines.get()) is not None:
            try:
                if isinstance(item, _Line):
                    self._sink.write(self._format(item, self._mask).encode("ascii") + b"\n")
                else:
                    item()
            except Exception:  # nothing about the log may stop the server
                self.dropped += 1


def _safe(value: Value, mask: Callable[[str], str]) -> Value:
    """JSON escapes everything else."""
    if not isinstance(value, str):
        return value
    return mask(value[:MAX_TEXT]).encode("utf-8", "replace").decode().replace("\x7f", "?")


def _time(ts: float) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(ts)) + f".{int(ts * 1000) % 1000:03}Z"


def _as_json(line: _Line, mask: Callable[[str], str]) -> str:
    fields = {name: _safe(value, mask) for name, value in line.fields.items() if value not in (None, "")}
    return json.dumps({"ts": _time(line.ts), "level": line.level, "event": line.event, **fields})


def _as_text(line: _Line, mask: Callable[[str], str]) -> str:
    fields = {name: _safe(value, mask) for name, value in line.fields.items() if value not in (None, "")}
    shown = [f"{name}={_word(value)}" for name, value in fields.items()]
    return " ".join([_time(line.ts), line.level.upper().ljust(7), line.event, *shown])


def _word(value: Value) -> str:
    text = value if isinstance(value, str) else json.dumps(value)
    return text if _PLAIN.fullmatch(text) else json.dumps(text)


# --- where to ---


class StandardError:
    """Has nothing to reopen; a service manager rotates what it collects."""

    def write(self, data: bytes) -> None:
        import os

        os.write(2, data)

    def reopen(self) -> None: ...

    def close(self) -> None: ...


class Nowhere:
    def write(self, data: bytes) -> None: ...

    def reopen(self) -> None: ...

    def close(self) -> None: ...


def no_log() -> ServerLog:
    return ServerLog(Nowhere(), level="off")


class LibraryLog(logging.Handler):
    """Brings what libraries and forgotten tasks report into the same log."""

    def __init__(self, log: ServerLog) -> None:
        super().__init__(logging.WARNING)
        self._log = log
        self.setFormatter(logging.Formatter())

    def emit(self, record: logging.LogRecord) -> None:
        told = self._log.error if record.levelno >= logging.ERROR else self._log.warning
        told("library", logger=record.name, detail=self.format(record))
