"""What a client may ask of a session: one closed union. Commands are durable before they are acknowledged.

Plain frozen data. Terminal, headless, browser, editor and API all send these and nothing else.
"""

import msgspec
from msgspec import Struct

from assent.approval import Mode, Outcome
from assent.parts import Effort, JsonObject


class CommandBase(Struct, frozen=True, tag_field="type", omit_defaults=True):
    """Common shape. `by` says who asks; it is shown to others and kept in the audit trail."""


class Submit(CommandBase, frozen=True, tag="submit"):
    text: str
    by: str = ""
    steer: bool = False
    """During a turn, the model reads it as soon as its current calls are over, and not only when the turn is over."""


class Answer(CommandBase, frozen=True, tag="answer", kw_only=True):
    """Answers a waiting call. `digest` names exactly what the person saw; anything else is refused."""

    call_id: str
    outcome: Outcome
    digest: str
    reason: str = ""
    content: str | None = None
    """New content for the file the call would write."""
    args: JsonObject | None = None
    """New arguments for the call."""
    hunks: tuple[int, ...] | None = None
    """The accepted hunks of the shown diff, by number; the others are left out."""
    answers: tuple[str, ...] | None = None
    """For the model's questions: one text for each, in order."""
    scope: str = ""
    """With "always": the id of the chosen scope; the narrowest when empty."""
    grant_seconds: float | None = None
    """With "always": how long it lasts; the whole session when None."""
    grant_uses: int | None = None
    """With "always": for how many calls it lasts."""
    by: str = ""


class CancelTurn(CommandBase, frozen=True, tag="cancel_turn"):
    reason: str = ""
    by: str = ""
    hold: bool = False
    """What is in the queue stays there until someone releases it."""


class CancelCall(CommandBase, frozen=True, tag="cancel_call"):
    call_id: str
    reason: str = ""
    by: str = ""


class StopBackground(CommandBase, frozen=True, tag="stop_background"):
    """Ends the background command that this call started."""

    call_id: str
    by: str = ""


class KeepBackground(CommandBase, frozen=True, tag="keep_background"):
    """The background command that this call started goes on when the session ends."""

    call_id: str
    by: str = ""


class SetMode(CommandBase, frozen=True, tag="set_mode"):
    mode: Mode
    by: str = ""


class SetModel(CommandBase, frozen=True, tag="set_model"):
    """Another model answers from the next request on."""

    model: str
    by: str = ""


class SetEffort(CommandBase, frozen=True, tag="set_effort"):
    """From the next request on, the model thinks more or less; None leaves it to the provider."""

    effort: Effort | None
    by: str = ""


class Archive(CommandBase, frozen=True, tag="archive"):
    """Takes the session out of the list, or puts it back."""

    archived: bool
    by: str = ""


class Rename(CommandBase, frozen=True, tag="rename"):
    title: str
    by: str = ""


class Withdraw(CommandBase, frozen=True, tag="withdraw"):
    """Withdraws a queued item; `queued` is the key it was sent with."""

    queued: str
    by: str = ""


class ReleaseQueue(CommandBase, frozen=True, tag="release_queue"):
    """Sends what was held in the queue."""

    by: str = ""


class Rewind(CommandBase, frozen=True, tag="rewind"):
    """Takes the conversation back to before this prompt. Not possible during a turn."""

    prompt_id: str
    by: str = ""


class Compress(CommandBase, frozen=True, tag="compress"):
    """Replaces the older part of the conversation with a summary. Waits until the turn is over."""

    by: str = ""


class ReloadContext(CommandBase, frozen=True, tag="reload_context"):
    """Reads the context files again."""

    by: str = ""


class RevokeGrant(CommandBase, frozen=True, tag="revoke_grant"):
    grant_id: str
    by: str = ""


class RunTool(CommandBase, frozen=True, tag="run_tool"):
    """A person runs a tool directly; the result stays with the person. Waits in the queue like a prompt."""

    tool: str
    args: JsonObject
    by: str = ""
    judged: bool = False
    """The words come from a file, not from the person: the call is judged like one of the model."""


Command = (
    Submit
    | Answer
    | CancelTurn
    | CancelCall
    | StopBackground
    | KeepBackground
    | SetMode
    | SetModel
    | SetEffort
    | Archive
    | Rename
    | Withdraw
    | ReleaseQueue
    | Rewind
    | Compress
    | ReloadContext
    | RevokeGrant
    | RunTool
)

_decoder: "msgspec.json.Decoder[Command]" = msgspec.json.Decoder(Command)


def encode_command(command: Command) -> bytes:
    return msgspec.json.encode(command)


def decode_command(data: bytes | str) -> Command:
    return _decoder.decode(data)


def person_call_id(key: str) -> str:
    """The id of the call that a RunTool with this key becomes, so that its sender can wait for it."""
    return f"person-{key}"
