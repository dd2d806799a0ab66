"""Rules in TOML. A file is loaded as a whole or not at all; errors name the file and the line.

    [[rule]]
    tool = "run_shell_command"      # a known tool; `*` in it matches anything
    command = "git push"            # first words of a command
    argument = "https://docs.*"     # a glob over the tool's main argument
    path = "secrets/**"             # a glob over the files it touches
    domain = "example.org"          # includes its subdomains
    server = "notes"                # an MCP server
    mode = ["default", "auto_edit"]
    decision = "deny"               # allow, ask or deny
    message = "Push by hand."       # what the model is told
    note = "since the incident"
    priority = 700
    sandbox = "workspace"           # for an allowed command: read-only, workspace or network; "off" asks
    domains = ["packages.example.org"]  # for an allowed command in `network`: where it may connect to without asking
    writable = ["~/.cache/pip"]     # for an allowed command in a sandbox: what it may write to, besides the workspace
    without_effects = true          # allows only commands that were tried and changed nothing
    examples = { match = ["git push -f"], not_match = ["git pull"] }

Examples are checked when the file is loaded: a rule that does not do what its author expects is an error.
"""

from collections.abc import Iterable
from pathlib import Path
from typing import Literal

import msgspec
from msgspec import Struct

from assent.approval import ExecDetails, Mode
from assent.files.regular_file import NotPlain, read_plain
from assent.plan import SandboxName
from assent.policy.action import Action
from assent.policy.globs import text_matches
from assent.policy.rule_words import why_never, why_no_path, why_several
from assent.policy.rulefile_words import in_words, rule_lines
from assent.policy.rules import BadRule, Rule, Ruling, Tier, check_domain, check_domains, check_tool
from assent.web.destinations import CONNECT


class Examples(Struct, frozen=True, forbid_unknown_fields=True):
    match: tuple[str, ...] = ()
    not_match: tuple[str, ...] = ()


class RuleSpec(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """One `[[rule]]` as written."""

    decision: Ruling
    tool: str | tuple[str, ...] = "*"
    server: str = ""
    argument: str = ""
    command: str | tuple[str, ...] = ()
    domain: str = ""
    path: str = ""
    mode: Mode | tuple[Mode, ...] = ()
    message: str = ""
    note: str = ""
    priority: int = 500
    sandbox: SandboxName | None = None
    domains: tuple[str, ...] = ()
    writable: tuple[str, ...] = ()
    without_effects: bool = False
    contained: bool = False
    examples: Examples = Examples()


class _File(Struct, frozen=True, forbid_unknown_fields=True):
    rule: tuple[RuleSpec, ...] = ()


def load_rules(path: Path, tier: Tier, known_tools: Iterable[str], *, only_tighten: bool = False) -> tuple[Rule, ...]:
    """The rules of a file; none if the file does not exist. `only_tighten` drops rules that would allow something."""
    try:
        data = read_plain(path)
    except FileNotFoundError:
        return ()
    except NotPlain as error:
        raise BadRule(f"cannot read the rules: {error}") from error
    rules = parse_rules(data, str(path), tier, known_tools)
    return tuple(rule for rule in rules if not only_tighten or rule.ruling != "allow")


def parse_rules(data: bytes, name: str, tier: Tier, known_tools: Iterable[str]) -> tuple[Rule, ...]:
    try:
        text = data.decode()
        specs = msgspec.toml.decode(text, type=_File).rule
    except UnicodeDecodeError as error:
        raise BadRule(f"{name}: not UTF-8 text: {error}") from error
    except msgspec.MsgspecError as error:
        raise BadRule(in_words(str(error), data.decode(errors="replace"), name)) from error
    lines = rule_lines(text)
    if len(lines) != len(specs):  # a spelling that this search does not recognize
        lines = [1] * len(specs)
    known = tuple(known_tools)
    return tuple(
        rule for spec, line in zip(specs, lines, strict=True) for rule in _rules(spec, f"{name}:{line}", tier, known)
    )


def _rules(spec: RuleSpec, place: str, tier: Tier, known: tuple[str, ...]) -> list[Rule]:
    tools = (spec.tool,) if isinstance(spec.tool, str) else spec.tool
    for tool in tools:
        check_tool(tool, place, known)
    if spec.domain and tools == (CONNECT,):
        check_domains([spec.domain], place)
    elif spec.domain:
        check_domain(spec.domain, place)
    if spec.path.count("**/") > 4 or len(spec.path) > 1000:
        raise BadRule(f"{place}: the path has more than four `**/` or is too long")
    if why := why_no_path(spec.path):
        raise BadRule(f"{place}: the path {why}")
    if not 0 <= spec.priority <= 999:
        raise BadRule(f"{place}: priority must be between 0 and 999, not {spec.priority}")
    commands = _commands(spec, place)
    _check_sandbox(spec, commands, place)
    if spec.without_effects and spec.decision != "allow":
        raise BadRule(f"{place}: `without_effects` belongs to a rule that allows commands")
    if spec.contained and spec.decision != "allow":
        raise BadRule(f"{place}: `contained` belongs to a rule that allows commands")
    if spec.contained and spec.sandbox is not None:
        raise BadRule(f'{place}: `contained` means the sandbox "workspace"; leave `sandbox` out')
    rules = [_rule(spec, tool, command, place, tier) for tool in tools for command in commands]
    _check_examples(spec, rules, place)
    return rules


def _check_sandbox(spec: RuleSpec, commands: tuple[str, ...], place: str) -> None:
    check_domains(spec.domains, place)
    if spec.sandbox is not None and (commands == ("",) or spec.decision != "allow"):
        raise BadRule(f"{place}: `sandbox` belongs to a rule that allows a command")
    if spec.domains and spec.sandbox != "network":
        raise BadRule(f'{place}: `domains` belongs to a rule with `sandbox = "network"`')
    if spec.writable and spec.sandbox not in ("workspace", "network"):
        raise BadRule(f'{place}: `writable` belongs to a rule with `sandbox = "workspace"` or `"network"`')
    if relative := next((path for path in spec.writable if not path.startswith(("/", "~/"))), None):
        raise BadRule(f"{place}: `writable` has {relative!r}; write a path that starts with `/` or `~/`")


def _commands(spec: RuleSpec, place: str) -> tuple[str, ...]:
    if spec.command == ():
        return ("",)
    commands = (spec.command,) if isinstance(spec.command, str) else spec.command
    if not all(command.split() for command in commands):
        raise BadRule(f"{place}: an empty command would mean every command; to say that, leave the key out")
    if spec.path or spec.argument or spec.domain:
        raise BadRule(f"{place}: a rule about a command cannot also name a path, an argument or a domain")
    for command in commands:
        words = tuple(command.split())
        if why := why_several(words) or why_never(words):
            raise BadRule(f"{place}: the command {why}")
    return commands


def _rule(spec: RuleSpec, tool: str, command: str, place: str, tier: Tier) -> Rule:
    modes = (spec.mode,) if isinstance(spec.mode, str) else spec.mode
    return Rule(
        ruling=spec.decision,
        tool=tool,
        argument=spec.argument,
        server=spec.server,
        domain=spec.domain,
        message=spec.message,
        command=tuple(command.split()),
        path=spec.path.removeprefix("./"),
        modes=modes,
        priority=spec.priority,
        tier=tier,
        place=place,
        note=spec.note,
        sandbox="workspace" if spec.contained else spec.sandbox,
        domains=spec.domains,
        writable=spec.writable,
        without_effects=spec.without_effects,
        contained=spec.contained,
    )


def _check_examples(spec: RuleSpec, rules: list[Rule], place: str) -> None:
    for example in spec.examples.match:
        if not any(_speaks_about(rule, example) for rule in rules):
            raise BadRule(f"{place}: the example {example!r} should match but does not")
    for example in spec.examples.not_match:
        if any(_speaks_about(rule, example) for rule in rules):
            raise BadRule(f"{place}: the example {example!r} should not match but does")


def _speaks_about(rule: Rule, example: str) -> bool:
    """For a command rule: does the gate decide what the rule says? For others: does the argument match?"""
    if not rule.command:
        return text_matches(rule.argument, example) if rule.argument else rule.tool in ("*", example)
    from assent.policy.policy import Policy

    details = ExecDetails(command=example, roots=(), directory="/w", risk="low", risk_reason="")
    wanted = Rule(ruling=rule.ruling, command=rule.command)
    verdict = (
        Policy([wanted], roots=(details.directory,))
        .command_judge(Action(tool="run_shell_command", args={}, details=details), details)
        .judgement()
    )
    decided: Literal["allow", "ask", "deny"] = verdict.decision
    return decided == rule.ruling and any(part.by.startswith(f"{rule.ruling} rule") for part in verdict.parts)
