"""A recorded session: events that a test wrote down, with fixed times, shown by the real app.

For pictures only: nothing runs here, so that every picture is the same each time. What the app sends is kept in `sent`.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping, Sequence

from assent.app.applied_trials import Applied
from assent.app.custom_commands import CustomCommand
from assent.app.folder_trust import Untrusted
from assent.app.folder_view import ExecutedText
from assent.app.model_catalog import ModelView
from assent.app.session_management import FoundSession
from assent.approval import Approval, Decision, Details, ExecDetails, Grant, McpDetails, Mode, Outcome, UnapprovedFile
from assent.commands import Command
from assent.events import (
    ApprovalRequested,
    Attached,
    CallFinished,
    CallOutput,
    CallRequest,
    CallRequested,
    CallScheduled,
    CallStarted,
    CallStatus,
    Envelope,
    Event,
    FileChange,
    ModelReplied,
    PromptsQueued,
    PromptSubmitted,
    SessionCreated,
    TextDelta,
    ThoughtDelta,
    TransientEvent,
    TurnFinished,
    TurnStatus,
)
from assent.front.tui.host import (
    NO_CHOICES,
    Choices,
    MemoryFile,
    ModelCheck,
    NamedPrompt,
    RuleInfo,
    ServerInfo,
    ServerResource,
    ToolInfo,
    WaitingQuestion,
)
from assent.mcp.offers import Argument, Prompt
from assent.models.bold_subject import split_subject
from assent.models.model_facts import Prices
from assent.parts import Display, Failure, JsonObject, Result, Text, Thought, Usage
from assent.plan import ExecutedFile
from assent.session.log import SessionInfo
from assent.session.state import SessionState
from assent.tools.builtin import builtin_tools
from assent.transient_events import Queued

FOLDER = "/projects/cart"
START = 1_750_000_000.0
NOW = START + 12.3
"""The time at which everyone looks at it."""
SESSION = "20250615-1706-film"
PROMPT = f"{SESSION}########0"


class RecordedSession:
    def __init__(self, mode: Mode = "default", model: str = "gemini-2.5-pro") -> None:
        self.envelopes: list[Envelope] = []
        self.live: list[Event] = []
        """What comes after the history, while someone watches."""
        self._seq = 0
        self._ran: set[str] = set()
        self.happens(SessionCreated(folder=FOLDER, model=model, mode=mode, version="1"))

    def happens(self, *events: Event) -> "RecordedSession":
        for event in events:
            transient = isinstance(event, TransientEvent)
            self._seq += not transient
            self.envelopes.append(Envelope(0 if transient else self._seq, START, SESSION, event))
        return self

    def prompt(self, text: str, *attached: Attached) -> "RecordedSession":
        return self.happens(PromptSubmitted(PROMPT, text, "ann", attached=attached))

    def reply(self, text: str = "", thought: str = "", tokens: int = 1234) -> "RecordedSession":
        subject, description = split_subject(thought)
        parts = (*((Thought(description, subject=subject),) if thought else ()), *((Text(text),) if text else ()))
        return self.happens(
            ModelReplied(prompt_id=PROMPT, model="gemini-2.5-pro", parts=parts, finish="stop", usage=Usage(tokens, 56))
        )

    def streams(self, text: str, thought: tuple[str, str] | None = None) -> "RecordedSession":
        if thought is not None:
            self.happens(ThoughtDelta(PROMPT, *thought))
        return self.happens(TextDelta(PROMPT, text)) if text else self

    def call(self, call_id: str, tool: str, **args: object) -> "RecordedSession":
        return self.happens(CallRequested(CallRequest(call_id=call_id, tool=tool, args=args, prompt_id=PROMPT)))

    def runs(self, call_id: str, output: str = "") -> "RecordedSession":
        self._ran.add(call_id)
        self.happens(CallScheduled(call_id, Decision(source="tool", reason="it only reads")), CallStarted(call_id, ""))
        return self.happens(CallOutput(call_id, output)) if output else self

    def ends(
        self,
        call_id: str,
        display: Display | None = None,
        status: CallStatus = "success",
        failure: str = "",
        ms: int = 12,
    ) -> "RecordedSession":
        problem = Failure("failed", failure) if failure else None
        response: JsonObject = {"error": failure} if failure else {"output": "done"}
        return self.happens(
            CallFinished(
                call_id=call_id,
                status=status,
                result=Result(call_id, "", response),
                display=display,
                failure=problem,
                duration_ms=ms,
                ran_ms=ms if call_id in self._ran else None,
            )
        )

    def asks(
        self,
        call_id: str,
        tool: str,
        details: Details,
        why: str = "Commands need your assent.",
        unapproved: tuple[UnapprovedFile, ...] = (),
        options: tuple[Outcome, ...] = (),
        untried: str = "",
        **args: object,
    ) -> "RecordedSession":
        self.call(call_id, tool, **args)
        approval = Approval(
            id=f"q-{call_id}",
            digest=call_id,
            details=details,
            options=options or _options(details),
            why=why,
            scopes=_scopes(details),
            unapproved=unapproved,
            untried=untried,
        )
        return self.happens(ApprovalRequested(call_id, approval))

    def queue(self, *texts: str) -> "RecordedSession":
        return self.happens(PromptsQueued(tuple(Queued(key=text, text=text, by="ann") for text in texts)))

    def over(self, status: TurnStatus = "completed", failure: str = "") -> "RecordedSession":
        return self.happens(TurnFinished(PROMPT, status, Failure("failed", failure) if failure else None))


def _options(details: Details) -> tuple[Outcome, ...]:
    server: tuple[Outcome, ...] = ("proceed_always_server", "proceed_always_tool")
    always: tuple[Outcome, ...] = server if isinstance(details, McpDetails) else ("proceed_always",)
    editor: tuple[Outcome, ...] = ("modify_with_editor",) if hasattr(details, "diff") else ()
    return ("proceed_once", *(() if hasattr(details, "questions") else always), *editor, "cancel")


def _scopes(details: Details) -> tuple[Grant, ...]:
    if not isinstance(details, ExecDetails):
        return ()
    return (
        Grant(id="g1", kind="exact", tool="run_shell_command", reach=f"exactly “{details.command}” in {FOLDER}"),
        Grant(
            id="g2",
            kind="subcommand",
            tool="run_shell_command",
            reach=f"commands that begin with “{details.roots[0]}” in {FOLDER}",
        ),
    )


class RecordedClient:
    me = "ann@pid1"

    def __init__(self, recording: RecordedSession) -> None:
        self.state = SessionState(SESSION)
        self.sent: list[Command] = []
        self._film = recording
        self._closed = asyncio.Event()

    async def history(self) -> list[Envelope]:
        for envelope in self._film.envelopes:
            self.state.apply(envelope)
        return self._film.envelopes

    def on_link(self, changed: Callable[[bool], None]) -> None:
        """It is a recording: nobody leaves."""

    async def events(self) -> AsyncIterator[Envelope]:
        await self._closed.wait()
        return
        yield  # an iterator without items

    async def send(self, command: Command, key: str | None = None) -> str:
        self.sent.append(command)
        return str(len(self.sent))

    async def type_in(self, call_id: str, number: int, text: str | None) -> str:
        return ""

    async def close(self) -> None:
        self._closed.set()


class RecordedHost:
    folder = FOLDER
    problems: Sequence[str] = ()

    def __init__(self, recording: RecordedSession) -> None:
        self.client = RecordedClient(recording)

    async def open(self, session: str | None = None, choices: Choices = NO_CHOICES) -> RecordedClient:
        return self.client

    async def waiting(self) -> Sequence[WaitingQuestion]:
        return ()

    keeps_running = False

    async def why_busy(self, session: str) -> str:
        return ""

    async def sessions(self) -> Sequence[SessionInfo]:
        return ()

    async def fork(self, session: str) -> str:
        return session

    async def rename(self, session: str, title: str) -> None:
        pass

    async def delete(self, session: str) -> None:
        pass

    async def search(self, text: str) -> Sequence[FoundSession]:
        return ()

    async def files(self) -> Sequence[str]:
        return ("cart.py", "test_cart.py", "docs/")

    async def digests(self, paths: Sequence[str]) -> Mapping[str, str]:
        return {}

    async def applied(self, changes: Sequence[FileChange]) -> Applied:
        return {}

    async def executed_texts(self, files: Sequence[ExecutedFile]) -> Sequence[ExecutedText]:
        return ()

    async def read_text(self, path: str) -> str:
        return f"# {path}\n"

    async def whole_output(self, session: str, call_id: str) -> None:
        return None

    async def paste_picture(self, session: str) -> str:
        return ""

    def keep_dropped(self, session: str, path: str) -> str:
        return path

    async def prompts(self) -> Sequence[str]:
        return ()

    async def branch(self) -> str:
        return "main"

    async def models(self, max_wait: float) -> Sequence[ModelView]:
        return [
            ModelView(name="gemini-2.5-pro", window=1_048_576, input_price=1.25, output_price=10),
            ModelView(name="claude-opus-5-5", window=1_000_000, input_price=4, output_price=20),
            ModelView(name="ollama:smollm2", window=8_192, tools=False),
        ]

    async def check_model(self, model: str) -> ModelCheck:
        return ModelCheck()

    def prices(self) -> Prices:
        return Prices()

    def tools(self) -> Sequence[ToolInfo]:
        from assent.files.workspace import Workspace

        tools = builtin_tools(Workspace(["/"], "/"))
        return [ToolInfo(tool.name, tool.description, tool.kind) for tool in tools]

    def rules(self) -> Sequence[RuleInfo]:
        return (RuleInfo("run_shell_command(git status)", "allow", "settings.toml"),)

    def standing_grants(self) -> Sequence[Grant]:
        return ()

    def on_servers(self, changed: Callable[[], None]) -> None:
        pass

    def servers(self) -> Sequence[ServerInfo]:
        docs = ServerInfo(name="docs", state="ready", tools=4, prompts=1, resources=2)
        return (docs, ServerInfo(name="tracker", state="failed", tools=0, problem="it did not answer in 30 s"))

    def server_prompts(self) -> Sequence[Prompt]:
        arguments = (Argument("topic", needed=True), Argument("tone"))
        return (Prompt("docs", "summary", "Summarises a topic of the handbook", arguments),)

    async def server_prompt(self, prompt: Prompt, arguments: Mapping[str, str]) -> str:
        return ""

    def server_resources(self) -> Sequence[ServerResource]:
        return (
            ServerResource("docs", "docs:book:/1", "Chapter 1"),
            ServerResource("docs", "docs:book:/2", "Chapter 2"),
        )

    def memory(self) -> Sequence[MemoryFile]:
        return ()

    def untrusted(self) -> Untrusted | None:
        return None

    def trust(self, shown: Untrusted) -> None:
        pass

    def custom_commands(self) -> Sequence[CustomCommand]:
        return ()

    async def named_prompts(self) -> Sequence[NamedPrompt]:
        return ()

    async def use_prompt(self, name: str, argument: str) -> None:
        pass

    async def close(self) -> None:
        pass
