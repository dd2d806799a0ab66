"""What is judged: a checked call, with what it would do. Plain data between the scheduler and the policy."""

from msgspec import Struct

from assent.approval import Details
from assent.parts import JsonObject


class Action(Struct, frozen=True, kw_only=True):
    tool: str
    args: JsonObject
    details: Details | None
    """What would happen; None when nothing could be harmed."""
    main: str = ""
    """The tool's main argument, e.g. the file or the command."""
    server: str = ""
    paths: tuple[str, ...] = ()
    """The files it touches, as absolute paths."""
