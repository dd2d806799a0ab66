"""Whether the model is still working on its list of steps: a fold of the session's events, like the tally.

A list that it left unfinished says nothing about later turns on something else; the transcript keeps it.
"""

from assent.events import CallFinished, Event, TurnFinished
from assent.parts import TodosDisplay


class StepsInWork:
    def __init__(self) -> None:
        self.current = False
        """Until the end of a turn that does not touch the list."""
        self._touched = False

    def apply(self, event: Event) -> None:
        match event:
            case CallFinished(display=TodosDisplay()):
                self.current = self._touched = True
            case TurnFinished():
                self.current, self._touched = self._touched, False
            case _:
                pass
