"""The host on this machine: sessions from the log on disk, each run in this process while it is shown."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from importlib import import_module
from typing import TYPE_CHECKING

from assent.approval import Mode
from assent.front.tui.host import (
    MemoryFile,
    NamedPrompt,
    NotHere,
    RuleInfo,
    ServerInfo,
    ServerResource,
    ToolInfo,
)
from assent.front.words import safe

if TYPE_CHECKING:  # imported when a session is opened, behind the first frame
    from assent.config import Settings
    from assent.front.client import LocalClient
    from assent.front.custom import CustomCommand
    from assent.front.workshop import Workshop
    from assent.mcp.keeper import Status
    from assent.mcp.offers import Prompt
    from assent.models.base import Model
    from assent.models.prices import Prices
    from assent.policy.rules import Rule
    from assent.session.log import SessionInfo, SessionLog

LONGEST_URI = 500


class LocalHost:
    def __init__(
        self,
        folder: str,
        settings: "Settings",
        env: Mapping[str, str],
        *,
        model: str | None = None,
        rules: "tuple[Rule, ...]" = (),
    ) -> None:
        self.folder = folder
        self._settings = settings
        self._env = env
        self._model = model
        self._given_rules = rules
        self._workshop: Workshop | None = None
        self._servers_changed: Callable[[], None] | None = None
        self.problems: Sequence[str] = ()
        """What of the custom commands could not be used."""
        self._log: SessionLog | None = None
        self._made = ""
        """The newest session that was made here."""

    # --- sessions ---

    async def log(self) -> "SessionLog":
        if self._log is None:
            from assent.config import data_folder
            from assent.session.sqlite import SqliteLog

            self._log = SqliteLog(data_folder(self._env))
        return self._log

    async def open(self, session: str | None = None, mode: Mode | None = None) -> "LocalClient":
        await asyncio.to_thread(_import_what_runs_sessions)
        from assent.commands import SetMode
        from assent.front.client import LocalClient
        from assent.front.lookup import find_session
        from assent.front.send import me
        from assent.models.choose import DeferredModel
        from assent.session.runner import Runner

        log = await self.log()
        await self._forget_unused()
        info = await find_session(log, session, self.folder) if session is not None else None
        name = self._model or (info.model if info is not None else self._settings.model)
        session_id = info.id if info is not None else await self._create(name, mode)
        if info is not None:
            self.folder = info.folder
        model = DeferredModel(name, self._env)
        workshop = await self._prepare(session_id, model)
        options = workshop.options(self._settings, name, f"terminal {me()}", self._given_rules)
        past = await log.read(session_id)  # once, for those who run it and for those who show it
        runner = await Runner.open(log, session_id, model, workshop.registry, options, past)
        client = LocalClient(runner, me(), model, past)
        if info is not None and mode is not None and runner.state.mode != mode:
            await client.send(SetMode(mode, by=client.me))
        return client

    async def _create(self, model: str, mode: Mode | None) -> str:
        from assent.session.runner import create_session

        settings, log = self._settings, await self.log()
        self._made = await create_session(log, self.folder, model, mode or settings.approval_mode, settings.gate)
        return self._made

    async def _prepare(self, session: str, model: "Model") -> "Workshop":
        """The tools and rules of the folder; its MCP servers connect in the background."""
        from assent.front.workshop import open_workshop

        if self._workshop is not None:
            await self._workshop.close()
        self._workshop = open_workshop(self._env, self.folder, self._settings, session, model)
        self._workshop.start()
        if (changed := self._servers_changed) is not None:
            self._workshop.listen(lambda _: changed())
        return self._workshop

    async def sessions(self) -> "Sequence[SessionInfo]":
        from assent.front.lookup import begun_sessions

        return await begun_sessions(await self.log())

    async def _forget_unused(self) -> None:
        """The session that was made here and is left before anything was said in it."""
        from assent.front.lookup import has_begun
        from assent.session.log import LogError

        made, self._made = self._made, ""
        if made:
            log = await self.log()
            with suppress(LogError):  # somebody else uses it or has deleted it: then it is theirs
                info = await log.info(made)
                if not await has_begun(log, info):
                    await log.delete(made, seen=info.events)

    async def fork(self, session: str) -> str:
        from assent.front.outputs import fork_with_outputs

        return await fork_with_outputs(self._env, await self.log(), session)

    # --- surroundings ---

    async def files(self) -> Sequence[str]:
        from assent.files.listing import list_paths

        return await list_paths(self.folder)

    async def prompts(self) -> Sequence[str]:
        from assent.front.tui.history import prompts_of

        return await prompts_of(await self.log(), self.folder)

    async def branch(self) -> str:
        from assent.process.branch import current_branch

        return await asyncio.to_thread(current_branch, self.folder)

    def models(self) -> Sequence[str]:
        return self._settings.models

    def tools(self) -> Sequence[ToolInfo]:
        return [
            ToolInfo(tool.name, tool.display_name, tool.description, tool.kind, tool.server)
            for tool in (self._workshop.registry if self._workshop is not None else ())
        ]

    def prices(self) -> "Prices":
        from assent.models.prices import Prices

        return Prices(self._settings.prices)

    def rules(self) -> Sequence[RuleInfo]:
        rules = self._workshop.rules(self._given_rules) if self._workshop is not None else ()
        return [RuleInfo(rule.describe(), rule.ruling, rule.place or rule.tier, rule.note) for rule in rules]

    def servers(self) -> Sequence[ServerInfo]:
        return [_info(status) for status in (self._workshop.statuses() if self._workshop is not None else ())]

    def server_prompts(self) -> "Sequence[Prompt]":
        manager = self._workshop.mcp if self._workshop is not None else None
        return manager.prompts() if manager is not None else ()

    async def server_prompt(self, prompt: "Prompt", arguments: Mapping[str, str]) -> str:
        from assent.front.server_prompts import fetched

        return await fetched(self._workshop.mcp if self._workshop is not None else None, prompt, arguments)

    def server_resources(self) -> Sequence[ServerResource]:
        manager = self._workshop.mcp if self._workshop is not None else None
        return [
            ServerResource(resource.server, f"{resource.server}:{resource.uri}", resource.name)
            for resource in (manager.resources() if manager is not None else ())
            if resource.uri.isprintable() and len(resource.uri) <= LONGEST_URI
        ]

    def on_servers(self, changed: Callable[[], None]) -> None:
        self._servers_changed = changed

    async def restart_server(self, name: str) -> None:
        if self._workshop is not None:
            await self._workshop.restart(name)

    def memory(self) -> Sequence[MemoryFile]:
        from assent.front.context import context_files

        return [
            MemoryFile(file.path, len(file.text.encode()), not (problem or file.problem), file.text)
            for file, problem in context_files(self._env, self.folder)
        ]

    def custom_commands(self) -> "Sequence[CustomCommand]":
        from assent.front.custom import load_custom

        loaded = load_custom(self._env, self.folder)
        self.problems = loaded.problems
        return loaded.commands

    async def named_prompts(self) -> Sequence[NamedPrompt]:
        return ()

    async def use_prompt(self, name: str, argument: str) -> None:
        raise NotHere(f"There is no prompt {name!r} here.")

    async def close(self) -> None:
        if self._workshop is not None:
            await self._workshop.close()
        if self._log is not None:
            await self._forget_unused()
            await self._log.close()


def _import_what_runs_sessions() -> None:
    """In a thread: the screen goes on while modules are read."""
    for name in ("front.client", "front.workshop", "models.choose", "session.sqlite", "tools.builtin"):
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
