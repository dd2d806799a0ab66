"""An approval is a record: what exactly would happen, its digest, who may choose what, until when.

Ground floor: plain frozen data. The scheduler makes these records, the log keeps them, every client shows them.
"""

from typing import Literal

from msgspec import Struct

from assent.parts import JsonObject

Mode = Literal["default", "auto_edit", "yolo", "plan"]
MODES: tuple[Mode, ...] = ("default", "auto_edit", "yolo", "plan")

Outcome = Literal[
    "proceed_once",
    "proceed_always",
    "proceed_always_server",
    "proceed_always_tool",
    "modify_with_editor",
    "cancel",
]
OUTCOMES: tuple[Outcome, ...] = (
    "proceed_once",
    "proceed_always",
    "proceed_always_server",
    "proceed_always_tool",
    "modify_with_editor",
    "cancel",
)

Risk = Literal["low", "medium", "high"]


class EditDetails(Struct, frozen=True, gc=False, tag="edit", omit_defaults=True):
    """A file would change. `old` is None when the file does not exist yet."""

    path: str
    diff: str
    old: str | None
    new: str


class ExecDetails(Struct, frozen=True, gc=False, tag="exec", omit_defaults=True):
    """A command would run, exactly as written, in `directory`."""

    command: str
    roots: tuple[str, ...]
    directory: str
    risk: Risk
    risk_reason: str


class InfoDetails(Struct, frozen=True, gc=False, tag="info", omit_defaults=True):
    """Something would be asked of the outside world."""

    prompt: str
    urls: tuple[str, ...] = ()


class McpDetails(Struct, frozen=True, gc=False, tag="mcp"):
    server: str
    tool: str
    args: JsonObject


Details = EditDetails | ExecDetails | InfoDetails | McpDetails


class Grant(Struct, frozen=True, gc=False, omit_defaults=True):
    """A standing permission that a person gave while answering: what it covers, who gave it, and from which call."""

    id: str
    kind: Literal["exact", "file", "tool", "server", "domain"]
    tool: str
    value: str = ""
    """The exact command, file, server or domain; empty for a whole tool."""
    by: str = ""
    from_call: str = ""

    def reach(self) -> str:
        """The grant in words, as shown before it is given."""
        match self.kind:
            case "exact":
                return f"exactly `{self.value}`, for this session"
            case "file":
                return f"changes of {self.value} by {self.tool}, for this session"
            case "tool":
                return f"every call of {self.tool}, for this session"
            case "server":
                return f"every tool of the server {self.value}, for this session"
            case "domain":
                return f"requests to {self.value} by {self.tool}, for this session"


class Approval(Struct, frozen=True, gc=False, omit_defaults=True):
    """A question that waits for a person. The answer must name the digest of what was shown."""

    id: str
    digest: str
    details: Details
    options: tuple[Outcome, ...]
    why: str
    """Why it is asked, in one sentence."""
    always: Grant | None = None
    """What `proceed_always` would grant."""
    expires_at: float | None = None


class Decision(Struct, frozen=True, gc=False, omit_defaults=True):
    """Why a call may run: what decided, in words, and bound to what."""

    source: Literal["tool", "mode", "rule", "grant", "person"]
    reason: str
    by: str = ""
    outcome: Outcome | None = None
    edited: bool = False
    """The person changed the arguments; the model is told."""
    digest: str = ""
