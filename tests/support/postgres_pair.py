"""A PostgreSQL server with a synchronous standby: what was acknowledged is on both when the standby takes over."""

import shutil
import subprocess
import time
from contextlib import suppress
from pathlib import Path

from support.namespaces import Place
from support.postgres_server import PostgresServer
from support.waiting import WAIT_LIMIT

SYNCHRONOUS = "synchronous_standby_names = '*'\n"
_IN_SYNC = "SELECT count(*) FROM pg_stat_replication WHERE sync_state = 'sync' AND state = 'streaming'"


class PostgresMember(PostgresServer):
    """One of the two: with a place, it listens there; without, only on the socket in its folder."""

    def __init__(self, place: Place | None) -> None:
        super().__init__()
        self.place = place
        self.launcher = () if place is None else place.launcher
        self.listen = "" if place is None else place.address

    @property
    def host(self) -> str:
        """Where the other one finds it."""
        return str(self.folder) if self.place is None else self.place.address

    def create(self) -> None:
        super().create()
        self.append("pg_hba.conf", "host all,replication all 198.18.0.0/15 trust\n")

    def append(self, file: str, text: str) -> None:
        with Path(self.folder, "data", file).open("a") as opened:
            opened.write(text)

    def follow(self, primary: "PostgresMember") -> None:
        """Becomes its standby, from a new copy of it."""
        shutil.rmtree(self.folder / "data", ignore_errors=True)
        place = ["-D", str(self.folder / "data"), "-h", primary.host, "-U", "assent"]
        self.run("pg_basebackup", *place, "-R", "-X", "stream", "-c", "fast", "--no-sync")
        self.start()

    def promote(self) -> None:
        self.run("pg_ctl", "-D", str(self.folder / "data"), "-w", "-t", "120", "promote")

    def reload(self) -> None:
        self.run("pg_ctl", "-D", str(self.folder / "data"), "reload")

    def ask(self, query: str, database: str = "postgres") -> str:
        return self.run("psql", "-h", str(self.folder), "-U", "assent", "-Atc", query, database).strip()


class PostgresPair:
    def __init__(self, *places: Place | None) -> None:
        self.members = [PostgresMember(place) for place in places]
        self.primary, self.standby = self.members
        self.database = ""

    def create(self) -> None:
        """A database on both, which run when it returns."""
        self.primary.create()
        self.primary.start()
        self.database = self.primary.new_database().split("?")[0].rpartition("/")[2]
        self.primary.append("postgresql.conf", SYNCHRONOUS)
        self.standby.follow(self.primary)
        self.primary.reload()
        self.wait_until_in_sync()

    def wait_until_in_sync(self) -> None:
        """Until the standby has everything. One that was away must not take over."""
        until = time.monotonic() + WAIT_LIMIT
        while self.primary.ask(_IN_SYNC) != "1":
            assert time.monotonic() < until, "the standby does not catch up"
            time.sleep(0.1)

    def stop(self, how: str) -> None:
        self.primary.stop(how)

    def start(self) -> None:
        self.primary.start()

    def take_over(self) -> None:
        """The standby becomes the primary."""
        self.standby.promote()
        self.primary, self.standby = self.standby, self.primary

    def rebuild(self) -> None:
        """The old primary becomes the standby. Until then, nothing can be committed."""
        self.standby.follow(self.primary)

    def remove(self) -> None:
        for member in self.members:
            with suppress(subprocess.CalledProcessError):  # it is down already
                member.stop("immediate")
            shutil.rmtree(member.folder, ignore_errors=True)
