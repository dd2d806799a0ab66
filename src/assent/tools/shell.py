"""run_shell_command, as it is declared; what a call does is in `shell_call`, imported with the first call."""

from typing import Annotated

from msgspec import Meta, Struct

from assent.config import CommandLimits, Environment
from assent.files.private import PrivateFolder
from assent.secrets.mask import Masker
from assent.tools.base import InvalidParams, Invocation, Tool
from assent.tools.files import Files

TERMINAL = (120, 40)
"""Columns and rows."""


class ShellParams(Struct, frozen=True, forbid_unknown_fields=True):
    command: Annotated[str, Meta(description="The exact command line, run as `bash -c COMMAND`.")]
    description: Annotated[
        str, Meta(description="One short sentence for the user: what the command does and why. No line breaks.")
    ] = ""
    dir_path: Annotated[
        str, Meta(description="Folder to run it in, relative to the workspace root or absolute. Default: the root.")
    ] = ""


class ShellTool(Tool[ShellParams]):
    name = "run_shell_command"
    display_name = "Shell"
    description = (
        "Runs a command with bash in the workspace and returns its output (stdout and stderr together) and its exit "
        "code. There is no input: use flags that keep programs from asking. Each call is a new shell; `cd` and "
        "variables do not carry over. Processes started with `&` keep running only if their output is redirected."
    )
    kind = "execute"
    can_update_output = True
    main_argument = "command"
    params = ShellParams

    def __init__(
        self,
        files: Files,
        *,
        limits: CommandLimits = CommandLimits(),  # noqa: B008  (frozen)
        grace: float = 0.5,
        terminal: tuple[int, int] | None = TERMINAL,
        environment: Environment | None = None,
        outputs: PrivateFolder | None = None,
        masker: Masker | None = None,
    ) -> None:
        """`terminal` is columns and rows, None for a plain pipe; which variables commands get; where to keep outputs
        that are too long for the model, and what masks the secrets in them.
        """
        self.files = files
        self.limits = limits
        self.grace = grace
        self.terminal = terminal
        self.environment = environment or Environment()
        self.outputs = outputs
        self.masker = masker or Masker()

    def prepare(self) -> None:
        from assent.process import supervision

        supervision.prepare()

    def invocation(self, params: ShellParams) -> Invocation:
        from assent.tools.shell_call import ShellInvocation

        if not params.command.strip():
            raise InvalidParams("command must not be empty")
        if "\0" in params.command:
            raise InvalidParams("command must not contain a NUL character")
        return ShellInvocation(self, params)
