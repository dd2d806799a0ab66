"""Reports a finished command: to the model how it ended and what it printed, to the person a short note."""

import re
import signal

from assent.config import Environment
from assent.files.protected import secrets_below
from assent.process.environment import withheld
from assent.process.output_buffer import Excerpt, cut_middle, from_word, omission, until_word
from assent.process.plain_text import plain
from assent.process.run_program import ProcessFinished, ProcessLimits
from assent.tools.support.whole_output import HEAD, MODEL_CHARACTERS, WholeOutput

_MB = 1_000_000


def for_model(finished: ProcessFinished, limits: ProcessLimits, whole: WholeOutput, directory: str) -> str:
    """A failure comes first: nobody reads the last line of a long output."""
    ending = _ending(finished, limits)
    output = _text(finished)
    note = whole.note(_length(finished.output))
    sections = [f"Directory: {directory}"] if directory else []
    sections += [ending] if finished.code != 0 else []
    sections += [note] if note else []
    sections += [f"Output: {output}" if output else "Output: (empty)"]
    sections += [ending]
    if finished.background:
        sections += [f"Background PIDs: {', '.join(map(str, finished.background))}"]
    if finished.survivors:
        sections += [f"Could not be killed: {', '.join(map(str, finished.survivors))}"]
    return "\n".join(sections)


def missed(finished: ProcessFinished, command: str, environment: Environment) -> list[str]:
    """Name variables that the command may have needed but did not get, so that nobody looks elsewhere."""
    said = "\n".join([command, finished.output.text() if finished.code != 0 else ""])
    names = [name for name in withheld(environment) if name in said and _is_named(name, said)]
    if not names:
        return []
    return [
        f"Not passed to commands, because they hold secrets: {', '.join(names)}. To allow them, the user can edit "
        "`allow` in the `[environment]` section of the settings."
    ]


def _is_named(name: str, text: str) -> bool:
    return re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text) is not None


def passed_over(folder: str) -> list[str]:
    """A search allowed by its words skips secrets; readers of the result should know."""
    number = secrets_below(folder)
    return [f"Not searched: {number} file(s) that usually hold secrets (.env, keys and the like)."] if number else []


def _ending(finished: ProcessFinished, limits: ProcessLimits) -> str:
    match finished:
        case ProcessFinished(ended="idle_timeout"):
            return f"Timed out: no output for {limits.idle:g} seconds, so the command was stopped."
        case ProcessFinished(ended="total_timeout"):
            return f"Timed out: the command ran for {limits.total:g} seconds and was stopped."
        case ProcessFinished(ended="too_much_output"):
            return f"Stopped: the command printed more than {(limits.output or 0) / _MB:,.0f} MB."
        case ProcessFinished(ended="too_much_memory"):
            return f"Stopped: the command used more than {(limits.memory or 0) / _MB:,.0f} MB of memory."
        case ProcessFinished(ended="too_many_processes"):
            return f"Stopped: the command had more than {limits.processes or 0:,} processes."
        case ProcessFinished(ended="no_input"):
            return f"Stopped: the command waited for input, and nobody typed anything for {limits.input:g} seconds."
        case ProcessFinished(signal=int(number)):
            return f"Signal: {_signal_name(number)} (the command was killed)"
        case _:
            failed = "" if finished.code == 0 else " (the command FAILED)"
            return f"Exit Code: {finished.code}{failed}"


def not_built(finished: ProcessFinished) -> str:
    """Why the sandbox of a command could not be built, in its own words; empty if the command ran."""
    said = finished.output.text().strip() if finished.never_ran and finished.ended == "exited" else ""
    return said if said.startswith(("bwrap:", "the sandbox was not built")) else ""


def ended_badly(finished: ProcessFinished) -> str:
    """For the person's status line; the model gets a full sentence."""
    match finished:
        case ProcessFinished(ended="idle_timeout" | "total_timeout"):
            return "timed out"
        case ProcessFinished(ended="too_much_output"):
            return "too much output"
        case ProcessFinished(ended="too_much_memory"):
            return "too much memory"
        case ProcessFinished(ended="too_many_processes"):
            return "too many processes"
        case ProcessFinished(ended="no_input"):
            return "no input"
        case ProcessFinished(signal=int(number)):
            return f"killed: {_signal_name(number)}"
        case _:
            return f"exit {finished.code}" if finished.code else ""


def _signal_name(number: int) -> str:
    try:
        return f"{number} {signal.Signals(number).name}"
    except ValueError:
        return str(number)


def _text(finished: ProcessFinished) -> str:
    if finished.binary:
        return f"(binary, {finished.bytes:,} bytes; redirect it to a file or through a program that prints text)"
    return _cut(finished.output).rstrip("\n")


def _cut(output: Excerpt) -> str:
    if not output.omitted:
        return cut_middle(plain(output.head + output.tail), MODEL_CHARACTERS)
    head, tail = plain(output.head), plain(output.tail)
    first, last = until_word(head[:HEAD]), from_word(tail[max(len(tail) - (MODEL_CHARACTERS - HEAD), 0) :])
    missing = output.omitted + len(head) - len(first) + len(tail) - len(last)
    return first + omission(missing) + last


def _length(output: Excerpt) -> int:
    return len(output.head) + output.omitted + len(output.tail)


def for_person(finished: ProcessFinished, whole: str = "") -> str:
    """`whole`: the file that has all the output, if not all of it is shown."""
    if finished.binary:
        return f"[binary output: {finished.bytes:,} bytes received]\n"
    return finished.output.text(whole)
