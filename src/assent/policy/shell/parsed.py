"""A command line as both readers see it, parsed once for every question that a judgement asks about it.

The verdict, the risk, the proposed scopes and the order of calls all look at the same text. The result depends on the
text alone: no rule, folder or file is known here.
"""

from functools import lru_cache

from msgspec import Struct

from assent.plan import Step
from assent.policy.shell.characters import hidden
from assent.policy.shell.command_survey import MAX_READ_BYTES, Found, Survey, survey
from assent.policy.shell.lexer import Refused
from assent.policy.shell.loops import unrolled
from assent.policy.shell.reader import read
from assent.policy.shell.script_settings import without_settings
from assent.policy.shell.shell_state import refuse_changes
from assent.policy.shell.unwrap import unwrap

MAX_LENGTH = 8_000

Reading = tuple[Step, ...] | Refused
"""The strict reader's result, or why there is none."""


class Parsed(Struct, frozen=True, kw_only=True):
    written: Reading
    """As written."""
    unrolled: tuple[Step, ...]
    """With its loops unrolled, for rules that deny or ask; empty if it cannot be read."""
    steps: Reading
    """The same, unless bash may make something else of it."""
    seen: Survey
    """What the second reader finds, even where the strict one refuses."""
    inner: tuple[Found, ...]
    """The commands that these run: payloads of wrappers, `-c` strings and the like."""
    complete: bool
    """Whether nothing was skipped for being too long, too deep or malformed."""


@lru_cache(maxsize=8)  # a judgement looks at one text several times in a row; a larger cache would only use memory
def parse(command: str) -> Parsed:
    written = _read(command)
    found = _unrolled(written)
    steps = _in_a_plain_shell(written, found)
    seen = survey(command) if isinstance(steps, Refused) else survey(command, limit=MAX_READ_BYTES)
    inner, opened = unwrap(seen.commands)
    return Parsed(
        written=written,
        unrolled=() if isinstance(found, Refused) else found,
        steps=steps,
        seen=seen,
        inner=inner,
        complete=seen.complete and opened,
    )


def understood(command: str) -> tuple[Step, ...]:
    """What a command does, with its loops unrolled. Raises Refused."""
    steps = parse(command).steps
    if isinstance(steps, Refused):
        raise Refused(*steps.args)
    return steps


def _read(command: str) -> Reading:
    """Decides nothing: deny rules come first."""
    try:
        return _strictly(command)
    except Refused as refused:
        return refused.with_traceback(None)


def _unrolled(steps: Reading) -> Reading:
    try:
        return steps if isinstance(steps, Refused) else unrolled(without_settings(steps))
    except Refused as refused:
        return refused.with_traceback(None)


def _in_a_plain_shell(written: Reading, steps: Reading) -> Reading:
    if isinstance(written, Refused) or isinstance(steps, Refused):
        return steps
    try:
        refuse_changes(written, steps)
    except Refused as refused:
        return refused.with_traceback(None)
    return steps


def _strictly(command: str) -> tuple[Step, ...]:
    if len(command) > MAX_LENGTH:
        raise Refused(f"more than {MAX_LENGTH} characters")
    if names := hidden(command):
        raise Refused(f"characters that are invisible or look like others: {' '.join(names[:8])}")
    if not (steps := read(command)):
        raise Refused("no command")
    return steps
