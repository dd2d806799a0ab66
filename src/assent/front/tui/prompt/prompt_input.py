"""The text being typed: Enter sends it, the arrows recall earlier input, `!` switches to the shell.

Input is posted as messages; nothing here knows what happens to it. Keys are handled in this order: an active search of
the history, the assistant (the list of completions), this widget, and then the app's bindings.
"""

from collections.abc import Callable, Iterable
from typing import ClassVar, Protocol

from textual.actions import SkipAction
from textual.binding import Binding, BindingType
from textual.events import Key, Paste
from textual.message import Message
from textual.reactive import reactive
from textual.widgets.text_area import Edit, EditResult

from assent.front.tui.prompt.completion import mention
from assent.front.tui.prompt.dropped_file import dropped_file
from assent.front.tui.prompt.paste import Pastes, clean
from assent.front.tui.prompt.readline_area import ReadlineArea
from assent.front.tui.prompt.recall import Recall, Search

NEWLINE_KEYS = ("ctrl+j", "shift+enter", "alt+enter", "ctrl+enter")
_LEAVE_SEARCH = ("escape", "ctrl+c", "ctrl+g")


class Assistant(Protocol):
    """Helps with typing. It is called directly, not by message: the next key may already be on its way."""

    def text_changed(self) -> None: ...

    def cursor_moved(self) -> None: ...

    def take_key(self, key: str) -> bool:
        """True if the key was for the assistant."""
        ...

    def close(self) -> None: ...


class PromptInput(ReadlineArea):
    DEFAULT_CSS = """
    PromptInput {
        height: auto; max-height: 8; min-height: 1;
        border: none; padding: 0; background: transparent;
        &:focus { border: none; }
    }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding(",".join(NEWLINE_KEYS), "newline", "new line", show=False),
        Binding("ctrl+g", "edit_outside", "write in your editor", show=False),
        Binding("ctrl+s", "steer", "send; a running turn reads it at its next step", show=False),
        Binding("ctrl+r", "search", "search the history", show=False),
    ]

    shell: reactive[bool] = reactive(default=False, toggle_class="-shell")
    """Whether the input is a command for the shell."""

    class Submitted(Message):
        """A prompt, pastes expanded; `shown` is what was in the input.

        `steer`: a running turn should read it as soon as possible.
        """

        def __init__(self, text: str, shown: str = "", *, steer: bool = False) -> None:
            self.text = text
            self.shown = shown or text
            self.steer = steer
            super().__init__()

    class NothingSubmitted(Message):
        """Enter in the empty input."""

    class ShellSubmitted(Message):
        def __init__(self, command: str) -> None:
            self.command = command
            super().__init__()

    class PictureWanted(Message):
        """A paste without text: there may be a picture in the clipboard. `PromptInput.mention` takes its path."""

    class EditWanted(Message):
        """The text should be edited in an editor; `PromptInput.load` takes the result."""

        def __init__(self, text: str) -> None:
            self.text = text
            super().__init__()

    class Typed(Message):
        """The person is typing."""

    class Searching(Message):
        """The search text for the history, and whether it was found; `query` is None when the search is over."""

        def __init__(self, query: str | None, found: bool = True) -> None:
            self.query = query
            self.found = found
            super().__init__()

    def __init__(self, placeholder: str = "", *, id: str | None = None) -> None:
        super().__init__(placeholder=placeholder, id=id)
        self.highlight_cursor_line = False
        self.cursor_blink = False
        self.match_cursor_bracket = False
        self.assistant: Assistant | None = None
        self.keep_dropped: Callable[[str], str] = str
        """From the path of a dropped file to the one that the prompt mentions."""
        self._recalls = {False: Recall(), True: Recall()}
        """By shell mode: each mode has its own history."""
        self._pastes = Pastes()
        self._search: Search | None = None

    # --- for the app ---

    @property
    def is_empty(self) -> bool:
        """Whether nothing is typed and no search is active."""
        return not self.text and self._search is None

    def load(self, text: str) -> None:
        """Replaces the text, with the cursor at its end."""
        if self._search is not None:
            self._end_search("")
        self._pastes.forget()
        self._recall.leave()
        self._show(clean(text))

    def clear(self) -> EditResult:
        """Undo or `↑` restores the text. During a search, ends that instead and restores the text before it."""
        if self._search is None:
            self._recall.add(self._pastes.expand(self.text).rstrip())
            return super().clear()
        self._end_search(self._search.draft)
        return EditResult(self.document.end, "")

    def remember(self, entries: Iterable[str], *, shell: bool = False) -> None:
        """Adds earlier entries (oldest first) to the history, before the current ones."""
        self._recalls[shell].before(Recall(clean(entry) for entry in entries))

    def replace_span(self, start: int, end: int, text: str) -> None:
        """Replaces a part of the text, given by indexes, with the cursor at its end."""
        self.replace(text, self.place_of(start), self.place_of(end), maintain_selection_offset=False)

    @property
    def _recall(self) -> Recall:
        return self._recalls[self.shell]

    # --- changes ---

    def edit(self, edit: Edit) -> EditResult:
        result = super().edit(edit)
        self._typed()
        return result

    def undo(self) -> None:
        super().undo()
        self._typed()

    def redo(self) -> None:
        super().redo()
        self._typed()

    def _typed(self) -> None:
        self.scroll_cursor_visible()  # again: during the edit, the text had its old height
        self.post_message(self.Typed())
        if self.assistant is not None:
            self.assistant.text_changed()

    def _show(self, text: str, *, at_end: bool = True) -> None:
        """Shows text that was not typed: it gets no completions, and undo does not go back beyond it."""
        self.load_text(text)
        first_line_end = (0, len(self.document.get_line(0)))
        self.move_cursor(self.document.end if at_end else first_line_end)
        if self.assistant is not None:
            self.assistant.close()

    def on_text_area_selection_changed(self) -> None:
        if self.assistant is not None:
            self.assistant.cursor_moved()

    # --- keys ---

    async def _on_key(self, event: Key) -> None:
        if self._search is not None:
            taken = self._search_key(self._search, event) or self._own_key(event)
        else:
            helped = self.assistant is not None and self.assistant.take_key(event.key)
            taken = helped or self._own_key(event)
        if taken or await self._run_binding(event.key):
            taken = True
            event.stop()
        if taken or event.key.startswith("alt+"):  # Alt with a letter is a command, not that letter
            event.prevent_default()

    async def _run_binding(self, key: str) -> bool:
        """Runs it immediately: the app would run it after later keys, and Enter would send what Backspace deleted."""
        bindings = self._bindings.key_to_bindings.get(key, ())
        for binding in bindings:
            if await self.app.run_action(binding.action, self):  # pyright: ignore[reportUnknownMemberType]
                return True
        return False

    def _own_key(self, event: Key) -> bool:
        match event.key:
            case "enter":
                self._enter()
            case "up" | "ctrl+p" if self._is_at_top():
                return self._walk(self._recall.older(self.text), at_end=False)
            case "down" | "ctrl+n" if self._is_at_bottom():
                return self._walk(self._recall.newer(), at_end=True)
            case "ctrl+c" if self.text and self.selection.is_empty:
                self.clear()
            case "backspace" if self.shell and self.is_empty:
                self.shell = False
            case _ if event.character == "!" and self.is_empty and not self.shell:
                self.shell = True
                self.post_message(self.Typed())
            case _:
                return False
        return True

    def _enter(self) -> None:
        row, column = self.cursor_location
        line = self.document.get_line(row)
        if column < len(line) or not line.endswith("\\"):
            self.submit()
        elif self.shell:  # in the shell, the backslash belongs to the command
            self.insert("\n")
        else:
            self.replace("\n", (row, column - 1), (row, column), maintain_selection_offset=False)

    def submit(self, *, steer: bool = False) -> None:
        """Sends the text, unless it is blank. The next line is for the model again."""
        text = self._pastes.expand(self.text).lstrip("\n").rstrip()
        if not text:
            self.post_message(self.NothingSubmitted())
            return
        shown = self.text.lstrip("\n").rstrip()
        self.post_message(self.ShellSubmitted(text) if self.shell else self.Submitted(text, shown, steer=steer))
        self._recall.add(text)
        self._pastes.forget()
        self._show("")
        self.shell = False

    def action_steer(self) -> None:
        self.submit(steer=True)

    def action_newline(self) -> None:
        self.replace("\n", *self.selection, maintain_selection_offset=False)

    def action_edit_outside(self) -> None:
        self.post_message(self.EditWanted(self._pastes.expand(self.text)))

    def action_delete_left(self) -> None:
        """Deletes a placeholder as a whole."""
        placeholder = self._pastes.ending(self.text[: self.cursor_index]) if self.selection.is_empty else ""
        if placeholder:
            self.replace_span(self.cursor_index - len(placeholder), self.cursor_index, "")
        else:
            super().action_delete_left()

    def action_delete_right(self) -> None:
        if self.is_empty:
            raise SkipAction  # Ctrl-D with nothing to delete is for the app
        super().action_delete_right()

    def action_cursor_page_up(self) -> None:
        self._skip_if_all_is_seen()
        super().action_cursor_page_up()

    def action_cursor_page_down(self) -> None:
        self._skip_if_all_is_seen()
        super().action_cursor_page_down()

    def _skip_if_all_is_seen(self) -> None:
        """With nothing to scroll here, the key is for the app."""
        if self.wrapped_document.height <= self.size.height:
            raise SkipAction

    # --- paste ---

    async def _on_paste(self, event: Paste) -> None:
        event.stop()
        event.prevent_default()
        self.paste(event.text)

    def action_paste(self) -> None:
        text = str(self.app.clipboard)  # pyright: ignore[reportUnknownMemberType, reportUnknownArgumentType]
        if text:
            self.paste(text)
        else:
            self.post_message(self.PictureWanted())

    def paste(self, pasted: str) -> None:
        text = clean(pasted)
        if self._search is not None:
            self._ask(self._search, self._search.query + text.partition("\n")[0])
        elif path := dropped_file(text):
            self.mention(self.keep_dropped(path))
        elif text:
            self.replace(self._pastes.shown(text), *self.selection, maintain_selection_offset=False)

    def mention(self, path: str) -> None:
        self.replace(f"{mention(path)} ", *self.selection, maintain_selection_offset=False)

    # --- history ---

    def _is_at_top(self) -> bool:
        return self.wrapped_document.location_to_offset(self.cursor_location).y == 0

    def _is_at_bottom(self) -> bool:
        return self.wrapped_document.location_to_offset(self.cursor_location).y >= self.wrapped_document.height - 1

    def _walk(self, entry: str | None, *, at_end: bool) -> bool:
        """Shows the entry so that the same key continues. Without an entry, the key only moves the cursor."""
        if entry is not None:
            self._show(entry, at_end=at_end)
        return entry is not None

    def action_search(self) -> None:
        self._search = Search(self._recall, self.text)
        if self.assistant is not None:
            self.assistant.close()
        self.post_message(self.Searching(""))

    def _search_key(self, search: Search, event: Key) -> bool:
        """Handles the keys of the search; any other key ends it with what was found, and does what it usually does."""
        match event.key:
            case "ctrl+r":
                search.again()
                self._show_found(search)
            case "backspace":
                self._ask(search, search.query[:-1])
            case "enter" | "tab":
                self._end_search(search.draft if search.found is None else search.found)
            case key if key in _LEAVE_SEARCH:
                self._end_search(search.draft)
            case key if event.is_printable and event.character and not key.startswith("alt+"):
                self._ask(search, search.query + event.character)
            case _:
                self._end_search(search.draft if search.found is None else search.found)
                return False
        return True

    def _ask(self, search: Search, query: str) -> None:
        search.ask(query)
        self._show_found(search)
        self.post_message(self.Typed())

    def _show_found(self, search: Search) -> None:
        self._show(search.draft if search.found is None else search.found)
        self.post_message(self.Searching(search.query, found=search.found is not None or not search.query))

    def _end_search(self, text: str) -> None:
        self._search = None
        self._show(text)
        self.post_message(self.Searching(None))
