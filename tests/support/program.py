"""Assent as a person starts it: a real process, with its own home and project folder, and nothing else around.

Nothing here sleeps: `Running` waits for lines of output, `Ended` is the result, and `events` reads the log on disk
without the program's own code.
"""

import asyncio
import os
import signal
import sqlite3
import subprocess
import sys
import threading
import weakref
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, Self

import msgspec
from msgspec import Struct

import assent
from support.waiting import WAIT_LIMIT

Json = dict[str, Any]
NO_SERVERS = dict.fromkeys(
    ("OLLAMA_HOST", "LLAMACPP_BASE_URL", "LMSTUDIO_BASE_URL", "VLLM_BASE_URL", "LITELLM_BASE_URL"), "http://127.0.0.1:9"
)
"""Whoever runs the tests may have a model server at its usual port."""


class Ended(Struct, frozen=True):
    """How a run ended and what it printed."""

    code: int
    out: str
    err: str

    @property
    def lines(self) -> list[Json]:
        """Standard output as JSON lines; fails on any other line."""
        return [msgspec.json.decode(line) for line in self.out.splitlines()]

    @property
    def result(self) -> Json:
        """The final object of `json` and `stream-json`."""
        lines = self.out.splitlines()
        return msgspec.json.decode(self.out if lines[:1] == ["{"] else lines[-1])

    def of_type(self, name: str) -> list[Json]:
        return [line for line in self.lines if line["type"] == name]


class Running:
    """A process whose output is read line by line."""

    def __init__(self, process: "subprocess.Popen[bytes]") -> None:
        self.process = process
        self.seen: list[str] = []
        self._errors: list[bytes] = []
        self._heard = threading.Condition()
        self._stderr = threading.Thread(target=self._read_errors, daemon=True)
        self._stderr.start()
        self._watchdog = threading.Timer(WAIT_LIMIT, process.kill)
        self._watchdog.start()

    def goes_on(self) -> None:
        """It lives as long as the test, however slow the machine is: each wait has its own timeout. It is ended with
        the last reference to it.
        """
        self._watchdog.cancel()
        weakref.finalize(self, self.process.kill)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()

    def _read_errors(self) -> None:
        assert self.process.stderr is not None
        for line in self.process.stderr:
            with self._heard:
                self._errors.append(line)
                self._heard.notify_all()

    def until_error(self, text: str) -> None:
        """Wait until standard error contains the text."""
        with self._heard:
            said = self._heard.wait_for(lambda: text.encode() in b"".join(self._errors), WAIT_LIMIT)
        assert said, f"{text!r} was not printed: {b''.join(self._errors).decode()}"

    def __iter__(self) -> Iterator[str]:
        """The lines not read yet, until the process closes its output."""
        assert self.process.stdout is not None
        if self.process.stdout.closed:
            return
        for line in self.process.stdout:
            self.seen.append(line.decode().rstrip("\n"))
            yield self.seen[-1]

    def until(self, condition: Callable[[Json], object]) -> Json:
        """Read until the first event of the stream that satisfies the condition."""
        for line in self:
            event: Json = msgspec.json.decode(line)
            if condition(event):
                return event
        raise AssertionError(f"it ended before that happened: {self.seen} {b''.join(self._errors).decode()}")

    def until_type(self, name: str) -> Json:
        return self.until(lambda event: event["type"] == name)

    def printed_errors(self) -> str:
        """Standard error so far."""
        with self._heard:
            return b"".join(self._errors).decode()

    def errors(self) -> str:
        """Standard error, once the process has ended."""
        self._stderr.join()
        return b"".join(self._errors).decode()

    def signal(self, number: signal.Signals) -> None:
        self.process.send_signal(number)

    def wait(self) -> Ended:
        """Read the rest of the output and wait for the end."""
        for _ in self:
            pass
        code = self.process.wait()
        self._watchdog.cancel()
        return Ended(code, "".join(f"{line}\n" for line in self.seen), self.errors())

    def kill(self) -> Ended:
        self.process.kill()
        ended = self.wait()
        for stream in (self.process.stdin, self.process.stdout, self.process.stderr):
            if stream is not None:
                stream.close()
        return ended


class Program:
    """`folder` is the project in which it is started; `home` is where it keeps sessions and settings."""

    def __init__(self, base: Path) -> None:
        self.home = base / "home"
        self.folder = base / "project"
        self.folder.mkdir(parents=True)
        self.launcher: tuple[str, ...] = ()
        """A program that starts each of ours, such as nsenter."""
        self.env = {
            "PATH": os.environ["PATH"],
            "HOME": str(base),
            "LANG": "C.UTF-8",
            "TERM": "xterm",
            "USER": "ann",
            "LOGNAME": "ann",
            "ASSENT_HOME": str(self.home),
            "PYTHONPATH": str(Path(assent.__file__).resolve().parents[1]),
        } | NO_SERVERS

    def scenario(self, *replies: Json, name: str = "scenario") -> str:
        """Write the replies to a file; return the name of the model that plays them."""
        path = self.folder.parent / f"{name}.json"
        path.write_bytes(msgspec.json.encode({"replies": replies}))
        return f"scripted:{path}"

    def waiting_script(self) -> str:
        """A script in the folder that reads its pipe `fifo`; returns the command that runs it."""
        os.mkfifo(self.folder / "fifo")
        script = self.folder / "wait.sh"
        script.write_text("#!/bin/sh\ncat fifo\n")
        script.chmod(0o755)
        return "./wait.sh"

    def command(self, *args: str) -> list[str]:
        return [*self.launcher, sys.executable, "-m", "assent", *args]

    def start(
        self,
        *args: str,
        env: Mapping[str, str] | None = None,
        stdin: int = subprocess.DEVNULL,
        prefix: tuple[str, ...] = (),
        cwd: str | bytes | Path | None = None,
    ) -> Running:
        """`prefix`: a program that starts ours, such as prlimit."""
        process = subprocess.Popen(
            [*prefix, *self.command(*args)],
            cwd=cwd or self.folder,
            env=self.env | dict(env or {}),
            stdin=stdin,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
        return Running(process)

    def run(
        self,
        *args: str,
        stdin: bytes | str = b"",
        env: Mapping[str, str] | None = None,
        prefix: tuple[str, ...] = (),
        cwd: str | bytes | Path | None = None,
    ) -> Ended:
        done = subprocess.run(
            [*prefix, *self.command(*args)],
            cwd=cwd or self.folder,
            env=self.env | dict(env or {}),
            input=stdin.encode() if isinstance(stdin, str) else stdin,
            capture_output=True,
            timeout=WAIT_LIMIT,
            check=False,
        )
        return Ended(done.returncode, done.stdout.decode(), done.stderr.decode())

    async def run_beside(self, *args: str, env: Mapping[str, str] | None = None) -> Ended:
        """Like `run`, while this loop keeps serving."""
        return await asyncio.to_thread(self.run, *args, env=env)

    # --- the log, read without the program's own code ---

    def sessions(self) -> list[str]:
        """The ids, oldest first."""
        return [row[0] for row in self._query("SELECT id FROM sessions ORDER BY created_at")]

    def events(self, session: str | None = None) -> list[Json]:
        """The durable events of a session (of the only one, if not named), each with its number."""
        (session,) = (session,) if session is not None else self.sessions()
        rows = self._query("SELECT seq, data FROM events WHERE session = ? ORDER BY seq", session)
        return [{"seq": seq} | msgspec.json.decode(data) for seq, data in rows]

    def events_of_type(self, name: str, session: str | None = None) -> list[Json]:
        return [event for event in self.events(session) if event["type"] == name]

    def inbox(self, session: str) -> list[str]:
        """The keys of the commands that have not been handled."""
        return [row[0] for row in self._query("SELECT key FROM inbox WHERE session = ? AND NOT taken", session)]

    def _query(self, sql: str, *values: str) -> list[tuple[Any, ...]]:
        path = self.home / "assent.db"
        if not path.exists():
            return []
        db = sqlite3.connect(path)
        try:
            return db.execute(sql, values).fetchall()
        finally:
            db.close()


# --- replies ---


def says(text: str, **more: Any) -> Json:
    return {"chunks": [{"text": text}], **more}


def asks_for(*calls: Json, text: str = "", **more: Any) -> Json:
    """A reply with these calls."""
    return {"chunks": [*([{"text": text}] if text else []), *({"call": call} for call in calls)], **more}


def shell(command: str, call_id: str = "run") -> Json:
    return {"name": "run_shell_command", "args": {"command": command}, "id": call_id}


def write(path: str, content: str, call_id: str = "write") -> Json:
    return {"name": "write_file", "args": {"file_path": path, "content": content}, "id": call_id}


def replace(path: str, old: str, new: str, call_id: str = "replace") -> Json:
    return {"name": "replace", "args": {"file_path": path, "old_string": old, "new_string": new}, "id": call_id}


def read(path: str, call_id: str = "read") -> Json:
    return {"name": "read_file", "args": {"file_path": path}, "id": call_id}
