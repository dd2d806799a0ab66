"""What a model's words and the end of a turn mean for a person."""

from assent.agent.ending import turn_ending
from assent.agent.thoughts import parse_thought

__all__ = (
    "parse_thought",
    "turn_ending",
)
