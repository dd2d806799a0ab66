"""A tried command as lines: what it printed, and every part of what it did, each of which can be left out."""

from collections.abc import Iterator

from rich.text import Text
from textual.strip import Strip

from assent.app.trial_text import effect_notes, last_output, left_out_in_words, part_title, stale_in_words, trial_facts
from assent.front.tui.diff_view import View, draw_hunks, plain_header
from assent.front.tui.text_style import TextStyler, barred
from assent.trial import Trial
from assent.trial_parts import ShownPart, shown_parts


class TrialLines:
    """Draws a trial. `tops` has the line at which each part begins, after `draw`."""

    def __init__(self, trial: Trial) -> None:
        self._trial = trial
        self.parts = tuple(shown_parts(trial))
        self.numbers = tuple(part.number for part in self.parts if part.number >= 0)
        self.tops: list[int] = []

    def draw(
        self, styler: TextStyler, width: int, view: View, chosen: set[int], current: int, before: int
    ) -> list[Strip]:
        """`before`: the number of lines above."""
        lines = list(self._head(styler, width))
        self.tops = []
        for part in self.parts:
            if part.number >= 0:
                self.tops.append(before + len(lines))
            lines += self._part(styler, part, width, view, chosen, current)
        if words := left_out_in_words(self._trial, set(self.numbers) - chosen):
            lines += styler.text(f"! {words}", styler.palette.warn, width)
        return lines

    def _head(self, styler: TextStyler, width: int) -> Iterator[Strip]:
        palette = styler.palette
        for fact in trial_facts(self._trial):
            yield from styler.text(fact, palette.dim, width)
        if words := stale_in_words(self._trial):
            yield from styler.text(f"⚠ {words}", palette.bad, width)
        text, earlier = last_output(self._trial)
        if earlier:
            yield from styler.text(f"│ … {earlier:,} earlier lines", palette.dim, width)
        if text:
            yield from barred(styler.text(text, "", width - 2), palette.dim, "│ ")

    def _part(
        self, styler: TextStyler, part: ShownPart, width: int, view: View, chosen: set[int], current: int
    ) -> Iterator[Strip]:
        palette = styler.palette
        yield from styler.lines(self._title(styler, part, chosen, current), width)
        for note in effect_notes(part):
            yield from styler.text(f"  ! {note}", palette.warn, width)
        for drawn in draw_hunks(styler, part.hunks, part.effect.path, width, view, plain_header(styler)):
            yield from drawn.strips

    def _title(self, styler: TextStyler, part: ShownPart, chosen: set[int], current: int) -> Text:
        palette = styler.palette
        title = part_title(part)
        if part.number < 0:
            return Text(f"  ✗  {title}", style=palette.warn, overflow="fold")
        if len(self.numbers) == 1:
            return Text(title, style="bold", overflow="fold")
        box = "[x]" if part.number in chosen else "[ ]"
        here = "▶" if self.numbers[current] == part.number else " "
        style = f"bold {palette.accent}" if here == "▶" else "bold" if part.number in chosen else palette.dim
        return Text(f"{here}{box} {title}", style=style, overflow="fold")
