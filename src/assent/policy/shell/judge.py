"""Judges a command: may it run without approval, and what should a person know about it?

The order matters. Deny rules look at everything that can be found, before any limit can end the work; then the strict
reader must understand the whole text; then every command must be allowed; then the second reader must have found the
same commands. Only a command that passes all of these gets a plan, and the plan is what runs.
"""

from collections.abc import Sequence
from posixpath import normpath

from msgspec import Struct
from msgspec.structs import replace

from assent.lazy_pattern import lazy_pattern
from assent.plan import Plan, Stage, Step, every_step, simple_commands
from assent.policy.shell.command_files import CommandPlace
from assent.policy.shell.command_rules import CommandRules, Prefix, loose, program
from assent.policy.shell.command_survey import Found, Survey
from assent.policy.shell.compound import TreeJudge, has_uncertain_cd
from assent.policy.shell.denial import Spoken, spoken
from assent.policy.shell.git_secrets import hidden_paths
from assent.policy.shell.lexer import Refused
from assent.policy.shell.parsed import parse
from assent.policy.shell.paths import secret_path
from assent.policy.shell.program_models import Risk
from assent.policy.shell.risk import assess
from assent.policy.shell.simple_command import CommandVerdict, Decision
from assent.policy.shell.unwrap import MAX_COMMANDS

_IDLE = (("true",), ("false",))
_TOKEN = lazy_pattern(r"[\w./+-]+")


class PartJudgement(Struct, frozen=True):
    """One simple command of the text. `by` names the rule or model; `why` is a sentence."""

    words: tuple[str, ...]
    text: str
    decision: Decision
    by: str
    why: str


class Judgement(Struct, frozen=True, kw_only=True):
    """What to do with a command. It has a plan exactly if the decision is allow."""

    decision: Decision
    parts: tuple[PartJudgement, ...]
    roots: tuple[str, ...]
    inner: tuple[str, ...]
    risk: Risk
    reasons: tuple[str, ...]
    why: str
    plan: Plan | None = None
    readable: bool = True
    """Whether the strict reader understood the whole text."""
    denied: Prefix = ()
    """The rule that denies it."""
    asked: Prefix = ()
    """The rule that requires approval."""
    relied: tuple[Prefix, ...] = ()
    """The words of all rules and grants that it takes to allow it."""
    doubt: str = ""
    """Why a deny or ask rule may apply; empty if that is certain either way."""


def judge(command: str, rules: CommandRules, *, cwd: str, roots: Sequence[str]) -> Judgement:
    """Judge a command line. Pure: looks at no file and starts nothing."""
    places = tuple(normpath(root) for root in roots)
    parsed = parse(command)
    written, steps, seen, inner = parsed.written, parsed.steps, parsed.seen, parsed.inner
    shown = [one for one in inner if not one.other_name]
    risk, reasons = assess(command, seen, (*seen.commands[:MAX_COMMANDS], *shown), cwd, places)
    about = Judgement(
        decision="ask",
        parts=_described(seen),
        roots=_roots(command, seen),
        inner=_texts(seen, shown),
        risk=risk,
        reasons=reasons,
        why="It was not understood.",
        readable=not isinstance(steps, Refused),
    )
    everything = (*seen.commands, *seen.evaluated, *inner, *_stages(parsed.unrolled))
    complete = parsed.complete
    denied, asked = (
        spoken(everything, said, complete=complete, written=seen.writes, assigned=seen.assigned)
        for said in (rules.deny, rules.ask)
    )
    if (named := _named(command, rules, complete=complete)) is not None:
        return replace(about, decision="deny", denied=named, why=_named_why(named))
    if denied is not None and denied.sure:
        return replace(about, decision="deny", denied=denied.rule, parts=(_spoken(denied, "deny"),), why=_why(denied))
    if asked is not None and asked.sure:
        return replace(about, asked=asked.rule, parts=(_spoken(asked, "ask"),), why=_ASKED)
    if (doubt := denied or asked) is not None:
        about = replace(about, doubt=_doubt(doubt))
    if isinstance(steps, Refused) or isinstance(written, Refused):
        return replace(about, why=f"It contains {steps if isinstance(steps, Refused) else written}.")
    if about.doubt:
        return replace(about, why=about.doubt)
    if has_uncertain_cd(steps):
        return replace(about, why="It changes the folder inside a condition or a loop.")
    found = _by_parts(about, steps, rules, CommandPlace(cwd=normpath(cwd), roots=places))
    if found.decision == "allow" and not _both_readers_agree(written, seen):
        return replace(about, parts=found.parts, why="Two parsers read this command differently.")
    return found


def _by_parts(about: Judgement, steps: tuple[Step, ...], rules: CommandRules, where: CommandPlace) -> Judgement:
    """Every command must be allowed in its position."""
    tree = TreeJudge(rules)
    ready, _ = tree.steps(steps, where)
    each = tree.verdicts
    parts = tuple(map(_part, each))
    asking = next((verdict for verdict in each if verdict.decision != "allow" and not _idle(verdict, each)), None)
    if asking is not None:
        return replace(about, parts=parts, why=asking.why)
    why = next(verdict.why for verdict in each if verdict.decision == "allow")
    relied = tuple(dict.fromkeys(rule for verdict in each for rule in verdict.rules))
    return replace(about, decision="allow", parts=parts, why=why, relied=relied, plan=_plan(ready, each, where))


def _idle(verdict: CommandVerdict, each: Sequence[CommandVerdict]) -> bool:
    """`… || true` after an allowed command needs no rule of its own. With a variable it would do more: `LD_PRELOAD=./x
    true` runs x.
    """
    stage = verdict.stage
    bare = tuple(word.text for word in stage.words) in _IDLE and not stage.env and not stage.redirects
    return bare and verdict.by == "no rule" and any(one.decision == "allow" for one in each)


def _stages(steps: Sequence[Step]) -> tuple[Found, ...]:
    return tuple(Found(words=stage.words, text=stage.text) for stage in simple_commands(steps))


def _both_readers_agree(steps: Sequence[Step], seen: Survey) -> bool:
    ours = [program(stage.words[0].text) for stage in simple_commands(steps)]
    theirs = [program(found.words[0].text) for found in seen.commands]
    for step in every_step(steps):
        if step.timed:  # the other reader takes `time` for a program whose arguments are a simple command
            first = step.stages[0]
            ours.append("time")
            if isinstance(first, Stage):
                ours.remove(program(first.words[0].text))
    return seen.complete and sorted(ours) == sorted(theirs)


def _plan(steps: tuple[Step, ...], verdicts: Sequence[CommandVerdict], where: CommandPlace) -> Plan:
    writes = tuple(path for verdict in verdicts for path in verdict.writes)
    sweeps = any(verdict.sweeps for verdict in verdicts)
    confined = any(verdict.confined for verdict in verdicts)
    hidden = hidden_paths() if any(stage.hides for stage in simple_commands(steps)) else ()
    bounds = Plan(steps=steps, cwd=where.cwd, roots=where.roots, secret=secret_path(), hidden=hidden)
    return replace(bounds, writes=writes, sweeps=sweeps, only_confined=confined)


def _part(verdict: CommandVerdict) -> PartJudgement:
    stage = verdict.stage
    words = tuple(word.text for word in stage.words)
    return PartJudgement(words, stage.text, verdict.decision, verdict.by, verdict.why)


def _roots(command: str, seen: Survey) -> tuple[str, ...]:
    """Names of the commands in the text and its substitutions. `${x@P}` runs text that no reader can see: none."""
    if "@P}" in command:
        return ()
    return tuple(found.words[0].text for found in seen.commands[:MAX_COMMANDS])


def _texts(seen: Survey, inner: Sequence[Found]) -> tuple[str, ...]:
    return tuple(found.text for found in seen.commands if found.nested) + tuple(found.text for found in inner)


def _described(seen: Survey) -> tuple[PartJudgement, ...]:
    return tuple(
        PartJudgement(tuple(word.text for word in found.words), found.text, "ask", "grammar", "Part of a command.")
        for found in seen.commands[:MAX_COMMANDS]
    )


_ASKED = "One of your rules requires approval for this."


def _spoken(one: Spoken, decision: Decision) -> PartJudgement:
    why = _why(one) if decision == "deny" else _ASKED
    return PartJudgement(one.words, one.text, decision, f"{decision} rule `{' '.join(one.rule)}`", why)


def _why(one: Spoken) -> str:
    return f"Your rule denies `{' '.join(one.rule)}`."


def _doubt(one: Spoken) -> str:
    return f"{one.why}, and you have a rule about `{' '.join(one.rule)}`."


def _named(command: str, rules: CommandRules, *, complete: bool) -> Prefix | None:
    """Beyond a limit not every wrapper is unwrapped, so the bare words of a deny rule are enough to deny."""
    if complete or not rules.deny:
        return None
    tokens = set(map(loose, _TOKEN.findall(command)))
    return next((rule for rule in rules.deny if tokens.issuperset(map(loose, rule))), None)


def _named_why(rule: Prefix) -> str:
    return f"It was not fully understood, and it names `{' '.join(rule)}`, which your rule denies."
