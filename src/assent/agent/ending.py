"""What the end of the last reply means for the turn. A reply that was cut or withheld is not a success, and is
reported.
"""

from msgspec import Struct

from assent.events import ModelReplied, TurnStatus
from assent.parts import Failure, Text

_CUT = "The reply reached the model's output limit and was cut off"
_CUT_BEFORE = "The model reached its output limit before it wrote an answer"
_WITHHELD = "The provider stopped the reply because of its safety rules"
_OTHER = "The model stopped its reply without marking it complete"
_TOO_LONG = "The reply did not end, so Assent stopped it"
_REPEATED = "The model repeated the same text over and over, so its reply was stopped"


class Ending(Struct, frozen=True):
    status: TurnStatus
    failure: Failure | None = None


def turn_ending(caller: ModelReplied) -> Ending:
    """How the turn ends with this reply, if it has no calls."""
    answered = any(isinstance(part, Text) for part in caller.parts)
    match caller.finish:
        case "stop":
            return Ending("completed")
        case "cancelled":
            return Ending("cancelled")
        case "repetition":
            return Ending("loop_detected", Failure("repetition", f"{_REPEATED}. Tell it what to do instead."))
        case "too_long":
            return _incomplete("too_long", _TOO_LONG, caller.said, "Ask for less at once.")
        case "max_tokens":
            advice = 'Send "continue" to go on.' if answered else "Ask for less at once, or for less thinking."
            return _incomplete("max_tokens", _CUT if answered else _CUT_BEFORE, caller.said, advice)
        case "safety":
            advice = "Rephrase your request, or leave out what was rejected."
            return _incomplete("safety", _WITHHELD, caller.said, advice)
        case "other":
            return _incomplete("stopped", _OTHER, caller.said, 'Send "continue" to go on.')


def _incomplete(kind: str, what: str, said: str, advice: str) -> Ending:
    return Ending("incomplete", Failure(kind, f"{what} ({said}). {advice}" if said else f"{what}. {advice}"))
