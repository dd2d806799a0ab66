"""The host for sessions on a server: the same screen, attached from outside."""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import msgspec

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
    from assent.app.mcp_types import Prompt
    from assent.app.model_catalog import ModelView
    from assent.app.output_folders import WholeText
    from assent.app.pricing import Prices
    from assent.app.session_log import SessionInfo
    from assent.app.session_management import FoundSession
    from assent.client import Api, RemoteClient
    from assent.events import FileChange
    from assent.plan import ExecutedFile


OUTPUT_PIECE = 1_000_000
MAX_OUTPUT = 20_000_000
"""Bytes of one output: as much as a server keeps."""


class RemoteHost:
    def __init__(self, connect: "Callable[[], Api]", folder: str) -> None:
        """`folder` is where a new session works, on the server's machine."""
        self.folder = folder
        self.problems: Sequence[str] = ()
        """Which of the server's custom commands could not be used."""
        self._connect = connect
        self._api: Api | None = None
        self._session = ""

    @property
    def api(self) -> "Api":
        """For everything but the open session: each session has its own connection."""
        if self._api is None:
            self._api = self._connect()
        return self._api

    async def open(self, session: str | None = None, choices: Choices = NO_CHOICES) -> "RemoteClient":
        from assent.client import RemoteClient
        from assent.commands import SetMode

        if session is None:
            wanted = {"mode": choices.mode, "model": choices.model, "effort": choices.effort}
            chosen = {name: value for name, value in wanted.items() if value}
            self._session = (await self.api.create(folder=self.folder, **chosen))["id"]
        else:
            self._session = await self._find(self.api, session)
        client = await RemoteClient.open(self._connect(), self._session)
        self.folder = client.state.folder
        if choices.mode is not None and client.state.mode != choices.mode:
            await client.send(SetMode(choices.mode, by=client.me))
        return client

    async def choose(self, session: str | None) -> str:
        """The session to open, created if it is new. Called before there is a screen, so that errors appear in the
        shell, where they can be fixed."""
        async with self._connect() as api:
            return (await api.create(folder=self.folder))["id"] if session is None else await self._find(api, session)

    async def _find(self, api: "Api", name: str) -> str:
        """By a whole id, the start of one, or `latest`."""
        listed: list[dict[str, Any]] = (await api.sessions(archived="all"))["sessions"]
        known: list[str] = [one["id"] for one in listed if name != "latest" or not one["archived"]]
        if not known:
            raise NotHere("there are no sessions on this server yet; start one with: assent attach --new")
        found = known[:1] if name == "latest" else [id for id in known if id.startswith(name)]
        if len(found) != 1:
            raise NotHere(f"{name!r} does not match exactly one session on this server")
        return found[0]

    keeps_running = True

    async def why_busy(self, session: str) -> str:
        return ""

    async def sessions(self) -> "Sequence[SessionInfo]":
        from assent.app.session_log import SessionInfo

        listed = (await self.api.sessions())["sessions"]
        return [msgspec.convert(one | {"events": one["seq"]}, SessionInfo) for one in listed]

    async def waiting(self) -> Sequence[WaitingQuestion]:
        from assent.approval import Approval

        def question(one: "dict[str, Any]") -> WaitingQuestion:
            session, approval = one["session"], msgspec.convert(one["approval"], Approval)
            return WaitingQuestion(
                session=session["id"],
                title=session["title"],
                call_id=one["call_id"],
                asked_at=one["asked_at"],
                approval=approval,
            )

        return list(map(question, (await self.api.approvals())["approvals"]))

    async def fork(self, session: str) -> str:
        return (await self.api.fork(session))["id"]

    async def rename(self, session: str, title: str) -> None:
        await self.api.change(session, title=title)

    async def delete(self, session: str) -> None:
        await self.api.delete(session)

    async def search(self, text: str) -> "Sequence[FoundSession]":
        raise NotHere("The sessions are on a server; search them on its page.")

    async def files(self) -> Sequence[str]:
        return await self.api.files(self._session, "", 100) if self._session else ()

    async def executed_texts(self, files: "Sequence[ExecutedFile]") -> "Sequence[ExecutedText]":
        raise NotHere("The files are on the server's machine.")

    async def read_text(self, path: str) -> str:
        raise NotHere("The files are on the server's machine.")

    async def whole_output(self, session: str, call_id: str) -> "WholeText | None":
        from assent.app.output_folders import WholeText

        texts: list[str] = []
        at, total = 0, 1
        while at < min(total, MAX_OUTPUT):
            piece = await self.api.output(session, call_id, at, OUTPUT_PIECE)
            if not piece["saved"] or piece["next"] <= at:
                return None  # what the server has is already on the screen
            texts.append(piece["text"])
            at, total = piece["next"], piece["total"]
        return WholeText("".join(texts), is_cut=total >= MAX_OUTPUT)

    async def digests(self, paths: Sequence[str]) -> Mapping[str, str]:
        return {}

    async def applied(self, changes: "Sequence[FileChange]") -> "Applied":
        return {}

    async def paste_picture(self, session: str) -> str:
        raise NotHere("The session is on a server, which cannot see your clipboard.")

    def keep_dropped(self, session: str, path: str) -> str:
        return path

    async def prompts(self) -> Sequence[str]:
        return ()

    async def branch(self) -> str:
        return ""

    async def models(self, max_wait: float) -> "Sequence[ModelView]":
        from assent.app.model_catalog import ModelView

        return msgspec.convert((await self.api.models())["models"], list[ModelView])

    async def check_model(self, model: str) -> ModelCheck:
        return ModelCheck()  # the server checks it when a session is created

    def prices(self) -> "Prices":
        from assent.app.pricing import Prices

        return Prices()

    def tools(self) -> Sequence[ToolInfo]:
        return ()

    def rules(self) -> Sequence[RuleInfo]:
        raise NotHere("The rules are on the server's machine; run `assent policy list` there.")

    def standing_grants(self) -> Sequence[Grant]:
        raise NotHere("The grants are on the server's machine; run `assent policy list` there.")

    def servers(self) -> Sequence[ServerInfo]:
        raise NotHere("The MCP servers are on the server's machine; run `assent mcp list` there.")

    def on_servers(self, changed: Callable[[], None]) -> None:
        pass  # the server reports on its own MCP servers

    def server_prompts(self) -> "Sequence[Prompt]":
        return ()

    async def server_prompt(self, prompt: "Prompt", arguments: Mapping[str, str]) -> str:
        raise NotHere("Prompts of MCP servers are available only on the server's machine.")

    def server_resources(self) -> Sequence[ServerResource]:
        return ()

    def memory(self) -> Sequence[MemoryFile]:
        raise NotHere("The context files are on the server's machine.")

    def untrusted(self) -> "Untrusted | None":
        raise NotHere("The session is on a server; trust its folder there, with `assent trust`.")

    def trust(self, shown: "Untrusted") -> None:
        raise NotHere("The session is on a server; trust its folder there, with `assent trust`.")

    def custom_commands(self) -> "Sequence[CustomCommand]":
        return ()  # the server fills in its own

    async def named_prompts(self) -> Sequence[NamedPrompt]:
        from assent.app.mcp_types import Argument

        listed = await self.api.prompts(self._session)
        self.problems = listed["problems"]
        return [
            NamedPrompt(one["name"], one["help"], one["usage"], msgspec.convert(one["arguments"], tuple[Argument, ...]))
            for one in listed["prompts"]
        ]

    async def use_prompt(self, name: str, argument: str) -> None:
        await self.api.use_prompt(self._session, name, argument)

    async def close(self) -> None:
        if self._api is not None:
            await self._api.close()
