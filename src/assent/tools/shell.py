"""run_shell_command: runs one command line with bash in the workspace and streams its output.

It does not judge what the command may do; `should_confirm` only says what would run. `assent.process`, which is
imported with the first call, ends the command with everything it started.
"""

import functools
import os
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, Literal, NamedTuple

from msgspec import Meta, Struct

from assent.approval import ExecDetails
from assent.config import Environment
from assent.events import FileChange
from assent.parts import TerminalDisplay
from assent.plan import SandboxName
from assent.secrets.mask import Masker
from assent.tools.support.command_sandbox import CommandSandbox
from assent.tools.support.files import Files
from assent.tools.support.shell_options import ShellOptions
from assent.tools.tool import InvalidParams, Invocation, Live, Permit, Resources, Tool, ToolFailed, ToolResult
from assent.web.destinations import check_entry

if TYPE_CHECKING:
    from assent.process.changed_files import StartWatch
    from assent.process.run_program import Keeping, ProcessFinished
    from assent.process.terminal_input import Keyboard
    from assent.sandbox.confinement import Confined
    from assent.sandbox.trials import StartedTrial, Trials
    from assent.tools.support.background_processes import BackgroundCommands
    from assent.tools.support.command_run import CommandRun
    from assent.tools.support.network_access import NetworkAccess
    from assent.tools.support.shell_trial import ShellTrial, TriedCommand
    from assent.tools.support.whole_output import WholeOutput

_CHANGED = "The command did not run: {} has changed since it was approved. Call the tool again to ask again."
_NO_SANDBOX = "There is no sandbox here: {}. Commands that rules allow run without one; see `assent sandbox check`."
_CHANGED_MEANWHILE = "{} changed while the command was starting or running: content that was not approved may have run."
_DEFAULTS = ShellOptions()
_BUILD_ATTEMPTS = 3


class ShellParams(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    command: Annotated[str, Meta(description="The exact command line, run as `bash -c COMMAND`.")]
    description: Annotated[
        str, Meta(description="One short sentence for the user: what the command does and why. No line breaks.")
    ] = ""
    dir_path: Annotated[
        str, Meta(description="Folder to run in, relative to the workspace root or absolute. Default: the root.")
    ] = ""
    is_background: Annotated[
        bool,
        Meta(
            description="Start the command and return at once. It runs until it is stopped or the session ends; see "
            "list_background_processes, read_background_output, stop_background_process."
        ),
    ] = False
    sandbox: Annotated[
        Literal["", "network", "off"],
        Meta(
            description="Only if the sandbox refused what the command needs: `network` asks the user for network "
            "access, `off` asks to run it without the sandbox."
        ),
    ] = ""
    writable: Annotated[
        tuple[str, ...],
        Meta(description="Only if the sandbox refused to write there: absolute paths to ask for.", max_length=8),
    ] = ()
    domains: Annotated[
        tuple[str, ...],
        Meta(description="Only if the sandbox refused to connect: hosts, or host:port, to ask for.", max_length=16),
    ] = ()


class ShellTool(Tool[ShellParams]):
    name = "run_shell_command"
    display_name = "Shell"
    description = (
        "Runs a command with bash in the workspace and returns its output (stdout and stderr combined) and its exit "
        "code. You cannot type into it, so use flags that keep programs from prompting. Each call is a new shell; `cd` "
        "and variables do not carry over. Processes started with `&` end with the command in a sandbox; use "
        "is_background for servers and watchers."
    )
    kind = "execute"
    can_update_output = True
    main_argument = "command"
    params = ShellParams

    def __init__(self, files: Files, options: ShellOptions = _DEFAULTS) -> None:
        self.files = files
        self.limits = options.limits
        self.grace = options.grace
        self.terminal = options.terminal
        self.typing = options.typing and options.terminal is not None
        self._background = options.background
        self.environment = options.environment or Environment()
        self.outputs = options.outputs
        self.masker = options.masker or Masker()
        self.confinement = None if options.confinement is None else functools.cache(options.confinement)
        self.approved: SandboxName = "off" if options.confinement is None else options.approved
        self.domains = options.domains
        self.resolve, self.dial = options.resolve, options.dial
        self.said_no_sandbox = False
        self._trials = options.trials

    @functools.cached_property
    def trials(self) -> "Trials | None":
        """What tries commands first; None if nothing does."""
        if not self._trials or self.confinement is None:
            return None
        from assent.files.trial_store import TrialStore
        from assent.sandbox.trials import Trials

        return Trials(self.confinement(), TrialStore(self._trials), self.files.root)

    @functools.cached_property
    def background(self) -> "BackgroundCommands":
        from assent.tools.support.background_processes import BackgroundCommands

        return self._background or BackgroundCommands()

    def prepare(self) -> None:
        from assent.process import supervisor_client

        supervisor_client.prepare()

    def invocation(self, params: ShellParams) -> Invocation:
        if not params.command.strip():
            raise InvalidParams("command must not be empty")
        if "\0" in params.command:
            raise InvalidParams("command must not contain a NUL character")
        if wrong := next((entry for entry in params.domains if check_entry(entry)), None):
            raise InvalidParams(f"{wrong!r} is not a host: {check_entry(wrong)}")
        if relative := next((path for path in params.writable if not path.startswith(("/", "~/"))), None):
            raise InvalidParams(f"{relative!r} is not an absolute path")
        return ShellInvocation(self, params)


class _Ended(NamedTuple):
    """A command that ran, with everything that has to be said about it."""

    finished: "ProcessFinished"
    whole: "WholeOutput"
    removed: list[str]
    watch: "StartWatch"
    access: "NetworkAccess"


class ShellInvocation(Invocation):
    def __init__(self, tool: ShellTool, params: ShellParams) -> None:
        self._tool = tool
        self._params = params
        self._keyboard: Keyboard | None = None
        self._notices: list[str] = []
        """What the person is told with the output, besides the model."""
        self._trial: ShellTrial | None = None
        self._sandbox = CommandSandbox(
            tool.confinement,
            tool.approved,
            tool.domains,
            asked=params.sandbox or None,
            writable=params.writable,
            domains=params.domains,
        )

    def describe(self) -> str:
        where = f" [in {self._params.dir_path}]" if self._params.dir_path else ""
        why = f" ({' '.join(self._params.description.split())})" if self._params.description else ""
        behind = " [in the background]" if self._params.is_background else ""
        return f"{self._params.command}{where}{behind}{why}"

    async def should_confirm(self) -> ExecDetails:
        """The gate adds what it finds: the programs named, the risk and why."""
        self._sandbox.check()
        return ExecDetails(
            command=self._params.command,
            roots=(),
            directory=self._directory(),
            risk="high",
            risk_reason="It was not analysed.",
            sandbox=self._sandbox.profile,
            no_sandbox=await self._sandbox.missing(),
            wider=self._sandbox.is_wider,
            background=self._params.is_background,
            domains=self._sandbox.domains,
            writable=self._sandbox.writable,
            trial=None if self._trial is None else await self._trial.shown(),
        )

    def triable(self) -> "ShellTrial | None":
        if self._params.is_background:
            return None  # a trial ends with everything that it started
        if self._trial is None and self._tool.trials is not None:
            from assent.tools.support.shell_trial import ShellTrial

            self._trial = ShellTrial(self._tool.trials, self._tried, self._directory)
        return self._trial

    def change(self) -> FileChange | None:
        return None if self._trial is None else self._trial.change()

    def resources(self) -> Resources:
        """The files that a command touches are unknown here; the gate decides whether it only reads."""
        return Resources(anything="write")

    def folders(self) -> tuple[str, ...]:
        return (self._tool.files.absolute(self._params.dir_path),)

    async def execute(self, permit: Permit, live: Live) -> ToolResult:
        from assent.tools.support.command_report import ended_badly, for_person

        if self._trial is not None and self._trial.is_shown:
            return await self._trial.apply()
        if self._params.is_background:
            return await self._start_in_background(permit, live)
        ended = await self._run(permit, live)
        report = self._report(ended, permit, self._sandbox.profile_for(permit))
        report += await self._offered(ended.finished, permit, live)
        notices = "".join(f"[{note}]\n" for note in self._notices)
        if notices:
            live.output(notices)  # whoever only sees what is printed must know, too
        output = for_person(ended.finished, ended.whole.path) + ended.access.for_person() + notices
        return ToolResult(report, TerminalDisplay(output, ended_badly(ended.finished)))

    async def _run(self, permit: Permit, live: Live) -> "_Ended":
        """A sandbox hides what is there when it is planned, such as the sockets of other programs. If one of them is
        gone when the sandbox is built, it is planned again.
        """
        from assent.tools.support.command_report import not_built

        why = ""
        for _ in range(_BUILD_ATTEMPTS):
            ended = await self._watched(permit, await self._confined(permit), live)
            if not (why := not_built(ended.finished)):
                return ended
        raise ToolFailed("sandbox_failed", f"The command did not run, because its sandbox could not be built: {why}")

    async def _tried(self, permit: Permit, live: Live, started: "StartedTrial") -> "TriedCommand":
        """The command in a copy of the workspace; what it says is kept until the effects are applied."""
        from assent.process.plain_text import plain
        from assent.sandbox.confinement import Confined
        from assent.tools.support.command_report import ended_badly, for_person
        from assent.tools.support.shell_trial import TriedCommand

        ended = await self._watched(permit, Confined(started.launcher), live, typing=False)
        finished, mask = ended.finished, self._tool.masker.text
        if finished.never_ran:
            raise ToolFailed("trial_unavailable", f"The command could not be tried: {finished.output.text().strip()}")
        report = mask(self._report(ended, permit, "workspace"))
        notices, self._notices = tuple(self._notices), []
        return TriedCommand(mask(plain(for_person(finished))), ended_badly(finished) or "exit 0", report, notices)

    async def _watched(
        self, permit: Permit, confined: "Confined | None", live: Live, *, typing: bool = True
    ) -> "_Ended":
        """`typing`: a person can type what it asks for, if they can at all."""
        from assent.process.changed_files import StartWatch
        from assent.tools.support.clean_output import OutputCleaner
        from assent.tools.support.network_access import NetworkAccess
        from assent.tools.support.output_sinks import OutputSinks
        from assent.tools.support.whole_output import WholeOutput, output_name

        whole = WholeOutput(self._tool.outputs, output_name(permit.call_id), OutputCleaner(self._tool.masker))
        sinks = OutputSinks(live, whole, StartWatch(permit.unchanged))
        typing = typing and permit.plan is None and self._tool.typing
        keyboard = self._open_keyboard(live) if typing else None
        access = NetworkAccess(live, self._sandbox.domains_for(permit))
        removed: list[str] = []
        try:
            with self._failures(), sinks.open():
                finished = await self._command.run(
                    permit, confined, access, self._directory(), sinks.listener, keyboard=keyboard
                )
                sinks.tell(access.for_person())
        finally:
            removed += [] if confined is None else confined.clean_up()
        return _Ended(finished, whole, removed, sinks.watch, access)

    @contextmanager
    def _failures(self) -> Generator[None]:
        from assent.process.changed_files import FileChanged

        try:
            yield
        except OSError as error:
            raise ToolFailed("shell_execute_error", f"The command could not be run: {error}") from error
        except FileChanged as error:
            raise ToolFailed("changed_since_approved", _CHANGED.format(self._tool.files.shown(error.path))) from error

    async def _start_in_background(self, permit: Permit, live: Live) -> ToolResult:
        """The call ends when the command runs. A background command has no time limits, and nobody types into it."""
        from assent.tools.support.background_processes import TooMany
        from assent.tools.support.command_run import Listener
        from assent.tools.support.network_access import NetworkAccess

        confined = await self._confined(permit)
        access = NetworkAccess(live, self._sandbox.domains_for(permit))

        async def work(
            on_start: Callable[[int], None], on_output: Callable[[str], None], keeping: "Keeping"
        ) -> "ProcessFinished":
            try:
                listener = Listener(on_start, on_output)
                return await self._command.run(
                    permit, confined, access, self._directory(), listener, timed=False, keeping=keeping
                )
            finally:
                for note in () if confined is None else confined.clean_up():
                    on_output(f"\n[{note}]\n")

        try:
            with self._failures():
                places = None if confined is None else confined.kept
                one = await self._tool.background.start(permit.call_id, self._params.command, work, places)
        except TooMany as error:
            raise ToolFailed("too_many_background_commands", f"The command was not started: {error}.") from error
        live.process(one.pid)
        return one.report(self._notices)

    def _open_keyboard(self, live: Live) -> "Keyboard":
        from assent.process.terminal_input import Keyboard

        keyboard = self._keyboard = Keyboard(lambda wanted: live.asks(wanted, keyboard.type))
        return keyboard

    async def _confined(self, permit: Permit) -> "Confined | None":
        """What puts the command into its sandbox. A person who was shown a sandbox gets one, or the command does not
        run; what rules allow ran before there was a sandbox, and the person was told that there is none.
        """
        from assent.sandbox.confinement import Unconfined

        try:
            with self._failures():
                return await self._sandbox.confine(permit, self._directory())
        except Unconfined as error:
            if permit.plan is not None and not permit.plan.only_confined:
                self._without_sandbox(error)
                return None
            raise ToolFailed(
                "sandbox_unavailable", f"The command did not run, because there is no sandbox: {error}"
            ) from error

    def _report(self, ended: "_Ended", permit: Permit, profile: SandboxName) -> str:
        """For the model. What the person must know, too, becomes a notice."""
        from assent.tools.support.command_report import for_model, missed, passed_over
        from assent.tools.support.input_notes import input_notes
        from assent.tools.support.limit_notes import limit_notes
        from assent.tools.support.sandbox_notes import hidden_notes, missed_notes, sandbox_notes

        finished, folder = ended.finished, self.folders()[0]  # the command may have deleted it
        shown = self._tool.files.shown(folder) if self._params.dir_path else ""
        notes = passed_over(folder) if permit.plan is not None and permit.plan.sweeps else []
        notes += missed(finished, self._params.command, self._tool.environment)
        refused = ended.access.notes() or sandbox_notes(
            finished, profile, tuple(self._tool.files.workspace.roots), os.path.expanduser("~")
        )
        notes += [*refused, *ended.removed, *limit_notes(finished, self._tool.limits)]
        notes += input_notes(finished, None if self._keyboard is None else self._keyboard.typed)
        missed_network, advice = missed_notes(finished, profile)
        self._notices += [*hidden_notes(finished, profile, self._params.command), *missed_network]
        ended.watch.look()
        if ended.watch.changed is not None:
            self._notices.append(_CHANGED_MEANWHILE.format(self._tool.files.shown(ended.watch.changed)))
        return "\n".join(
            [for_model(finished, self._command.limits, ended.whole, shown), *notes, *self._notices, *advice]
        )

    async def _offered(self, finished: "ProcessFinished", permit: Permit, live: Live) -> str:
        """Offers the person exactly what the sandbox refused, unless they were already asked about it. Returns what the
        model is told.
        """
        from assent.tools.support.sandbox_notes import wider_wanted

        profile, roots = self._sandbox.profile_for(permit), tuple(self._tool.files.workspace.roots)
        wider = wider_wanted(finished, profile, roots, os.path.expanduser("~"))
        if not wider or self._sandbox.is_wider or not self._sandbox.can_have(wider.get("writable", [])):
            return ""
        told = await live.offer(dict[str, object](wider))
        return f"\n{told}" if told else ""

    def _without_sandbox(self, why: Exception) -> None:
        """The person and the model are told once that there is no sandbox."""
        if not self._tool.said_no_sandbox:
            self._tool.said_no_sandbox = True
            self._notices.append(_NO_SANDBOX.format(why))

    async def end_leftovers(self, mark: str) -> tuple[int, ...]:
        from assent.process.leftover_processes import end_leftovers

        return await end_leftovers(mark)

    async def known_outcome(self, mark: str) -> str:
        if self._tool.trials is None:
            return ""
        from assent.tools.support.shell_trial import what_was_applied

        return await what_was_applied(self._tool.trials, mark)

    @functools.cached_property
    def _command(self) -> "CommandRun":
        from assent.tools.support.command_run import CommandRun

        return CommandRun(self._tool, self._sandbox, self._params.command)

    def _directory(self) -> str:
        return self._tool.files.folder(self._params.dir_path)
