"""A cluster on this machine, in processes of its own: servers, workers, one database and one Temporal server."""

import copy
import signal
from pathlib import Path

from assent.client import Api
from support.postgres_server import PostgresServer
from support.program import Program, Running
from support.served import ServedProgram
from support.temporal_server import TemporalServer


class Node:
    """A server or a worker, with a data folder of its own; the project folder is shared."""

    def __init__(self, program: Program, name: str) -> None:
        self.program = copy.copy(program)
        self.program.home = Path(program.home).with_name(name)
        self.program.env = program.env | {"ASSENT_HOME": str(self.program.home)}


class ServerNode(Node):
    def start(self, model: str, *args: str) -> Api:
        self._served = ServedProgram(self.program, model, *args)
        return self._served.start()

    @property
    def running(self) -> Running:
        assert self._served.running is not None
        return self._served.running

    def signal(self, number: signal.Signals) -> None:
        self.running.signal(number)

    def kill(self) -> None:
        self._served.kill()


class WorkerNode(Node):
    running: Running

    def start(self, model: str, *args: str) -> None:
        own = ("--root", str(self.program.folder))
        self.running = self.program.start("work", *own, *args, env={"ASSENT_MODEL": model})
        self.running.until_error("ready")
        self.running.goes_on()

    def signal(self, number: signal.Signals) -> None:
        self.running.signal(number)

    def kill(self) -> None:
        self.running.kill()


class Cluster:
    def __init__(self, program: Program, model: str, database: str, temporal: TemporalServer) -> None:
        self._program, self._model = program, model
        self._places = ("--log", database, "--engine", temporal.url)
        self._nodes: list[ServerNode | WorkerNode] = []

    def server(self, *args: str) -> tuple[ServerNode, Api]:
        node = ServerNode(self._program, f"node{len(self._nodes)}")
        self._nodes.append(node)
        return node, node.start(self._model, *self._places, *args)

    def worker(self, *args: str) -> WorkerNode:
        node = WorkerNode(self._program, f"node{len(self._nodes)}")
        self._nodes.append(node)
        node.start(self._model, *self._places, *args)
        return node

    def kill(self) -> None:
        for node in self._nodes:
            node.kill()


class ClusterScene:
    """A project folder, a database server and a Temporal server of its own; the cluster comes with its model."""

    cluster: Cluster

    def __init__(self, base: Path) -> None:
        self.program = Program(base)
        self.postgres = PostgresServer()
        self.postgres.create()
        self.postgres.start()
        self.database = self.postgres.new_database()
        self.temporal = TemporalServer(base / "temporal.db")
        self.temporal.start()

    def use(self, model: str) -> None:
        self.cluster = Cluster(self.program, model, self.database, self.temporal)

    def end(self) -> None:
        self.cluster.kill()
        self.temporal.stop()
        self.postgres.remove()
