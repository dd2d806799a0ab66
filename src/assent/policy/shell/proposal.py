"""What a person may always allow after a question: the narrowest useful scopes, each with its reach.

Never proposes a shell, an interpreter or a wrapper alone, nor a bare program that deletes, overwrites or depends on a
sub-command for its harm. For a program that only starts another one, the scope names both.
"""

import shlex
from collections.abc import Iterable, Sequence
from typing import Literal

from msgspec import Struct

from assent.plan import Stage, simple_commands
from assent.policy.shell.checks import run_check
from assent.policy.shell.command_rules import program
from assent.policy.shell.exact_rules import CODE_FROM_INPUT, is_script_call
from assent.policy.shell.lexer import Refused
from assent.policy.shell.options import Use, examine
from assent.policy.shell.parsed import understood
from assent.policy.shell.paths import moves
from assent.policy.shell.simple_command import adds_nothing

_MAKING = frozenset(("mkdir", "touch"))


class Scope(Struct, frozen=True):
    """`words` become an allow rule, `exact` if it covers only this command; `reach` says what it will cover."""

    kind: Literal["exact", "subcommand", "program"]
    words: tuple[str, ...]
    reach: str


def joined_reach(scopes: Iterable[Scope]) -> str:
    """What these scopes cover together, in one sentence that says each thing once."""
    alike: dict[tuple[str, str], list[str]] = {}
    for scope in dict.fromkeys(scopes):
        begin, quoted, rest = _parts(scope)
        alike.setdefault((begin, rest), []).append(f"{begin} {quoted}")
    text = "; ".join(f"{_listed(named)}{rest}" for (_, rest), named in alike.items())
    return f"{text[:1].upper()}{text[1:]}."


def _parts(scope: Scope) -> tuple[str, str, str]:
    """`every`, the quoted words, and which of them are meant."""
    quoted = f"`{_quotable(scope.words)}`"
    begin, _, rest = scope.reach.partition(f" {quoted}")
    return begin.lower(), quoted, rest.rstrip(".")


def _listed(items: Sequence[str]) -> str:
    *others, last = items
    return f"{', '.join(others)} and {last}" if others else last


def _quotable(words: Sequence[str]) -> str:
    """As one would type it, on one line."""
    return " ".join(shlex.join(words).split())


class _NoScope(Exception):
    """Nothing may always be allowed, and why."""


def scopes_by_command(command: str) -> list[list[Scope]]:
    """For every command of the text its scopes, narrowest first; empty if the text cannot be fully read. A `cd` needs
    none: whoever grants the others says in which folder.
    """
    try:
        stages = _stages(command)
    except _NoScope:
        return []
    return [_scopes_or_none(stage) for stage in stages]


def why_no_scope(command: str) -> str:
    """Why not all commands of the text have a scope; empty if they do."""
    try:
        for stage in _stages(command):
            _scopes(stage)
    except _NoScope as error:
        return str(error)
    return ""


def runs_code(command: str) -> bool:
    """Whether it runs code of the folder, as `go test` does."""
    try:
        uses = [examine(program(stage.words[0].text), stage.words) for stage in _stages(command)]
    except _NoScope:
        return False
    inner = [examine(program(use.payload[0].text), use.payload) for use in uses if use is not None and use.payload]
    return any(use is not None and use.model.effect == "run" for use in (*uses, *inner))


def _stages(command: str) -> list[Stage]:
    try:
        stages = [stage for stage in simple_commands(understood(command)) if not moves(stage)]
    except Refused as error:
        raise _NoScope(f"it contains {error}, which no permission covers") from error
    if any(word.unknown for stage in stages for word in stage.words):
        raise _NoScope("some of its words are known only when it runs")
    if not stages:
        raise _NoScope("it only changes the folder")
    return stages


def _scopes_or_none(stage: Stage) -> list[Scope]:
    try:
        return _scopes(stage)
    except _NoScope:
        return []


def proposal(command: str) -> list[Scope]:
    """All scopes of all commands of the text, narrowest first."""
    scopes = [scope for scopes in scopes_by_command(command) for scope in scopes]
    order = ("exact", "subcommand", "program")
    return sorted(dict.fromkeys(scopes), key=lambda scope: order.index(scope.kind))


def _scopes(stage: Stage) -> list[Scope]:
    """Raises _NoScope."""
    name = program(stage.words[0].text)
    if stage.env:
        raise _NoScope(f"it sets {stage.env[0][0]}, which may change what runs")
    if wild := next((word for word in stage.words if not word.literal), None):
        raise _NoScope(f"what `{wild.text}` stands for may change")
    use = examine(name, stage.words)
    if use is None:
        return [_exact(name, stage)]
    run_check(use, stage.words)
    if use.problems and stage.words[-1].text in CODE_FROM_INPUT:
        raise _NoScope(f"what `{name}` runs is not among its words")  # no rule would cover it
    if use.model.wrapper is not None:
        return _of_wrapper(name, use, stage)
    if use.models[0].kind == "interpreter" and len(use.names) < 2:
        raise _NoScope(f"what `{name}` runs is not among its words")
    return [_exact(name, stage), *_wider(use)]


def _of_wrapper(name: str, use: Use, stage: Stage) -> list[Scope]:
    """Never the wrapper alone. A script of the folder only with exactly these words."""
    if adds_nothing(use) and name != "env":  # which may set variables
        return _scopes(Stage(words=use.payload))
    if is_script_call(use, (name, *(word.text for word in stage.words[1:]))):
        return [_exact(name, stage)]
    if both := _both(use, stage):
        return [_exact(name, stage), *both]
    if use.model.kind == "shell":
        raise _NoScope(f"`{name}` would run a text, which needs approval each time")
    raise _NoScope(f"`{name}` can run anything, and Assent allows it only together with some programs")


def _wider(use: Use) -> list[Scope]:
    if use.problems or use.models[0].kind == "interpreter":
        return []
    if len(use.names) > 1:
        return [Scope("subcommand", use.names, _reach(use))]
    if not use.model.sub and (use.model.effect in ("read", "run") or _only_makes(use)):
        return [Scope("program", use.names, _reach(use))]
    return []


def _only_makes(use: Use) -> bool:
    """It creates files and folders; the model of a program that deletes or overwrites states a risk."""
    return use.model.effect == "write" and bool(use.writes) and use.model.risk is None and use.names[0] in _MAKING


def _both(use: Use, stage: Stage) -> list[Scope]:
    """`npx tsc`, `uv run pytest`: the wrapper and what it runs, unless that is a shell, an interpreter or a wrapper."""
    named = use.model.wrapper is not None and use.model.wrapper.named
    if not named or use.problems or not use.payload:
        return []
    inner = examine(program(use.payload[0].text), use.payload)
    if inner is None or inner.model.wrapper is not None or any(one.kind != "program" for one in inner.models):
        return []
    run_check(inner, use.payload)
    begins = tuple(word.text for word in use.payload[: len(inner.names)]) == inner.names
    if inner.problems or inner.also or not begins or (inner.model.sub and len(inner.names) == 1):
        return []
    words = (*(word.text for word in stage.words[: use.payload_at]), *inner.names)
    return [Scope("subcommand", words, _reach(inner, _quotable(words)))]


def _exact(name: str, stage: Stage) -> Scope:
    words = (name, *(word.text for word in stage.words[1:]))
    return Scope("exact", words, f"Exactly `{_quotable(words)}`, and nothing else.")


def _reach(use: Use, words: str = "") -> str:
    named = words or _quotable(use.names)
    match use.model.effect:
        case "read":
            return f"Every `{named}` whose options and operands only read."
        case "write":
            return f"Every `{named}` that names nothing protected and nothing outside the workspace."
        case "run":
            return f"Every `{named}`, which runs this project's code, with options that do not change which code runs."
        case "network":
            return f"Every `{named}` with plain operands; it uses the network."
