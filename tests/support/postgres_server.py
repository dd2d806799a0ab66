"""A real PostgreSQL server for tests: its own data folder, a socket in it, and no port that anyone else could reach.

Tests that use it are marked `@pytest.mark.needs("postgres")`.
"""

import os
import pwd
import shutil
import subprocess
import tempfile
from pathlib import Path
from uuid import uuid4

from support.programs import find_program


class PostgresServer:
    def __init__(self) -> None:
        server = find_program("postgres")
        assert server is not None, "PostgreSQL is not installed (apt install postgresql)"
        self._programs = Path(server).resolve().parent
        self.folder = Path(tempfile.mkdtemp(prefix="assent-pg-"))
        self.url = f"postgresql://assent@/postgres?host={self.folder}"
        """Of the server's first database."""
        self.launcher: tuple[str, ...] = ()
        """A program that starts the server, such as nsenter."""
        self.listen = ""
        """An address besides the socket."""
        self._user = "nobody" if os.getuid() == 0 else ""
        """The server refuses to run as root."""
        if self._user:
            os.chmod(self.folder, 0o755)
            account = pwd.getpwnam(self._user)
            os.chown(self.folder, account.pw_uid, account.pw_gid)

    def create(self) -> None:
        options = ["-U", "assent", "-A", "trust", "--no-sync", "--locale=C", "-E", "UTF8"]
        self.run("initdb", "-D", str(self.folder / "data"), *options)

    def start(self) -> None:
        options = f"-k {self.folder} -c listen_addresses='{self.listen}' -c max_connections=200 -c shared_buffers=32MB"
        log = str(self.folder / "log")
        self.run("pg_ctl", "-D", str(self.folder / "data"), "-l", log, "-w", "-t", "120", "-o", options, "start")

    def stop(self, how: str = "fast") -> None:
        self.run("pg_ctl", "-D", str(self.folder / "data"), "-w", "-t", "120", "-m", how, "stop")

    def new_database(self) -> str:
        """Its URL."""
        name = f"test_{uuid4().hex}"
        self.run("createdb", "-h", str(self.folder), "-U", "assent", name)
        return self.url.replace("/postgres?", f"/{name}?")

    def remove(self) -> None:
        self.stop("immediate")
        shutil.rmtree(self.folder, ignore_errors=True)

    def run(self, program: str, *arguments: str) -> str:
        """What it prints. The output goes to a file, because a server that it starts keeps it open."""
        command = [str(self._programs / program), *arguments]
        user = ["setpriv", f"--reuid={self._user}", "--regid=nogroup", "--clear-groups"] if self._user else []
        with tempfile.TemporaryFile() as output:
            subprocess.run(
                [*self.launcher, *user, *command], check=True, cwd="/", stdin=subprocess.DEVNULL, stdout=output
            )
            output.seek(0)
            return output.read().decode()
