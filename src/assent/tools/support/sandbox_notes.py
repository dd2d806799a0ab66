"""Recognizes in the output of a failed command that the sandbox refused something, and tells the model exactly which
wider permission to ask for.

The signs are messages of the system; a program may print them for other reasons, so the note says "probably". Where
the proxy of the sandbox refused a connection, that is known, and `network_access.py` says so.
"""

import os
import re
from collections.abc import Iterable

import msgspec

from assent.files.secret_names import secret_pattern
from assent.plan import SandboxName
from assent.process.run_program import ProcessFinished
from assent.subpath import is_below

_HERE = r"(?:\blocalhost\b|\b127\.0\.0\.1\b|::1\b)"
_NO_ANSWER = r"connection refused|\bECONNREFUSED\b|could(?:n't| not) connect to server"
_SIGNS: tuple[tuple[str, re.Pattern[str]], ...] = tuple(
    (what, re.compile(pattern, re.IGNORECASE))
    for what, pattern in (
        ("write", r"read-only file ?system|\bEROFS\b|os error 30"),
        ("busy", r"device or resource busy|\bEBUSY\b"),
        ("network", r"network is unreachable|\bENETUNREACH\b|could(?:n't| not) resolve|name resolution|\bEAI_AGAIN\b"),
        ("network", r"\bENOTFOUND\b|name or service not known|no route to host|address family not supported"),
        ("program", r"\b(?:docker|podman|containerd) daemon\b|\b(?:docker|podman)\.sock\b|failed to connect to bus"),
        ("program", r"connection to your authentication agent|can't connect to the agent|no gpg-agent running"),
        ("server", rf"{_HERE}.*(?:{_NO_ANSWER})|(?:{_NO_ANSWER}).*{_HERE}"),
        ("read", r"permission denied|\bEACCES\b"),
        ("rights", r"operation not permitted|\bEPERM\b|no new privileges|\bset(?:res|e)[ug]id\b|\bsetgroups\b"),
    )
)
_PATH = re.compile(r"(?:^|[\s'\"`:(])((?:~|\.{0,2})/[^\s'\"`:)]+|\.[\w.-]+)")
_HOST = re.compile(
    r"(?:://|\bhost(?:name)?\b[ :='\"]*|\b(?:ENOTFOUND|EAI_AGAIN)\s+|\blookup\s+)"
    r"((?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z]{2,24})(?![\w-])",
    re.IGNORECASE,
)
"""A host as programs name it: in an address, or after a word that announces one."""
_SHARED = (".cache", ".local/share", ".local/state", ".config")
"""Folders of the home folder in which every program has its own."""
_SYSTEM = ("/etc", "/usr", "/bin", "/sbin", "/lib", "/lib64", "/boot", "/proc", "/sys", "/dev", "/run")
_TAIL = 20_000
_CHANGED = re.compile(r"(?:[ AMR]M |M\t|\s*modified:\s+)(\S+)")
"""A changed file as git lists it: ` M x`, `M<tab>x`, `modified: x`."""
_NAME = re.compile(r"(\S+)")
_LISTS_NAMES = re.compile(r"\bgit\b.*\b(?:diff|ls-files)\b")
"""With an option, these list the names alone."""
_NOT_OPENED = re.compile(r"(?:error|fatal|warning): open\(\"(.+)\"\): Permission denied")


def sandbox_notes(finished: ProcessFinished, name: SandboxName, roots: tuple[str, ...], home: str) -> list[str]:
    """`roots` is the workspace."""
    if finished.never_ran:
        return ["The sandbox could not be set up, so the command did not run."]
    if name == "off" or finished.code == 0:
        return []
    refused = _refused(finished.output.text()[-_TAIL:])
    return [_note(name, *refused, roots, home)] if refused else []


def missed_notes(finished: ProcessFinished, name: SandboxName) -> tuple[list[str], list[str]]:
    """What everyone must know, and what only the model needs: the output need not show that the network was missing."""
    refused = _refused(finished.output.text()[-_TAIL:]) if finished.code != 0 else None
    if not finished.missed_network or (refused is not None and refused[0] == "network"):
        return [], []
    if name == "network":
        return ["The command tried to use the network past the proxy of its sandbox, which failed."], []
    told = (
        f"The command tried to use the network, and the sandbox `{name}` has none: what it printed may be incomplete."
    )
    return [told], ['If the task needs the network, call again with sandbox="network"; the user is asked.']


def hidden_notes(finished: ProcessFinished, name: SandboxName, command: str) -> list[str]:
    """Git cannot open a secret that the sandbox hides, so it takes it for changed, and cannot add it. Any command may
    start git: what it prints tells.
    """
    if name == "off":
        return []
    text = finished.output.text()
    lines = [*text[:_TAIL].splitlines(), *text[_TAIL:][-_TAIL:].splitlines()]
    notes: list[str] = []
    if listed := _secrets(lines, _CHANGED, *([_NAME] if _LISTS_NAMES.search(command) else [])):
        notes.append(f"The sandbox hides {listed}, so git may list it as changed although it is not.")
    if refused := _secrets(lines, _NOT_OPENED):
        notes.append(
            f"The sandbox hides {refused}, so git cannot read it. Name the other files instead, or run git without the "
            "sandbox."
        )
    return notes


def _secrets(lines: Iterable[str], *patterns: re.Pattern[str]) -> str:
    """The names of secrets in lines of these forms."""
    found = (match[1] for line in lines for one in patterns if (match := one.fullmatch(line)) is not None)
    secret = secret_pattern()
    return ", ".join(dict.fromkeys(name for name in found if re.search(secret, f"/{name.lower()}")))


def wider_wanted(
    finished: ProcessFinished, name: SandboxName, roots: tuple[str, ...], home: str
) -> dict[str, list[str]]:
    """The arguments that ask for exactly what the sandbox refused; empty if no path or host is known."""
    if name not in ("workspace", "network") or finished.code == 0 or finished.never_ran:
        return {}
    match _refused(finished.output.text()[-_TAIL:]):
        case "network", host if host:
            return {"domains": [host]}
        case "write", path if folder := wanted_folder(path, roots, home):
            return {"writable": [folder]}
        case _:
            return {}


def _refused(output: str) -> tuple[str, str] | None:
    """What was refused and, if a line names it, the path or host."""
    for line in reversed(output.splitlines()):
        for what, sign in _SIGNS:
            if (found := sign.search(line)) is not None:
                return what, _host(line) if what == "network" else _path(line, found)
    return None


def _path(line: str, sign: "re.Match[str]") -> str:
    """Programs name the path right before what is wrong with it, and themselves before that; some name it after it."""
    before: list[str] = _PATH.findall(line[: sign.start()])
    after: list[str] = _PATH.findall(line[sign.end() :])
    return before[-1] if before else after[0] if after else ""


def _host(line: str) -> str:
    found: list[str] = _HOST.findall(line)
    return found[-1].lower() if found else ""


def _note(name: SandboxName, what: str, subject: str, roots: tuple[str, ...], home: str) -> str:
    match what:
        case "network":
            refused = f"connecting to {subject}" if subject else "the network"
            wider = _argument("domains", [subject]) if subject else 'sandbox="network"'
        case "program":
            refused, wider = "connecting to a program outside it (docker, an agent, a bus)", 'sandbox="off"'
        case "server":
            refused, wider = (
                "connecting to a server on this machine (a sandbox has a loopback of its own)",
                'sandbox="off"',
            )
        case "rights":
            refused, wider = "something that needs more rights (another user, tracing, the system)", 'sandbox="off"'
        case "read":
            refused, wider = f"opening {subject}" if subject else "opening a file", 'sandbox="off"'
        case _:
            refused = f"writing to {subject}" if subject else "writing to a file"
            folder = wanted_folder(subject, roots, home) if what == "write" else ""
            wider = _argument("writable", [folder]) if folder else 'sandbox="off"'
    return (
        f"The command ran in the sandbox `{name}`, which probably refused {refused}. If the task needs that, call "
        f"again with {wider}; the user is asked."
    )


def _argument(name: str, values: list[str]) -> str:
    return f"{name}={msgspec.json.encode(values).decode()}"


def wanted_folder(path: str, roots: tuple[str, ...], home: str) -> str:
    """The narrowest useful folder: that of the program, or the one that contains the file. Empty if a sandbox can get
    neither.
    """
    path = os.path.join(home, path[2:]) if path.startswith("~/") else path
    if not os.path.isabs(path) or is_below(path, roots):
        return ""
    for shared in _SHARED:
        folder = os.path.join(home, shared)
        if path != folder and is_below(path, [folder]):
            return os.path.join(folder, os.path.relpath(path, folder).split(os.sep)[0])
    folder = path if os.path.isdir(path) else os.path.dirname(path)
    return "" if is_below(home, [folder]) or is_below(folder, _SYSTEM) else folder
