"""The list of completions above the input: what it offers, how to move in it, and inserting the choice."""

import asyncio
import time
from collections.abc import Callable, Sequence
from functools import partial

from textual.content import Content
from textual.events import Click
from textual.widget import Widget

from assent.app.wording import safe
from assent.front.tui.prompt.completion import MAX_SHOWN, Candidate, Completions, Word, ranked, replacement, word_at
from assent.front.tui.prompt.path_index import PathIndex
from assent.front.tui.prompt.prompt_input import PromptInput

FRESH_SECONDS = 5.0
"""How long a list of files or commands stays fresh; an older one is still shown while the next is read."""


class CompletionList(Widget):
    """Covers what is above the input. It never has the focus: the input passes it keys (see `Assistant`)."""

    DEFAULT_CSS = """
    CompletionList {
        overlay: screen; constrain: none inside; display: none;
        width: 1fr; max-width: 100; height: auto; padding: 0 1;
        background: $panel; color: $foreground; text-wrap: nowrap; text-overflow: ellipsis;
    }
    """

    def __init__(
        self, completions: Completions, prompt: PromptInput, clock: Callable[[], float] = time.monotonic
    ) -> None:
        super().__init__()
        self._completions = completions
        self._prompt = prompt
        self.clock = clock
        self._word: Word | None = None
        self._offered: Sequence[Candidate] = ()
        self._chosen: int | None = None
        self._top = 0
        """The first candidate on the screen."""
        self._dismissed: tuple[str, int] | None = None
        """The word (its kind and position) for which the person closed the list."""
        self._index = PathIndex(())
        self._files_end = 0.0
        """When the list of files expires."""
        self._reading_files = False
        self._commands_end = 0.0
        prompt.assistant = self

    @property
    def is_open(self) -> bool:
        return bool(self._offered)

    @property
    def offered(self) -> list[str]:
        return [candidate.name for candidate in self._offered]

    @property
    def chosen(self) -> str | None:
        return None if self._chosen is None else self._offered[self._chosen].name

    # --- the assistant ---

    def text_changed(self) -> None:
        word = self._word_now()
        if word is None or (word.kind, word.start) != self._dismissed:
            self._dismissed = None
            self._look_up(word)

    def cursor_moved(self) -> None:
        if self.is_open and self._word_now() != self._word:
            self.close()

    def close(self) -> None:
        self._word = None
        self._offer(())

    def take_key(self, key: str) -> bool:
        match key:
            case "tab" if not self.is_open:
                self._dismissed = None
                self._look_up(self._word_now())
                return self.is_open
            case _ if not self.is_open:
                return False
            case "tab":
                self._accept(self._chosen or 0)
            case "enter" if self._chosen is not None and not self._is_typed(self._chosen):
                self._accept(self._chosen)
            case "up" | "ctrl+p":
                self._choose((self._chosen or 0) - 1)
            case "down" | "ctrl+n":
                self._choose(0 if self._chosen is None else self._chosen + 1)
            case "escape":
                self._dismissed = (self._word.kind, self._word.start) if self._word else None
                self.close()
            case _:
                return False
        return True

    # --- finding ---

    def _word_now(self) -> Word | None:
        return None if self._prompt.shell else word_at(self._prompt.text, self._prompt.cursor_index)

    def _look_up(self, word: Word | None) -> None:
        self._word = word
        if word is None:
            self._offer(())
            return
        match word.kind:
            case "command":
                self._offer(ranked(word.typed, self._completions.commands()))
                self._refresh_commands()
            case "argument":
                self._look_up_argument(word)
            case "file":
                self._offer([Candidate(path) for path in self._index.best(word.typed)])
                self._refresh_files()

    def _look_up_argument(self, word: Word) -> None:
        self._offer(())
        look = partial(self._ask_for_arguments, word)  # no coroutine yet: the worker may never start
        self.run_worker(look, group="arguments", exclusive=True, exit_on_error=False)

    async def _ask_for_arguments(self, word: Word) -> None:
        found = await self._completions.arguments(word.command, word.typed)
        if word == self._word:
            self._offer(ranked(word.typed, found))

    def _refresh_commands(self) -> None:
        if self.clock() >= self._commands_end:
            self._commands_end = self.clock() + FRESH_SECONDS
            self.run_worker(self._learn_commands, group="commands", exclusive=True, exit_on_error=False)

    async def _learn_commands(self) -> None:
        changed = await self._completions.learn_commands()
        if changed and self._word is not None and self._word.kind == "command":
            self._offer(ranked(self._word.typed, self._completions.commands()))

    def _refresh_files(self) -> None:
        if not self._reading_files and self.clock() >= self._files_end:
            self._reading_files = True
            self.run_worker(self._read_files, group="files", exit_on_error=False)

    async def _read_files(self) -> None:
        try:
            paths = await self._completions.files()
            self._index = await asyncio.to_thread(PathIndex, paths)
        finally:  # also after a failure, so that not every key asks again
            self._files_end = self.clock() + FRESH_SECONDS
            self._reading_files = False
        if self._word is not None and self._word.kind == "file":
            self._offer([Candidate(path) for path in self._index.best(self._word.typed)])

    # --- choosing ---

    def _offer(self, candidates: Sequence[Candidate]) -> None:
        before = self.chosen
        self._offered = candidates
        self._chosen = self._first_choice(before)
        self.display = bool(candidates)
        self._top = 0
        self._keep_choice_visible()
        border = self.parent.gutter.top if isinstance(self.parent, Widget) else 0
        self.styles.offset = (0, -self._height - border)
        self.refresh(layout=True)

    @property
    def _height(self) -> int:
        """Lines; with more candidates than fit, one for how many there are."""
        return min(len(self._offered), MAX_SHOWN + 1)

    def _keep_choice_visible(self) -> None:
        chosen = self._chosen or 0
        self._top = min(max(self._top, chosen - MAX_SHOWN + 1), chosen)

    def _first_choice(self, before: str | None) -> int | None:
        """The previous choice, if it is still there. Before anything is typed, nothing is chosen: Enter sends."""
        if not self._offered or self._word is None:
            return None
        if self._is_word_begun(self._word):
            return 0
        return self.offered.index(before) if before in self.offered else None

    def _is_word_begun(self, word: Word) -> bool:
        match word.kind:
            case "command":
                return True
            case "argument":
                return bool(word.typed)
            case "file":
                return bool(word.typed) and not word.typed.endswith("/")

    def _choose(self, index: int) -> None:
        self._chosen = index % len(self._offered)
        self._keep_choice_visible()
        self.refresh()

    def _is_typed(self, index: int) -> bool:
        """Whether the text already says this."""
        word = self._word
        return word is not None and self._replacement(word, index).rstrip() == self._prompt.text[word.start : word.end]

    def _replacement(self, word: Word, index: int) -> str:
        return replacement(word, self._offered[index].name)

    def _accept(self, index: int) -> None:
        if (word := self._word) is not None:
            self._prompt.replace_span(word.start, word.end, self._replacement(word, index))

    def on_click(self, event: Click) -> None:
        offset = event.get_content_offset(self)
        if offset is not None and offset.y < len(self._shown):
            self._accept(self._top + offset.y)
        self._prompt.focus()

    # --- showing ---

    def render(self) -> Content:
        names = [safe(name, "label") for name in self.offered]
        width = max((len(name) for name in names), default=0) + 2
        lines = [self._line(n, names[n], width) for n in self._shown]
        if len(names) > MAX_SHOWN:
            last = self._shown[-1] + 1
            lines.append(Content.styled(f"{self._top + 1}–{last} of {len(names)} (↑ ↓)", "dim"))
        return Content("\n").join(lines)

    @property
    def _shown(self) -> range:
        """The candidates on the screen, by index."""
        return range(self._top, min(self._top + MAX_SHOWN, len(self._offered)))

    def _line(self, index: int, name: str, width: int) -> Content:
        help = safe(self._offered[index].help, "label")
        line = Content.assemble(name.ljust(width) if help else name, (help, "dim"))
        return line.stylize("reverse") if index == self._chosen else line
