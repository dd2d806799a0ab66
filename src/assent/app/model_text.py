"""Re-exports what front ends need to show a model's thoughts and the end of a turn."""

from assent.agent.ending import turn_ending

__all__ = ("turn_ending",)
