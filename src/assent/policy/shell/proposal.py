"""What a person may allow for good after a question: the narrowest scopes that make sense, each with its
reach.

Never a scope for a shell, an interpreter or a wrapper, and never a bare program whose harm depends on a
sub-command.
"""

from typing import Literal

from msgspec import Struct

from assent.plan import Stage
from assent.policy.shell.checks import run_check
from assent.policy.shell.lexer import Refused
from assent.policy.shell.options import Use, examine
from assent.policy.shell.reader import read
from assent.policy.shell.rules import program


class Scope(Struct, frozen=True):
    """`words` become an allow rule, or an `exact` one for that kind; `reach` says what it will cover."""

    kind: Literal["exact", "subcommand", "program"]
    words: tuple[str, ...]
    reach: str


def scopes_by_command(command: str) -> list[list[Scope]]:
    """For every command of the text its scopes, narrowest first; nothing when it cannot be read completely."""
    try:
        stages = [stage for step in read(command) for stage in step.stages]
    except Refused:
        return []
    return [_scopes(stage) for stage in stages]


def proposal(command: str) -> list[Scope]:
    """All scopes of all commands of the text, narrowest first."""
    scopes = [scope for scopes in scopes_by_command(command) for scope in scopes]
    order = ("exact", "subcommand", "program")
    return sorted(dict.fromkeys(scopes), key=lambda scope: order.index(scope.kind))


def _scopes(stage: Stage) -> list[Scope]:
    name = program(stage.words[0].text)
    if stage.env or not all(word.literal for word in stage.words):
        return []
    use = examine(name, stage.words)
    if use is None:
        return [_exact(name, stage)]
    run_check(use, stage.words)
    if use.model.wrapper is not None:
        return []
    if use.models[0].kind == "interpreter" and len(use.names) < 2:
        return []
    return [_exact(name, stage), *_wider(use)]


def _wider(use: Use) -> list[Scope]:
    if use.problems or use.models[0].kind == "interpreter":
        return []
    if len(use.names) > 1:
        return [Scope("subcommand", use.names, _reach(use))]
    if use.model.effect == "read" and not use.model.sub:
        return [Scope("program", use.names, _reach(use))]
    return []


def _exact(name: str, stage: Stage) -> Scope:
    words = (name, *(word.text for word in stage.words[1:]))
    return Scope("exact", words, f"Exactly `{' '.join(words)}`, with no other word.")


def _reach(use: Use) -> str:
    named = " ".join(use.names)
    match use.model.effect:
        case "read":
            return f"Every `{named}` whose options and operands only read."
        case "write":
            return f"Every `{named}` with plain files inside the workspace that are not protected."
        case "run":
            return f"Every `{named}`, which runs code of this project, with options that do not change what."
        case "network":
            return f"Every `{named}` with plain operands; it uses the network."
