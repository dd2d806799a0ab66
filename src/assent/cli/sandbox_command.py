"""`assent sandbox`: tests whether commands can be confined on this machine, and shows what each profile allows."""

import asyncio
import os
import sys
from collections.abc import Iterator

import msgspec

from assent import exit_codes
from assent.app.sandbox_setup import ProfileReport, SandboxReport, check_sandbox
from assent.app.style import Style
from assent.app.wording import safe
from assent.cli.parsing import Parser
from assent.config import load_settings

EPILOG = """\
  assent sandbox check           try in each profile what must be refused, and report the results

Commands that run without asking are confined: those that only read can write nothing, and others can write only to
the workspace. In the settings, `[sandbox] approved = "workspace"` confines those that you approve as well. In the
profile `network`, a command reaches only hosts that you allow: by a rule, in `[sandbox] domains`, or by your answer."""


def main(argv: list[str]) -> int:
    parser = Parser("assent sandbox", "Tests the sandbox for commands.", EPILOG)
    parser.add_argument("action", nargs="?", choices=("check",), default="check")
    parser.add_argument("--json", action="store_true", help="for programs")
    args = parser.parse_args(argv)
    settings = load_settings(os.environ)
    report = asyncio.run(check_sandbox(os.environ, os.getcwd(), settings))
    if args.json:
        sys.stdout.write(msgspec.json.format(msgspec.json.encode(report)).decode() + "\n")
    else:
        sys.stdout.writelines(f"{line}\n" for line in _lines(report, Style.for_stream(sys.stdout)))
    return exit_codes.ERROR if report.problem else exit_codes.OK


def _lines(report: SandboxReport, style: Style) -> Iterator[str]:
    if report.problem:
        yield style.red("There is no sandbox here: ") + safe(report.problem)
        yield from _without(report, style)
    else:
        yield style.green("The sandbox holds") + f" ({report.mechanism})."
    for profile in report.profiles:
        if not profile.probes:
            continue  # nothing could be tried
        yield ""
        yield style.bold(profile.name) + f": {profile.summary}"
        yield from _probes(profile, style)
    yield ""
    if report.untried:
        yield style.red("Commands cannot be tried first here: ") + safe(report.untried)
    else:
        yield style.green("Commands can be tried first") + ", in a copy of this folder."
    yield from _settings(report)


def _without(report: SandboxReport, style: Style) -> Iterator[str]:
    if report.landlock is None:
        yield "Only the simplest commands that read run without asking."
        return
    yield style.green("Landlock confines commands that only read.") + " It is weaker than bubblewrap: the names of"
    yield "hidden files can be listed, and there is no folder for temporary files."
    yield from _probes(report.landlock, style)


def _probes(profile: ProfileReport, style: Style) -> Iterator[str]:
    for probe in profile.probes:
        mark = style.green("ok  ") if probe.holds else style.red("FAIL")
        yield f"  {mark} {probe.text}"


def _settings(report: SandboxReport) -> Iterator[str]:
    if not report.enabled:
        yield "It is turned off in the settings (`[sandbox] enabled = false`)."
        return
    if report.problem:
        yield "Commands under rules with `sandbox` or `contained` need approval. Other commands that a rule or a"
        yield "grant allows, and commands that you approve, run without a sandbox; the shell gate still checks"
        yield "their words."
        return
    yield "Commands that only read: read-only. Commands that a rule or a grant allows: workspace, unless they need"
    yield f"the network or change the repository. Commands that you approve: {report.approved}."
