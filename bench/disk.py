"""How long the disk itself takes meanwhile: every durable write waits at least as long as a bare sync."""

import os
import threading
import time
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

PAUSE = 0.05
BLOCK = bytes(4096)
BLOCKS = 256
"""Overwritten repeatedly: a growing file would keep the file system's journal busy and disturb the measurement."""


@contextmanager
def syncs_meanwhile(folder: Path) -> Generator[list[float]]:
    """How many milliseconds each of many small writes took to become durable there; complete when the block exits."""
    took: list[float] = []
    over = threading.Event()
    path = folder / "probe"
    path.write_bytes(BLOCK * BLOCKS)
    file = os.open(path, os.O_WRONLY)
    os.fsync(file)

    def probe() -> None:
        while not over.wait(PAUSE):
            begun = time.perf_counter()
            os.pwrite(file, BLOCK, len(took) % BLOCKS * len(BLOCK))
            os.fdatasync(file)
            took.append((time.perf_counter() - begun) * 1000)

    thread = threading.Thread(target=probe, name="disk", daemon=True)
    thread.start()
    try:
        yield took
    finally:
        over.set()
        thread.join()
        os.close(file)
        path.unlink()
