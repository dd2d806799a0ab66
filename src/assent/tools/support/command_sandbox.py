"""The sandbox of one command: what the model asks for, and what a permit allows.

A command that was allowed by its words has a plan, which names its sandbox. One that runs as it is written gets the
usual profile, or the wider one that the model asked for and the person saw.
"""

import os
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from assent.plan import SandboxName
from assent.tools.tool import Permit, ToolFailed

if TYPE_CHECKING:
    from assent.sandbox.confinement import Confined, Confinement


class CommandSandbox:
    def __init__(
        self,
        confinement: "Callable[[], Confinement] | None",
        usual: SandboxName,
        usual_domains: tuple[str, ...],
        *,
        asked: SandboxName | None,
        writable: tuple[str, ...],
        domains: tuple[str, ...],
    ) -> None:
        """`usual` is the profile of commands that run as they are written. The keywords are what the model asks for."""
        self._confinement = confinement
        self._usual: SandboxName = usual
        self._usual_domains = usual_domains
        self._asked: SandboxName | None = asked
        self._domains = domains
        self._asked_paths = writable

    @property
    def _paths(self) -> tuple[str, ...]:
        """Resolved each time: a path that has become a link since the question is asked about again."""
        return tuple(os.path.realpath(os.path.expanduser(path)) for path in self._asked_paths)

    # --- as it is written ---

    @property
    def is_wider(self) -> bool:
        """The model asks for more than usual."""
        return bool(self._asked or self._paths or self._domains) and self._confinement is not None

    @property
    def profile(self) -> SandboxName:
        """What the model asks for, or at least what the paths and hosts need that it asks for."""
        if self._asked or not self.is_wider:
            return self._asked or self._usual
        return "network" if self._domains or self._usual == "network" else "workspace"

    @property
    def domains(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys((*self._usual_domains, *self._domains))) if self.profile == "network" else ()

    @property
    def writable(self) -> tuple[str, ...]:
        return self._paths if self.profile != "off" else ()

    def check(self) -> None:
        """Raises ToolFailed if the model asks for a path that no sandbox can have."""
        if self._confinement is None or not self.writable:
            return
        confinement = self._confinement()
        if why := next(filter(None, map(confinement.why_not_writable, self.writable)), None):
            raise ToolFailed("invalid_tool_params", f"{why}. Only `sandbox: off` can do that.")

    def can_have(self, paths: Sequence[str]) -> bool:
        """Whether a sandbox can ever write there."""
        return self._confinement is not None and not any(map(self._confinement().why_not_writable, paths))

    # --- with a permit ---

    def profile_for(self, permit: Permit) -> SandboxName:
        if self._confinement is None:
            return "off"
        if permit.plan is not None:
            return permit.plan.sandbox
        return permit.sandbox or self.profile

    def domains_for(self, permit: Permit) -> tuple[str, ...]:
        """Where it may connect to without asking."""
        if permit.plan is not None:
            return (*self._usual_domains, *permit.plan.domains)
        return tuple(dict.fromkeys((*self._usual_domains, *self._domains)))

    def _writable_for(self, permit: Permit) -> tuple[str, ...]:
        """Where it may write, besides the workspace."""
        return self._paths if permit.plan is None else permit.plan.writable

    async def missing(self) -> tuple[SandboxName, ...]:
        """The profiles that do not work here. Whoever turns the sandbox off does not miss it for commands that only
        read.
        """
        confinement = None if self._confinement is None else self._confinement()
        if confinement is None:
            return ("workspace", "network")
        if not await confinement.problem():
            return ()
        return ("workspace", "network", *(("read-only",) if await confinement.landlock_problem() else ()))

    async def confine(self, permit: Permit, cwd: str) -> "Confined | None":
        """What puts the command into its sandbox; None if it runs in none. Raises Unconfined and FileChanged."""
        if self._confinement is None or (name := self.profile_for(permit)) == "off":
            return None
        writable = self._writable_for(permit)
        return await self._confinement().confine(name, cwd, writable=writable, executes=permit.unchanged)

    def environment(self, env: Mapping[str, str], permit: Permit, confined: "Confined") -> dict[str, str]:
        from assent.sandbox.confinement import confined_environment

        return confined_environment(env, proxied=confined.sandbox_port is not None, writable=self._writable_for(permit))
