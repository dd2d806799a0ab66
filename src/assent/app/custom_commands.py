"""Custom commands: prompts in TOML files, with placeholders for arguments, files and commands.

    description = "Explains the last commits"      # <settings>/commands/git/recent.toml  →  /git:recent
    prompt = '''
    Explain these commits{{args}}: !{git log --oneline -n 5 -- {{args}}}
    Our rules: @{docs/rules.md}
    '''

Placeholders are found only in the template: what an argument, a file or a command's output contains is plain text.
A folder's own commands count only while it is trusted, and never replace an existing command.
"""

import hashlib
import os
import re
import shlex
from collections.abc import Awaitable, Callable, Collection, Iterator, Mapping
from pathlib import Path

import msgspec
from msgspec import Struct

from assent.app.rule_sources import trust_store
from assent.config import settings_file
from assent.files.regular_file import NotPlain, read_plain
from assent.policy.trust import CONFIG_FOLDER

FOLDER = "commands"
BUILT_IN = frozenset(
    re.findall(
        r"\S+",
        "? about approvals archive clear compact compress copy editor effort exit fork help include mcp memory mode "
        "model new policy queue quit rename resume rewind search sessions stats summarize tasks theme tools trust "
        "undo usage view",
    )
)
"""The names of the built-in commands, aliases included: no file can take one of them, in any front end."""
ARGS = "{{args}}"
_MAX_NAME = 60
_MAX_FILES = 500


class BadTemplate(ValueError):
    """The prompt cannot be used; `at` is the position in it."""

    def __init__(self, message: str, at: int = 0) -> None:
        super().__init__(message)
        self.at = at


# --- the template, pure ---


class Words(Struct, frozen=True):
    text: str


class Shell(Struct, frozen=True):
    """`!{command}`: its output."""

    command: str


class Insert(Struct, frozen=True):
    """`@{path}`: the content of a file."""

    path: str


Piece = Words | Shell | Insert
_PLACEHOLDER = re.compile(r"[!@]\{")


def parse_template(template: str) -> tuple[Piece, ...]:
    """Raises BadTemplate for a placeholder that is not closed, is empty, or cannot have its argument quoted."""
    pieces: list[Piece] = []
    place = 0
    while match := _PLACEHOLDER.search(template, place):
        end = _closing(template, match.end())
        inner = template[match.end() : end].strip()
        if not inner:
            raise BadTemplate(f"{match.group()}}} is empty", match.start())
        if before := template[place : match.start()]:
            pieces.append(Words(before))
        if match.group() == "!{":
            _check_quoting(inner, match.start())
        pieces.append(Shell(inner) if match.group() == "!{" else Insert(inner))
        place = end + 1
    if rest := template[place:]:
        pieces.append(Words(rest))
    return tuple(pieces)


def _closing(template: str, start: int) -> int:
    """The position of the closing brace; braces inside must be balanced."""
    depth = 1
    for place in range(start, len(template)):
        depth += {"{": 1, "}": -1}.get(template[place], 0)
        if depth == 0:
            return place
    raise BadTemplate(f"{template[start - 2 : start]} is never closed with }}", start - 2)


def _check_quoting(command: str, at: int) -> None:
    """Arguments are quoted as one word. Inside quotes of the template, that would close those instead."""
    quote, skip = "", False
    for place, char in enumerate(command):
        if command.startswith(ARGS, place) and quote:
            raise BadTemplate(f"{ARGS} is inside quotes; it is quoted automatically, so remove these quotes", at)
        if skip or (char == "\\" and quote != "'"):
            skip = not skip
        elif quote:
            quote = "" if char == quote else quote
        elif char in "'\"`":
            quote = char


def fill(template: str, args: str) -> tuple[Piece, ...]:
    """The pieces with the arguments filled in; if there is no placeholder for them, they come at the end."""
    pieces = parse_template(template)
    filled = tuple(_filled(piece, args) for piece in pieces)
    if ARGS not in template and args:
        filled = (*filled, Words(f"\n\n{args}"))
    return filled


def _filled(piece: Piece, args: str) -> Piece:
    match piece:
        case Words(text=text):
            return Words(text.replace(ARGS, args))
        case Shell(command=command):
            return Shell(command.replace(ARGS, shlex.quote(args) if args else ""))
        case Insert(path=path):
            return Insert(path.replace(ARGS, args).strip())


class Stopped(Exception):
    """A command or a file of the prompt was refused or failed; the message says which, and why."""


async def expand(
    template: str,
    args: str,
    *,
    run: Callable[[str], Awaitable[str]],
    read: Callable[[str], Awaitable[str]],
) -> str:
    """The prompt with everything filled in, in the order of the template. `run` and `read` raise Stopped."""
    parts: list[str] = []
    for piece in fill(template, args):
        match piece:
            case Words(text=text):
                parts.append(text)
            case Shell(command=command):
                parts.append(await run(command))
            case Insert(path=path):
                parts.append(await read(path))
    return "".join(parts).strip()


# --- the files ---


class CustomCommand(Struct, frozen=True):
    """A slash command from a TOML file: a prompt with placeholders for arguments, commands and files."""

    name: str
    description: str
    prompt: str
    source: str

    @property
    def usage(self) -> str:
        return "[ARGUMENTS]" if ARGS in self.prompt else "[TEXT]"


class Loaded(Struct, frozen=True):
    commands: tuple[CustomCommand, ...] = ()
    problems: tuple[str, ...] = ()
    """What could not be used, with `file:line`."""


class _File(Struct, frozen=True, forbid_unknown_fields=True):
    prompt: str
    description: str = ""


def load_custom(env: Mapping[str, str], folder: str, taken: Collection[str] = BUILT_IN) -> Loaded:
    """The user's own commands, then the folder's if it is trusted; none has a name in `taken`."""
    own = settings_file(env).parent / FOLDER
    found: dict[str, CustomCommand] = {}
    problems: list[str] = []
    for path, name, data in _files(own, problems):
        _add(found, problems, path, name, data, taken)
    for path, name, data in _trusted_files(env, folder, problems):
        _add(found, problems, path, name, data, taken)
    return Loaded(tuple(found.values()), tuple(problems))


def _add(
    found: dict[str, CustomCommand], problems: list[str], path: Path, name: str, data: bytes, taken: Collection[str]
) -> None:
    if name in taken:
        problems.append(f"{path}:1: /{name} is a built-in command; rename the file")
    elif name in found:
        problems.append(f"{path}:1: /{name} already exists, from {found[name].source}; rename this file")
    else:
        try:
            found[name] = _command(path, name, data)
        except BadTemplate as error:
            problems.append(f"{path}:{error.at}: {error}")


def _command(path: Path, name: str, data: bytes) -> CustomCommand:
    """Raises BadTemplate, with a line number instead of a position."""
    try:
        text = data.decode()
        file = msgspec.toml.decode(text, type=_File)
    except UnicodeDecodeError as error:
        raise BadTemplate("this is not UTF-8 text", 1) from error
    except msgspec.MsgspecError as error:
        from assent.settings_words import plain

        what, _, place = str(error).partition(" - at `$.")
        raise BadTemplate(plain(what, place.rstrip("`"), _File), _line_of(what)) from error
    if not file.prompt.strip():
        raise BadTemplate("the prompt is empty", 1)
    try:
        parse_template(file.prompt)
    except BadTemplate as error:
        start = file.prompt[error.at : error.at + 20].split("\n")[0]
        raise BadTemplate(str(error), text[: max(0, text.find(start))].count("\n") + 1) from error
    return CustomCommand(name, file.description or f"from {path.name}", file.prompt, str(path))


def _line_of(message: str) -> int:
    match = re.search(r"line (\d+)", message)
    return int(match[1]) if match else 1


def _files(base: Path, problems: list[str]) -> Iterator[tuple[Path, str, bytes]]:
    for count, path in enumerate(sorted(_toml_files(base))):
        if count == _MAX_FILES:
            problems.append(f"{base}: more than {_MAX_FILES} files; the rest are ignored")
            return
        try:
            yield path, command_name(path.relative_to(base)), read_plain(path)
        except (NotPlain, FileNotFoundError) as error:
            problems.append(f"{path}:1: {error}")


def _toml_files(base: Path) -> Iterator[Path]:
    """Follows no links to folders: they could lead anywhere, or in a circle."""
    for folder, _, names in os.walk(base):
        yield from (Path(folder, name) for name in names if name.endswith(".toml"))


def _trusted_files(env: Mapping[str, str], folder: str, problems: list[str]) -> Iterator[tuple[Path, str, bytes]]:
    """Exactly what was trusted: a file that has changed since has another hash."""
    base = Path(folder, CONFIG_FOLDER, FOLDER)
    if not base.is_dir():
        return
    trust = trust_store(env).rules(Path(folder))
    if trust.state != "trusted":
        problems.append(f"{base}: ignored until you review and trust this folder: assent trust")
        return
    for path, name, data in _files(base, problems):
        if trust.files.get(str(path.relative_to(folder))) == hashlib.sha256(data).hexdigest():
            yield path, name, data
        else:
            problems.append(f"{path}:1: changed while it was being read; ignored")


def command_name(path: Path) -> str:
    """`git/commit.toml` becomes `git:commit`; unusual characters become `_`."""
    parts = path.with_suffix("").parts
    return ":".join(re.sub(r"[^A-Za-z0-9_.-]+", "_", part).strip(".-") or "_" for part in parts)[:_MAX_NAME]
