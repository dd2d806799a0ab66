"""Loads what a prompt mentions with `@`: files, folders, simple patterns, and resources of MCP servers.

Text may have been pasted from anywhere, so nothing is included that read_file would ask about: usual places for
secrets, files outside the workspace, files that git ignores, files that a rule restricts. The model and the person are
told. What is not a path here, such as `@dataclass` or `@types/node`, is left alone.
"""

import asyncio
import os
import re
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

from assent.events import Attached
from assent.files.mention_finder import mentions
from assent.parts import Media, Text
from assent.policy.action import Action
from assent.policy.policy import Policy
from assent.secrets.mask import Masker
from assent.tools.support.files import Files, printable
from assent.tools.support.many_files import Reader, Taken, below_root, usually_left_out, wanted
from assent.tools.support.walk import is_ignored, list_files
from assent.tools.tool import ToolFailed

if TYPE_CHECKING:
    from assent.mcp.manager import McpManager

MAX_MENTIONS = 500
MAX_LEFT_OUT = 20
IGNORED = "git ignores it"
OUTSIDE = "outside the workspace"
SECRET = "usually holds secrets"
_PATTERN = re.compile(r"[*?\[{]")


def load_mentions(
    text: str, policy: Policy, files: Files, servers: "McpManager | None", masker: Masker
) -> Awaitable[tuple[Attached, ...]] | None:
    """None if the text mentions nothing."""
    named = list(dict.fromkeys(mention.path for mention in mentions(text)))[:MAX_MENTIONS]
    return _Loading(files, servers, policy, masker).load(named) if named else None


class _Loading:
    """Loads the mentions of one prompt, within its limits and each file once."""

    def __init__(self, files: Files, servers: "McpManager | None", policy: Policy, masker: Masker) -> None:
        self._files = files
        self._servers = servers
        self._policy = policy
        self._masker = masker
        self._named: set[str] = set()
        """Files that the person named directly, not by a folder or a pattern: only these may be pictures."""
        self._reader = Reader(files, self._named.__contains__)
        self._seen: set[str] = set()
        self._listed: list[str] | None = None

    async def load(self, named: list[str]) -> tuple[Attached, ...]:
        found = [attached for name in named for attached in await self._one(name)]
        along = [each for each in found if each.parts]
        left_out = [each for each in found if not each.parts]
        more = len(left_out) - MAX_LEFT_OUT
        rest = [_left_out(f"{more:,} more", "for similar reasons")] if more > 0 else []
        return (*along, *left_out[:MAX_LEFT_OUT], *rest)

    async def _one(self, name: str) -> list[Attached]:
        if self._servers is not None and self._servers.has_resource(name):
            return [await self._resource(self._servers, name)]
        place = self._files.workspace.classify(name, "read")
        match place.kind:
            case "reject":
                return []
            case _ if not os.path.lexists(place.path):
                return await self._pattern(name) if _PATTERN.search(name) else []
            case "outside":
                return [_left_out(name, OUTSIDE)]
            case "protected":
                return [_left_out(name, SECRET if place.secret == name else place.reason)]
            case "inside":
                return await self._there(name, place.path)

    # --- files, by the paths that the model may use ---

    async def _there(self, name: str, place: str) -> list[Attached]:
        if is_ignored(self._files, place):
            return [_left_out(name, IGNORED)]
        if os.path.isdir(place):
            return await self._pattern(place, "/") or [_left_out(name, "it contains nothing to read")]
        path = self._files.shown(place)
        self._named.add(path)
        return [_attached(taken) for taken in await self._take([path])]

    async def _pattern(self, name: str, mark: str = "") -> list[Attached]:
        """A folder or a pattern counts as one item; each file left out of it is named separately."""
        try:
            include = below_root(self._files, name)
            taken = await self._take(await self._all(wanted(self._files, include)))
        except (ToolFailed, re.error):
            return []
        read = [each for each in taken if each.parts]
        files = f"{len(read):,} {'file' if len(read) == 1 else 'files'}"
        parts = tuple(part for each in read for part in each.parts)
        together = [Attached(printable(include + mark), files, parts)] if read else []
        return [*together, *(_attached(each) for each in taken if not each.parts)]

    async def _all(self, means: Callable[[str], bool]) -> list[str]:
        if self._listed is None:
            self._listed = sorted(await list_files(self._files, self._files.root))
        return await asyncio.to_thread(_meant, self._listed, means)

    async def _take(self, paths: list[str]) -> list[Taken]:
        """Reads each file once, however often it is named."""
        new = [path for path in dict.fromkeys(paths) if path not in self._seen]
        self._seen.update(new)
        read, full = self._read, self._reader.take  # there may be very many that no longer fit
        return [full(path) if self._reader.is_full else await asyncio.to_thread(read, path) for path in new]

    def _read(self, path: str) -> Taken:
        why = self._why_not(path)
        return Taken(printable(path), problem=why) if why else self._reader.take(path)

    def _why_not(self, path: str) -> str:
        """Why this must not be included without asking; empty if it may."""
        if why := self._files.why_asked(path):
            return why
        place = self._files.absolute(path)
        verdict = self._policy.judge(
            Action(tool="read_file", args={"file_path": path}, details=None, main=path, paths=(place,))
        )
        return "" if verdict.ruling == "allow" else verdict.reason

    # --- resources ---

    async def _resource(self, servers: "McpManager", name: str) -> Attached:
        server = name.partition(":")[0]
        verdict = self._policy.judge(
            Action(tool="read_mcp_resource", args={"uri": name}, details=None, main=name, server=server)
        )
        if verdict.ruling != "allow":
            return _left_out(name, verdict.reason)
        try:
            parts = [self._masked(part) for part in await servers.read(name)]
            return _attached(self._reader.take_parts(name, tuple(parts)))
        except ToolFailed as error:
            return _left_out(name, self._masker.text(error.failure.message).rstrip("."))

    def _masked(self, part: Text | Media) -> Text | Media:
        """Like everything that a server says; only files are exact."""
        return Text(self._masker.text(part.text)) if isinstance(part, Text) else part


def _meant(paths: list[str], means: Callable[[str], bool]) -> list[str]:
    usual = usually_left_out()
    return [path for path in paths if means(path) and not usual(path)]


def _attached(taken: Taken) -> Attached:
    return Attached(taken.path, taken.about, taken.parts, taken.problem)


def _left_out(name: str, why: str) -> Attached:
    return Attached(printable(name), problem=why)
