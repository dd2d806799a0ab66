"""Changes to the session itself that a client may request: its mode, its model, its title, its grants."""

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING

from assent.agent.model_caller import ModelCaller
from assent.commands import Archive, Rename, RevokeGrant, SetEffort, SetMode, SetModel
from assent.events import EffortChanged, GrantRevoked, ModeChanged, ModelChanged, SessionArchived, SessionRenamed
from assent.models.model_protocol import Model, ModelError
from assent.scheduler.lazy_scheduler import LazyScheduler
from assent.scheduler.refusals import Refused
from assent.session.journal import SessionJournal
from assent.session.log import title_of
from assent.session.model_watch import ModelWatch

if TYPE_CHECKING:
    from assent.policy.policy import Policy

Change = SetMode | SetModel | SetEffort | Archive | Rename | RevokeGrant


class SessionSettings:
    def __init__(
        self,
        journal: SessionJournal,
        policy: "Callable[[], Policy]",
        scheduler: LazyScheduler,
        caller: ModelCaller,
        open_model: Callable[[str], Model] | None,
        model_watch: ModelWatch,
        window: Callable[[str], int],
    ) -> None:
        self._journal = journal
        self._policy = policy
        self._scheduler = scheduler
        self._caller = caller
        self._open_model = open_model
        self._model_watch = model_watch
        self._window = window
        self._opened: list[Model] = []

    def watch_model(self) -> None:
        """Finds out, in the background, what a person should know about the model in use."""
        self._model_watch.look(self._caller.model)

    async def close(self) -> None:
        await self._model_watch.close()
        for model in self._opened:
            await model.close()

    async def make(self, command: Change) -> None:
        """Raises Refused with the reason if it cannot be done."""
        match command:
            case SetMode():
                await self._set_mode(command)
            case SetModel():
                await self._set_model(command)
            case SetEffort(effort=effort, by=by):
                await self._journal.record(EffortChanged(effort, by))
            case Archive(archived=archived, by=by):
                await self._journal.record(SessionArchived(archived, by))
            case Rename():
                await self._rename(command)
            case RevokeGrant():
                await self._revoke(command)

    async def _set_mode(self, command: SetMode) -> None:
        self._policy().mode = command.mode
        await self._journal.record(ModeChanged(command.mode, command.by))
        await self._scheduler.rejudge()

    async def _set_model(self, command: SetModel) -> None:
        if self._open_model is None:
            raise Refused("the model of this session cannot be changed")
        try:
            model = await asyncio.to_thread(self._open_model, command.model)  # a key may come from a keyring
        except ModelError as error:
            raise Refused(str(error)) from error
        self._opened.append(model)
        await self._journal.record(ModelChanged(command.model, command.by, self._window(command.model)))
        self._caller.use(model)
        self.watch_model()

    async def _rename(self, command: Rename) -> None:
        title = title_of(command.title)
        if not title:
            raise Refused("the name of a session must have visible characters")
        await self._journal.record(SessionRenamed(title, command.by))

    async def _revoke(self, command: RevokeGrant) -> None:
        if self._policy().revoke(command.grant_id) is None:
            raise Refused(f"there is no grant {command.grant_id} in this session")
        await self._policy().settled()
        await self._journal.record(GrantRevoked(command.grant_id, command.by))
