"""Runs a plan of the shell gate: argument lists, pipes and redirections, without any shell.

Every program gets a built environment and a program path outside the workspace, in one process group
that `cancel` ends. Output and errors go to one descriptor. It decides nothing: what is not in the plan
does not happen. The plan is known here by its shape only, so that this room does not depend on the
policy room.
"""

import glob
import os
import re
import shutil
import signal
import subprocess
import tempfile
import threading
import time
from collections.abc import Mapping
from typing import IO, TYPE_CHECKING

from assent.process.repository import RefusedRepository, guard
from assent.process.sift import Sieve, Sifted, sift

if TYPE_CHECKING:
    from assent.plan import Plan, Redirect, Stage, Step, Word

NOT_FOUND = 127
REFUSED = 126
_SIEVE_ENDS = 1.0  # seconds, after all programs of the pipeline have ended
# `-x` is an option, `@x` a file of options, `|x` a command, `host:x` another machine, `HEAD:x` a file in git.
_MORE_THAN_A_NAME = re.compile(r"[!-\-:-@\[-^`{-~]|[^/]*:")
_KEPT = ("HOME", "USER", "LOGNAME", "LANG", "LC_ALL", "TZ", "TMPDIR")


class Pipeline:
    """One run of one plan. `run` blocks; `cancel` may be called from any thread, once or often."""

    def __init__(self, plan: "Plan", output: int, environment: Mapping[str, str] | None = None) -> None:
        self.plan = plan
        self.output = output
        self.cwd = plan.cwd or os.getcwd()
        self.environment = _environment(plan, os.environ if environment is None else environment)
        self._group: int | None = None
        self._cancelled = threading.Event()
        self._lock = threading.Lock()
        self._sieves: list[threading.Thread] = []
        self._sifted: list[Sifted] = []

    def run(self) -> int:
        """The exit code of the last pipeline that ran, as bash would give it."""
        if moved := _moved(self.plan):
            return self._say(f"{moved}: leads out of the workspace", REFUSED)
        code = 0
        for step in self.plan.steps:
            if self._cancelled.is_set():
                return 128 + signal.SIGTERM
            if (step.join == "&&" and code != 0) or (step.join == "||" and code == 0):
                continue
            code = self._step(step)
        return code

    def cancel(self) -> None:
        """Ends the processes of the running pipeline; nothing further starts."""
        with self._lock:
            self._cancelled.set()
            if self._group is not None:
                _kill(self._group)

    def _step(self, step: "Step") -> int:
        begun = time.monotonic()
        children: list[subprocess.Popen[bytes] | int] = []
        incoming: int | None = None
        for index, stage in enumerate(step.stages):
            outgoing, following = (self.output, None) if index == len(step.stages) - 1 else _pipe()
            children.append(self._start(stage, incoming, outgoing, alone=len(step.stages) == 1))
            _close(incoming)
            if following is not None:
                _close(outgoing)
            incoming = following
        codes = [child if isinstance(child, int) else _code(child.wait()) for child in children]
        with self._lock:
            self._group = None
        self._tell_of_names()
        if any(_is_timed([word.text for word in stage.words]) for stage in step.stages):
            self._say(f"real {time.monotonic() - begun:.3f}s", 0)
        return codes[-1]

    def _start(
        self, stage: "Stage", incoming: int | None, outgoing: int, *, alone: bool
    ) -> subprocess.Popen[bytes] | int:
        argv = [text for word in stage.words for text in self._expand(word)]
        argv = argv[1:] if _is_timed(argv) else argv
        if self.plan.inside and (outside := self._leading_out([*argv[1:], *self._read_from(stage)])):
            return self._say(f"{outside}: leads out of the workspace", REFUSED)
        if (code := self._builtin(argv, outgoing, alone=alone)) is not None:
            return code
        program = self._program(argv[0])
        if program is None:
            return self._say(f"{argv[0]}: command not found", NOT_FOUND)
        environment = {**self.environment, "PWD": self.cwd, **dict(stage.env)}
        try:
            guarded = guard(program, argv, self.cwd, environment, self.plan.roots)
        except (RefusedRepository, OSError) as error:
            return self._say(f"{argv[0]}: {error}", REFUSED)
        argv += self.plan.hidden if stage.hides else ()
        environment |= guarded.variables
        for note in guarded.notes:
            self._say(note, 0)
        with tempfile.TemporaryFile() as spool, open(os.devnull, "r+b") as null:
            files: list[IO[bytes]] = []
            try:
                first = null.fileno() if incoming is None else incoming
                descriptors = self._redirect(stage, [first, outgoing, self.output], null.fileno(), spool, files)
                if stage.names:
                    descriptors[0] = self._names(stage.names, descriptors[0], files)
                return self._spawn(program, argv, environment, descriptors)
            except OSError as error:
                return self._say(f"{argv[0]}: {error.strerror}", REFUSED)
            finally:
                for file in files:
                    file.close()

    def _leading_out(self, words: list[str]) -> str | None:
        """The first path in these words that is outside, with links followed."""
        from assent.plan import paths_in

        places = [(path, os.path.join(self.cwd, path)) for word in words for path in paths_in(word)]
        return next((w for w, p in places if os.path.lexists(p) and not _inside(p, self.plan.roots)), None)

    def _read_from(self, stage: "Stage") -> list[str]:
        targets = (one.target for one in stage.redirects if one.kind == "read")
        return [self._expand(target)[0] for target in targets if not isinstance(target, int | str)]

    def _spawn(
        self, program: str, argv: list[str], environment: Mapping[str, str], descriptors: list[int]
    ) -> subprocess.Popen[bytes] | int:
        with self._lock:
            if self._cancelled.is_set():
                return 128 + signal.SIGTERM
            child = subprocess.Popen(
                argv,
                executable=program,
                cwd=self.cwd,
                env=environment,
                stdin=descriptors[0],
                stdout=descriptors[1],
                stderr=descriptors[2],
                process_group=self._group or 0,
            )
            self._group = self._group or child.pid
            return child

    def _redirect(
        self, stage: "Stage", now: list[int], null: int, spool: IO[bytes], files: list[IO[bytes]]
    ) -> list[int]:
        for redirect in stage.redirects:
            now[redirect.fd] = self._source(redirect, now, null, spool, files)
        return now

    def _source(self, redirect: "Redirect", now: list[int], null: int, spool: IO[bytes], files: list[IO[bytes]]) -> int:
        match redirect.kind:
            case "null":
                return null
            case "copy":
                return now[int(str(redirect.target))]
            case "text":
                spool.seek(0)
                spool.truncate()
                spool.write(str(redirect.target).encode())
                spool.seek(0)
                return spool.fileno()
            case "read":
                assert not isinstance(redirect.target, int | str)
                file = open(os.path.join(self.cwd, self._expand(redirect.target)[0]), "rb")  # noqa: SIM115
                files.append(file)
                return file.fileno()

    def _names(self, kind: str, incoming: int, files: list[IO[bytes]]) -> int:
        """A pipe with those of the names that may be opened."""
        writing, reading = _pipe()
        files.append(os.fdopen(reading, "rb"))
        source, target = os.fdopen(os.dup(incoming), "rb"), os.fdopen(writing, "wb")
        sieve = Sieve(self.plan.secret, self.cwd, self.plan.roots, inside=self.plan.inside)

        def work() -> None:
            self._sifted.append(sift(source, target, kind, sieve.keeps))

        thread = threading.Thread(target=work, daemon=True)
        thread.start()
        self._sieves.append(thread)
        return reading

    def _tell_of_names(self) -> None:
        while self._sieves:
            self._sieves.pop().join(_SIEVE_ENDS)
        sifted, self._sifted = self._sifted, []
        if dropped := sum(one.dropped for one in sifted):
            self._say(f"passed over: {dropped} name(s) of secrets, or of links that lead to them or outside", 0)
        for one in sifted:
            if one.problem:
                self._say(f"xargs: {one.problem}", 0)

    def _expand(self, word: "Word") -> list[str]:
        """One text, or the files a wildcard matches. A match looks like nothing but a file."""
        if word.literal:
            return [word.text]
        known = {
            "HOME": self.environment.get("HOME") or "/",
            "PWD": self.cwd,
            "USER": self.environment.get("USER") or str(os.getuid()),  # nothing at all would make another word
        }
        plain = ""
        pattern = ""
        for part in word.parts:
            match part.kind:
                case "glob":
                    plain, pattern = plain + part.text, pattern + part.text
                    continue
                case "home":
                    text = known["HOME"]
                case "variable":
                    text = known[part.text]
                case "text":
                    text = part.text
            plain, pattern = plain + text, pattern + glob.escape(text)
        if all(part.kind != "glob" for part in word.parts):
            return [plain]
        found = sorted(glob.glob(pattern, root_dir=self.cwd))
        fixed = word.fixed.startswith("-")
        return [one if fixed or not _MORE_THAN_A_NAME.match(one) else "./" + one for one in found] or [plain]

    def _program(self, name: str) -> str | None:
        """The program's path. A bare name is never looked up inside the workspace."""
        if "/" in name:
            return os.path.join(self.cwd, name)
        return shutil.which(name, path=self.environment["PATH"])

    def _builtin(self, argv: list[str], output: int, *, alone: bool) -> int | None:
        """The few words that only a shell knows. In a pipe of several, `cd` moves nothing."""
        match argv:
            case ["cd", *rest]:
                return self._cd([one for one in rest if not one.startswith("-")]) if alone else 0
            case ["command", "-v" | "-V", *names] | ["type", *names]:
                return self._where([name for name in names if not name.startswith("-")], output)
            case _:
                return None

    def _cd(self, rest: list[str]) -> int:
        target = os.path.join(self.cwd, rest[0] if rest else self.environment.get("HOME", "/"))
        if not os.path.isdir(target):
            return self._say(f"cd: {target}: no such folder", 1)
        self.cwd = os.path.normpath(target)
        return 0

    def _where(self, names: list[str], output: int) -> int:
        found = [self._program(name) for name in names]
        os.write(output, "".join(one + "\n" for one in found if one).encode())
        return 0 if all(found) else 1

    def _say(self, text: str, code: int) -> int:
        os.write(self.output, (text + "\n").encode(errors="replace"))
        return code


def _environment(plan: "Plan", given: Mapping[str, str]) -> dict[str, str]:
    """Built, not inherited: a few names, and a search path without relative folders or folders of the
    workspace."""
    kept = {name: given[name] for name in _KEPT if name in given}
    folders = given.get("PATH", os.defpath).split(os.pathsep)
    path = os.pathsep.join(one for one in folders if os.path.isabs(one) and not _inside(one, plan.roots))
    return {**kept, "PATH": path, "TERM": "dumb", "PAGER": "cat"}


def _inside(path: str, roots: tuple[str, ...]) -> bool:
    real = os.path.realpath(path)
    return any(os.path.commonpath([real, os.path.realpath(root)]) == os.path.realpath(root) for root in roots)


def _moved(plan: "Plan") -> str | None:
    """A path to be written that, with links followed, is not where its text says."""
    return next((path for path in plan.writes if not _inside(path, plan.roots)), None)


def _is_timed(argv: list[str]) -> bool:
    """`time` is a word of the shell, and not everywhere a program as well."""
    return argv[0] == "time" and len(argv) > 1 and not argv[1].startswith("-")


def _pipe() -> tuple[int, int]:
    reading, writing = os.pipe()
    return writing, reading


def _close(descriptor: int | None) -> None:
    if descriptor is not None:
        os.close(descriptor)


def _code(returned: int) -> int:
    return 128 - returned if returned < 0 else returned


def _kill(group: int) -> None:
    try:
        os.killpg(group, signal.SIGKILL)
    except ProcessLookupError:
        return


def main() -> None:
    """The plan comes as the only argument; output goes to where ours goes."""
    import sys

    import msgspec

    from assent.plan import Plan

    sys.exit(Pipeline(msgspec.json.decode(sys.argv[1], type=Plan), 1).run())
