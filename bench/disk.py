"""How long the disk itself takes meanwhile: whatever is made durable waits at least as long as a bare sync does."""

import os
import threading
import time
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

PAUSE = 0.02
BLOCK = bytes(4096)


@contextmanager
def syncs_meanwhile(folder: Path) -> Generator[list[float]]:
    """Milliseconds that each of many small writes took to be durable there; complete when the block is left."""
    took: list[float] = []
    over = threading.Event()
    path = folder / "probe"

    def probe() -> None:
        file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        while not over.wait(PAUSE):
            begun = time.perf_counter()
            os.write(file, BLOCK)
            os.fdatasync(file)
            took.append((time.perf_counter() - begun) * 1000)
        os.close(file)

    thread = threading.Thread(target=probe, name="disk", daemon=True)
    thread.start()
    try:
        yield took
    finally:
        over.set()
        thread.join()
        path.unlink()
