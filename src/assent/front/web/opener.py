"""Opens a session to run in the server: its model, its tools, its rules, from the session's own record."""

import os
from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING

from msgspec.structs import replace

from assent.app.session_environment import SessionEnvironment, open_environment
from assent.config import BadSettings, Settings
from assent.events import Envelope
from assent.models.base import Model
from assent.models.choose import open_model
from assent.session.engine import Opened
from assent.session.log import LogUnavailable, SessionInfo, SessionLog
from assent.session.runner import Runner

if TYPE_CHECKING:  # imported when there is a server
    from assent.mcp.manager import McpManager

CLIENT = "serve"


class Opener:
    def __init__(
        self,
        log: SessionLog,
        settings: Settings,
        env: Mapping[str, str],
        listener: Callable[[Envelope], None],
        give_way: Callable[[], Awaitable[None]] | None = None,
    ) -> None:
        self._log, self._settings, self._env = log, settings, env
        self._listener, self._give_way = listener, give_way
        self._environments: dict[str, SessionEnvironment] = {}
        """Of the sessions that are open here."""

    async def __call__(self, info: SessionInfo) -> Opened:
        if not os.path.isdir(info.folder):
            raise LogUnavailable(f"the folder of session {info.id} is not there: {info.folder}")
        model = self.model(info.model)
        try:
            environment = open_environment(self._env, info.folder, self._settings, info.id, model)
            runner = await self._run(info, model, environment)
        except BadSettings as error:
            await model.close()
            raise LogUnavailable(str(error)) from error
        except BaseException:
            await model.close()
            raise

        self._environments[info.id] = environment

        async def close() -> None:
            del self._environments[info.id]
            await environment.close()
            await model.close()

        return Opened(runner, close)

    async def _run(self, info: SessionInfo, model: Model, environment: SessionEnvironment) -> Runner:
        options = environment.options(self._settings, model.name, CLIENT)
        options = replace(options, listener=self._listener, give_way=self._give_way)
        environment.start()
        try:
            return await Runner.open(self._log, info.id, model, environment.registry, options)
        except BaseException:
            await environment.close()
            raise

    def manager(self, session: str) -> "McpManager | None":
        """The MCP servers of a session that is open here."""
        environment = self._environments.get(session)
        return None if environment is None else environment.mcp

    def model(self, name: str) -> Model:
        return open_model(name, self._env)
