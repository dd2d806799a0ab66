"""The tour in the browser: the same script and project, behind a server of its own on a free port of this machine."""

import asyncio
import os
import sys

from assent import exit_codes
from assent.app.identity import user
from assent.app.style import Style
from assent.client import connect
from assent.config import Settings
from assent.front.tour.sample_project import PROMPT, SCENARIO, make_project, next_steps
from assent.front.web.app_state import Setup
from assent.front.web.fresh_address import print_on_enter
from assent.front.web.server_log import ServerLog, StandardError
from assent.front.web.web_server import Server, Where, serve


def tour_in_browser() -> int:
    scratch, project = make_project()
    env = {**os.environ, "ASSENT_HOME": str(scratch / "home")}
    folder = os.path.realpath(project)
    model = f"scripted:{SCENARIO}"
    setup = Setup(settings=Settings(model=model), env=env, user=user(), folder=folder, roots=(folder,), models=(model,))
    log = ServerLog(StandardError(), level="warning")
    beginning: set[asyncio.Task[None]] = set()

    def ready(server: Server) -> None:
        beginning.add(asyncio.create_task(_begin(server, folder)))

    asyncio.run(serve(Where(port=0), setup, ready, log))
    log.close()
    for line in next_steps(scratch, Style.for_stream(sys.stderr)):
        sys.stderr.write(line + "\n")
    return exit_codes.OK


async def _begin(server: Server, folder: str) -> None:
    """Starts the tour's session as any client would, and says where it is."""
    async with connect(server.address, server.token) as api:
        created = await api.create(folder=folder, model=f"scripted:{SCENARIO}", prompt=PROMPT)
    sys.stdout.write(
        f"The tour is at {server.login_address(created['id'])}\n"
        "Open it within a minute (Enter prints a new address), and answer the questions there. Ctrl-C ends the tour.\n"
    )
    sys.stdout.flush()
    print_on_enter(lambda: server.login_address(created["id"]))
