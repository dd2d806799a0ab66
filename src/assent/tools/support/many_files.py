"""Reads many files at once, for the model and for people who name some in a prompt: which ones, and how much of each.

Files that usually hold secrets are never read here; read_file asks for approval.
"""

import os
from base64 import b64encode
from collections.abc import Callable, Iterable
from functools import cache

from msgspec import Struct

from assent.parts import Media, Text
from assent.tools.support.files import Files, printable
from assent.tools.support.filetype import MAX_BYTES, MAX_MEDIA, describe_binary, media_type
from assent.tools.support.globbing import matcher
from assent.tools.support.textfile import NotText, decode
from assent.tools.tool import ToolFailed

MAX_FILES = 200
MAX_CHARACTERS = 200_000
MAX_TOTAL_MEDIA = 14_000_000
"""Total bytes of images, audio and PDF: a model request has a limit, too."""
_CUT = "\n... [cut; read on with read_file]"
_DEFAULT_EXCLUDES = (
    "**/node_modules/**",
    "**/{.venv,venv,__pycache__,.tox,.mypy_cache,.pytest_cache,.ruff_cache}/**",
    "**/{dist,build,target,coverage,.next,.cache}/**",
    "**/{.idea,.vscode}/**",
    "**/*.{lock,min.js,min.css,map,pyc,so,o,class,jar}",
)

# --- which files ---


def below_root(files: Files, include: str) -> str:
    """A path or pattern relative to the root. Raises ToolFailed if it is outside."""
    base = files.root.rstrip("/") + "/"
    path = include.removeprefix(base).removeprefix("./")
    if path.startswith("/") or ".." in path.split("/"):
        files.locate(path, "list")  # reports that it is outside, unless it only looks so
        path = os.path.relpath(os.path.join(base, path), base)
    return path.rstrip("/") or "."


def wanted(files: Files, include: str, *, deep: bool = True) -> Callable[[str], bool]:
    """The paths that a folder or a pattern matches, relative to the root. Raises re.error."""
    if not os.path.isdir(os.path.join(files.root, include)):
        return matcher(include)
    inside = "" if include == "." else f"{include}/"
    return lambda path: path.startswith(inside) and (deep or "/" not in path[len(inside) :])


def any_of(patterns: Iterable[str]) -> Callable[[str], bool]:
    matchers = [matcher(pattern) for pattern in patterns]
    return lambda path: any(matches(path) for matches in matchers)


@cache
def usually_left_out() -> Callable[[str], bool]:
    """Dependencies, build output and the like."""
    return any_of(_DEFAULT_EXCLUDES)


# --- how much of each ---


class Taken(Struct, frozen=True):
    """What was read of one file and its size, or why nothing was read."""

    path: str
    parts: tuple[Text | Media, ...] = ()
    about: str = ""
    problem: str = ""


class Reader:
    """Reads one file after the other until the limits are reached."""

    def __init__(self, files: Files, asks_for: Callable[[str], bool]) -> None:
        """`asks_for`: is this image, audio or PDF file wanted?"""
        self._files = files
        self._asks_for = asks_for
        self._room = MAX_CHARACTERS
        self._media_room = MAX_TOTAL_MEDIA
        self.read = 0

    def take(self, path: str) -> Taken:
        if self.is_full:
            return _left_out(path, "the limit is reached")
        try:
            data = self._files.read(path, MAX_BYTES)
        except ToolFailed as error:
            return _left_out(path, error.failure.message.removeprefix(f"{path}: ").rstrip("."))
        if mime := media_type(data):
            return self._media(path, data, mime)
        try:
            return self._text(path, decode(data).text)
        except NotText:
            return _left_out(path, f"not text but {describe_binary(data)}")

    def take_parts(self, name: str, parts: Iterable[Text | Media]) -> Taken:
        """Adds content from elsewhere, within the same limits."""
        taken: list[Taken] = []
        for part in parts:
            match part:
                case _ if self.is_full:
                    taken.append(_left_out(name, "the limit is reached"))
                case Text(text=text):
                    taken.append(self._text(name, text))
                case Media(mime=mime, data=data):
                    taken.append(self._room_for_media(name, part, mime, len(data) * 3 // 4))
        said = [each for each in taken if each.parts]
        if not said:
            return _left_out(name, taken[0].problem if taken else "it is empty")
        return Taken(
            said[0].path, tuple(part for each in said for part in each.parts), ", ".join(each.about for each in said)
        )

    @property
    def is_full(self) -> bool:
        return self.read >= MAX_FILES or self._room <= 0

    def _text(self, path: str, text: str) -> Taken:
        name, lines = printable(path), text.count("\n") + (not text.endswith("\n") and bool(text))
        cut = len(text) > self._room
        shown = text[: self._room] + _CUT if cut else text
        self._room -= len(text)
        self.read += 1
        about = f"{lines:,} {'line' if lines == 1 else 'lines'}{', cut' if cut else ''}"
        return Taken(name, (Text(f"--- {name} ---\n{shown}"),), about)

    def _media(self, path: str, data: bytes, mime: str) -> Taken:
        if not self._asks_for(path):
            return _left_out(path, f"{mime}; name it to read it")
        return self._room_for_media(path, Media(mime, b64encode(data).decode()), mime, len(data))

    def _room_for_media(self, path: str, media: Media, mime: str, size: int) -> Taken:
        if size > min(MAX_MEDIA, self._media_room):
            return _left_out(path, f"{mime} of {size:,} bytes")
        self._media_room -= size
        self.read += 1
        name = printable(path)
        return Taken(name, (Text(f"--- {name} ---"), media), mime)


def _left_out(path: str, why: str) -> Taken:
    return Taken(printable(path), problem=why)
