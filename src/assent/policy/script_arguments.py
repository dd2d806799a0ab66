"""What the words after a project script become: `npm run lint x.js` with the script `node` runs x.js.

A rule for a script covers what the project says, and package managers append further words to that text. They may be
data for a checker; they must not be a program or the name of another task. Reads the scripts of `package.json` in the
workspace; starts nothing.
"""

import os
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import dropwhile
from typing import Literal

import msgspec
from msgspec import Struct

from assent.files.regular_file import NotPlain, read_plain
from assent.lazy_pattern import lazy_pattern
from assent.plan import Plan, Stage, Word, simple_commands
from assent.policy.cwd_tracking import with_folders
from assent.policy.shell.checks import run_check
from assent.policy.shell.command_rules import program
from assent.policy.shell.exact_rules import FILE_ENDING, RUNTIME
from assent.policy.shell.lexer import Refused
from assent.policy.shell.options import Use, examine
from assent.policy.shell.parsed import parse
from assent.policy.shell.paths import inside
from assent.policy.shell.synonyms import same_command
from assent.policy.shell.undescribed import RUNS_OTHERS

# What a word at the end of a script is: data, more than that (a program, a task, a file to write), or unknown.
_Meaning = Literal["data", "more", "unclear"]
_Scripts = Mapping[str, str]

_MARK = Word("assent-argument")
_MAX_DEPTH = 4
_SEPARATORS = (";", "&", "|")
_ASSIGNMENT = lazy_pattern(r"\w+=")
_RUN = ("run", "run-script")
_OWN_SCRIPTS = ("test", "start", "build", "lint")
_FOLDER = ("-C", "--prefix", "--cwd", "--dir")
_OTHER_PACKAGE = ("-w", "--workspace", "--workspaces", "-ws", "-r", "--recursive", "--filter", "-F")
_OTHER_FORMATS = ("package.json5", "package.yaml")
_MANAGERS = ("npm", "pnpm", "yarn", "bun")
_RUNS_PROGRAMS = _MANAGERS[1:]  # for these, a name that is not a script is an installed program
_MAKES = ("make", "gmake", "ninja")
_TASK_RUNNERS = frozenset(
    "make gmake ninja rake just task turbo nx lerna moon poe hatch pdm rye pixi invoke inv doit mise grunt gulp".split()  # noqa: SIM905
)
# Programs without a model: those that check or test the files they are given, and those that run them.
_CHECKERS = frozenset(
    """
    ava astro craco cypress dprint jasmine karma next ng oxlint oxfmt playwright prettierx react-scripts rome
    semistandard standard svelte-check tap tape textlint ts-standard tsd tslint uvu vue-cli-service vue-tsc
    web-test-runner wtr xo echo exit true markdownlint markdownlint-cli2 cspell knip htmlhint remark alex
    """.split()  # noqa: SIM905
)
_TAKE_TEXT = (("vitest",), ("cargo", "test"), ("cargo", "run"), ("go", "test"), ("golangci-lint", "run"))
_INSTALLED = lazy_pattern(r"^(?:\.{1,2}/)*node_modules/\.bin/")
_RUNNERS = frozenset(
    """
    babel-node bunx c8 coffee dart electron env-cmd esno esr jiti node-dev npm-run-all nyc pnpx run-p run-s swc-node
    ts-node-dev ts-node-esm tsimp tsm tsnd vite-node wireit zx
    """.split()  # noqa: SIM905
)
_PROGRAM_ENDINGS = (
    *(".js", ".cjs", ".mjs", ".jsx", ".ts", ".cts", ".mts", ".tsx", ".py", ".sh", ".bash", ".zsh", ".rb", ".pl"),
    *(".php", ".lua", ".r", ".ps1", ".fish", ".tcl", ".exs", ".groovy", ".jar", ".wasm"),
)


class _PackageFile(Struct):
    scripts: dict[str, str] = {}


class _Package(Struct, frozen=True):
    folder: str
    scripts: _Scripts


class _Call(Struct, frozen=True):
    """One call of a script: its name, the words passed on, and the folder, if that is known."""

    runner: str
    script: str
    passed: tuple[str, ...]
    folder: str | None


def program_passed_on(plan: Plan, named: Collection[tuple[str, ...]]) -> str | None:
    """Why a script would run something that no rule covers. `named`: the words of allow rules."""
    for stage, folders in with_folders(plan):
        if why := next((why for cwd in folders if (why := _in_stage(stage, cwd, plan.roots, named))), None):
            return why
    return None


def _in_stage(stage: Stage, cwd: str, roots: tuple[str, ...], named: Collection[tuple[str, ...]]) -> str | None:
    name = program(stage.words[0].text)
    known = {word for rule in named if rule[:1] == (name,) for word in rule}
    texts = [word.text for word in stage.words[1:] if word.text not in known and not word.text.startswith("-")]
    if name in _TASK_RUNNERS:
        return _among(texts, cwd, values_only=name in _MAKES)
    use = examine(name, stage.words)
    if use is None:
        return None
    if use.payload:
        return _in_stage(Stage(words=use.payload), cwd, roots, named)
    call = _call(use)
    return None if call is None else _why(call, [word for word in call.passed if word in texts], cwd, roots)


def _among(texts: Sequence[str], cwd: str, *, values_only: bool) -> str | None:
    """A task may run what it gets: `make test TEST=evil.py`, `invoke test evil.py`. Targets of make are often files."""
    values = [text.partition("=")[2] for text in texts if "=" in text]
    given = values if values_only else [*texts, *values]
    found = next((one for one in given if _is_program(os.path.join(cwd, one))), None)
    return None if found is None else f"`{found}` is a program, which the task may run"


def _call(use: Use) -> _Call | None:
    """The script that a package manager is told to run."""
    runner, *further = use.names
    if runner not in _MANAGERS or not further:
        return None
    names = (further[0], *(way[0] for way in same_command(runner, (further[0],))))
    script = further[0] if use.unknown_sub else next((name for name in names if name in _OWN_SCRIPTS), None)
    texts = [word.text for word in use.operands]
    folder = (use.option(*_FOLDER) or "") if use.option(*_OTHER_PACKAGE) is None else None
    if script is not None and runner != "bun":
        return _Call(runner, script, tuple(texts), folder)
    if further[0] == "workspace":
        return _Call(runner, texts[1], tuple(texts[2:]), None) if len(texts) > 1 else None
    return _Call(runner, texts[0], tuple(texts[1:]), folder) if texts and not {*names}.isdisjoint(_RUN) else None


def _why(call: _Call, passed: list[str], cwd: str, roots: tuple[str, ...]) -> str | None:
    here = None if call.folder is None else os.path.join(cwd, call.folder)
    found = None if here is None else _package(here, roots)
    if call.runner == "bun" and here and _is_file(call.script, here, found):
        return f"`{call.script}` is not a script of the project but a file, which would run"
    if not passed:
        return None
    meaning = "unclear" if found is None else _of_script(call.script, found.scripts, call.runner)
    if meaning == "more":
        return f"the script `{call.script}` would run or change `{passed[0]}`"
    places = [] if here is None else [here, *([found.folder] if found else [])]
    unclear = [one for one in passed if _may_be_program(one, places)] if meaning == "unclear" else []
    return f"the script `{call.script}` may run `{unclear[0]}`, which is a program" if unclear else None


def _is_file(name: str, folder: str, found: _Package | None) -> bool:
    return (found is None or name not in found.scripts) and os.path.isfile(os.path.join(folder, name))


def _package(cwd: str, roots: tuple[str, ...]) -> _Package | None:
    """The package that contains the folder; None if it cannot be read."""
    for folder in _with_above(cwd, roots):
        if any(os.path.lexists(os.path.join(folder, name)) for name in _OTHER_FORMATS):
            return None
        try:
            file = msgspec.json.decode(read_plain(os.path.join(folder, "package.json")), type=_PackageFile)
        except FileNotFoundError:
            continue
        except (NotPlain, msgspec.DecodeError, UnicodeDecodeError):
            return None
        return _Package(folder, file.scripts)
    return None


def _with_above(cwd: str, roots: tuple[str, ...]) -> Iterator[str]:
    folder = os.path.normpath(cwd)
    while inside(folder, roots):
        yield folder
        folder = os.path.dirname(folder)


def _of_script(name: str, scripts: _Scripts, runner: str, depth: int = 0) -> _Meaning:
    """What a word after the script becomes."""
    text = scripts.get(name) or (name if runner in _RUNS_PROGRAMS else None)
    if text is None or depth > _MAX_DEPTH:
        return "unclear"
    if text.rstrip().endswith(_SEPARATORS):
        return "more"
    steps = parse(f"{text} {_MARK.text}").steps
    if isinstance(steps, Refused):
        return "unclear"
    stages = [stage for stage in simple_commands(steps) if _MARK in stage.words or _is_redirected(stage)]
    if not stages:
        return "data"  # it is part of a comment
    return "more" if _is_redirected(stages[0]) else _of_word(stages[0].words, scripts, depth)


def _is_redirected(stage: Stage) -> bool:
    return any(one.target == _MARK for one in stage.redirects)


def _of_word(words: tuple[Word, ...], scripts: _Scripts, depth: int) -> _Meaning:
    """What the mark is in a command, after variables such as those of `cross-env`."""
    words = tuple(dropwhile(lambda word: _ASSIGNMENT.match(word.text), words))
    name = _INSTALLED.sub("", program(words[0].text))
    if words[0] == _MARK or name in _RUNNERS:
        return "more"
    words = (Word(name), *(word for word in words[1:] if not RUNTIME.fullmatch(word.text)))
    use = examine(name, words)
    if use is None:
        return "data" if name in _CHECKERS or "/" in name else "unclear"
    if use.payload:
        return _of_word(use.payload, scripts, depth) if _MARK in use.payload else "data"
    if (call := _call(use)) is not None and call.passed:
        return _of_script(call.script, scripts, call.runner, depth + 1)
    return _of_operand(use, words)


def _of_operand(use: Use, words: tuple[Word, ...]) -> _Meaning:
    kinds = {use.models[0].kind, use.model.kind}
    if not kinds.isdisjoint(("interpreter", "shell")) and not _has_known_part(use):
        return "more" if _runs_next(use) else "data"
    if use.unknown_sub:
        return "unclear" if {*RUNS_OTHERS, _MARK.text}.isdisjoint(use.names) else "more"
    if _is_value(use, words):
        given = (*use.reads, *use.writes, *map(Word, use.runs))
        return "more" if _MARK in given or not _takes_files(use) else "unclear"
    run_check(use, words)
    named = any(_MARK.text in names for names in (use.names, *use.also))
    if named or use.model.wrapper is not None or _MARK in use.writes:
        return "more"
    return "data" if use.model.effect == "read" or _MARK in use.reads or _takes_text(use) else "more"


def _has_known_part(use: Use) -> bool:
    """A sub-command of an interpreter that says what runs: `node --test`, `python -m pytest`."""
    return len(use.names) > 1 and not use.unknown_sub and use.model.kind == "program"


def _takes_files(use: Use) -> bool:
    return use.model.operands.endswith(("read*", "runs*")) or _takes_text(use)


def _is_value(use: Use, words: tuple[Word, ...]) -> bool:
    """Whether the mark follows an option that takes a value, or is not known."""
    before = words[words.index(_MARK) - 1].text
    known = _MARK in use.operands and not any(problem.startswith("the option") for problem in use.problems)
    return before.startswith("-") and before != "--" and "=" not in before and not known


def _takes_text(use: Use) -> bool:
    """Test runners and programs of the project, which get words that are not files."""
    return use.names[:1] in _TAKE_TEXT or use.names[:2] in _TAKE_TEXT


def _runs_next(use: Use) -> bool:
    """Whether an interpreter has no program yet."""
    given = [*use.names[1:], *(word.text for word in use.operands), ""]
    unknown = any(problem.startswith("the option") for problem in use.problems)
    return unknown or not FILE_ENDING.search(given[0])


def _may_be_program(text: str, places: Sequence[str]) -> bool:
    """Whether it is a program in one of these folders; if none is known, by its name alone."""
    if not places:
        return text.lower().endswith(_PROGRAM_ENDINGS)
    return any(_is_program(os.path.join(place, text)) for place in places)


def _is_program(path: str) -> bool:
    return os.path.isfile(path) and (path.lower().endswith(_PROGRAM_ENDINGS) or os.access(path, os.X_OK))
