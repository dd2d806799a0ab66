"""What is judged: a validated call and what it would do. Plain data between the scheduler and the policy."""

from msgspec import Struct

from assent.approval import Details
from assent.parts import JsonObject


class Action(Struct, frozen=True, kw_only=True):
    tool: str
    args: JsonObject
    details: Details | None
    """What would happen; None if the call cannot do harm."""
    main: str = ""
    """The tool's main argument, such as the file or the command."""
    server: str = ""
    paths: tuple[str, ...] = ()
    """The files it touches, as absolute paths."""
