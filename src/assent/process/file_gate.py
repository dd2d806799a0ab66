"""A program that starts another one and hands it the approved content of files, whatever is on the disk by then.

It follows the system calls of the program and of everything it starts (ptrace). Whoever opens one of the files for
reading gets the copy that was approved instead; a program that is executed by its path is compared before its first
instruction. So a change in the time between the last look and the moment when an interpreter opens its script has no
effect. The command may run what it has changed itself. When all files have been handed out, or after `MAX_STOPS`, it
stops tracing and only waits for the end.

It is a launcher like bubblewrap, or stands before one. It cannot follow a program with other rights than ours (sudo):
it lets go of that one before it starts. Linux on x86_64 and aarch64.
"""

import ctypes
import marshal
import os
import struct
import sys
from binascii import a2b_base64

from assent.process.reaper import STATUS

TYPE_CHECKING = False
if TYPE_CHECKING:
    import signal
    from collections.abc import Sequence
    from typing import Any
else:
    import _signal as signal  # `signal` and `json` import what takes as long as everything else here

MAX_STOPS = 40_000
"""Stops in all, each about 10 µs: files that are never opened must not slow down a command for long."""
QUIET_STOPS = 4_000
"""Stops without a file being opened after all of them were: some programs open their script twice."""
REPLACED = 126
_SEIZE, _CONT, _SYSCALL, _DETACH, _INTERRUPT, _LISTEN = 0x4206, 7, 24, 17, 0x4207, 0x4208
_GET_REGISTERS, _SET_REGISTERS, _GET_INFO = 0x4204, 0x4205, 0x420E
_OPTIONS = 0x1 | 0x2 | 0x4 | 0x8 | 0x10 | 0x100000  # syscalls marked, fork, vfork, clone, exec, and exit with us
_EXEC, _STOPPED = 4, 128
_WALL = 0x40000000
_MARKED = signal.SIGTRAP | 0x80
_JOB_CONTROL = (signal.SIGSTOP, signal.SIGTSTP, signal.SIGTTIN, signal.SIGTTOU)
_IGNORED = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGTSTP)
_HERE = -100 & 0xFFFFFFFF
_WRITING = os.O_WRONLY | os.O_RDWR | os.O_TRUNC
_NOT_READING = os.O_DIRECTORY | os.O_NOFOLLOW | getattr(os, "O_PATH", 0)
_ENTRY = 1
_INFO = struct.Struct("@BxxxIQQ7Q")
_REGISTERS = 34 * 8
_SCRATCH = 4096
"""Below the stack pointer: beyond what a function may use without moving it."""


_AT = (0, 1)
_PLAIN = (None, 0)


class _Machine:
    def __init__(self, audit: int, calls: "dict[int, _Call]", first: int, second: int, stack: int) -> None:
        self.audit = audit
        self.calls = calls
        self.arguments = (first, second)
        self.stack = stack


_Call = tuple[str, tuple[tuple[int | None, int], ...]]
"""What a system call does, and for each path: which argument is its folder, if any, and which one the path."""
_MACHINES = {
    "x86_64": _Machine(
        0xC000003E,
        {
            2: ("open", (_PLAIN,)),
            257: ("openat", (_AT,)),
            437: ("openat2", (_AT,)),
            59: ("exec", (_PLAIN,)),
            322: ("exec", (_AT,)),
            76: ("change", (_PLAIN,)),  # truncate
            82: ("change", (_PLAIN, (None, 1))),  # rename
            85: ("change", (_PLAIN,)),  # creat
            87: ("change", (_PLAIN,)),  # unlink
            263: ("change", (_AT,)),  # unlinkat
            264: ("change", (_AT, (2, 3))),  # renameat
            316: ("change", (_AT, (2, 3))),  # renameat2
        },
        first=14,
        second=13,
        stack=19,
    ),
    "aarch64": _Machine(
        0xC00000B7,
        {
            56: ("openat", (_AT,)),
            437: ("openat2", (_AT,)),
            221: ("exec", (_PLAIN,)),
            281: ("exec", (_AT,)),
            45: ("change", (_PLAIN,)),
            35: ("change", (_AT,)),
            38: ("change", (_AT, (2, 3))),
            276: ("change", (_AT, (2, 3))),
        },
        first=0,
        second=1,
        stack=31,
    ),
}
AVAILABLE = sys.platform == "linux" and os.uname().machine in _MACHINES


class ApprovedFile:
    """`names` are the paths under which it may be opened, `copy` is the path of the approved content for whoever opens
    it, and `source` a descriptor of the same.
    """

    def __init__(self, names: "Sequence[str]", copy: str, source: int) -> None:
        self.names = names
        self.copy = copy
        self._source = source

    def is_copy(self, path: str) -> bool:
        """Whether a program has exactly this content."""
        with open(path, "rb") as other:
            size = os.fstat(self._source).st_size
            if os.fstat(other.fileno()).st_size != size:
                return False
            at = 0
            while at < size:
                piece = os.pread(self._source, 1 << 20, at)
                if other.read(len(piece)) != piece:
                    return False
                at += len(piece)
            return True

    def interpreter(self) -> list[str] | None:
        """The words that the kernel puts before the path of a script; None if it is not a script."""
        line = os.pread(self._source, 256, 0)
        if line[:2] != b"#!":
            return None
        words = line[2:].split(b"\n", 1)[0].strip(b" \t").split(None, 1)
        return [os.fsdecode(word.strip(b" \t")) for word in words]


class _Tracee:
    def __init__(self) -> None:
        self.quiet = False
        """It is one of those before the command, which open none of its files."""
        self.memory = -1
        self.restore: tuple[int, int] | None = None
        """A register that was changed for the current system call, and its value."""
        self.executes: ApprovedFile | None = None

    def forget_memory(self) -> None:
        if self.memory >= 0:
            os.close(self.memory)
            self.memory = -1


class Gate:
    def __init__(self, files: "Sequence[ApprovedFile]", before: "Sequence[str]") -> None:
        """`before` are the programs that run before the command, in order: launchers, and what executes plans."""
        self._machine = _MACHINES[os.uname().machine]
        self._files = {name: file for file in files for name in file.names}
        self._endings = {os.path.basename(name) for name in self._files}
        self._waiting = set(files)
        self._before = [os.path.realpath(path) for path in before]
        self._tracees: dict[int, _Tracee] = {}
        self._stops, self._last = 0, 0
        self.status: int | None = None
        self.replaced = ""
        libc = ctypes.CDLL(None, use_errno=True)
        self._ptrace = libc.ptrace
        self._ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]
        self._ptrace.restype = ctypes.c_long
        self._info = ctypes.create_string_buffer(_INFO.size)
        self._registers = ctypes.create_string_buffer(_REGISTERS)
        self._vector = ctypes.create_string_buffer(16)

    def run(self, leader: int) -> int:
        """Until the leader has ended; its status."""
        self._leader = leader
        while self._tracees or self.status is None:
            try:
                pid, status = os.waitpid(-1, _WALL)
            except ChildProcessError:
                break
            self._handle(pid, status)
        return self.status or 0

    def seize(self, pid: int) -> bool:
        if self._ptrace(_SEIZE, pid, None, _OPTIONS) != 0:
            return False
        self._tracees[pid] = _Tracee()
        self._tracees[pid].quiet = True
        self._ptrace(_INTERRUPT, pid, None, None)
        return True

    # --- stops ---

    def _handle(self, pid: int, status: int) -> None:
        if not os.WIFSTOPPED(status):
            if (gone := self._tracees.pop(pid, None)) is not None:
                gone.forget_memory()
            if pid == self._leader:
                self.status = status
            return
        tracee = self._tracees.get(pid)
        if tracee is None:
            tracee = self._tracees[pid] = _Tracee()
            tracee.quiet = bool(self._before)
        number, event = os.WSTOPSIG(status), status >> 16
        if number == _MARKED:
            self._at_system_call(pid, tracee)
            self._resume(pid, tracee, 0)
        elif event == _STOPPED and number in _JOB_CONTROL:
            self._ptrace(_LISTEN, pid, None, None)
        elif event == _EXEC:
            self._at_exec(pid, tracee)
            self._resume(pid, tracee, 0)
        else:
            self._resume(pid, tracee, 0 if event else number)

    def _resume(self, pid: int, tracee: _Tracee, number: int) -> None:
        if self._is_over() and tracee.restore is None:
            self._let_go(pid, number)
        else:
            self._ptrace(_CONT if tracee.quiet else _SYSCALL, pid, None, number)

    def _let_go(self, pid: int, number: int = 0) -> None:
        if (gone := self._tracees.pop(pid, None)) is not None:
            gone.forget_memory()
        self._ptrace(_DETACH, pid, None, number)

    def _is_over(self) -> bool:
        return self._stops > MAX_STOPS or (not self._waiting and self._stops - self._last > QUIET_STOPS)

    # --- system calls ---

    def _at_system_call(self, pid: int, tracee: _Tracee) -> None:
        self._stops += 1
        if tracee.restore is not None:
            self._set_register(pid, *tracee.restore)
            tracee.restore = None
            return
        self._ptrace(_GET_INFO, pid, _INFO.size, self._info)
        kind, audit, _, _, number, *arguments = _INFO.unpack(self._info.raw)
        if kind != _ENTRY or audit != self._machine.audit or number not in self._machine.calls:
            return
        what, places = self._machine.calls[number]
        try:
            for folder, at in places:
                self._at_path(pid, tracee, what, folder, at, arguments)
        except OSError:
            return  # it has ended, or its memory cannot be read: the system call will fail by itself

    def _at_path(self, pid: int, tracee: _Tracee, what: str, folder: int | None, at: int, arguments: list[int]) -> None:
        text = self._text(pid, tracee, arguments[at])
        if os.path.basename(text) not in self._endings and what != "exec":
            return
        path = _absolute(pid, text, _HERE if folder is None else arguments[folder])
        file = self._files.get(path)
        if what == "exec":
            self._at_program(pid, tracee, path, file)
        elif file is None:
            return
        elif what == "change" or self._flags(pid, tracee, what, arguments) & _WRITING:
            self._leave_to_command(file)
        elif not self._flags(pid, tracee, what, arguments) & _NOT_READING:
            self._hand_out(pid, tracee, file, at)

    def _at_program(self, pid: int, tracee: _Tracee, path: str, file: ApprovedFile | None) -> None:
        tracee.executes = file
        if os.stat(f"/proc/{pid}/root{path}").st_mode & 0o6000:
            self._let_go(pid)  # it would not get its rights while it is followed

    def _leave_to_command(self, file: ApprovedFile) -> None:
        """The command itself changes the file, as it was approved to: what it runs then is what it wrote."""
        self._files = {name: one for name, one in self._files.items() if one is not file}
        self._waiting.discard(file)

    def _flags(self, pid: int, tracee: _Tracee, what: str, arguments: list[int]) -> int:
        match what:
            case "open":
                return arguments[1]
            case "openat":
                return arguments[2]
            case _:
                return int.from_bytes(self._bytes(pid, tracee, arguments[2], 8), sys.byteorder)

    def _hand_out(self, pid: int, tracee: _Tracee, file: ApprovedFile, at: int) -> None:
        """The system call gets another path, below the stack; the register is restored when it has returned."""
        self._get_registers(pid)
        stack = self._register(self._machine.stack) - _SCRATCH
        os.pwrite(self._memory(pid, tracee), os.fsencode(file.copy) + b"\0", stack)
        index = self._machine.arguments[at]
        tracee.restore = (index, self._register(index))
        self._set_register(pid, index, stack)
        self._waiting.discard(file)
        self._last = self._stops

    # --- programs ---

    def _at_exec(self, pid: int, tracee: _Tracee) -> None:
        """Nothing of the new program has run yet."""
        tracee.forget_memory()
        tracee.restore = None
        executes, tracee.executes = tracee.executes, None
        tracee.quiet = self._is_before(pid)
        if executes is not None and not self._is_approved(pid, executes):
            self.replaced = executes.names[0]
            for one in self._tracees:
                _kill(one)

    def _is_before(self, pid: int) -> bool:
        try:
            found = bool(self._before) and os.readlink(f"/proc/{pid}/exe") == self._before[0]
        except OSError:
            found = False
        self._before = self._before[1:] if found else []
        return found

    def _is_approved(self, pid: int, file: ApprovedFile) -> bool:
        """A script was opened by the kernel only for its first line; its interpreter gets the approved copy."""
        expected = file.interpreter()
        try:
            if expected is not None:
                return _words(pid)[: len(expected)] == expected
            self._waiting.discard(file)
            return file.is_copy(f"/proc/{pid}/exe")
        except OSError:
            return False

    # --- memory and registers ---

    def _memory(self, pid: int, tracee: _Tracee) -> int:
        if tracee.memory < 0:
            tracee.memory = os.open(f"/proc/{pid}/mem", os.O_RDWR | os.O_CLOEXEC)
        return tracee.memory

    def _bytes(self, pid: int, tracee: _Tracee, address: int, size: int) -> bytes:
        return os.pread(self._memory(pid, tracee), size, address)

    def _text(self, pid: int, tracee: _Tracee, address: int) -> str:
        """Up to the end of its page first: what is behind may not exist."""
        size = 4096 - address % 4096
        data = self._bytes(pid, tracee, address, size)
        if b"\0" not in data and len(data) == size:
            data += self._bytes(pid, tracee, address + size, 4096)
        return os.fsdecode(data.partition(b"\0")[0])

    def _get_registers(self, pid: int) -> None:
        struct.pack_into("@PN", self._vector, 0, ctypes.addressof(self._registers), _REGISTERS)
        self._ptrace(_GET_REGISTERS, pid, 1, self._vector)

    def _register(self, index: int) -> int:
        return int.from_bytes(self._registers.raw[8 * index : 8 * index + 8], sys.byteorder)

    def _set_register(self, pid: int, index: int, value: int) -> None:
        self._get_registers(pid)
        struct.pack_into("@Q", self._registers, 8 * index, value)  # the vector has the right length by now
        self._ptrace(_SET_REGISTERS, pid, 1, self._vector)


def _absolute(pid: int, text: str, folder: int) -> str:
    """As the process sees it; a folder of its own may be open."""
    if not text.startswith("/"):
        at = folder & 0xFFFFFFFF
        text = os.path.join(os.readlink(f"/proc/{pid}/cwd" if at == _HERE else f"/proc/{pid}/fd/{at}"), text)
    return os.path.normpath(text)


def _words(pid: int) -> list[str]:
    with open(f"/proc/{pid}/cmdline", "rb") as words:
        return [os.fsdecode(one) for one in words.read().split(b"\0")]


def _kill(pid: int) -> None:
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        return


# --- the program ---


def main() -> None:
    """The first argument says which files there are (see `approved_launch.py`); the others are the command."""
    wanted, argv = marshal.loads(a2b_base64(sys.argv[1])), sys.argv[2:]
    files = [_file(one) for one in wanted["files"]]
    for number in _IGNORED:
        signal.signal(number, signal.SIG_IGN)
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.read(reading, 1)
        _become(argv, alone=wanted["alone"])
    gate = Gate(files, wanted["before"])
    gate.seize(child)
    os.write(writing, b".")
    status = gate.run(child)
    if wanted["alone"] or gate.replaced:  # otherwise the launcher reports
        os.write(STATUS, b'{"exit-code": 0}')
    if gate.replaced:
        sys.stderr.write(f"{gate.replaced}: was replaced while the command was starting, so the command was ended\n")
        os._exit(REPLACED)
    _end_like(status)


def _file(one: "dict[str, Any]") -> ApprovedFile:
    names, copy, source = one["names"], one["copy"], one["source"]
    return ApprovedFile(names, copy or f"/proc/{os.getpid()}/fd/{source}", source)


def _become(argv: list[str], *, alone: bool) -> None:
    """Before a launcher, everything stays as it is; otherwise signals get their usual meaning again."""
    if alone:
        os.closerange(STATUS, 1024)
        for number in _IGNORED:
            if number != signal.SIGHUP or not os.isatty(0):
                signal.signal(number, signal.SIG_DFL)
    try:
        os.execvp(argv[0], argv)
    except OSError as error:
        sys.stderr.write(f"{argv[0]}: {error.strerror}\n")
        os._exit(127)


def _end_like(status: int) -> None:
    if os.WIFSIGNALED(status):
        if os.WTERMSIG(status) != signal.SIGKILL:
            signal.signal(os.WTERMSIG(status), signal.SIG_DFL)
        os.kill(os.getpid(), os.WTERMSIG(status))
    os._exit(os.waitstatus_to_exitcode(status))
