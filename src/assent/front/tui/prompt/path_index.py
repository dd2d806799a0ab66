"""The paths of a folder, indexed once so that each key finds the best of many thousands within milliseconds. Pure."""

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate, islice

from assent.front.tui.prompt.completion import MAX_SHOWN, like


class PathIndex:
    """Paths near the top come first among equals, and a match in the name before one in its folders."""

    def __init__(self, paths: Iterable[str]) -> None:
        ordered = sorted(paths, key=lambda path: (path.rstrip("/").count("/"), path.casefold()))
        self._paths: Sequence[str] = ordered
        self._folded = _Lines([path.casefold() for path in ordered])
        self._names = _Lines([path[path.rfind("/", 0, -1) + 1 :] for path in self._folded.lines])

    def best(self, typed: str, most: int = MAX_SHOWN) -> list[str]:
        wanted = typed.casefold().removeprefix("./")
        here = wanted if wanted.endswith("/") else None  # a typed folder is not offered again
        found: dict[int, None] = {}
        for matches in self._stages(wanted):
            new = (n for n in matches if n not in found and self._folded.lines[n] != here)
            found |= dict.fromkeys(islice(new, most - len(found)))
            if len(found) >= most:
                break
        return [self._paths[n] for n in found]

    def _stages(self, wanted: str) -> Iterator[Iterable[int]]:
        """From the best kind of match to the weakest; the expensive ones come last, and only if there is room."""
        sources = (self._folded,) if "/" in wanted else (self._names, self._folded)
        yield from (lines.beginning(wanted) for lines in sources)
        yield from (lines.containing(wanted) for lines in sources)
        yield from (like(wanted, lines.lines, MAX_SHOWN) for lines in sources)


class _Lines:
    """Many short texts as one long one, which can be searched at C speed."""

    def __init__(self, lines: Sequence[str]) -> None:
        self.lines = lines
        self._text = "".join(f"\n{line}" for line in lines)
        self._starts = list(accumulate((len(line) + 1 for line in lines), initial=0))[:-1]

    def beginning(self, wanted: str) -> Iterator[int]:
        return self._matches(f"\n{wanted}")

    def containing(self, wanted: str) -> Iterator[int]:
        return self._matches(wanted) if wanted else iter(range(len(self.lines)))

    def _matches(self, wanted: str) -> Iterator[int]:
        at = self._text.find(wanted)
        while at >= 0:
            line = bisect_right(self._starts, at) - 1
            yield line
            end = self._starts[line] + 1 + len(self.lines[line])
            at = self._text.find(wanted, end)
