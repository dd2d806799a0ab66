"""The input with everything around it: a mark before it, completions and a search line above it."""

from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.widgets import Static

from assent.front.tui.lines_below import LinesBelow
from assent.front.tui.prompt.completion import Completions
from assent.front.tui.prompt.popup import CompletionList
from assent.front.tui.prompt.prompt_input import PromptInput

PROMPT_MARK, SHELL_MARK = ">", "!"
SHELL_PLACEHOLDER = "A command to run yourself; press Esc to return to the model"


class PromptBox(LinesBelow, Vertical):
    """The messages of the input pass through it to the app."""

    DEFAULT_CSS = """
    PromptBox {
        height: auto;
        & > Horizontal { height: auto; }
        & #prompt-mark { width: 2; color: $accent; }
        & #prompt-search { height: 1; display: none; color: $text-muted; }
        &.-shell #prompt-mark { color: $warning; }
    }
    """

    def __init__(self, completions: Completions, placeholder: str = "", *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._placeholder = placeholder
        self.input = PromptInput(placeholder, id="prompt-input")
        self.completions = CompletionList(completions, self.input)
        self._mark = Static(PROMPT_MARK, id="prompt-mark")
        self._search = Static("", id="prompt-search", markup=False)

    def compose(self) -> ComposeResult:
        yield self.completions
        yield self._search
        with Horizontal():
            yield self._mark
            yield self.input

    def on_mount(self) -> None:
        self.watch(self.input, "shell", self._shell_changed)

    def _shell_changed(self, shell: bool) -> None:
        self.set_class(shell, "-shell")
        self._mark.update(SHELL_MARK if shell else PROMPT_MARK)
        self.input.placeholder = SHELL_PLACEHOLDER if shell else self._placeholder

    def on_prompt_input_searching(self, message: PromptInput.Searching) -> None:
        message.stop()
        self._search.display = message.query is not None
        nothing = "" if message.found else "  (not found)"
        self._search.update(Content(f"search the history: {message.query or ''}{nothing}"))
