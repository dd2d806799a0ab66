"""Prompts chosen by name: the user's own from files, a trusted folder's, and those of its MCP servers.

What the files run or read goes through the session's gate, and may wait for a person. So a choice is carried out
independently of its request, and a repeated request finds it again: while it is in progress, and also after a restart,
when nothing is run a second time.
"""

import asyncio
import hashlib
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

import msgspec

from assent.app.command_sender import COMMAND_TIMEOUT, Closed, CommandSender, Outcomes, Sent
from assent.app.custom_commands import BadTemplate, CustomCommand, Stopped, load_custom
from assent.app.custom_filling import filled
from assent.app.mcp_prompts import NoText, fetch_prompt, help_of, render_prompt, usage
from assent.app.mcp_types import Prompt
from assent.app.session_log import SessionInfo, SessionLog, Stamp, key_reused
from assent.app.wording import prompt_command
from assent.commands import RunTool, Submit
from assent.events import CallFinished, Envelope
from assent.front.web.api_types import PromptChoice, PromptList, PromptView, Using
from assent.front.web.command_gateway import CommandGateway, InboxKey
from assent.front.web.problems import Problem

if TYPE_CHECKING:  # imported only if there is a server
    from assent.app.mcp_types import PromptServers

Chosen = CustomCommand | Prompt


class _Use:
    """A choice that is being carried out."""

    def __init__(self, session: str, key: InboxKey) -> None:
        self.session, self.key = session, key
        self.outcomes = Outcomes()
        self.steps = 0
        self.task: asyncio.Task[None] | None = None

    def next_key(self, tool: RunTool) -> InboxKey:
        """The same key for the same step of the same request, so that nothing runs twice."""
        self.steps += 1
        name = f"{self.key.name}-{self.steps}"
        return InboxKey(name, Stamp(name, hashlib.sha256(msgspec.json.encode((tool.tool, tool.args))).digest()))


class Prompts:
    def __init__(
        self,
        log: SessionLog,
        gateway: CommandGateway,
        env: Mapping[str, str],
        servers: "Callable[[str], PromptServers | None]",
    ) -> None:
        """`servers` returns the MCP servers of a session that runs here."""
        self._log, self._gateway, self._env, self._servers = log, gateway, env, servers
        self._under_way: dict[str, _Use] = {}

    def on_event(self, envelope: Envelope) -> None:
        """Every event of every session that runs here."""
        for use in self._under_way.values():
            if use.session == envelope.session:
                use.outcomes.tell(envelope)

    async def close(self, session: str | None = None) -> None:
        """Cancels all of them, or those of a session that is deleted."""
        gone = [use for use in self._under_way.values() if session in (None, use.session)]
        for use in gone:
            use.outcomes.close()
        await asyncio.gather(*(use.task for use in gone if use.task is not None), return_exceptions=True)

    # --- listing ---

    async def list(self, info: SessionInfo) -> PromptList:
        found, problems = await self._find_all(info)
        return PromptList(tuple(_view(name, chosen) for name, chosen in sorted(found.items())), problems)

    async def _find_all(self, info: SessionInfo) -> tuple[dict[str, Chosen], tuple[str, ...]]:
        """By name. The user's own take precedence over those of servers."""
        servers = self._servers(info.id)
        offered = servers.prompts() if servers is not None else ()
        loaded = await asyncio.to_thread(load_custom, self._env, info.folder)
        theirs: dict[str, Chosen] = {prompt_command(prompt.server, prompt.name): prompt for prompt in offered}
        return theirs | {command.name: command for command in loaded.commands}, loaded.problems

    # --- using one ---

    async def use(self, info: SessionInfo, key: InboxKey, choice: PromptChoice, by: str) -> Using:
        """Waits a while for the outcome; raises Problem if it was not sent."""
        if key.name not in self._under_way and await self._gateway.done_before(key) is not None:
            return Using("sent", key.name)
        use = self._under_way.get(key.name) or self._begin(info, key, choice, by)
        if use.key != key:
            raise key_reused()
        assert use.task is not None
        done, _ = await asyncio.wait([use.task], timeout=COMMAND_TIMEOUT)
        if not done:
            return Using("going", key.name)
        use.task.result()
        return Using("sent", key.name)

    def _begin(self, info: SessionInfo, key: InboxKey, choice: PromptChoice, by: str) -> _Use:
        use = self._under_way[key.name] = _Use(info.id, key)
        use.task = asyncio.create_task(self._carry_out(info, use, choice, by), name=f"prompt {choice.name}")
        use.task.add_done_callback(lambda task: self._ended(key, task))
        return use

    def _ended(self, key: InboxKey, task: "asyncio.Task[None]") -> None:
        del self._under_way[key.name]
        if not task.cancelled():
            task.exception()  # the client may be gone

    async def _carry_out(self, info: SessionInfo, use: _Use, choice: PromptChoice, by: str) -> None:
        await self._gateway.open_here(info.id)
        try:
            text = await self._text(use, await self._find(info, choice.name), choice.argument, by)
        except (Stopped, BadTemplate, NoText, Closed) as stop:
            raise Problem("refused", f"/{choice.name} was not sent: {stop}") from stop
        await self._gateway.record(info.id, use.key, Submit(text, by=by))

    async def _find(self, info: SessionInfo, name: str) -> Chosen:
        found, _ = await self._find_all(info)
        servers = self._servers(info.id)
        if name not in found and servers is not None:
            await servers.settled()  # it may have just started; what a server offers is known once it is ready
            found, _ = await self._find_all(info)
        if name not in found:
            raise NoText("there is no such command for this folder")
        return found[name]

    async def _text(self, use: _Use, chosen: Chosen, argument: str, by: str) -> str:
        match chosen:
            case CustomCommand():
                return await filled(chosen, argument, lambda tool: self._finished(use, tool), by)
            case Prompt():
                return await render_prompt(
                    chosen, argument, lambda prompt, given: fetch_prompt(self._servers(use.session), prompt, given)
                )

    async def _finished(self, use: _Use, tool: RunTool) -> CallFinished | str:
        key = use.next_key(tool)
        sender = CommandSender(self._log, use.outcomes, self._gateway.wake)
        end = await sender.run(use.session, tool, key.name, key.stamp, max_wait=None)
        if isinstance(end, Sent) and end.state != "refused":
            raise Closed("The session was closed before the command finished.")
        return end.problem if isinstance(end, Sent) else end


def _view(name: str, chosen: Chosen) -> PromptView:
    match chosen:
        case CustomCommand():
            return PromptView(name, chosen.description, chosen.usage)
        case Prompt():
            return PromptView(name, help_of(chosen), usage(chosen), chosen.arguments)
