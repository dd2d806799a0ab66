"""Answers that take more than one key: which screen asks for the rest, and what is then sent to the session."""

from typing import TYPE_CHECKING, Any

from assent.app.call_states import AwaitingApproval
from assent.approval import EditDetails, Grant
from assent.commands import Answer
from assent.front.tui.answer_screens import ArgumentsScreen, ReasonScreen
from assent.front.tui.ask_draft import AskDraft
from assent.front.tui.ask_screen import AskScreen
from assent.front.tui.begun_answers import BegunAnswer
from assent.front.tui.executed_view import show_executed
from assent.front.tui.external_input import in_editor
from assent.front.tui.key_guard import KeyGuard
from assent.front.tui.scope_screen import ScopeScreen
from assent.parts import JsonObject

if TYPE_CHECKING:
    from assent.front.tui.terminal_app import AssentApp


class AnswerFlow:
    """One call, one answer. Screens are pushed synchronously: with a task, a fast Enter could reach the question."""

    def __init__(
        self,
        app: "AssentApp",
        call: AwaitingApproval,
        guard: KeyGuard,
        begun: BegunAnswer,
        draft: AskDraft | None = None,
    ) -> None:
        """`draft`: what was answered so far, if the model asks."""
        self._app = app
        self._draft = draft
        self._begun = begun
        self._call = call
        self._guard = guard

    def ask(self, key: str) -> None:
        """`key` is the key pressed at the question."""
        push, call, guard = self._app.push_screen, self._call, self._guard
        match key:
            case _ if self._draft is not None and key != "r":
                number = int(key) if key.isdecimal() else 0
                push(AskScreen(call, guard, self._draft, own_words=key == "a", number=number), self._reply)
            case "o":
                self._app.spawn(show_executed(self._app, call))
            case "a":
                push(ScopeScreen(call, guard), self._always)
            case "r":
                push(ReasonScreen(call, guard, self._begun), self._refuse)
            case "i":
                push(ArgumentsScreen(call, guard, self._begun), self._change)
            case _:
                self._app.spawn(self._edit())

    def _send(self, **how: Any) -> None:
        client = self._app.client
        by = client.me if client is not None else ""
        answer = Answer(call_id=self._call.request.call_id, digest=self._call.approval.digest, by=by, **how)
        self._app.spawn(self._app.send(answer))

    def _always(self, scope: Grant | None) -> None:
        if scope is not None:
            self._send(outcome="proceed_always", scope=scope.id)

    def _refuse(self, reason: str | None) -> None:
        if reason is not None:
            self._send(outcome="cancel", reason=reason)

    def _change(self, args: JsonObject | None) -> None:
        if args is not None and args != self._call.request.args:
            self._send(outcome="modify_with_editor", args=args)  # judged and asked again: its risk may be another one

    def _reply(self, answers: tuple[str, ...] | None) -> None:
        if answers is not None:
            self._send(outcome="proceed_once", answers=answers)

    async def _edit(self) -> None:
        """Opens the person's editor on the proposal; the question is then asked again with the edited content."""
        details = self._call.approval.details
        assert isinstance(details, EditDetails)
        self._send(outcome="modify_with_editor")  # other clients see that someone is editing it
        content = await in_editor(self._app, details.path, self._begun.content or details.new)
        changed = content is not None and content != details.new
        if content is not None:
            self._begun.content = content if changed else ""
        self._send(outcome="modify_with_editor", content=content if changed else details.new)
        if content == details.new:  # if the editor failed, that has been said
            self._app.note("Nothing was changed.")
        if self._app.prompt.is_empty:
            self._app.panel.focus()
