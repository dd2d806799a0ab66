"""`assent serve login`: a new address to open, from a server that runs in the background."""

import sys

from assent import exit_codes
from assent.cli.parsing import Parser
from assent.cli.running import run
from assent.client import ApiProblem, connect
from assent.client.api import NoServer
from assent.client.http_client import Unreachable


def main(argv: list[str]) -> int:
    parser = Parser("assent serve login", "Prints a new address to open. It works once, within a minute.")
    parser.add_argument("--ca", metavar="FILE", help="the certificates to trust, if the system does not know them")
    args = parser.parse_args(argv)
    return run(_login(args.ca), NoServer, ApiProblem, Unreachable, ValueError)


async def _login(ca: str | None) -> int:
    async with connect(ca=ca) as api:
        code = (await api.post("/login-codes"))["code"]
        sys.stdout.write(f"{api.http.url}/#code={code}\n")
    return exit_codes.OK
