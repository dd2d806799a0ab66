"""The host on this machine: sessions from the log on disk; the one that is shown runs in this process."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import cached_property
from importlib import import_module
from typing import TYPE_CHECKING

from msgspec.structs import replace

from assent.app.wording import safe
from assent.approval import Grant
from assent.front.tui.host import (
    NO_CHOICES,
    Choices,
    MemoryFile,
    ModelCheck,
    NamedPrompt,
    NotHere,
    RuleInfo,
    ServerInfo,
    ServerResource,
    ToolInfo,
    WaitingQuestion,
)

if TYPE_CHECKING:  # imported when a session is opened, after the first frame
    from assent.app.applied_trials import Applied
    from assent.app.custom_commands import CustomCommand
    from assent.app.folder_trust import Untrusted
    from assent.app.folder_view import ExecutedText
    from assent.app.mcp_types import Prompt, Status
    from assent.app.model_access import ModelAccess
    from assent.app.model_catalog import ModelCatalog, ModelView
    from assent.app.opening import LocalClient, SessionSetup
    from assent.app.output_folders import WholeText
    from assent.app.pricing import Prices
    from assent.app.rule_sources import Rule
    from assent.app.session_environment import SessionEnvironment
    from assent.app.session_log import SessionInfo, SessionLog, Waiting
    from assent.app.session_management import FoundSession
    from assent.config import Settings
    from assent.events import FileChange
    from assent.parts import Effort
    from assent.plan import ExecutedFile

MAX_URI = 500
NOT_TRUSTED = "not trusted; look at it and accept it with /trust"


class LocalHost:
    keeps_running = False

    def __init__(
        self,
        folder: str,
        settings: "Settings",
        env: Mapping[str, str],
        *,
        model: str | None = None,
        effort: "Effort | None" = None,
        rules: "tuple[Rule, ...]" = (),
    ) -> None:
        self.folder = folder
        self._settings = settings
        self._env = env
        self._model = model
        self._effort: Effort | None = effort
        self._given_rules = rules
        self._environment: SessionEnvironment | None = None
        self._servers_changed: Callable[[], None] | None = None
        self.problems: Sequence[str] = ()
        """Which parts of the configuration could not be used, and why."""
        self._log: SessionLog | None = None
        self._made = ""
        """The newest session created here."""
        self._session = ""
        """The one opened last."""

    # --- sessions ---

    async def log(self) -> "SessionLog":
        if self._log is None:
            from assent.app.storage import open_log

            self._log = open_log(self._env)
        return self._log

    async def open(self, session: str | None = None, choices: Choices = NO_CHOICES) -> "LocalClient":
        await asyncio.to_thread(_import_what_runs_sessions)
        from assent.app.lookup import find_session
        from assent.app.opening import NewSession, open_session
        from assent.commands import SetEffort, SetMode

        log = await self.log()
        await self._forget_unused()
        info = await find_session(log, session, self.folder) if session is not None else None
        before, self.folder = self.folder, self.folder if info is None else info.folder
        effort, model = choices.effort or self._effort, None if info is None and choices.model else self._model
        wanted = info or NewSession(self.folder, choices.mode, model=choices.model, effort=effort)
        try:
            client = await open_session(log, wanted, self._setup(), model=model, keep_history=True)
        except BaseException:
            self.folder = before
            raise
        self._session = client.state.session
        self._made = self._session if info is None else ""
        if info is not None and choices.mode is not None and client.state.mode != choices.mode:
            await client.send(SetMode(choices.mode, by=client.me))
        if info is not None and self._effort is not None and client.state.effort != self._effort:
            await client.send(SetEffort(self._effort, by=client.me))
        return client

    def _setup(self) -> "SessionSetup":
        from assent.app.identity import me
        from assent.app.model_access import DeferredModel
        from assent.app.opening import SessionSetup

        return SessionSetup(
            env=self._env,
            settings=self._settings,
            client=f"terminal {me()}",
            rules=self._given_rules,
            holds_queue=True,
            open_model=lambda name: DeferredModel(name, self._access),
            models=self._access,
            prepare=self._use,
        )

    async def _use(self, environment: "SessionEnvironment") -> None:
        """Uses the tools and rules of the folder; its MCP servers connect in the background."""
        self._environment = environment
        if (changed := self._servers_changed) is not None:
            environment.listen(lambda _: changed())

    async def why_busy(self, session: str) -> str:
        from assent.app.lookup import NotFound, find_session
        from assent.app.session_log import LogError, session_busy

        try:
            log = await self.log()
            info = await find_session(log, session, self.folder)
            return str(session_busy(info.id)) if await log.is_open(info.id) else ""
        except (LogError, NotFound) as error:
            return str(error)

    async def sessions(self) -> "Sequence[SessionInfo]":
        from assent.app.lookup import begun_sessions

        log = await self.log()
        found = [session for session in await begun_sessions(log) if not session.archived]
        return [replace(one, held=await log.is_open(one.id)) if one.held else one for one in found]

    async def waiting(self) -> Sequence[WaitingQuestion]:
        log = await self.log()
        waiting = await log.waiting()
        infos = await log.infos({one.session for one in waiting})
        busy = set(await log.pending())
        return [
            await self._question(log, one, infos[one.session].title, answered=one.session in busy)
            for one in waiting
            if one.session in infos  # otherwise it was deleted just now
        ]

    @staticmethod
    async def _question(log: "SessionLog", one: "Waiting", title: str, *, answered: bool) -> WaitingQuestion:
        """`answered`: something is in the inbox of its session, perhaps the answer."""
        from assent.app.lookup import untaken_answer

        answer = await untaken_answer(log, one.session, one.call_id) if answered else None
        by = None if answer is None or answer.digest != one.approval.digest else answer.by
        return WaitingQuestion(
            session=one.session,
            title=title,
            call_id=one.call_id,
            asked_at=one.asked_at,
            approval=one.approval,
            answered_by=by,
        )

    async def _forget_unused(self) -> None:
        """Deletes the session created here if it is left before anything was said in it."""
        from assent.app.identity import me
        from assent.app.lookup import has_begun
        from assent.app.session_log import LogError

        made, self._made = self._made, ""
        if made:
            log = await self.log()
            with suppress(LogError):  # someone else uses it or has deleted it
                info = await log.info(made)
                if not await has_begun(log, info):
                    await log.delete(made, seen=info.events, by=me())

    async def fork(self, session: str) -> str:
        from assent.app.identity import me
        from assent.app.output_folders import fork_with_outputs

        return await fork_with_outputs(self._env, await self.log(), session, by=me())

    async def rename(self, session: str, title: str) -> None:
        from assent.app.identity import me
        from assent.app.session_management import rename_session

        await rename_session(await self.log(), session, title, me())

    async def delete(self, session: str) -> None:
        from assent.app.session_management import delete_session

        await delete_session(self._env, await self.log(), session)

    async def search(self, text: str) -> "Sequence[FoundSession]":
        from assent.app.session_management import search_sessions

        return await search_sessions(await self.log(), text)

    # --- surroundings ---

    async def files(self) -> Sequence[str]:
        from assent.app.folder_view import list_paths

        return await list_paths(self.folder)

    async def read_text(self, path: str) -> str:
        from assent.app.folder_view import read_text
        from assent.app.output_folders import read_kept

        kept = await asyncio.to_thread(read_kept, self._env, self._session, path)
        return kept if kept is not None else await asyncio.to_thread(read_text, self.folder, path)

    async def whole_output(self, session: str, call_id: str) -> "WholeText | None":
        from assent.app.output_folders import whole_output

        return await asyncio.to_thread(whole_output, self._env, session, call_id)

    async def executed_texts(self, files: "Sequence[ExecutedFile]") -> "list[ExecutedText]":
        from assent.app.folder_view import executed_text

        return await asyncio.to_thread(lambda: [executed_text(file) for file in files])

    async def digests(self, paths: Sequence[str]) -> Mapping[str, str]:
        from assent.app.folder_view import digests

        return await asyncio.to_thread(digests, self.folder, paths)

    async def applied(self, changes: "Sequence[FileChange]") -> "Applied":
        from assent.app.applied_trials import applied_places

        return await asyncio.to_thread(applied_places, self._env, changes)

    async def paste_picture(self, session: str) -> str:
        from assent.app.pasted_pictures import paste_picture

        return await paste_picture(self._env, session)

    def keep_dropped(self, session: str, path: str) -> str:
        from assent.app.pasted_pictures import keep_dropped

        return keep_dropped(self._env, session, self.folder, path)

    async def prompts(self) -> Sequence[str]:
        from assent.front.tui.history import prompts_of

        return await prompts_of(await self.log(), self.folder)

    async def branch(self) -> str:
        from assent.app.folder_view import current_branch

        return await asyncio.to_thread(current_branch, self.folder)

    @cached_property
    def _access(self) -> "ModelAccess":
        from assent.app.model_access import ModelAccess

        return ModelAccess(self._env, self._settings)

    @cached_property
    def _catalog(self) -> "ModelCatalog":
        from assent.app.model_catalog import ModelCatalog

        return ModelCatalog(self._access)

    async def models(self, max_wait: float) -> "Sequence[ModelView]":
        return await self._catalog.choices(max_wait)

    async def check_model(self, model: str) -> ModelCheck:
        from assent.app.model_access import ModelError

        if used := self._model or model:
            return ModelCheck(problem=await self._access.problem(used))
        try:
            return ModelCheck(model=await self._access.choose())
        except ModelError as error:
            return ModelCheck(problem=str(error))

    def tools(self) -> Sequence[ToolInfo]:
        if self._environment is None:
            return ()
        return [
            ToolInfo(tool.name, tool.description, tool.kind, tool.server, self._environment.offered(tool.name))
            for tool in self._environment.registry
        ]

    def prices(self) -> "Prices":
        from assent.app.pricing import Prices

        return Prices(self._settings.prices)

    def rules(self) -> Sequence[RuleInfo]:
        rules = self._environment.rules(self._given_rules) if self._environment is not None else ()
        return [RuleInfo(rule.describe(), rule.ruling, rule.place or rule.tier, rule.note) for rule in rules]

    def standing_grants(self) -> Sequence[Grant]:
        return self._environment.standing_grants() if self._environment is not None else ()

    def servers(self) -> Sequence[ServerInfo]:
        return [_info(status) for status in (self._environment.statuses() if self._environment is not None else ())]

    def server_prompts(self) -> "Sequence[Prompt]":
        manager = self._environment.mcp if self._environment is not None else None
        return manager.prompts() if manager is not None else ()

    async def server_prompt(self, prompt: "Prompt", arguments: Mapping[str, str]) -> str:
        from assent.app.mcp_prompts import fetch_prompt

        return await fetch_prompt(self._environment.mcp if self._environment is not None else None, prompt, arguments)

    def server_resources(self) -> Sequence[ServerResource]:
        manager = self._environment.mcp if self._environment is not None else None
        return [
            ServerResource(resource.server, f"{resource.server}:{resource.uri}", resource.name)
            for resource in (manager.resources() if manager is not None else ())
            if resource.uri.isprintable() and len(resource.uri) <= MAX_URI
        ]

    def on_servers(self, changed: Callable[[], None]) -> None:
        self._servers_changed = changed

    async def restart_server(self, name: str) -> None:
        if self._environment is not None:
            await self._environment.restart(name)

    def memory(self) -> Sequence[MemoryFile]:
        from assent.app.context_loading import context_files

        found = context_files(self._env, self.folder)
        return [
            MemoryFile(file.path, len(file.text.encode()), file.text, file.problem or (untrusted and NOT_TRUSTED))
            for file, untrusted in found
        ]

    def untrusted(self) -> "Untrusted | None":
        from assent.app.folder_trust import look

        return look(self._env, self.folder)

    def trust(self, shown: "Untrusted") -> None:
        from assent.app.folder_trust import accept

        accept(self._env, self.folder, shown)

    def custom_commands(self) -> "Sequence[CustomCommand]":
        from assent.app.custom_commands import load_custom

        loaded = load_custom(self._env, self.folder)
        environment = () if self._environment is None else self._environment.problems
        self.problems = (*environment, *loaded.problems)
        return loaded.commands

    async def named_prompts(self) -> Sequence[NamedPrompt]:
        return ()

    async def use_prompt(self, name: str, argument: str) -> None:
        raise NotHere(f"There is no prompt {name!r} here.")

    async def close(self) -> None:
        await self._catalog.close()
        if self._log is not None:
            await self._forget_unused()
            await self._log.close()


def _import_what_runs_sessions() -> None:
    """Run in a thread, so that the screen stays responsive during imports."""
    for name in ("app.opening", "app.storage"):
        import_module(f"assent.{name}")


def _info(status: "Status") -> ServerInfo:
    left_out = safe("; ".join(f"left out {refusal.tool}: {refusal.reason}" for refusal in status.refused), "label")
    reason = status.reason or left_out
    return ServerInfo(
        name=status.server,
        state=status.state,
        tools=len(status.tools),
        problem=reason,
        prompts=status.prompts,
        resources=status.resources,
    )
