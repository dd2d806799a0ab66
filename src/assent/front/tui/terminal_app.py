"""The app: puts the parts on the screen, opens the session after the first frame, and connects them.

Keys become commands; what happens in the session comes through `session_link`. All it knows comes from `client.state`.
"""

import asyncio
import os
import signal
import sys
import time
from collections.abc import Callable, Coroutine, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from textual import on
from textual.actions import SkipAction
from textual.app import App, ComposeResult
from textual.binding import Binding, BindingType
from textual.events import DescendantFocus, TextSelected
from textual.filter import LineFilter

from assent import exit_codes
from assent.app.preferences import PreferenceFile, preference_file
from assent.approval import Mode
from assent.commands import Command, RunTool, Submit
from assent.config import TerminalSettings
from assent.front.tui.app_context import AppContext, ContextCompletions
from assent.front.tui.attention import Attention
from assent.front.tui.bars import FootLine, QueueView, StatusLine
from assent.front.tui.begun_answers import BegunAnswers
from assent.front.tui.external_input import edit_prompt, keep_dropped, paste_picture
from assent.front.tui.farewell import farewell
from assent.front.tui.few_colours import FewColours
from assent.front.tui.host import Choices
from assent.front.tui.input_panel import InputPanel
from assent.front.tui.key_guard import KeyGuard
from assent.front.tui.main_screen import MainScreen
from assent.front.tui.mode_cycle import ModeCycle
from assent.front.tui.own_colours import OwnColours
from assent.front.tui.prompt.paste_driver import GuardedDriver
from assent.front.tui.prompt.prompt_box import PromptBox
from assent.front.tui.prompt.prompt_input import PromptInput
from assent.front.tui.question_panel import ApprovalPanel
from assent.front.tui.render import ItemRenderer
from assent.front.tui.scrollback import last_lines, print_lines
from assent.front.tui.selection import Selection
from assent.front.tui.session_link import SessionLink
from assent.front.tui.status import StatusUpdater
from assent.front.tui.stop_keys import Stopping
from assent.front.tui.text_style import TextStyler
from assent.front.tui.themes import DEFAULT_LOOK, LOOKS, WITHOUT_COLOURS, chosen_look
from assent.front.tui.todo_view import TodoView
from assent.front.tui.transcript import Transcript
from assent.front.tui.transcript_model import Item, NoteItem, Tone, TranscriptModel
from assent.front.tui.typed_elsewhere import TypedElsewhere

if TYPE_CHECKING:  # what opens sessions is imported after the first frame
    from textual.driver import Driver
    from textual.strip import Strip

    from assent.app.session_client import SessionClient
    from assent.front.tui.host import Host
    from assent.front.tui.reading import Reading
    from assent.front.tui.session_feed import SessionFeed

LEAVING = ("exit", "quit")
"""Typed alone, they quit, as in a shell."""
PLACEHOLDER = "Ask something, or /help"


class AssentApp(App[None]):
    CSS_PATH = "style.tcss"
    TITLE = "Assent"
    ENABLE_COMMAND_PALETTE = False
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+c", "interrupt", "stop; clear the input; press twice to quit", priority=True),
        Binding("ctrl+d", "leave", "quit, if the input is empty"),
        Binding("ctrl+z", "suspend_process", "suspend", priority=True),
        Binding("ctrl+o", "fold_all", "expand or collapse all calls", priority=True),
        Binding("f2", "answer", "go to the question and back", priority=True),
        Binding("shift+tab", "next_mode", "next mode", priority=True),
        Binding("escape", "escape", "stop the turn; what is queued waits for Enter"),
        Binding("up", "take_back", "edit the last queued message", show=False, priority=True),
        Binding("pageup", "page(-1)", "scroll up", show=False),
        Binding("pagedown", "page(1)", "scroll down", show=False),
        Binding("f3", "search", "search the conversation", priority=True),
        Binding("ctrl+end", "go_to_end", "jump to the end", priority=True),
        Binding("ctrl+up", "read", "move through the transcript", show=False),
    ]

    def __init__(
        self,
        host: "Host",
        *,
        session: str | None = None,
        mode: Mode | None = None,
        first_prompt: str = "",
        first_note: str = "",
        preferences: PreferenceFile | None = None,
        look: str = DEFAULT_LOOK,
        guard: KeyGuard | None = None,
        terminal: TerminalSettings = TerminalSettings(),  # noqa: B008  (frozen)
        clock: Callable[[], float] = time.time,
        timer: Callable[[], float] = time.monotonic,
        driver_class: "type[Driver] | None" = None,
    ) -> None:
        super().__init__(driver_class)
        self.host = host
        self._start = (session, mode, first_prompt, first_note)
        self._guard = guard or KeyGuard()
        self._clock, self._timer = clock, timer
        self._styler = TextStyler(LOOKS[look].palette)
        self._look = look
        self.conversation = TranscriptModel()
        self._renderer = ItemRenderer(self._styler, self._calls)
        self.context = AppContext(self, preferences or PreferenceFile(Path(os.devnull)))
        self._status = StatusUpdater(self, clock)
        self._selection = Selection(self)
        self.begun = BegunAnswers()
        self._tasks: set[asyncio.Task[Any]] = set()
        self._stopping = Stopping(self)
        self.modes = ModeCycle(self)
        self._terminal = terminal
        self.link = SessionLink(self, self._status, Attention(self, self._guard, terminal.notify))
        for one in LOOKS.values():
            self.register_theme(one.theme)
        self.theme = look
        self._own_colours = OwnColours()
        self._few_colours = FewColours(enabled=self.console.color_system == "256")

    def get_line_filters(self) -> Sequence[LineFilter]:
        if self.no_color and self.theme == WITHOUT_COLOURS:
            return [self._own_colours]
        return [*super().get_line_filters(), *([self._few_colours] if self._few_colours.enabled else [])]

    def _fatal_error(self) -> None:
        """Textual would show all variables, and one of them may be an API key."""
        from rich.text import Text

        from assent.app.crash import trace_of

        self.link.restore_title()
        self.bell()
        if self._exception is not None:
            self.panic(Text(trace_of(self._exception)))

    def get_default_screen(self) -> MainScreen:
        return MainScreen(id="_default")

    def compose(self) -> ComposeResult:
        yield Transcript(self.conversation, self._renderer, id="transcript")
        yield ApprovalPanel(self.styler, self._guard, self._me, self._terminal.enter)
        yield InputPanel(self.styler, self._guard)
        yield StatusLine(self.styler, self._clock, self._timer)
        yield TodoView(self.styler)
        yield QueueView(self.styler)
        yield PromptBox(ContextCompletions(self.context), PLACEHOLDER, id="prompt")
        yield FootLine(self.styler)

    def styler(self) -> TextStyler:
        return self._styler

    @property
    def client(self) -> "SessionClient | None":
        return self.link.client

    @property
    def feed(self) -> "SessionFeed":
        return self.link.feed

    def _me(self) -> str:
        return self.link.me

    def _calls(self) -> dict[str, Any]:
        return self.client.state.calls if self.client is not None else {}

    # --- the parts ---

    @property
    def transcript(self) -> Transcript:
        return self.query_one(Transcript)

    @property
    def panel(self) -> ApprovalPanel:
        return self.query_one(ApprovalPanel)

    @property
    def prompt(self) -> PromptInput:
        return self.query_one(PromptInput)

    @property
    def input_panel(self) -> InputPanel:
        return self.query_one(InputPanel)

    # --- opening and closing ---

    def on_mount(self) -> None:
        self.prompt.keep_dropped = partial(keep_dropped, self)
        self.prompt.focus()
        self._status.begin()
        self.call_after_refresh(self._begin)

    def _begin(self) -> None:
        """Called after the first frame; starts everything else."""
        loop = asyncio.get_running_loop()
        for number in (signal.SIGHUP, signal.SIGTERM):
            loop.add_signal_handler(number, self.exit)  # the terminal is lost; the session stays as it is
        self.host.on_servers(self._servers_changed)
        session, mode, first_prompt, note = self._start
        self.spawn(self.link.open(session, Choices(mode), first_prompt, note))

    def spawn(self, work: Coroutine[Any, Any, object]) -> None:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def on_app_focus(self) -> None:
        self.link.look_at_branch()

    def last_lines(self) -> "list[Strip]":
        """The end of the conversation; nothing if nothing was said."""
        if self.client is None or not self.client.state.begun:
            return []
        return last_lines(self.conversation.items, self._renderer, max(self.size.width - 2, 20))

    def on_exit_app(self) -> None:
        self.link.restore_title()

    async def shut_down(self) -> None:
        """After the screen is closed: stops what is running, keeps what is waiting."""
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self.link.close()
        await self.host.close()

    # --- the terminal ---

    def write_to_terminal(self, sequence: str) -> None:
        """For sequences that Textual does not support. Never untrusted text."""
        if sequence and self._driver is not None and not self.is_headless:
            self._driver.write(sequence)

    @on(InputPanel.Typed)
    async def _type_in(self, message: InputPanel.Typed) -> None:
        if self.client is None:
            return
        if problem := await self.client.type_in(message.call_id, message.number, message.text):
            self.note(f"Not typed: {problem}", "warning")

    @on(InputPanel.Left)
    def _left_input(self) -> None:
        self.prompt.focus()

    def _servers_changed(self) -> None:
        self.context.commands.set_prompts(self.host.server_prompts())
        self._status.servers(self.host.servers())

    # --- prompts and commands ---

    @on(PromptInput.Submitted)
    def _submitted(self, message: PromptInput.Submitted) -> None:
        self.transcript.go_to_end()
        self.spawn(self._take(message))  # a command may wait for a screen; the app must not block

    async def _take(self, message: PromptInput.Submitted) -> None:
        if message.text.strip() in LEAVING:
            self.quit()
            return
        await self.link.settled()
        self.conversation.typed(message.text, message.shown)
        if not await self.context.commands.run(message.text, self.context):
            await self.submit(message.text, steer=message.steer)

    async def submit(self, text: str, *, steer: bool = False) -> None:
        """What could not be sent is in the input again, unless something else has been typed there."""
        sent = await self.send(Submit(text, by=self._me(), steer=steer))
        if not sent and self.prompt.is_empty:
            self.prompt.paste(text)

    @on(PromptInput.NothingSubmitted)
    async def _release(self) -> None:
        await self._stopping.release()

    @on(PromptInput.ShellSubmitted)
    def _shell(self, message: PromptInput.ShellSubmitted) -> None:
        self.transcript.go_to_end()
        self.spawn(self._run_shell(message.command))

    async def _run_shell(self, command: str) -> None:
        await self.link.settled()
        await self.send(RunTool("run_shell_command", {"command": command}, by=self._me()))

    async def send(self, command: Command) -> bool:
        """Whether it has arrived."""
        await self.modes.arrive()
        return await self.link.send(command)

    def show_status(self) -> None:
        self._status.refresh()

    @on(TypedElsewhere)
    def _typed_elsewhere(self, message: TypedElsewhere) -> None:
        self.prompt.focus()
        self.prompt.insert(message.text)

    @on(PromptInput.Typed)
    def _typed(self) -> None:
        self._guard.disturb()
        self.query_one(QueueView).typing(not self.prompt.is_empty)

    def note(self, text: str, tone: Tone = "quiet", *, markdown: bool = False) -> None:
        self.add(NoteItem(text, tone, markdown=markdown))

    def add(self, item: Item) -> None:
        self.conversation.add(item)
        if self.conversation.arriving:
            self._add_above_reply(item)
        else:
            self.transcript.changed()

    def _add_above_reply(self, item: Item) -> None:
        """It stands above the reply that is still arriving; if that fills the screen, nobody would notice it."""
        self.transcript.redraw_now()
        if self.transcript.has_passed(item):
            said = item.text if isinstance(item, NoteItem) and not item.markdown else "Above this reply: PgUp"
            self.notify(said, markup=False)

    def show_conversation(self, conversation: TranscriptModel) -> None:
        self.conversation = conversation
        self.transcript.show(conversation)

    # --- answers ---

    @on(ApprovalPanel.Answered)
    async def _answered(self, message: ApprovalPanel.Answered) -> None:
        await self.send(message.answer)

    @on(ApprovalPanel.Left)
    def _left(self) -> None:
        self.prompt.focus()

    @on(ApprovalPanel.Wanted)
    def _wanted(self, message: ApprovalPanel.Wanted) -> None:
        from assent.front.tui.answer_flow import AnswerFlow

        begun = self.begun.of(
            self.client.state.session if self.client is not None else "", message.call.request.call_id
        )
        AnswerFlow(self, message.call, self._guard, begun, message.draft).ask(message.key)

    @on(ApprovalPanel.ReviewWanted)
    def _review(self, message: ApprovalPanel.ReviewWanted) -> None:
        from assent.front.tui.review import ReviewScreen

        def done(everything: bool | None) -> None:
            self.panel.reviewed(message.question, everything=bool(everything))

        self.push_screen(ReviewScreen(message.question, self.styler, self._guard), done)

    # --- reading and copying ---

    def reading(self) -> "Reading":
        from assent.front.tui.reading import Reading

        return Reading(self.conversation, self._calls(), partial(self.host.whole_output, self.context.session))

    def copy(self, text: str) -> None:
        from assent.front.tui.clipboard import copy_text

        self.notify(copy_text(self, text), markup=False)

    @on(TextSelected)
    def _selected(self) -> None:
        self._selection.ended()

    @on(Transcript.Wanted)
    def _read_item(self, message: Transcript.Wanted) -> None:
        document = self.reading().of(message.item)
        if document is None:
            return
        if message.what == "copy":
            self.copy(document.text)
        else:
            self.spawn(self.context.view(document))

    def action_search(self) -> None:
        if not isinstance(self.screen, MainScreen):
            raise SkipAction
        from assent.front.tui.viewer import ViewerScreen

        self.push_screen(ViewerScreen(self.reading().conversation(), self.styler, search=""))  # now: typing may follow

    @on(PromptInput.EditWanted)
    def _edit_prompt(self, message: PromptInput.EditWanted) -> None:
        self.spawn(edit_prompt(self, message.text))

    @on(PromptInput.PictureWanted)
    def _paste_picture(self) -> None:
        if self.client is not None:
            self.spawn(paste_picture(self, self.client.state.session))

    # --- keys ---

    @on(DescendantFocus)
    def _focus_moved(self) -> None:
        self._status.refresh()

    def action_interrupt(self) -> None:
        if self._stopping.can_stop or not self._selection.copy():  # copies, as in every other window, if nothing runs
            self._stopping.interrupt()

    def action_leave(self) -> None:
        self._stopping.leave()

    def quit(self) -> None:
        self._stopping.quit()

    def action_escape(self) -> None:
        self._stopping.escape()

    def action_answer(self) -> None:
        """Switches to the question, or to the input of a command, and back."""
        if self.panel.has_keyboard or self.input_panel.line.has_focus:
            self.prompt.focus()
        elif self.panel.call is not None:
            self.panel.focus()
        elif self.input_panel.display:
            self.input_panel.line.focus()

    def action_next_mode(self) -> None:
        if not isinstance(self.screen, MainScreen):
            raise SkipAction  # there it moves to the previous field
        self.modes.forward()

    def action_fold_all(self) -> None:
        self.transcript.fold_all()

    def action_page(self, step: int) -> None:
        self.transcript.scroll_relative(y=step * max(self.transcript.size.height - 2, 1), animate=False)

    def action_go_to_end(self) -> None:
        self.transcript.go_to_end()

    def action_read(self) -> None:
        self.transcript.focus()

    async def action_take_back(self) -> None:
        await self._stopping.take_back()

    # --- looks ---

    def set_look(self, name: str) -> None:
        self._look = name
        self._styler = TextStyler(LOOKS[name].palette)
        self._renderer.use(self._styler)
        self.theme = name
        self.transcript.redraw()
        self.panel.redraw()
        self._status.redraw()


def show_terminal(
    host: "Host",
    *,
    session: str | None = None,
    mode: Mode | None = None,
    again: str = "assent --resume",
    prompt: str = "",
    terminal: TerminalSettings = TerminalSettings(),  # noqa: B008  (frozen)
) -> int:
    """Runs the UI until the person leaves it, and says how to continue. `prompt` is sent at once."""
    preferences = preference_file(os.environ)
    app = AssentApp(
        host,
        session=session,
        mode=mode,
        first_prompt=prompt,
        driver_class=GuardedDriver,
        preferences=preferences,
        look=chosen_look(preferences.chosen.theme, os.environ),
        terminal=terminal,
    )
    asyncio.run(run_app(app))
    for line in farewell(app.link, again):
        sys.stderr.write(line + "\n")
    return app.return_code or exit_codes.OK


async def run_app(app: AssentApp) -> None:
    """What was said stays in the terminal's scrollback after the screen is closed."""
    try:
        await app.run_async()
    finally:
        lines = app.last_lines()
        await app.shut_down()
        print_lines(lines)
