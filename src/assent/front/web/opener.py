"""Opens a session to run in the server: its model, its tools, its rules, from the session's own record."""

import os
from collections.abc import Callable, Mapping

from assent.config import Settings, data_folder
from assent.events import Envelope
from assent.files.workspace import Workspace
from assent.front.rules import collect_rules
from assent.models.base import Model
from assent.models.choose import open_model
from assent.session.engine import Opened
from assent.session.log import LogUnavailable, SessionInfo, SessionLog
from assent.session.runner import Options, Runner
from assent.tools.builtin import builtin_tools
from assent.tools.registry import Registry

CLIENT = "serve"


class Opener:
    def __init__(
        self, log: SessionLog, settings: Settings, env: Mapping[str, str], listener: Callable[[Envelope], None]
    ) -> None:
        self._log, self._settings, self._env, self._listener = log, settings, env, listener

    async def __call__(self, info: SessionInfo) -> Opened:
        if not os.path.isdir(info.folder):
            raise LogUnavailable(f"the folder of session {info.id} is not there: {info.folder}")
        model = self.model(info.model)
        try:
            registry = Registry(builtin_tools(self._workspace(info.folder)))
            options = self._options(info.folder, registry)
            runner = await Runner.open(self._log, info.id, model, registry, options)
        except BaseException:
            await model.close()
            raise
        return Opened(runner, model.close)

    def model(self, name: str) -> Model:
        return open_model(name, self._env)

    def _workspace(self, folder: str) -> Workspace:
        return Workspace([folder], folder, own_folders=[str(data_folder(self._env))])

    def _options(self, folder: str, registry: Registry) -> Options:
        name = self._settings.fallback_model
        return Options(
            rules=collect_rules(self._env, folder, registry.names()),
            max_turns=self._settings.max_turns,
            approval_ttl=self._settings.approval_ttl,
            client=CLIENT,
            fallback=None if name is None else lambda: self.model(name),
            open_model=self.model,
            listener=self._listener,
        )
