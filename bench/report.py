"""The table: what was measured, compared with what, and whether that is good enough."""

from collections.abc import Iterable

from msgspec import Struct

WIDTHS = (38, 14, 14, 8, 8)
HEADINGS = ("", "figure", "floor", "ratio", "goal")


class Skipped(Exception):
    """A benchmark cannot run on this machine; the message says why."""


class Row(Struct, frozen=True):
    what: str
    figure: float
    unit: str
    floor: float | None = None
    """What the figure is compared with, in the same unit."""
    most: float | None = None
    """The goal: the largest acceptable ratio, or without a floor the largest acceptable figure."""

    @property
    def ratio(self) -> float | None:
        return None if self.floor is None else self.figure / self.floor

    @property
    def missed(self) -> bool:
        compared = self.figure if self.ratio is None else self.ratio
        return self.most is not None and compared > self.most

    def cells(self) -> tuple[str, ...]:
        verdict = "" if self.most is None else "MISSED" if self.missed else "OK"
        return (
            self.what,
            f"{self.figure:.2f} {self.unit}",
            "" if self.floor is None else f"{self.floor:.2f} {self.unit}",
            "" if self.ratio is None else f"{self.ratio:.2f}",
            "" if self.most is None else f"≤ {self.most:g}",
            verdict,
        )


def print_title(name: str, about: str) -> None:
    print(f"\n{name}: {about.strip()}\n")
    print(_line(HEADINGS))


def print_rows(rows: Iterable[Row]) -> int:
    """Print each row as soon as it is known; return the number of missed goals. Skipping counts as a missed goal."""
    missed = 0
    try:
        for row in rows:
            print(_line(row.cells()), flush=True)
            missed += row.missed
    except Skipped as skipped:
        print(f"  SKIPPED: {skipped}", flush=True)
        missed += 1
    return missed


def _line(cells: tuple[str, ...]) -> str:
    name, *numbers = cells
    padded = [f"{cell:>{width}}" for cell, width in zip(numbers, WIDTHS[1:], strict=False)]
    return f"  {name:<{WIDTHS[0]}}{''.join(padded)}  {''.join(numbers[4:])}".rstrip()
