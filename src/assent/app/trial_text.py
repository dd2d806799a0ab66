"""A trial in words: what it did, part by part, and what limits it. The same for every place that shows text."""

from collections.abc import Collection, Iterator

from assent.app.style import Style
from assent.app.wording import safe
from assent.trial import Trial, in_short
from assent.trial_parts import ShownPart, repository_with_left_out, shown_parts

MAX_OUTPUT_LINES = 30
"""The last lines of the output; it is not part of what is decided."""
WHERE = "tried in a copy of the workspace, without network"


def trial_title(trial: Trial) -> str:
    if trial.stale:
        return "Outdated: files have changed since it was tried"
    return f"Apply what it did: {in_short(trial)}" if trial.parts else f"Use its output: {in_short(trial)}"


def yes_to(trial: Trial) -> str:
    return "apply this" if trial.parts else "use the output"


def trial_facts(trial: Trial) -> list[str]:
    return [f"{WHERE}: {safe(trial.ended, 'label')}", *(safe(note, "label") for note in trial.notes)]


def stale_in_words(trial: Trial) -> str:
    """Empty if it can be applied."""
    names = ", ".join(safe(path, "label") for path in trial.stale)
    return f"Someone else has changed this since: {names}. Try it again." if names else ""


def last_output(trial: Trial) -> tuple[str, int]:
    """The end of the output, and how many lines come before it."""
    lines = trial.output.rstrip("\n").split("\n") if trial.output.strip() else []
    return "\n".join(lines[-MAX_OUTPUT_LINES:]), max(len(lines) - MAX_OUTPUT_LINES, 0)


def part_title(part: ShownPart) -> str:
    """The file and what happens to it; for one hunk of several, which one."""
    effect = part.effect
    name = safe(effect.path, "label") or "everything else"
    said = f"{name} {effect.what}" + (f", part {part.which}" if part.which else "")
    if effect.summary:
        said += f": {safe(effect.summary, 'label')}"
    if effect.refused:
        said += f", NOT applied: {safe(effect.refused, 'label')}"
    return said


def left_out_in_words(trial: Trial, left_out: Collection[int]) -> str:
    """What leaving parts out does not change; empty if there is nothing to say."""
    repository = repository_with_left_out(trial, left_out)
    if not repository:
        return ""
    name = safe(repository, "label")
    return f"{name} is applied as a whole: what you left out may still be staged or committed in it."


def effect_notes(part: ShownPart) -> list[str]:
    return [safe(note, "label") for note in part.effect.notes]


def trial_lines(trial: Trial, style: Style, *, output: bool = True) -> Iterator[str]:
    """All of it, for places that print lines; `output`: with what the command printed."""
    yield from trial_facts(trial)
    if words := stale_in_words(trial):
        yield style.red(words)
    text, before = last_output(trial) if output else ("", 0)
    if before:
        yield style.dim(f"| … {before:,} earlier lines")
    yield from (style.dim(f"| {line}") for line in safe(text).splitlines())
    for part in shown_parts(trial):
        number = f"[{part.number}] " if part.number >= 0 and trial.parts > 1 else ""
        yield style.bold(f"{number}{part_title(part)}")
        yield from (style.yellow(f"! {note}") for note in effect_notes(part))
        for hunk in part.hunks:
            yield style.cyan(hunk.header)
            for line in hunk.lines:
                colour = {"+": style.green, "-": style.red}.get(line.kind, str)
                yield colour(f"{line.kind}{safe(line.text)}")
