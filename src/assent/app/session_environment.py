"""The tools of a folder, the same for every front end: built-ins, MCP servers, the project's own, and their rules.

    async with open_environment(env, folder, settings, session, model) as environment:
        options = environment.options(settings, "terminal")
        runner = await Runner.open(log, session, model, environment.registry, options)

The servers start in the background when it is entered and are stopped when it is left. `problems` lists what could
not be used, and why.
"""

import asyncio
import os
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal, Self

from assent.app.context_loading import load_context
from assent.app.model_access import ModelAccess
from assent.app.model_search import SearchOffer
from assent.app.output_folders import output_folder
from assent.app.rule_sources import approved_files, collect_rules, kept_grants, pin_store, trust_store
from assent.app.secret_masking import result_masker
from assent.app.session_tools import ToolPlace, excluded_tools, promise_builtin_tools
from assent.approval import Grant
from assent.config import (
    BadSettings,
    ProjectCommands,
    Settings,
    data_folder,
    mcp_servers,
    only_adds_tools,
    parse_workspace_settings,
    project_commands,
    settings_file,
)
from assent.events import Attached
from assent.files.regular_file import NotPlain, read_plain
from assent.files.workspace import Workspace
from assent.mcp_config import McpServer
from assent.models.model_facts import Prices
from assent.models.model_protocol import Model
from assent.models.provider_registry import provider_of
from assent.policy.rules import Rule
from assent.policy.trust import CONFIG_FOLDER
from assent.session.run_options import RunOptions
from assent.tools.declared import PLAN
from assent.tools.registry import Registry
from assent.tools.support.background_processes import BackgroundCommands
from assent.tools.support.known_contents import KnownContents

if TYPE_CHECKING:  # imported only if there is a server, or a call
    from assent.app.session_blobs import SessionBlobs
    from assent.blob_store import BlobStore
    from assent.mcp.manager import McpManager
    from assent.mcp.pins import PinStore
    from assent.mcp.project_tools import ProjectTools
    from assent.mcp.server_supervisor import Status
    from assent.policy.policy import Policy

NOTICE_AFTER = 2.0
"""Seconds before anyone is told that we are waiting."""

SUMMARY_ROOM = 1.5
"""Times the estimated size of a request: the estimate is rough, and the summary needs room, too."""

Offered = Literal["always", "in plan mode", "never"]


class SessionEnvironment:
    def __init__(
        self,
        env: Mapping[str, str],
        folder: str,
        settings: Settings,
        servers: Iterable[McpServer],
        session: str = "",
        model: Model | None = None,
        access: ModelAccess | None = None,
        *,
        watched: bool = True,
        typing: bool = True,
        blobs: "BlobStore | None" = None,
    ) -> None:
        """Without a model, it is for judging only: tools that need one exist but do not work. `watched`: someone sees
        what commands print while they run; `typing`: someone can also type what they ask for.
        """
        self.servers = tuple(servers)
        self.problems: list[str] = []
        data = data_folder(env)
        self.kept = None if blobs is None or not session else _session_blobs(blobs, env, session)
        """Stores what other nodes need from this session; None if they need nothing."""
        outputs = output_folder(env, session) if self.kept is None else self.kept.outputs
        self.workspace = Workspace([folder], folder, own_folders=[str(data)], readable=[outputs.path])
        self._access = access or ModelAccess(env, settings)
        self._small: Model | None = None
        """The model for summaries and titles, once it was needed."""
        scripted = model is not None and provider_of(model.name) == "scripted"
        self._makes_titles = settings.small_model is not None and not scripted
        self.masker = result_masker(env, settings, self.servers, self._access.keys)
        self.registry = Registry()
        # A session of a cluster may be opened on another machine, which could not find a kept command.
        self.background = BackgroundCommands(outputs=outputs if self.kept is None else None, mask=self.masker.text)
        self._known = KnownContents()
        self._env, self._folder, self._outputs = env, folder, outputs
        self._promise_tools(settings, watched=watched, typing=typing)
        self._search = SearchOffer(self.registry, model)
        self.mcp: McpManager | None = None
        self.commands: ProjectCommands | None = None
        """Those that apply here; None unless the folder is trusted."""
        self.project: ProjectTools | None = None

    def _promise_tools(self, settings: Settings, *, watched: bool, typing: bool) -> None:
        place = ToolPlace(
            env=self._env,
            folder=self._folder,
            workspace=self.workspace,
            outputs=self._outputs,
            contents=None if self.kept is None else self.kept.contents,
            domains=_domains(settings, self._env) if settings.sandbox.domains else (),
            background=self.background,
            known=self._known,
        )
        self.registry.exclude(excluded_tools(settings, settings_file(self._env)))
        promise_builtin_tools(self.registry, place, settings, self.masker, watched=watched, typing=typing)

    def rules(self, given: Iterable[Rule] = ()) -> tuple[Rule, ...]:
        """All rules that apply here, including those for trusted servers. Raises BadRule."""
        trusted = (_trusting(server) for server in self.servers if server.entry.trust)
        return (*collect_rules(self._env, self._folder, self.registry.names(), given), *trusted)

    def offered(self, tool: str) -> Offered:
        """When the model is offered this tool."""
        if not self.registry.offers(tool):
            return "never"
        return "in plan mode" if tool == PLAN else "always"

    def standing_grants(self) -> list[Grant]:
        """What people have allowed here in earlier sessions, for later ones."""
        return [*kept_grants(self._env, self._folder).standing()]

    def options(self, settings: Settings, client: str, given: Iterable[Rule] = ()) -> RunOptions:
        """How a session runs here, with someone to ask."""
        fallback, access, share = settings.fallback_model, self._access, settings.compression_threshold
        return RunOptions(
            rules=self.rules(given),
            max_turns=settings.max_turns,
            approval_ttl=settings.approval_ttl,
            client=client,
            fallback=None if fallback is None else lambda: access.open(fallback),
            open_model=access.open,
            small_model=self._small_model,
            makes_titles=self._makes_titles,
            inspect_model=access.inspect,
            window=access.window,
            compress_above=lambda name: int(share * access.window(name)),
            nearest_models=access.nearest_models,
            offer_tools=self._search.follow,
            max_tokens=settings.max_tokens,
            limits=settings.limits,
            cost=Prices(settings.prices).cost,
            load_context=lambda touched: load_context(self._env, self._folder, touched),
            files=approved_files(self._env, self._folder),
            keeper=kept_grants(self._env, self._folder),
            masker=self.masker,
            background=self.background,
            load_mentions=self._load_mentions,
            settle=None if self.kept is None else self.kept.settle,
        )

    def _small_model(self, tokens: int) -> Model | None:
        """The one that writes summaries, if it has room for that many tokens. Raises ModelError."""
        name = self._access.settings.small_model
        if name is None or tokens * SUMMARY_ROOM > self._access.window(name):
            return None
        self._small = self._small or self._access.open(name)
        return self._small

    def _load_mentions(self, text: str, policy: "Callable[[], Policy]") -> Awaitable[tuple[Attached, ...]] | None:
        if "@" not in text:  # most prompts do not need that module
            return None
        from assent.app.mention_loading import load_mentions
        from assent.tools.support.files import Files

        files = Files(self.workspace, known=self._known)
        if self.kept is None:
            return load_mentions(text, policy(), files, self.mcp, self.masker)
        kept = self.kept

        async def brought() -> tuple[Attached, ...]:
            found = load_mentions(await kept.here(text), policy(), files, self.mcp, self.masker)
            return () if found is None else await found

        return brought()

    @property
    def folder(self) -> str:
        return self._folder

    def start(self) -> None:
        """Returns at once; a server's tools appear when it is ready."""
        if not self.servers and self.commands is None:
            return
        pins = pin_store(self._env)
        if self.commands is not None:
            self._start_project(self.commands, pins)
        if self.servers:
            self._start_servers(pins)

    def _start_servers(self, pins: "PinStore") -> None:
        from assent.mcp.manager import McpManager
        from assent.mcp.server_supervisor import ServerContext

        context = ServerContext(
            folder=self._folder, registry=self.registry, env=self._env, masker=self.masker, outputs=self._outputs
        )
        self.mcp = McpManager(self.servers, context, pins)
        self.mcp.start()

    def _start_project(self, commands: ProjectCommands, pins: "PinStore") -> None:
        from assent.mcp.project_tools import ProjectTools

        folder, env, masker = self._folder, self._env, self.masker
        self.project = ProjectTools(
            commands, folder, self.registry, pins, env=env, masker=masker, outputs=self._outputs
        )
        self.project.start()

    async def close(self) -> None:
        if self.kept is not None:
            await self.kept.settle()
        await asyncio.gather(*(each.close() for each in (self.project, self.mcp, self._small) if each is not None))

    async def restart(self, server: str) -> None:
        """Reconnects to a server, or runs the project's discovery again."""
        if self.project is not None and server == self.project.name:
            await self.project.close()
            self.project.start()
        elif self.mcp is not None:
            await self.mcp.reconnect(server)

    def listen(self, listener: "Callable[[Status], None]") -> None:
        """`listener` is called at every change of any of them; it must not block."""
        for each in (self.project, self.mcp):
            if each is not None:
                each.listen(listener)

    def accept(self, server: str) -> list[str]:
        """Accepts the tools of a server, or of the project, as they are now; returns the new or changed ones."""
        if self.project is not None and server == self.project.name:
            return self.project.accept_all()
        return self.mcp.accept(server) if self.mcp is not None else []

    def statuses(self) -> "list[Status]":
        """The status of the project's own tools and of all servers."""
        own = [self.project.status] if self.project is not None else []
        return [*own, *(self.mcp.status() if self.mcp is not None else ())]

    async def settled(self) -> "list[Status]":
        own = [await self.project.settled()] if self.project is not None else []
        return [*own, *(await self.mcp.settled() if self.mcp is not None else ())]

    async def __aenter__(self) -> Self:
        self.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    def _awaited(self) -> str:
        if self.project is not None and self.project.status.state == "connecting":
            return "Waiting for the command that lists the project's tools"
        slow = [status.server for status in self.statuses() if status.state == "connecting"]
        return f"Waiting for the MCP servers: {', '.join(slow)}"

    async def ready(self, tell: Callable[[str], None]) -> None:
        """For front ends that cannot add tools later: waits until each server is ready, or its start has timed out."""
        for problem in self.problems:
            tell(problem)
        if self.mcp is None and self.project is None:
            return
        waiting = asyncio.ensure_future(self.settled())
        try:
            await asyncio.wait([waiting], timeout=NOTICE_AFTER)
            if not waiting.done():
                tell(self._awaited())
            for status in await waiting:
                for line in _problems(status, own=self.project is not None and status is self.project.status):
                    tell(line)
        finally:
            waiting.cancel()


def _session_blobs(store: "BlobStore", env: Mapping[str, str], session: str) -> "SessionBlobs":
    from assent.app.session_blobs import SessionBlobs

    return SessionBlobs(store, env, session)


def _domains(settings: Settings, env: Mapping[str, str]) -> tuple[str, ...]:
    from assent.app.sandbox_setup import allowed_domains

    return allowed_domains(settings, settings_file(env))


def _problems(status: "Status", *, own: bool) -> Iterator[str]:
    whose = "the project's own tools" if own else f"the MCP server {status.server}"
    if status.state != "ready":
        yield f"Continuing without {whose}: {status.reason or status.state}"
    for refusal in status.refused:
        yield f"Left out {refusal.tool} of {whose}: {refusal.reason}"


def _trusting(server: McpServer) -> Rule:
    return Rule(ruling="allow", server=server.name, tier=server.tier, place=f"{server.place}.trust")


def open_environment(
    env: Mapping[str, str],
    folder: str,
    settings: Settings,
    session: str = "",
    model: Model | None = None,
    access: ModelAccess | None = None,
    *,
    watched: bool = True,
    typing: bool = True,
    blobs: "BlobStore | None" = None,
) -> SessionEnvironment:
    """Starts nothing yet. Raises BadSettings for an invalid file."""
    own = mcp_servers(settings.mcp, settings_file(env), "user")
    theirs, commands, problems = _of_folder(env, folder)
    mine = project_commands(settings.tools, settings_file(env))
    if commands is None and mine is not None:
        state = trust_store(env).look(Path(folder)).state
        commands = mine if state == "trusted" else None
        problems += [] if commands else [f"{mine.place} is not used: the folder is not trusted; see `assent trust`"]
    servers, unused = _one_per_name(own, theirs)
    environment = SessionEnvironment(
        env, folder, settings, servers, session, model, access, watched=watched, typing=typing, blobs=blobs
    )
    environment.problems += [*problems, *unused]
    environment.commands = commands
    return environment


def _one_per_name(own: Sequence[McpServer], theirs: Sequence[McpServer]) -> tuple[list[McpServer], list[str]]:
    """The person's own servers, the folder's other ones, and which of the folder's are not used."""
    taken = {server.name.lower() for server in own}
    unused = [server for server in theirs if server.name.lower() in taken]
    reasons = [f"{server.place} is not used: you already have a server with this name" for server in unused]
    return [*own, *(server for server in theirs if server not in unused)], reasons


def _of_folder(env: Mapping[str, str], folder: str) -> tuple[tuple[McpServer, ...], ProjectCommands | None, list[str]]:
    """What the folder configures: read only if it is trusted, and only as it was trusted."""
    name = f"{CONFIG_FOLDER}/settings.toml"
    path = Path(folder, name)
    if not os.path.isdir(folder):
        return (), None, [f"The folder of this session no longer exists: {folder}"]
    if not os.path.lexists(path):
        return (), None, []
    trust = trust_store(env).look(Path(folder))
    if trust.state != "trusted":
        return (), None, [f"{path} is not used: the folder is {trust.state}; review it with `assent trust`"]
    try:
        text = read_plain(path)
    except (NotPlain, FileNotFoundError) as error:
        raise BadSettings(str(error)) from error
    import hashlib

    if hashlib.sha256(text).hexdigest() != trust.files.get(name):
        return (), None, [f"{path} is not used: it changed while it was being read"]
    try:
        return (*parse_workspace_settings(text, path, settings_file(env)), [])
    except BadSettings as error:
        if not only_adds_tools(text):
            raise
        return (), None, [f"{error}; nothing in this file is used"]
