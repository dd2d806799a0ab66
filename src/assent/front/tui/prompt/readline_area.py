"""A text area with the keys of the shell: what is deleted can be inserted again, and a line is a whole line.

A long line that is wrapped on the screen is still one line for Ctrl-A, Ctrl-E, Ctrl-U and Ctrl-K.
"""

from collections.abc import Callable
from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.widgets import TextArea

from assent.front.tui.prompt.kill_ring import KillRing


class ReadlineArea(TextArea):
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("home,ctrl+a", "cursor_line_start", "to the start of the line", show=False),
        Binding("end,ctrl+e", "cursor_line_end", "to the end of the line", show=False),
        Binding("ctrl+b", "cursor_left", "back by a character", show=False),
        Binding("ctrl+f", "cursor_right", "forward by a character", show=False),
        Binding("alt+b,alt+left", "cursor_word_left", "back by a word", show=False),
        Binding("alt+f,alt+right", "cursor_word_right", "forward by a word", show=False),
        Binding("ctrl+h", "delete_left", "delete the previous character", show=False),
        Binding("alt+d", "delete_word_right", "cut the next word", show=False),
        Binding("alt+backspace", "delete_word_left", "cut the previous word", show=False),
        Binding("ctrl+w", "delete_to_space", "cut back to white space", show=False),
        Binding("ctrl+u", "delete_to_start_of_line", "cut to the start of the line", show=False),
        Binding("ctrl+k", "delete_to_end_of_line_or_delete_line", "cut to the end of the line", show=False),
        Binding("ctrl+y", "yank", "insert what was cut last", show=False),
        Binding("alt+y", "yank_earlier", "replace it with what was cut before", show=False),
        Binding("ctrl+t", "transpose", "swap two characters", show=False),
        Binding("alt+u", "change_word('upper')", "make the next word uppercase", show=False),
        Binding("alt+l", "change_word('lower')", "make the next word lowercase", show=False),
        Binding("alt+c", "change_word('capitalize')", "capitalize the next word", show=False),
        Binding("ctrl+underscore", "undo", "undo", show=False),
    ]

    def __init__(self, text: str = "", *, placeholder: str = "", soft_wrap: bool = True, id: str | None = None) -> None:
        super().__init__(text, placeholder=placeholder, soft_wrap=soft_wrap, id=id)
        self._kills = KillRing()
        self._killed_at: tuple[str, int] | None = None
        """The text and the cursor right after the last deletion: another one in the same place continues it."""
        self._yanked: tuple[int, int] | None = None

    @property
    def cursor_index(self) -> int:
        return len(self.get_text_range((0, 0), self.cursor_location))

    # --- moving: a line is what ends with a line break ---

    def get_cursor_line_start_location(self, smart_home: bool = False) -> tuple[int, int]:
        return self.cursor_location[0], 0

    def get_cursor_line_end_location(self) -> tuple[int, int]:
        row = self.cursor_location[0]
        return row, len(self.document.get_line(row))

    # --- deleting ---

    def _kill(self, delete: Callable[[], None]) -> None:
        before, at = self.text, self.cursor_index
        delete()
        here, length = self.cursor_index, len(before) - len(self.text)
        self._kills.kill(before[here : here + length], before=here < at, continues=self._killed_at == (before, at))
        self._killed_at = (self.text, here)

    def action_delete_word_left(self) -> None:
        self._kill(super().action_delete_word_left)

    def action_delete_to_space(self) -> None:
        """At the start of a line, the line break is deleted."""
        row, column = self.cursor_location
        left = self.document.get_line(row)[:column]
        if not left or not self.selection.is_empty:
            self._kill(super().action_delete_word_left)
        else:
            self._kill(lambda: self._delete((row, word_start(left)), (row, column)))

    def action_delete_word_right(self) -> None:
        self._kill(super().action_delete_word_right)

    def action_delete_to_start_of_line(self) -> None:
        self._kill(lambda: self._delete(self.get_cursor_line_start_location(), self.cursor_location))

    def action_delete_to_end_of_line(self) -> None:
        self._kill(lambda: self._delete(self.cursor_location, self.get_cursor_line_end_location()))

    async def action_delete_to_end_of_line_or_delete_line(self) -> None:
        """At the end of a line, the line break is deleted."""
        if self.cursor_location == self.get_cursor_line_end_location():
            self._kill(super().action_delete_right)
        else:
            self.action_delete_to_end_of_line()

    def _delete(self, start: tuple[int, int], end: tuple[int, int]) -> None:
        self.delete(start, end, maintain_selection_offset=False)

    # --- inserting again ---

    def action_yank(self) -> None:
        self._insert_kill(self._kills.newest(), self.cursor_index)

    def action_yank_earlier(self) -> None:
        """Right after Ctrl-Y: what was deleted before that instead."""
        if self._yanked is None or self._yanked[1] != self.cursor_index:
            return
        start, end = self._yanked
        self.delete(self.place_of(start), self.place_of(end), maintain_selection_offset=False)
        self._insert_kill(self._kills.earlier(), start)

    def _insert_kill(self, text: str, at: int) -> None:
        if text:
            self.replace(text, *self.selection, maintain_selection_offset=False)
            self._yanked = (at, at + len(text))

    def place_of(self, index: int) -> tuple[int, int]:
        before = self.text[:index]
        return before.count("\n"), index - before.rfind("\n") - 1

    # --- changing ---

    def action_transpose(self) -> None:
        """Swaps the characters around the cursor; at the end of a line, the last two."""
        row, column = self.cursor_location
        line = self.document.get_line(row)
        right = min(max(column, 1), len(line) - 1)
        if right >= 1:
            swapped = line[right] + line[right - 1]
            self.replace(swapped, (row, right - 1), (row, right + 1), maintain_selection_offset=False)

    def action_change_word(self, how: str) -> None:
        start = self.cursor_location
        end = self.get_cursor_word_right_location()
        word = self.get_text_range(start, end)
        changed = {"upper": word.upper(), "lower": word.lower(), "capitalize": _capitalized(word)}[how]
        self.replace(changed, start, end, maintain_selection_offset=False)


def word_start(left: str) -> int:
    """Where the last word of what is left of the cursor begins: after white space, as for Ctrl-W in a shell."""
    words = left.split()
    return left.rindex(words[-1]) if words else 0


def _capitalized(word: str) -> str:
    letters = len(word) - len(word.lstrip())
    return word[:letters] + word[letters:].capitalize()
