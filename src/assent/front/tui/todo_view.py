"""The model's list of steps while it works through them: always on the screen, and gone when the turn is over.

The transcript keeps the list as it was. Here, what is done is counted, and the steps around the current one are shown.
"""

from collections.abc import Callable, Sequence

from rich.text import Text
from textual.widgets import Static

from assent.app.wording import count
from assent.front.tui.display_view import todo_text
from assent.front.tui.lines_below import LinesBelow
from assent.front.tui.text_style import TextStyler
from assent.parts import Todo

SHOWN_TODOS = {30: 5, 24: 3}
"""How many steps are shown from which height on; a lower screen, or one with a question, shows only the current one."""
OVER = ("completed", "cancelled")


class TodoView(LinesBelow, Static):
    def __init__(self, styler: Callable[[], TextStyler]) -> None:
        super().__init__(id="todos", markup=False)
        self._styler = styler
        self._todos: tuple[Todo, ...] = ()
        self._asking = False
        self._drawn: tuple[object, ...] = ()
        self.display = False

    def put(self, todos: Sequence[Todo], *, asking: bool) -> None:
        """`asking`: a question needs the room."""
        self._todos, self._asking = tuple(todos), asking
        self.fit()

    def fit(self) -> None:
        """Draws it again if something has changed: the list, the size of the screen, the look."""
        height = 0 if self._asking else self.screen.size.height
        most = next((steps for lines, steps in SHOWN_TODOS.items() if height >= lines), 1)
        low = self.screen.has_class("-low")
        if (drawn := (self._todos, most, self._styler(), low)) == self._drawn:
            return
        self._drawn = drawn
        self.display = not low and any(todo.status not in OVER for todo in self._todos)
        if self.display:
            self.update(todo_lines(self._styler(), self._todos, most))


def todo_lines(styler: TextStyler, todos: Sequence[Todo], most: int) -> Text:
    """The current step and those after it, in a frame of what was done and what is left."""
    dim = styler.palette.dim
    over = sum(todo.status in OVER for todo in todos)
    first = min(_current(todos), max(len(todos) - most, 0))
    shown = todos[first : first + most]
    lines = [Text.assemble("  ", todo_text(styler, todo)) for todo in shown]
    progress = f"{over} of {len(todos)} done"
    if most == 1:
        lines[0].append(f" · {progress}", dim)
    else:
        left = len(todos) - first - len(shown)
        more = f" · {count(left, 'more step')}" if left else ""
        lines.append(Text(f"  {progress}{more}", style=dim))
    whole = Text("\n").join(lines)
    whole.no_wrap, whole.overflow = True, "ellipsis"
    return whole


def _current(todos: Sequence[Todo]) -> int:
    places = {todo.status: place for place, todo in reversed(list(enumerate(todos)))}
    return places.get("in_progress", next(n for n, todo in enumerate(todos) if todo.status not in OVER))
