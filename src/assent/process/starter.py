"""Starts one simple command of a plan: its arguments, its environment, its input and output, and what it may open.

Every program gets a built environment and a search path outside the workspace. It decides nothing: what is not in the
plan does not happen, and anything that differs from the plan is refused and reported.
"""

import os
import subprocess
import threading
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from assent.process.blocking import CHECK_AFTER, blocking_file
from assent.process.expand import arguments, check_unknown
from assent.process.file_limits import Bounds, Openings, Refusal, real_below
from assent.process.jobs import Jobs, code_of
from assent.process.landlock import available
from assent.process.name_filter import Sieve, Sifted, sift
from assent.process.plan_frame import PlanFrame
from assent.process.repository import Guard, RefusedRepository, Setup, guard

if TYPE_CHECKING:
    from assent.plan import Part, Plan, Redirect, Stage, Step, Word

NOT_FOUND = 127
REFUSED = 126
_SIEVE_ENDS = 1.0  # seconds after the program that reads the names has ended
_KEPT = ("HOME", "USER", "LOGNAME", "LANG", "LC_ALL", "TZ", "TMPDIR")
_OWN_STREAMS = frozenset(("/dev/null", "/dev/stdin", "/dev/stdout", "/dev/stderr"))
_READ_IGNORE_FILES = frozenset(("git", "rg"))


class Started:
    """A running program, with what to report about it when it has ended."""

    def __init__(self, child: "subprocess.Popen[bytes] | int", say: Callable[[str], None]) -> None:
        self.child = child
        self._say = say
        self.bounds: Bounds | None = None
        self.sieves: list[threading.Thread] = []
        self.sifted: list[Sifted] = []
        self.may_be_stuck_in = ""

    def wait(self) -> int:
        try:
            if self.may_be_stuck_in:
                self._end_if_stuck()
            code = code_of(self.child)
            self._tell_of_names()
            if code and self.bounds is not None:
                for path in self.bounds.replaced():
                    self._say(f"{path}: was replaced while the command was starting, so it was not opened")
            return code
        finally:
            if self.bounds is not None:
                self.bounds.close()

    def _end_if_stuck(self) -> None:
        if isinstance(self.child, int):
            return
        try:
            self.child.wait(CHECK_AFTER)
        except subprocess.TimeoutExpired:
            if (path := blocking_file(self.may_be_stuck_in)) is not None and self.child.poll() is None:
                self.child.kill()
                self._say(f"{path}: not a regular file; the command would block on it forever and was ended")

    def _tell_of_names(self) -> None:
        for thread in self.sieves:
            thread.join(_SIEVE_ENDS)
        if dropped := sum(one.dropped for one in self.sifted):
            self._say(f"skipped: {dropped} name(s) of secrets, of links that lead to them or outside, or of pipes")
        for one in self.sifted:
            if one.problem:
                self._say(f"xargs: {one.problem}")


class NoInput(Exception):
    """An input file does not exist; that has been reported."""


class Starter:
    """`output_of` runs a part of the plan and returns its output; `say` reports to readers of the output."""

    def __init__(
        self,
        plan: "Plan",
        environment: Mapping[str, str],
        jobs: Jobs,
        say: Callable[[str], None],
        output_of: "Callable[[Sequence[Step], PlanFrame], str]",
    ) -> None:
        self.environment = _environment(plan, environment)
        self.null = os.open(os.devnull, os.O_RDWR | os.O_CLOEXEC)
        self._plan = plan
        self._jobs = jobs
        self._say = say
        self._output_of = output_of
        self._openings = Openings(plan)
        self.refused = 0
        """The number of commands that did not start."""

    def close(self) -> None:
        os.close(self.null)

    def start(self, stage: "Stage", frame: PlanFrame, group: int, *, alone: bool) -> Started:
        opened: list[int] = []
        try:
            return self._start(stage, frame, group, opened, alone=alone)
        except Refusal as refused:
            return self._refused(str(refused))
        except BrokenPipeError:
            raise  # nobody reads the output; a shell stops here, too
        except OSError as error:
            return self._refused(f"{stage.words[0].text}: {error.strerror}")
        finally:
            for descriptor in opened:
                os.close(descriptor)

    def _refused(self, why: str) -> Started:
        return Started(self.refuse(why), self._say)

    def refuse(self, why: str) -> int:
        self.refused += 1
        self._say(why)
        return REFUSED

    def _start(self, stage: "Stage", frame: PlanFrame, group: int, opened: list[int], *, alone: bool) -> Started:
        argv, files, named = self._arguments(stage, frame)
        if self._plan.inside and (outside := self._leading_out([*named, *self._read_from(stage, frame)], frame.cwd)):
            raise Refusal(f"{outside}: leads out of the workspace")
        try:
            descriptors = self.redirected(stage.redirects, frame, opened)
        except NoInput:
            return Started(1, self._say)
        if (code := self._builtin(argv, frame, descriptors, alone=alone)) is not None:
            return Started(code, self._say)
        program = self._program(argv[0], frame.cwd)
        if program is None:
            _tell(descriptors[2], f"{argv[0]}: command not found")
            return Started(NOT_FOUND, self._say)
        environment = {**self.environment, "PWD": frame.cwd, **dict(stage.env)}
        try:
            guarded = guard(program, argv, frame.cwd, environment, self._setup(stage, frame, opened, argv))
        except (RefusedRepository, OSError) as error:
            raise Refusal(f"{argv[0]}: {error}") from error
        self._check_files()
        environment |= guarded.variables
        for note in guarded.notes:
            self._say(note)
        return self._spawn(stage, program, guarded, files, frame, environment, descriptors, group, opened)

    def _check_files(self) -> None:
        """As late as possible: an earlier command of the plan may have changed one, too."""
        if self._plan.unchanged:
            from assent.process.changed_files import first_changed

            files = [(one.path, one.sha256) for one in self._plan.unchanged]
            if (path := first_changed(files, inside=self._plan.sandbox != "off")) is not None:
                raise Refusal(f"{path}: has changed since it was approved, so this was not started")

    def _setup(self, stage: "Stage", frame: PlanFrame, opened: list[int], argv: Sequence[str]) -> Setup:
        plan = self._plan
        texts = stage.texts if len(argv) == len(stage.words) else ()  # otherwise they come from elsewhere
        return Setup(
            roots=plan.roots,
            work=stage.git,
            inside=plan.inside,
            opened=opened,
            hides=stage.hides,
            listings=[self.words_of(words, frame) for words in stage.listing],
            patterns=plan.hidden,
            is_secret=self._openings.is_secret,
            texts=texts,
        )

    def _spawn(
        self,
        stage: "Stage",
        program: str,
        guarded: Guard,
        files: list[int],
        frame: PlanFrame,
        environment: dict[str, str],
        descriptors: list[int],
        group: int,
        opened: list[int],
    ) -> Started:
        started, argv = Started(0, self._say), guarded.argv
        handed = [] if available() else self._hand_over(argv, files, frame.cwd, opened)
        if stage.names:
            descriptors[0] = self._names(stage.names, descriptors[0], frame, started, opened)
        started.bounds = guarded.bounds or self._openings.bound(program, argv, frame.cwd, fed=bool(stage.names))
        if started.bounds is not None and started.bounds.room:
            environment["TMPDIR"] = started.bounds.room
        if os.path.basename(program) in _READ_IGNORE_FILES:
            started.may_be_stuck_in = frame.cwd
        try:
            started.child = self._jobs.start(
                group, program, argv, guarded.cwd, environment, descriptors, handed, started.bounds
            )
        except OSError:
            if started.bounds is not None:
                started.bounds.close()
            raise
        return started

    def _hand_over(self, argv: list[str], files: list[int], cwd: str, opened: list[int]) -> list[int]:
        """If the kernel does not restrict programs to the checked files, a program gets them as open descriptors."""
        handed: list[int] = []
        for at in files:
            descriptor = self._openings.handed(os.path.join(cwd, argv[at]))
            if descriptor is not None:
                opened.append(descriptor)
                handed.append(descriptor)
                argv[at] = f"/dev/fd/{descriptor}"
        return handed

    # --- words ---

    def _arguments(self, stage: "Stage", frame: PlanFrame) -> tuple[list[str], list[int], list[str]]:
        """The arguments, which of them name files to read, and those after the program that may be paths."""
        argv: list[str] = []
        files: list[int] = []
        named: list[str] = []
        for at, word in enumerate(stage.words):
            found = arguments(word, lambda part: self._value(part, frame), frame.cwd)
            check_unknown(stage, word, found, frame.cwd, self._openings.is_secret)
            if argv and any(part.kind == "glob" for part in word.parts):
                found = self._ordinary(argv, word.text, found, frame.cwd)
            files += range(len(argv), len(argv) + len(found)) if at in stage.files else ()
            named += found if at and at not in stage.texts else ()
            argv += found
        return argv, files, named

    def _ordinary(self, argv: list[str], pattern: str, found: list[str], cwd: str) -> list[str]:
        kept = self._openings.without_special_files(argv, found, cwd)
        if found and not kept:
            raise Refusal(f"{pattern}: matches only pipes or devices; reading them may block forever")
        if len(kept) < len(found):
            self._say(f"skipped: {len(found) - len(kept)} pipe(s) or device(s) that match {pattern}")
        return kept

    def words_of(self, stage_words: "Sequence[Word]", frame: PlanFrame) -> list[str]:
        """The words of a loop."""
        return [
            text for word in stage_words for text in arguments(word, lambda part: self._value(part, frame), frame.cwd)
        ]

    def _value(self, part: "Part", frame: PlanFrame) -> str:
        if part.item:
            return frame.items[part.item]
        match part.kind:
            case "item":
                return _cut(frame.items[part.text], part.cut)
            case "status" if part.text == "PWD":
                return _cut(frame.cwd, part.cut)
            case "status":
                return str(frame.status) if part.text == "?" else self._shown(part.text)
            case "output":
                return self._output_of(part.steps, frame)
            case "home":
                return self._known("HOME", frame)
            case "variable":
                return self._known(part.text, frame)
            case "text" | "glob":
                return part.text

    def _shown(self, name: str) -> str:
        """A variable that echo prints or a condition tests. The gate accepts only names that hold no secret."""
        if name in ("UID", "EUID"):
            return str(os.getuid())
        return self.environment.get(name) or os.environ.get(name, "")

    def _known(self, name: str, frame: PlanFrame) -> str:
        match name:
            case "PWD":
                return frame.cwd
            case "USER":
                return self.environment.get("USER") or str(os.getuid())  # an empty word would be dropped
            case _:
                return self.environment.get("HOME") or "/"

    def _leading_out(self, words: list[str], cwd: str) -> str | None:
        """The first path in these words that is outside, with links followed."""
        from assent.plan import is_public, paths_in

        named = (path for word in words for path in paths_in(word) if path not in _OWN_STREAMS)
        places = [(path, os.path.join(cwd, path)) for path in named]
        out = ((w, p) for w, p in places if os.path.lexists(p) and not real_below(p, self._plan.roots))
        return next(
            (w for w, p in out if not (is_public(os.path.normpath(p)) and is_public(os.path.realpath(p)))), None
        )

    def _read_from(self, stage: "Stage", frame: PlanFrame) -> list[str]:
        targets = (one.target for one in stage.redirects if one.kind == "read")
        return [text for one in targets if not isinstance(one, int | str) for text in self.words_of([one], frame)]

    # --- input and output ---

    def redirected(self, redirects: "Sequence[Redirect]", frame: PlanFrame, opened: list[int]) -> list[int]:
        """Input, output and errors; opened descriptors are added to `opened`. Raises NoInput or Refusal."""
        now = frame.descriptors()
        for redirect in redirects:
            try:
                now[redirect.fd] = self._source(redirect, now, frame, opened)
            except OSError as error:
                _tell(now[2], f"{error.filename}: {error.strerror}")
                raise NoInput from error
        return now

    def _source(self, redirect: "Redirect", now: list[int], frame: PlanFrame, opened: list[int]) -> int:
        match redirect.target:
            case _ if redirect.kind == "null":
                return self.null
            case int(number):
                return now[number]
            case str(text):
                opened.append(_spool(text))
            case word:
                path = os.path.join(frame.cwd, self.words_of([word], frame)[0])
                opened.append(self._openings.input(path))
        return opened[-1]

    def _names(self, kind: str, incoming: int, frame: PlanFrame, started: Started, opened: list[int]) -> int:
        """A pipe with those names that may be opened."""
        reading, writing = os.pipe()
        opened.append(reading)
        source, target = os.fdopen(os.dup(incoming), "rb"), os.fdopen(writing, "wb")
        sieve = Sieve(self._plan.secret, frame.cwd, self._plan.roots, inside=self._plan.inside)

        def work() -> None:
            started.sifted.append(sift(source, target, kind, sieve.keeps))

        thread = threading.Thread(target=work, daemon=True)
        thread.start()
        started.sieves.append(thread)
        return reading

    # --- programs ---

    def _program(self, name: str, cwd: str) -> str | None:
        """The program's path. A bare name is never looked up inside the workspace."""
        if "/" in name:
            return os.path.join(cwd, name)
        candidates = (os.path.join(folder, name) for folder in self.environment["PATH"].split(os.pathsep) if folder)
        return next((path for path in candidates if os.path.isfile(path) and os.access(path, os.X_OK)), None)

    def _builtin(self, argv: list[str], frame: PlanFrame, descriptors: list[int], *, alone: bool) -> int | None:
        """The few commands that only a shell has, and those that loops are full of. In a multi-command pipe, `cd` moves
        nothing, and nobody may read the output yet.
        """
        match argv:
            case ["cd", *rest]:
                folders = [one for one in rest if not one.startswith("-")]
                return self._cd(folders, frame if alone else frame.copy(), descriptors[2])
            case ["command", "-v" | "-V", *names] | ["type", *names]:
                return self._where([name for name in names if not name.startswith("-")], frame.cwd, descriptors[1])
            case ["true" | "false"]:
                return int(argv[0] == "false")
            case [":", *_]:
                return 0
            case ["echo", *words] if alone and not any(word.startswith("-") for word in words[:1]):
                os.write(descriptors[1], os.fsencode(" ".join(words) + "\n"))
                return 0
            case _:
                return None

    def _cd(self, rest: list[str], frame: PlanFrame, errors: int) -> int:
        target = os.path.join(frame.cwd, rest[0] if rest else self.environment.get("HOME", "/"))
        if not os.path.isdir(target):
            _tell(errors, f"cd: {target}: no such folder")
            return 1
        frame.cwd = os.path.normpath(target)
        return 0

    def _where(self, names: list[str], cwd: str, output: int) -> int:
        found = [self._program(name, cwd) for name in names]
        os.write(output, "".join(one + "\n" for one in found if one).encode())
        return 0 if all(found) else 1


def _tell(descriptor: int, text: str) -> None:
    os.write(descriptor, (text + "\n").encode(errors="replace"))


def _spool(text: str) -> int:
    """An anonymous file that contains this text to read."""
    if hasattr(os, "memfd_create"):
        descriptor = os.memfd_create("text", os.MFD_CLOEXEC)
    else:
        import tempfile

        with tempfile.TemporaryFile() as file:
            descriptor = os.dup(file.fileno())
    with open(descriptor, "wb", closefd=False) as file:
        file.write(text.encode())
    os.lseek(descriptor, 0, os.SEEK_SET)
    return descriptor


def _environment(plan: "Plan", given: Mapping[str, str]) -> dict[str, str]:
    """Built, not inherited: a few variables, and a search path without relative folders or folders of the workspace."""
    kept = {name: given[name] for name in _KEPT if name in given}
    folders = given.get("PATH", os.defpath).split(os.pathsep)
    path = os.pathsep.join(one for one in folders if os.path.isabs(one) and not real_below(one, plan.roots))
    return {**kept, **plan.variables, "PATH": path, "TERM": "dumb", "PAGER": "cat"}


def _cut(value: str, cut: str) -> str:
    if not cut:
        return value
    from assent.plan import without

    if len(value) > _MAX_CUT:
        raise Refusal(f"a value of more than {_MAX_CUT:,} characters, from which something is cut off")
    return without(value, cut)


_MAX_CUT = 4_096
