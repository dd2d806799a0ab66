"""The session on the screen: opens it, shows its events as they come, sends commands to it, and closes it."""

import asyncio
from typing import TYPE_CHECKING

from assent.app.wording import clause, safe, who
from assent.commands import Command
from assent.events import (
    ApprovalAnswered,
    ApprovalRequested,
    CallFinished,
    CallOutput,
    CallProcess,
    CallStarted,
    CommandTaken,
    Envelope,
    ModeChanged,
    ModelReplied,
    PromptSubmitted,
    TextDelta,
    ThoughtDelta,
    TurnFinished,
)
from assent.front.tui.host import NO_CHOICES, Choices
from assent.front.tui.opening_notes import check_model, introduce
from assent.front.tui.session_feed import SessionFeed
from assent.front.tui.transcript_model import TranscriptModel

if TYPE_CHECKING:  # what opens sessions is imported after the first frame
    from assent.app.session_client import SessionClient
    from assent.front.tui.attention import Attention
    from assent.front.tui.status import StatusUpdater
    from assent.front.tui.terminal_app import AssentApp


class SessionLink:
    def __init__(self, app: "AssentApp", status: "StatusUpdater", attention: "Attention") -> None:
        self._app = app
        self._status = status
        self._attention = attention
        self.client: SessionClient | None = None
        self.feed = SessionFeed()
        self.left_session = ""
        self.left_waiting = 0
        """The session that was open on exit, and its questions; empty if nothing was said in it."""
        self.left_stopped = 0
        """The background commands that ended with it."""
        self._sent: set[str] = set()
        """Keys of our own commands: if one is refused, the person is told."""
        self._answers: dict[str, str] = {}
        """Calls that others have answered and that have not started yet, and who it was."""
        self._following: asyncio.Task[None] | None = None
        self._lost = ""
        """The session whose events no longer arrive, because of something that may pass, such as a full disk."""
        self._branch_is_old = self._looking = False
        """Whether the branch may have been switched, and whether we are finding out."""
        self._wanted: str | None = None
        """The session that was to be opened last; None: a new one."""
        self._problem = ""
        """Why the last session could not be opened."""
        self._settled = asyncio.Event()
        """Set once the session is shown, or could not be opened; what is typed before that waits for it."""

    async def settled(self) -> None:
        await self._settled.wait()

    @property
    def me(self) -> str:
        return self.client.me if self.client is not None else ""

    # --- opening and closing ---

    async def open(
        self, session: str | None, choices: Choices = NO_CHOICES, first_prompt: str = "", note: str = ""
    ) -> None:
        app = self._app
        self._settled.clear()
        self._wanted = session
        try:
            self.client, skipped = await self._open_free(session, choices)
            await self._show(self.client)
        except Exception as error:  # whatever it is, the person is told and can try something else
            self._problem = f"The session cannot be opened: {clause(str(error))}"
            app.note(f"{self._problem}. Choose another with /sessions, or start one with /clear.", "error")
            self._status.no_session()
            return
        finally:
            self._settled.set()
        self._status.at(app.host.folder, await app.host.branch())
        await introduce(app, self.client, note)
        if skipped:
            app.note(skipped, "warning")
        app.spawn(check_model(app, self.client))
        if first_prompt:
            await app.submit(first_prompt)

    async def _open_free(self, session: str | None, choices: Choices) -> "tuple[SessionClient, str]":
        """Instead of the newest session, if that is open elsewhere, the newest of this folder that is not; then also
        what to say about that.
        """
        host = self._app.host
        try:
            return await host.open(session, choices), ""
        except Exception:
            here = [one for one in await host.sessions() if one.folder == host.folder] if session == "latest" else []
            free = next((one for one in here if not one.held), None)
            if free is None or not here[0].held:
                raise
        skipped = safe(here[0].title or here[0].id, "label")
        return await host.open(free.id, choices), f"Skipped “{skipped}” ({here[0].id}): it is open in another process."

    async def _show(self, client: "SessionClient") -> None:
        conversation = TranscriptModel(self.me)
        self.feed = SessionFeed(self._app.host.prices())
        for envelope in await client.history():
            conversation.apply(envelope)
            self.feed.recall(envelope)
        self._app.show_conversation(conversation)
        self._attention.to_questions()
        self._attention.to_input()
        client.on_link(self._status.link)
        self._following = asyncio.create_task(self._follow(client))

    def restore_title(self) -> None:
        self._attention.restore_title()

    async def switch(self, session: str | None, choices: Choices = NO_CHOICES, note: str = "") -> None:
        """Switches to another session, or a new one; the current one can be resumed later. If the other one cannot be
        opened, the current one stays, or is opened again. `note` takes the place of the welcome.
        """
        app, current = self._app, self.client.state.session if self.client is not None else ""
        if session not in (None, current) and (why := await app.host.why_busy(session)):
            app.note(f"You stay in this session: {why}" if current else why, "error")
            return
        self._lost = ""
        app.modes.forget()
        await self.close()
        app.panel.put(())
        app.input_panel.put(())
        self._status.between_sessions()
        await self.open(session, choices, note=note)
        if self.client is None and current not in ("", session):
            await self._go_back(self._problem)

    async def _go_back(self, problem: str) -> None:
        await self.open(self.left_session or None)
        if self.client is None:
            self._lost = self.left_session
        else:
            self._app.note(f"You are back where you were. {problem}.", "error")

    async def close(self) -> None:
        if self._following is not None:
            self._following.cancel()
            await asyncio.gather(self._following, return_exceptions=True)
            self._following = None
        self.feed.close()
        self._answers.clear()
        self._attention.restore_title()
        if self.client is not None:
            client, self.client = self.client, None
            self.left_session = client.state.session if client.state.begun else ""
            self.left_waiting = len(client.state.waiting())
            running = [call_id for call_id, one in client.state.background.items() if not one.outcome]
            await client.close()
            self.left_stopped = sum(bool(client.state.background[call_id].outcome) for call_id in running)

    # --- events and commands ---

    async def _follow(self, client: "SessionClient") -> None:
        app = self._app
        try:
            async for envelope in client.events():
                app.conversation.apply(envelope)
                self.feed.tell(envelope)
                self._notice(envelope)
                app.transcript.changed()
        except Exception as error:  # a server refuses us, or the log failed: the person must know
            self._lost = client.state.session
            app.conversation.cut()
            app.note(
                f"This session can no longer be followed: {clause(str(error))}. What you see may be out of date. "
                "Your next message opens the session again.",
                "error",
            )
        else:
            app.note("The session was closed. Open another with /sessions.", "error")
        self._status.session_is_over()

    def look_at_branch(self) -> None:
        """Anyone may have switched it: the model, or the person in another terminal."""
        self._branch_is_old = True
        if not self._looking:
            self._looking = True
            self._app.spawn(self._look())

    async def _look(self) -> None:
        try:
            while self._branch_is_old:
                self._branch_is_old = False
                branch = await self._app.host.branch()
                self._status.at(self._app.host.folder, branch)
        finally:
            self._looking = False

    def _notice(self, envelope: Envelope) -> None:
        """Text deltas and live output change nothing outside the transcript, and there are thousands of them."""
        match envelope.event:
            case TextDelta() | CallOutput() | CallProcess():
                return
            case ThoughtDelta(subject=subject) if subject:
                self._status.thinking = subject
            case ModelReplied():
                self._status.thinking = ""
            case CommandTaken(key=key, problem=problem) if key in self._sent:
                self._sent.discard(key)
                if problem and problem != "withdrawn":
                    self._app.note(f"Not done: {problem}", "warning")
            case ApprovalAnswered() | ApprovalRequested() | CallStarted() as event:
                self._notice_answer(event)
            case ModeChanged(mode=mode):
                self._app.modes.changed(mode)
            case PromptSubmitted() | CallFinished() | TurnFinished():
                self.look_at_branch()
            case _:
                pass
        if envelope.seq:
            self._attention.to_questions()
            self._attention.to_end_of_turn()
            self._app.modes.questions_changed()
        self._attention.to_input()
        self._status.refresh()

    def _notice_answer(self, event: ApprovalAnswered | ApprovalRequested | CallStarted) -> None:
        """Those of others are told, and if one did not count, that too: the question is asked again."""
        match event:
            case ApprovalAnswered(call_id=call_id, by=by, outcome=outcome, key=key) if key not in self._sent:
                self._answers[call_id] = who(by, self.me)
                self._app.note(f"Answered by {who(by, self.me)}: {'no' if outcome == 'cancel' else 'yes'}.")
            case ApprovalRequested(call_id=call_id, approval=approval) if call_id in self._answers:
                by, why = self._answers.pop(call_id), approval.why
                self._app.note(f"The answer by {by} did not count: {why}. It is asked again.", "warning")
            case _:
                self._answers.pop(event.call_id, None)

    async def send(self, command: Command) -> bool:
        """Whether it has arrived. If not, the person is told why."""
        if self._lost:
            await self._open_again()
        elif self.client is None:  # perhaps what was wrong has been put right; if not, that is said again
            await self.open(self._wanted)
        return self.client is not None and await self._sent_to(self.client, command)

    async def _open_again(self) -> None:
        session = self._lost
        await self.switch(session)
        if self.client is None:
            self._lost = session

    async def _sent_to(self, client: "SessionClient", command: Command) -> bool:
        import secrets

        key = secrets.token_urlsafe(12)
        self._sent.add(key)  # now: its outcome may arrive before the response to the request
        try:
            await client.send(command, key)
        except Exception as error:
            self._app.note(f"This could not be sent: {error}", "error")
            return False
        return True
