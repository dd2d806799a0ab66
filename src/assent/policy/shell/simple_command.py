"""Judges one simple command: its rule, its model, and the command it wraps.

Checks only add problems; "allow" is what is left if a rule covers the command and there is no problem. Knows rules,
models and the workspace; does not know how the command was joined to others.
"""

import shlex
from itertools import takewhile
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from assent.lazy_pattern import lazy_pattern
from assent.plan import GitWork, Stage, Word
from assent.policy.shell.checks import run_check
from assent.policy.shell.command_files import (
    CommandPlace,
    file_problems,
    folder_problems,
    redirect_problem,
    write_problem,
    written_paths,
)
from assent.policy.shell.command_rules import CommandRules, Prefix, covering, program
from assent.policy.shell.exact_rules import (
    ASKS_FOR_VERSION,
    FILE_ENDING,
    PYTHON,
    names_all,
    names_payload,
    naming,
    with_exact_wrapper,
)
from assent.policy.shell.find_exec import Clause, Finds, exec_clause, payload_problem
from assent.policy.shell.git_secrets import hides, listing, with_limited_objects
from assent.policy.shell.options import Use, examine, option_problem, option_writes, spread, with_options
from assent.policy.shell.outside_words import leading_out
from assent.policy.shell.paths import secret
from assent.policy.shell.program_models import ProgramModel
from assent.policy.shell.recursive_search import (
    fed_problem,
    guarded,
    passes_over,
    shows_content,
    sifted,
    unsifted,
    without_more_options,
)
from assent.policy.shell.rule_reach import further_operands, further_values, inside_git, other_targets
from assent.policy.shell.same_words import as_named
from assent.policy.shell.synonyms import same_command
from assent.policy.shell.undescribed import RUNS_OTHERS, unknown_words
from assent.policy.shell.variable_prefixes import harmless

MAX_DEPTH = 4

Decision = Literal["allow", "ask", "deny"]

_PROGRAM = lazy_pattern(r"[A-Za-z0-9_./+:@%,\[-]+")
# For network access, git must keep the settings that the connection itself needs.
_NETWORK_GIT = {"core.sshCommand=false": "core.sshCommand=ssh", "credential.helper=": "core.pager=cat"}


_TESTS = ("pytest", "py.test", "unittest")
# Modules of Python that are also programs, with a model of their own.
_ALSO_PROGRAMS = ("pytest", "mypy", "ruff", "black", "isort", "flake8", "pylint", "coverage", "tox", "nox", "pip")
_FIND = ("find", "fd", "fdfind")  # what they find is not among their words
_RUN = ((), ("run",), ("run-script",))
_RUN_WITHOUT_RUN = ("test", "start", "stop", "restart")  # scripts of npm

_LONGEST_QUOTE = 60
_MODULE = 2  # `python -m`: a longer rule says which
# Long dashes and similar characters, which a person takes for the start of an option.
_LOOKS_LIKE_OPTION = lazy_pattern("[\u00ad\u058a\u05be\u2010-\u2015\u2212\u2e3a\u2e3b\ufe58\ufe63\uff0d]")


class CommandVerdict(Struct, frozen=True, kw_only=True):
    """The decision about one command, with the words that will run and the files that will change."""

    decision: Decision
    by: str
    why: str
    stage: Stage
    writes: tuple[str, ...] = ()
    sweeps: bool = False
    """It searches, and is told to skip secrets."""
    confined: bool = False
    """It writes files that no word names, so it runs only in a sandbox."""
    rules: tuple[Prefix, ...] = ()
    """What allows it: words of rules, of grants, or of what is allowed out of the box."""


def judge_stage(
    stage: Stage, rules: CommandRules, where: CommandPlace, depth: int = 0, *, fed: bool = False, found: Finds = ""
) -> CommandVerdict:
    """Allow or ask; deny rules were applied earlier, to everything that could be found.

    `fed`: more words come from its input. `found`: `{}` stands for one file that find finds, or for several.
    """
    stage = as_named(stage, rules)
    name = program(stage.words[0].text)
    if name == "find" and (clause := exec_clause(stage.words)) is not None:
        return _finding(stage, clause, rules, where, depth)
    use = examine(name, stage.words, more=fed and where.at_the_end, many="{}" if found == "several" else "")
    is_test = use is not None and use.names[-1] in _TESTS
    problems = _outside_the_model(stage, where, tests=is_test) + _other_script(stage, use, where)
    if use is None:
        return _unmodelled(stage, name, rules, problems, where, fed=fed)
    use.fed, use.found = fed, found != ""
    rules = with_exact_wrapper(rules, name, use, stage)
    if use.unknown_sub and (named := _undescribed(use, name, stage, rules)) is not None:
        return _unmodelled(stage, name, rules, problems, where, fed=fed, use=named)
    run_check(use, stage.words)
    problems += folder_problems(use, stage, where)
    exact = not fed and not problems and names_all(rules, name, use, stage)
    problems += use.problems + _kind_problems(use, stage, rules) + file_problems(use, stage.words, where)
    if fed:
        why = fed_problem(
            use,
            stage.words,
            harmless_names=where.harmless_names,
            names_inside=where.names_inside,
            at_the_end=where.at_the_end,
        )
        problems += [why] if why else []
    verdict = _decide(stage, name, use, rules, problems, where, depth)
    if verdict.decision == "ask" and exact:
        by = _rule("exact", tuple(word.text for word in stage.words))
        ready = replace(_hardened(stage, use), git="")
        named = (naming(rules, name, use, stage),)
        return CommandVerdict(
            decision="allow", by=by, why="A rule allows exactly this command.", stage=ready, rules=named
        )
    return verdict


def _decide(
    stage: Stage, name: str, use: Use, rules: CommandRules, problems: list[str], where: CommandPlace, depth: int
) -> CommandVerdict:
    texts = (name, *(word.text for word in stage.words[1:]))
    if (ask := covering(rules.ask, texts, use.names, *use.also)) is not None:
        return CommandVerdict(
            decision="ask", by=_rule("ask", ask), why="One of your rules requires approval for this.", stage=stage
        )
    known = rules.allow if use.makes else (*rules.allow, *rules.reading)
    every = _every_goal(use)
    spellings = (texts, use.names, every, *_without_options(use), *_other_names(use))
    rule = _closest(covering(known, *spellings), with_options(known, use))
    if rule is None and adds_nothing(use):
        rule = (name,)
    if rule is None:
        return CommandVerdict(decision="ask", by="no rule", why=f"No rule allows `{_quoted(use, stage)}`.", stage=stage)
    problems = _not_named(problems, use, rule, where)
    problems += leading_out(stage.words, use, rule, where.cwd, where.roots)
    problems += further_operands(use, rule, at_the_top=where.cwd in where.roots)
    problems += further_values(use, rule) + other_targets(use, rule) + inside_git(use)
    if _named(use.names, rule) < len(use.names) and not _names_otherwise(use, rule) and _must_be_named(use, rule):
        problems.append(f"`{' '.join(use.names)}` does more than read, so a rule must name it in full")
    if use.confined and not any(word.startswith("-") for word in rule):
        problems.append("it writes files that no word names, so a rule must name its options")
    rest: list[Prefix] = [] if every != use.names and every == rule[: len(every)] else use.also
    more = [_covering_also(other, rules, whole=use.by_name) for other in rest]
    problems += [f"no rule allows `{' '.join(other)}`" for other, found in zip(rest, more, strict=True) if not found]
    if problems:
        return CommandVerdict(decision="ask", by=f"model {use.names[0]}", why=_sentence(name, problems[0]), stage=stage)
    if use.payload:
        return _wrapped(stage, use, rules, rule, where, depth)
    why = f"`{' '.join(use.names)}` {use.model.does or 'is known to be harmless'}, and its options do no harm."
    return CommandVerdict(
        decision="allow",
        by=_rule("allow", rule),
        why=why,
        stage=_hardened(stage, use),
        writes=written_paths(use, where),
        sweeps=passes_over(use),
        confined=use.confined,
        rules=(rule, *filter(None, more)),
    )


def _quoted(use: Use, stage: Stage) -> str:
    """What a rule would have to name if the command begins with it, else the command as written: `make -n all` is not
    `make all`.
    """
    named = tuple(word.text for word in stage.words[: len(use.names)]) == use.names
    if named and not any(set(name) & set(" \n\t;()") for name in use.names):
        return " ".join(use.names)
    line = " ".join(shlex.join(word.text for word in stage.words).split())
    return line if len(line) <= _LONGEST_QUOTE else line[: _LONGEST_QUOTE - 1] + "…"


def _without_options(use: Use) -> list[Prefix]:
    """A rule for `curl URL` also covers `curl -s URL`: its model judges the options. Those before a sub-command may
    choose where it works.
    """
    if use.also or use.at != len(use.names) - 1:
        return []
    return [(*use.names, *(word.text for word in use.operands if word.text not in use.names))]


def _other_names(use: Use) -> list[Prefix]:
    """The ways to write its sub-command: `npm t` and `npm run test` are `npm test`, `python -m pytest` is `pytest`, and
    `gradle :app:test` is `gradle test`.
    """
    name, *further = use.names
    if further[:1] == ["-m"] and further[1:2] and further[1] in _ALSO_PROGRAMS:
        return [tuple(further[1:])]
    if name in ("gradle", "./gradlew") and further:
        return [(name, further[0].rpartition(":")[2])]
    ways = [(name, *way) for way in same_command(name, tuple(further))] if further else []
    if name in ("npm", "pnpm") and further[-1:] and further[-1] in _RUN_WITHOUT_RUN and tuple(further[:-1]) in _RUN:
        ways += [(name, further[-1]), (name, "run", further[-1])]
    return ways


def adds_nothing(use: Use) -> bool:
    """`timeout 60 pytest` does nothing that `pytest` does not do."""
    wrapper = use.model.wrapper
    return wrapper is not None and wrapper.trusted and not wrapper.feeds and bool(use.payload)


def _every_goal(use: Use) -> Prefix:
    """`mvn clean install`, wherever its options are."""
    further = use.also if use.names[1:] else []
    return (*use.names, *(other[-1] for other in further))


def _covering_also(names: Prefix, rules: CommandRules, *, whole: bool) -> Prefix | None:
    found = covering(rules.allow, names)
    return None if whole and found != names else found


def _closest(by_words: Prefix | None, by_options: Prefix | None) -> Prefix | None:
    """`sed -i` is a closer match for `sed -i.bak` than `sed` is."""
    if by_words is None or by_options is None:
        return by_words or by_options
    return max(by_words, by_options, key=len)


def _not_named(problems: list[str], use: Use, rule: Prefix, where: CommandPlace) -> list[str]:
    """A rule that names an option that changes files covers it: `prettier --write`. The files must be ordinary ones."""
    changes = [effect for effect in use.effects if effect[1] == "change"]
    named = spread(rule)
    meant = [option_problem(*effect) for effect in changes if effect[0] in named]
    to_files = [option_writes(*option) for option in use.seen if option[0] in named]  # `sort -o x`
    problems = [problem for problem in problems if problem not in to_files]
    only_options = use.names[: len(rule)] == tuple(word for word in rule if not word.startswith("-"))
    if use.names[0] in _FIND or not only_options or not any(one in meant for one in problems):
        return problems
    written = [problem for word in use.reads for problem in write_problem(word, where, folder=use.confined)]
    use.writes += [word for word in use.reads if word not in use.writes]
    return [problem for problem in problems if problem not in meant] + written


def _named(names: Prefix, rule: Prefix) -> int:
    """How many of the names the rule contains: `git remote -v` contains two of `git remote show`."""
    rest = iter(rule)
    return sum(1 for _ in takewhile(lambda name: name in rest, names))


def _names_otherwise(use: Use, rule: Prefix) -> bool:
    return any(_named(names, rule) == len(names) for names in _other_names(use))


def _must_be_named(use: Use, rule: Prefix) -> bool:
    """Whether a rule for less than the full name is not enough: it covers reading, and this does more. `python -m x`
    runs whatever file is called x.
    """
    count = _named(use.names, rule)
    named = use.models[min(max(count, 1), len(use.models)) - 1]
    if use.by_name:
        return True
    if use.models[0].kind == "interpreter" and named.effect != "run" and count <= _MODULE:
        return use.names[-1] not in ("--test", "--check")  # options of node itself
    return use.model.effect != "read" and named.effect == "read"


def _wrapped(
    stage: Stage, use: Use, rules: CommandRules, rule: Prefix, where: CommandPlace, depth: int
) -> CommandVerdict:
    """Both the wrapper and what it runs must be allowed."""
    if depth >= MAX_DEPTH:
        return CommandVerdict(
            decision="ask",
            by="limit",
            why=f"Commands are nested more than {MAX_DEPTH} wrappers deep.",
            stage=stage,
        )
    if why := _not_wrapped(use):
        return CommandVerdict(decision="ask", by=f"model {use.names[0]}", why=_sentence(use.names[0], why), stage=stage)
    wrapper = use.model.wrapper
    fed = wrapper is not None and wrapper.feeds
    known = replace(rules, allow=(*rules.allow, rule[use.payload_at :])) if names_payload(use, rule) else rules
    inner = judge_stage(Stage(words=use.payload, text=stage.text), known, _fed_by(use, where), depth + 1, fed=fed)
    if inner.decision != "allow":
        return CommandVerdict(decision="ask", by=inner.by, why=inner.why, stage=stage)
    words, names = stage.words[: use.payload_at] + inner.stage.words, inner.stage.names
    if fed and shows_content(program(use.payload[0].text)):
        if why := unsifted(use):
            return CommandVerdict(
                decision="ask", by=f"model {use.names[0]}", why=_sentence(use.names[0], why), stage=stage
            )
        words, names = sifted(use, words, names=where.harmless_names)
    ready = replace(inner.stage, words=words, env=stage.env + inner.stage.env, redirects=stage.redirects, names=names)
    why = f"{inner.why} `{use.names[0]}` only {use.model.does}."
    return CommandVerdict(
        decision="allow",
        by=f"{_rule('allow', rule)}, {inner.by}",
        why=why,
        stage=ready,
        writes=inner.writes,
        sweeps=inner.sweeps,
        confined=inner.confined,
        rules=(rule, *inner.rules),
    )


def _not_wrapped(use: Use) -> str | None:
    name = use.payload[0].text
    if name == "cd":
        return "a `cd` inside it may move the commands that follow"
    if (use.option("-I", "-i", "--replace") or "{}") in name:
        return "a word from its input may become the program's name"
    return None


def _finding(stage: Stage, clause: Clause, rules: CommandRules, where: CommandPlace, depth: int) -> CommandVerdict:
    """Both find and the program that gets its results must be allowed."""
    outer = judge_stage(replace(stage, words=clause.without), rules, where, depth)
    if outer.decision != "allow":
        return replace(outer, stage=stage)
    if why := payload_problem(clause, where.cwd, where.roots):
        return CommandVerdict(decision="ask", by="model find", why=_sentence("find", why), stage=stage)
    inner = judge_stage(Stage(words=clause.payload, text=stage.text), rules, where, MAX_DEPTH, found=clause.finds)
    if inner.decision != "allow":
        return CommandVerdict(decision="ask", by=inner.by, why=inner.why, stage=stage)
    ready = replace(stage, words=clause.running(inner.stage.words), env=stage.env + inner.stage.env)
    sweeps = inner.sweeps or clause.passes_over
    by, why = f"{outer.by}, {inner.by}", f"{outer.why} {inner.why}"
    return CommandVerdict(
        decision="allow",
        by=by,
        why=why,
        stage=ready,
        sweeps=sweeps,
        confined=inner.confined,
        rules=outer.rules + inner.rules,
    )


def _fed_by(use: Use, where: CommandPlace) -> CommandPlace:
    """Names from a file, or inserted into the middle of a word, are not those of the pipe."""
    marker = use.option("-I", "-i", "--replace")
    mark = marker or "{}"
    spliced = any(mark in word.text and word.text != mark for word in use.payload)
    whole = use.option("-d", "--delimiter") in (None, "\n", "\\n", "\\0")  # part of a name is another name
    from_pipe = whole and use.option("-a", "--arg-file") is None and not spliced
    return replace(
        where,
        harmless_names=where.harmless_names and from_pipe,
        names_inside=where.names_inside and from_pipe,
        at_the_end=marker is None,
    )


def _undescribed(use: Use, name: str, stage: Stage, rules: CommandRules) -> Use | None:
    """A sub-command without a model, of a program with one. In git it may be an alias; some programs run others."""
    texts = (name, *(word.text for word in stage.words[1:]))
    plain = all(one.kind == "program" and one.wrapper is None for one in use.models) and name != "git"
    plain |= bool(PYTHON.fullmatch(name)) and use.names[1:2] == ("-m",)
    rule = covering(rules.allow, texts) or ()
    named = len(rule) >= len(use.names) and use.at == len(use.names) - 1
    return use if plain and named and RUNS_OTHERS.isdisjoint(use.names) else None


def _unmodelled(
    stage: Stage,
    name: str,
    rules: CommandRules,
    problems: list[str],
    where: CommandPlace,
    *,
    fed: bool,
    use: Use | None = None,
) -> CommandVerdict:
    """No model: the words of the rule, followed only by plain operands and options."""
    texts = (name, *(word.text for word in stage.words[1:]))
    if (ask := covering(rules.ask, texts)) is not None:
        return CommandVerdict(
            decision="ask", by=_rule("ask", ask), why="One of your rules requires approval for this.", stage=stage
        )
    rule = texts if texts in rules.exact else covering(rules.allow, texts)
    if rule is None:
        return CommandVerdict(decision="ask", by="no rule", why=f"No rule allows `{name}`.", stage=stage)
    problems += [f"it reads {word.text}, which may hold secrets" for word in stage.words[1:] if secret(word, where.cwd)]
    problems += unknown_words(stage.words, len(rule), described=use is not None)
    problems += leading_out(stage.words, use, rule, where.cwd, where.roots)
    if fed or any(not word.literal for word in stage.words):
        problems.append("the program is not known, so rules cover only literal words")
    if problems:
        return CommandVerdict(decision="ask", by="no model", why=_sentence(name, problems[0]), stage=stage)
    ready = stage if use is None else _hardened(stage, use)
    why = "A rule allows these words."
    return CommandVerdict(decision="allow", by=_rule("allow", rule), why=why, stage=ready, rules=(rule,))


def _outside_the_model(stage: Stage, where: CommandPlace, *, tests: bool) -> list[str]:
    problems: list[str] = []
    if not _PROGRAM.fullmatch(stage.words[0].text):  # no character in it expands
        problems.append("the program's name is not plain")
    problems += [
        f"the variable `{name}` can change what programs do"
        for name, value in stage.env
        if not harmless(name, value, tests=tests)
    ]
    if any(_LOOKS_LIKE_OPTION.match(word.text) for word in stage.words):
        problems.append("a word begins with a character that looks like the dash of an option")
    problems += [why for redirect in stage.redirects if (why := redirect_problem(redirect, where))]
    return problems


def _other_script(stage: Stage, use: Use | None, where: CommandPlace) -> list[str]:
    """A rule for `./ci.sh` or `python report.py` means the file in the workspace folder, not one of the same name in
    the folder that a `cd` leads to.
    """
    if where.cwd in where.roots:
        return []
    kinds = () if use is None else (use.models[0].kind, use.model.kind)
    runs_files = "interpreter" in kinds or "shell" in kinds[1:]
    words = [stage.words[0].text, *(word.text for word in stage.words[1:2] if runs_files)]
    found = next((text for at, text in enumerate(words) if _is_relative_file(text, program=at == 0)), None)
    return [f"`{found}` here is not the file of that name in the workspace folder"] if found else []


def _is_relative_file(text: str, *, program: bool) -> bool:
    named = "/" in text or (not program and FILE_ENDING.search(text) is not None)
    return named and not text.startswith(("/", "-", "~"))


def _kind_problems(use: Use, stage: Stage, rules: CommandRules) -> list[str]:
    about: ProgramModel = use.model
    texts = [word.text for word in stage.words]
    if names_payload(use, covering(rules.allow, texts)):
        return []
    if about.kind == "shell" and texts[1:] != ["--version"]:
        return ["it runs shell commands"]
    if about.kind == "interpreter" and len(texts) == 1:
        return ["it runs commands from its input"]
    if about.wrapper is not None and about.wrapper.contained:
        return []
    if about.wrapper is not None and not about.wrapper.trusted and texts[1:] not in ASKS_FOR_VERSION:
        return [f"it {about.does or 'runs another program'}"]
    if about.wrapper is not None and about.wrapper.assignments:
        return [
            f"the variable `{word.text}` can change what programs do"
            for word in use.operands
            if not word.literal or not harmless(*_split(word.text))
        ]
    return []


def _split(text: str) -> tuple[str, str]:
    name, _, value = text.partition("=")
    return name, value


def _hardened(stage: Stage, use: Use) -> Stage:
    """The words and variables that run: settings that could start programs are overridden."""
    before = [word for one in use.models for word in one.before]
    if use.model.effect == "network":
        before = [_NETWORK_GIT.get(word, word) for word in before]
    after = [word for one in use.models for word in one.after]
    is_git = use.names[0] == "git"
    words = with_limited_objects(use, stage.words) if is_git else guarded(use, without_more_options(use, stage.words))
    ready = (words[0], *map(Word, before), *words[1 : use.at + 1], *map(Word, after), *words[use.at + 1 :])
    env = dict(pair for one in use.models for pair in one.env.items())
    if use.model.effect == "network":
        env.pop("GIT_ALLOW_PROTOCOL", None)
    known = replace(stage, words=ready, env=stage.env + tuple(env.items()))
    if not is_git:
        return known
    return replace(known, hides=hides(use), listing=listing(use, stage.words), git=_git_work(use))


def _git_work(use: Use) -> GitWork:
    if use.model.effect == "read":
        return "changes" if use.makes else "looks"
    return "changes" if use.model.effect == "write" else ""


def _rule(decision: str, rule: Prefix) -> str:
    return f"{decision} rule `{' '.join(rule)}`"


def _sentence(name: str, problem: str) -> str:
    return f"`{name}`: {problem}."
