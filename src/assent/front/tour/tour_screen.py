"""The tour in the terminal UI: the same script and project, on the full screen."""

import asyncio
import os
import sys

from assent import exit_codes
from assent.app.style import Style
from assent.config import Settings
from assent.front.tour.sample_project import PROMPT, SCENARIO, make_project, next_steps
from assent.front.tui.local_host import LocalHost
from assent.front.tui.prompt.paste_driver import GuardedDriver
from assent.front.tui.terminal_app import AssentApp, run_app

NOTE = (
    "A guided tour: the model is scripted; scheduler, tools, approvals and log are real. "
    "Answer its questions; /help lists what you can do; /quit ends the tour, as does Ctrl-C twice while nothing runs."
)


def tour_on_screen() -> int:
    scratch, project = make_project()
    env = {**os.environ, "ASSENT_HOME": str(scratch / "home")}
    host = LocalHost(str(project), Settings(), env, model=f"scripted:{SCENARIO}")
    app = AssentApp(host, first_prompt=PROMPT, first_note=NOTE, driver_class=GuardedDriver)
    asyncio.run(run_app(app))
    for line in next_steps(scratch, Style.for_stream(sys.stderr)):
        sys.stderr.write(line + "\n")
    return app.return_code or exit_codes.OK
