"""Where the output of a running command goes: to the person, and into the file with the whole output."""

import asyncio
from collections.abc import Generator
from contextlib import contextmanager

from assent.process.changed_files import StartWatch
from assent.tools.support.command_run import Listener
from assent.tools.support.throttle import Throttle
from assent.tools.support.whole_output import WholeOutput
from assent.tools.tool import Live


class OutputSinks:
    def __init__(self, live: Live, whole: WholeOutput, watch: StartWatch) -> None:
        """`watch` looks at the command's files again when it prints something."""
        self._throttle = Throttle(live.output, live.received)
        self.listener = Listener(live.process, self._add, self._throttle.received)
        self.whole = whole
        self.watch = watch

    @contextmanager
    def open(self) -> Generator[None]:
        """While the command runs. If it is cancelled, the person learns where the output is."""
        try:
            yield
        except asyncio.CancelledError:
            if self.whole.path:
                self.tell(f"\n[all output so far: {self.whole.path}]\n")
            raise
        finally:
            self.whole.close()
            self._throttle.close()

    def tell(self, text: str) -> None:
        """For the person alone."""
        self._throttle.add(text)

    def _add(self, text: str) -> None:
        self.watch.look()
        self._throttle.add(text)
        self.whole.add(text)
