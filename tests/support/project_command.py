"""The commands of a project, as one script: `project_command.py discover` and `project_command.py call NAME`.

In the current folder, `declarations` is what discovery prints; a call of `fail`, `killed`, `warn`, `wait`, `flood`,
`environment` or `long` does that, and any other reports what it got.
"""

import json
import os
import signal
import sys
from pathlib import Path


def say(text: str) -> None:
    sys.stdout.write(text + "\n")


def called(name: str) -> None:
    with open("calls", "a") as file:
        file.write(f"{name}\n")
    given = sys.stdin.read()
    match name:
        case "fail":
            say("half of it")
            sys.exit("no disk")
        case "killed":
            os.kill(os.getpid(), signal.SIGKILL)
        case "warn":
            sys.stderr.write("deprecated\n")
            say("done")
        case "wait":
            signal.pause()
        case "flood":
            while True:
                sys.stdout.write("x" * 65536)
        case "environment":
            say(json.dumps(dict(os.environ)))
        case "long":
            say("first\n" + "x" * 100_000 + "\nlast")
        case _:
            say(json.dumps({"name": name, "given": json.loads(given), "folder": os.getcwd()}))


if sys.argv[1] == "discover":
    Path("discovered").touch()
    sys.stdout.write(Path("declarations").read_text())
else:
    called(sys.argv[2])
