"""Judges a tree of commands: every simple command, in its position and in the folder it runs in.

Knows how commands are joined; `simple_command` knows what one command may do.
"""

from collections.abc import Sequence

from msgspec.structs import replace

from assent.plan import Branch, Choice, Command, Group, Loop, Part, Stage, Step, Word, branches, outputs
from assent.policy.shell.command_files import CommandPlace
from assent.policy.shell.command_rules import CommandRules, program
from assent.policy.shell.lexer import word_of
from assent.policy.shell.options import examine
from assent.policy.shell.paths import cd_target, moves, place
from assent.policy.shell.piped_names import give_harmless_names, give_names_inside
from assent.policy.shell.plain_texts import plain_texts
from assent.policy.shell.simple_command import CommandVerdict, judge_stage
from assent.policy.shell.unknown_words import has_unknown, what_unknown


def has_uncertain_cd(steps: Sequence[Step], *, bound: bool = False) -> bool:
    """Whether a `cd` is in a place where nobody can tell if it runs: in a condition, a loop or after `!`.

    In a multi-command pipe or a subshell it does not affect the commands outside.
    """
    return any(_has_uncertain_cd(step, bound=bound) for step in steps)


def _has_uncertain_cd(step: Step, *, bound: bool) -> bool:
    alone = len(step.stages) == 1
    bound = (bound or step.negated) and alone
    for command in step.stages:
        match command:
            case Stage():
                if (bound and moves(command)) or has_uncertain_cd(outputs(command.words)):
                    return True
            case Group():
                if has_uncertain_cd(command.steps, bound=bound and not command.subshell):
                    return True
            case Loop() | Choice():
                words = command.words if isinstance(command, Loop) else ()
                if has_uncertain_cd(outputs(words)) or any(
                    has_uncertain_cd(inner, bound=True) for inner in branches(command)
                ):
                    return True
    return False


class TreeJudge:
    """One judgement. `verdicts` are those of all simple commands, in source order."""

    def __init__(self, rules: CommandRules) -> None:
        self._rules = rules
        self.verdicts: list[CommandVerdict] = []

    def steps(self, steps: Sequence[Step], where: CommandPlace) -> tuple[tuple[Step, ...], CommandPlace]:
        """The steps that will run, and the folder after them: a `cd` moves the commands that follow it."""
        ready: list[Step] = []
        start = where.cwd
        for step in steps:
            if step.join != "&&" and where.cwd != start:
                where = replace(where, certain=False)  # the `cd` before may have failed
            judged = [self._command(one, _fed(where, step, at)) for at, one in enumerate(step.stages)]
            ready.append(replace(step, stages=tuple(command for command, _ in judged)))
            if len(judged) == 1:
                where = judged[0][1]
        return tuple(ready), where

    def _inside(self, steps: Sequence[Step], where: CommandPlace) -> tuple[Step, ...]:
        """Steps that do not move the commands after them."""
        return self.steps(steps, where)[0]

    def _command(self, command: Command, where: CommandPlace) -> tuple[Command, CommandPlace]:
        match command:
            case Stage():
                return self._stage(command, where), _moved(command, where)
            case Group():
                steps, after = self.steps(command.steps, where)
                return replace(command, steps=steps), where if command.subshell else after
            case Loop():
                words = tuple(self._word(word, where) for word in command.words)
                return replace(command, words=words, steps=self._inside(command.steps, where)), where
            case Choice():
                chosen = tuple(
                    Branch(self._inside(one.condition, where), self._inside(one.steps, where))
                    for one in command.branches
                )
                return replace(command, branches=chosen, otherwise=self._inside(command.otherwise, where)), where

    def _stage(self, stage: Stage, where: CommandPlace) -> Stage:
        stage = replace(stage, words=tuple(self._word(word, where) for word in stage.words))
        verdict = judge_stage(stage, self._rules, where)
        if has_unknown(stage):
            verdict = _with_unknown(verdict, stage, where)
        self.verdicts.append(verdict)
        return _with_files(verdict.stage)

    def _word(self, word: Word, where: CommandPlace) -> Word:
        """The word, with the commands of its substitutions as they will run."""
        if not any(part.kind == "output" for part in word.parts):
            return word
        inner = replace(where, harmless_names=False, names_inside=False)
        return word_of([replace(part, steps=self._inside(part.steps, inner)) for part in word.parts])


def _with_files(stage: Stage) -> Stage:
    """Adds what the runner must know about the words: which are files to read, and which are not files at all."""
    use = examine(program(stage.words[0].text), stage.words)
    if use is None:
        return stage
    files = [at for at, word in enumerate(stage.words) if any(word is one for one in use.reads)]
    return replace(stage, files=tuple(files), texts=plain_texts(use, stage.words))


def _with_unknown(verdict: CommandVerdict, stage: Stage, where: CommandPlace) -> CommandVerdict:
    kind = what_unknown(examine(program(stage.words[0].text), stage.words), stage, where.cwd, where.roots)
    if not kind:
        unknown = next(part for word in stage.words for part in word.parts if word.unknown and part.kind != "text")
        why = f"`{stage.words[0].text}`: the value of {_spelled(unknown)} is unknown and could be anything."
        return replace(verdict, decision="ask", by="unknown word", why=why)
    return replace(verdict, stage=replace(verdict.stage, unknown=kind))


def _spelled(part: Part) -> str:
    return "`$(…)`" if part.kind == "output" else f"`${part.text}`"


def _fed(where: CommandPlace, step: Step, at: int) -> CommandPlace:
    before = [one for one in step.stages[:at] if isinstance(one, Stage)]
    harmless = len(before) == at and give_harmless_names(before, where.cwd, where.roots)
    inside = len(before) == at and give_names_inside(before, where.cwd, where.roots)
    return replace(where, harmless_names=harmless, names_inside=inside)


def _moved(stage: Stage, where: CommandPlace) -> CommandPlace:
    return replace(where, cwd=place(cd_target(stage).text, where.cwd)) if moves(stage) else where
