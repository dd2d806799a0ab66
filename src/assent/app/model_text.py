"""What a model's words and the end of a turn mean for a person."""

from assent.agent.ending import turn_ending

__all__ = ("turn_ending",)
