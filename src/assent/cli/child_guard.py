"""What a process started by Assent may run: the agent must not answer its own questions or extend its own rights.

Inside a command that Assent runs, only commands that read are allowed, and prompts whose questions are all refused.
This guard stands in front of all commands, so a new one is refused until it is listed here.
"""

import os
import sys

READING: dict[str, tuple[str, ...]] = {
    "sessions": ("list", "show", "export"),
    "policy": ("list", "explain", "replay", "check", "check-path", "check-text", "check-url"),
    "mcp": ("list",),
    "sandbox": ("check",),
    "audit": ("list", "show", "export", "verify"),
}
"""The actions of each command that change nothing."""
MODES = ("default", "plan")
PERSON = (
    "this process was started by Assent (by a command of the agent, a `!` line, or something one of these started), "
    "and only you may do this: run it in your own terminal"
)


def refusal(args: list[str]) -> str | None:
    """Why a child of Assent may not run this; None if it may."""
    options = args[: args.index("--")] if "--" in args else args
    if {"-h", "--help", "-v", "--version"} & set(options):
        return None
    match args:
        case [name, *rest] if name in READING:
            return _of_reading(READING[name], rest)
        case [name, *_] if not name.startswith("-"):
            return PERSON
        case _:
            return _of_prompt(args)


def refuse_inside(args: list[str]) -> int | None:
    """The exit code, if a child of Assent runs what it may not."""
    from assent.process.ancestry import is_inside

    if not is_inside() or (why := refusal(args)) is None:
        return None
    from assent import exit_codes
    from assent.cli.parsing import complain

    complain(why)
    return exit_codes.INSIDE


def _of_reading(actions: tuple[str, ...], rest: list[str]) -> str | None:
    known = not rest or rest[0] in actions
    return None if known and "--unmasked" not in rest else PERSON


def _of_prompt(args: list[str]) -> str | None:
    """A prompt is allowed as long as its questions are refused and nothing runs that would need approval."""
    from assent.cli.main_options import build_parser

    given = build_parser().parse_args(args)
    if given.resume is not None or given.allowed_tools or (given.approval_mode or _usual_mode()) not in MODES:
        return f"{PERSON}. Here, a prompt must start a new session, in mode default or plan and without allowed tools"
    here = sys.stdin.isatty() and sys.stderr.isatty()
    if (given.ask or ("inline" if here else "refuse")) != "refuse" or (given.prompt is None and sys.stdin.isatty()):
        return f'{PERSON}. Nobody can be asked here: use assent --ask refuse -p "…"'
    return None


def _usual_mode() -> str:
    from assent.config import BadSettings, load_settings

    try:
        return load_settings(os.environ).approval_mode
    except BadSettings:
        return "default"  # reported where the settings are really used
