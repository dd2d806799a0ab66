"""How commands run: what the shell tool needs besides the files."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from msgspec import Struct

from assent.config import CommandLimits, Environment
from assent.files.private_folder import PrivateFolder
from assent.plan import SandboxName
from assent.secrets.mask import Masker

if TYPE_CHECKING:
    from assent.sandbox.confinement import Confinement
    from assent.tools.support.background_processes import BackgroundCommands
    from assent.web.dial import Dial
    from assent.web.urls import Resolver

TERMINAL = (120, 40)
"""Columns and rows of the terminal that commands get."""


class ShellOptions(Struct, frozen=True, kw_only=True):
    limits: CommandLimits = CommandLimits()
    grace: float = 0.5
    """Seconds that a command has to end after SIGTERM."""
    terminal: tuple[int, int] | None = TERMINAL
    """Columns and rows. None for a plain pipe, which is faster, if nobody is watching."""
    typing: bool = False
    """Whether a person can type what commands ask for that run as they are written."""
    background: "BackgroundCommands | None" = None
    """Runs the commands that continue after their call."""
    environment: Environment | None = None
    """Which variables commands get."""
    outputs: PrivateFolder | None = None
    """The folder for output that is too long for the model; the workspace must allow reading it."""
    masker: Masker | None = None
    """Masks secrets in what commands print."""
    confinement: "Callable[[], Confinement] | None" = None
    """Puts commands into a sandbox."""
    approved: SandboxName = "off"
    """The sandbox profile of commands that run as they are written."""
    domains: tuple[str, ...] = ()
    """The hosts that all commands may connect to."""
    resolve: "Resolver | None" = None
    dial: "Dial | None" = None
    trials: str = ""
    """The folder for what trials change; without one, nothing can be tried."""
