"""A seccomp filter, assembled by hand: system calls that no command needs and that weaken a sandbox.

It is classic BPF over the number and the arguments of a system call. Refused calls fail with EPERM, and calls that
libraries try first and can do without with ENOSYS. Unknown architectures get no filter. Knows no profile.
"""

import platform
import struct
from collections.abc import Iterator, Mapping, Sequence
from errno import EAFNOSUPPORT, ENOSYS, EPERM

from msgspec import Struct

_LOAD, _JUMP_IF, _JUMP_AT_LEAST, _JUMP_IF_ANY, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
_ALLOW, _ERROR, _KILL = 0x7FFF0000, 0x00050000, 0x80000000
_NUMBER, _ARCHITECTURE, _ARGUMENTS = 0, 4, 16
_X32 = 0x40000000
_NAMESPACES = 0x7E020000
"""The flags of `clone` that create namespaces: NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID and NEWNET."""
_TIOCSTI, _TIOCLINUX = 0x5412, 0x541C
"""They type into the terminal on behalf of the person."""
_SETUID = 0o4000
"""Whoever runs a file with this bit gets the rights of its owner: here, of the person, outside the sandbox."""
_CREATES = 0o20000100
"""O_CREAT and O_TMPFILE: only with one of them does an `open` have a mode."""
_FAMILIES = (1, 2, 10, 16)
"""UNIX, INET, INET6 and NETLINK."""
_NETLINK = 16
"""Only for routes and addresses (protocol 0), which libraries ask for; the others lead into rarely used kernel code."""

_REFUSED = """
    keyctl add_key request_key bpf perf_event_open userfaultfd ptrace process_vm_readv process_vm_writev process_madvise
    unshare setns mount umount2 pivot_root move_mount open_tree fsopen fsconfig fsmount fspick mount_setattr
    kexec_load kexec_file_load init_module finit_module delete_module reboot swapon swapoff syslog acct quotactl
    open_by_handle_at name_to_handle_at settimeofday clock_settime adjtimex pidfd_getfd kcmp fanotify_init
    open_tree_attr
"""
_METADATA = """
    chmod fchmod fchmodat fchmodat2 chown fchown lchown fchownat utime utimes utimensat futimesat
    setxattr lsetxattr fsetxattr setxattrat removexattr lremovexattr fremovexattr removexattrat file_setattr
"""
"""Changes to files that are not writes, which Landlock does not restrict."""
_MISSING = "io_uring_setup io_uring_enter io_uring_register clone3 openat2"
"""Their flags and modes are behind a pointer, where a filter cannot look."""
_MODES = {"chmod": 1, "fchmod": 1, "fchmodat": 2, "fchmodat2": 2, "creat": 1, "mknod": 1, "mknodat": 2}
"""System calls that give a file a mode, and which of their arguments it is."""
_FLAGS = {"open": 1, "openat": 2}
"""Where the flags are; the mode follows."""

_COMMON: dict[str, tuple[int | None, int | None]] = {
    "bpf": (321, 280),
    "keyctl": (250, 219),
    "add_key": (248, 217),
    "request_key": (249, 218),
    "perf_event_open": (298, 241),
    "userfaultfd": (323, 282),
    "ptrace": (101, 117),
    "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271),
    "process_madvise": (440, 440),
    "unshare": (272, 97),
    "setns": (308, 268),
    "mount": (165, 40),
    "umount2": (166, 39),
    "pivot_root": (155, 41),
    "move_mount": (429, 429),
    "open_tree": (428, 428),
    "fsopen": (430, 430),
    "fsconfig": (431, 431),
    "fsmount": (432, 432),
    "fspick": (433, 433),
    "mount_setattr": (442, 442),
    "kexec_load": (246, 104),
    "kexec_file_load": (320, 294),
    "init_module": (175, 105),
    "finit_module": (313, 273),
    "delete_module": (176, 106),
    "reboot": (169, 142),
    "swapon": (167, 224),
    "swapoff": (168, 225),
    "syslog": (103, 116),
    "acct": (163, 89),
    "quotactl": (179, 60),
    "open_by_handle_at": (304, 265),
    "name_to_handle_at": (303, 264),
    "settimeofday": (164, 170),
    "clock_settime": (227, 112),
    "adjtimex": (159, 171),
    "pidfd_getfd": (438, 438),
    "kcmp": (312, 272),
    "fanotify_init": (300, 262),
    "io_uring_setup": (425, 425),
    "io_uring_enter": (426, 426),
    "io_uring_register": (427, 427),
    "clone3": (435, 435),
    "chmod": (90, None),
    "fchmod": (91, 52),
    "fchmodat": (268, 53),
    "fchmodat2": (452, 452),
    "chown": (92, None),
    "fchown": (93, 55),
    "lchown": (94, None),
    "fchownat": (260, 54),
    "utime": (132, None),
    "utimes": (235, None),
    "utimensat": (280, 88),
    "futimesat": (261, None),
    "setxattr": (188, 5),
    "lsetxattr": (189, 6),
    "fsetxattr": (190, 7),
    "removexattr": (197, 14),
    "lremovexattr": (198, 15),
    "fremovexattr": (199, 16),
    "setxattrat": (463, 463),
    "removexattrat": (466, 466),
    "open_tree_attr": (467, 467),
    "file_setattr": (469, 469),
    "openat2": (437, 437),
    "open": (2, None),
    "openat": (257, 56),
    "creat": (85, None),
    "mknod": (133, None),
    "mknodat": (259, 33),
    "clone": (56, 220),
    "ioctl": (16, 29),
    "socket": (41, 198),
}
"""The number of each system call on x86_64 and on aarch64; None if there is none."""


def _numbers(column: int) -> dict[str, int]:
    return {name: number for name, pair in _COMMON.items() if (number := pair[column]) is not None}


class Architecture(Struct, frozen=True):
    code: int
    """As the kernel's audit names it."""
    numbers: Mapping[str, int]
    x32: bool = False
    """It has a second set of numbers, which the filter refuses as a whole."""


ARCHITECTURES: dict[str, Architecture] = {
    "x86_64": Architecture(0xC000003E, _numbers(0), x32=True),
    "aarch64": Architecture(0xC00000B7, _numbers(1)),
}


def seccomp_filter(
    *, sockets: bool = True, network: bool = True, metadata: bool = True, machine: str | None = None
) -> bytes:
    """The filter for this machine; empty if its architecture is unknown. Without `network`, sockets are local; without
    `metadata`, neither modes nor owners, times and attributes of files can be changed.
    """
    found = ARCHITECTURES.get(machine or platform.machine())
    if found is None:
        return b""
    refused = [*_REFUSED.split(), *(() if metadata else _METADATA.split())]
    return b"".join(_program(found, _families(sockets=sockets, network=network), refused))


def _families(*, sockets: bool, network: bool) -> Sequence[int]:
    return (_FAMILIES if network else _FAMILIES[:1]) if sockets else ()


def _program(machine: Architecture, families: Sequence[int], refused: Sequence[str]) -> Iterator[bytes]:
    numbers = machine.numbers
    yield _op(_LOAD, _ARCHITECTURE)
    yield _op(_JUMP_IF, machine.code, 1, 0)
    yield _op(_RETURN, _KILL)
    yield _op(_LOAD, _NUMBER)
    if machine.x32:
        yield from _unless(_JUMP_AT_LEAST, _X32, _ERROR | EPERM)
    for name in filter(numbers.__contains__, refused):
        yield from _unless(_JUMP_IF, numbers[name], _ERROR | EPERM)
    for name in _MISSING.split():
        yield from _unless(_JUMP_IF, numbers[name], _ERROR | ENOSYS)
    yield from _on(numbers["clone"], [*_argument(0), *_unless(_JUMP_IF_ANY, _NAMESPACES, _ERROR | EPERM)])
    yield from _without_setuid(numbers)
    typing = [*_unless(_JUMP_IF, _TIOCSTI, _ERROR | EPERM), *_unless(_JUMP_IF, _TIOCLINUX, _ERROR | EPERM)]
    yield from _on(numbers["ioctl"], [*_argument(1), *typing])
    known = [part for family in families if family != _NETLINK for part in _unless(_JUMP_IF, family, _ALLOW)]
    routes = [*_argument(0), *_unless_not(_NETLINK, EAFNOSUPPORT), *_argument(2), *_unless(_JUMP_IF, 0, _ALLOW)]
    known += routes if _NETLINK in families else []
    yield from _on(numbers["socket"], [*_argument(0), *known, _op(_RETURN, _ERROR | EAFNOSUPPORT)])
    yield _op(_RETURN, _ALLOW)


def _without_setuid(numbers: Mapping[str, int]) -> Iterator[bytes]:
    refused = _unless(_JUMP_IF_ANY, _SETUID, _ERROR | EPERM)
    for name in filter(numbers.__contains__, _MODES):
        yield from _on(numbers[name], [*_argument(_MODES[name]), *refused])
    for name in filter(numbers.__contains__, _FLAGS):
        at = _FLAGS[name]
        mode = [*_argument(at + 1), *refused]
        yield from _on(numbers[name], [*_argument(at), _op(_JUMP_IF_ANY, _CREATES, 0, len(mode)), *mode])


def _unless(jump: int, value: int, outcome: int) -> list[bytes]:
    """If the loaded value is so, this is the outcome; otherwise go on."""
    return [_op(jump, value, 0, 1), _op(_RETURN, outcome)]


def _unless_not(value: int, error: int) -> list[bytes]:
    """If the loaded value is another one, the call fails; otherwise go on."""
    return [_op(_JUMP_IF, value, 1, 0), _op(_RETURN, _ERROR | error)]


def _on(number: int, body: list[bytes]) -> list[bytes]:
    """Only for this system call. The body leaves an argument loaded, so it ends the filter."""
    whole = [*body, _op(_RETURN, _ALLOW)]
    return [_op(_JUMP_IF, number, 0, len(whole)), *whole]


def _argument(at: int) -> list[bytes]:
    """Its lower half: what the kernel looks at in flags, requests and families."""
    return [_op(_LOAD, _ARGUMENTS + 8 * at)]


def _op(code: int, value: int, if_true: int = 0, if_false: int = 0) -> bytes:
    return struct.pack("=HBBI", code, if_true, if_false, value)
