"""Rules that say in full what runs: every word of a command, a script, a line of code, a file to check.

Such a rule covers what a model alone would ask about, but never text for a shell. Knows words and rules; the files and
variables around a command are judged elsewhere.
"""

from collections.abc import Iterator

from msgspec.structs import replace

from assent.lazy_pattern import lazy_pattern
from assent.plan import Stage, Word
from assent.policy.shell.command_rules import CommandRules, Prefix, covering
from assent.policy.shell.options import Use, examine
from assent.policy.shell.paths import secret
from assent.policy.shell.program_models import family_of
from assent.policy.shell.python_code import only_computes
from assent.policy.shell.undescribed import plain_flag, plain_letters
from assent.policy.shell.unwrap import FILE_SHELLS

_JAVASCRIPT = lazy_pattern(r".+\.[cm]?js")
PYTHON = lazy_pattern(r"python[\d.]*")
CODE_FROM_INPUT = frozenset(("-", "-c", "-e", "/dev/stdin"))
ASKS_FOR_VERSION = (["--version"], ["-V"], ["-v"], ["--help"], ["-h"])
_SCRIPT = lazy_pattern(r"(?:\./)?[A-Za-z0-9_](?:(?!\.\.)[\w./-])*")
FILE_ENDING = lazy_pattern(r"\.\w+$")


def names_all(rules: CommandRules, name: str, use: Use, stage: Stage) -> bool:
    """A rule that names every word of the command allows it even if the model would ask, but never shell text."""
    texts = (name, *(word.text for word in stage.words[1:]))
    if stage.env:
        return False
    if use.model.wrapper is not None and not _is_more_than_a_wrapper(use, texts, rules):
        return _names_remote(use, texts, rules) and all(word.literal for word in stage.words)
    if covering(rules.ask, texts, use.names) is not None or texts[-1] in CODE_FROM_INPUT:
        return False
    named = any(_names(rules, use, spelling) for spelling in _spellings(use, texts))
    return named and all(word.literal for word in stage.words)


def with_exact_wrapper(rules: CommandRules, name: str, use: Use, stage: Stage) -> CommandRules:
    """What is granted as exactly `npx tsc --noEmit` is judged as if a rule named all of it."""
    texts = (name, *(word.text for word in stage.words[1:]))
    exact = texts in rules.exact and _says_what_runs(use)
    return replace(rules, allow=(*rules.allow, texts)) if exact else rules


def names_payload(use: Use, rule: Prefix | None) -> bool:
    """Whether the rule for a wrapper also says what it may run, as in `npx tsc`."""
    return _says_what_runs(use) and rule is not None and len(rule) > use.payload_at


def _says_what_runs(use: Use) -> bool:
    return use.model.wrapper is not None and use.model.wrapper.named and bool(use.payload)


def _names(rules: CommandRules, use: Use, texts: tuple[str, ...]) -> bool:
    # A rule of one word names a program, not a command.
    return (
        texts in rules.exact
        or (len(texts) > 1 and texts in rules.allow)
        or _continues_script(use, texts, rules)
        or _named_code(texts, rules)
        or _named_program_file(use, texts, rules)
        or (texts[1:] in _ONLY_TELLS and texts[:1] in rules.allow and _knows_help(use))
    )


def naming(rules: CommandRules, name: str, use: Use, stage: Stage) -> Prefix:
    """The rule that does."""
    texts = (name, *(word.text for word in stage.words[1:]))
    return covering((*rules.exact, *rules.allow), texts, *_spellings(use, texts)) or texts


def _names_remote(use: Use, texts: tuple[str, ...], rules: CommandRules) -> bool:
    """`ssh HOST uptime` under exactly this rule: plain words, which mean the same to any shell. What would run its
    input asks.
    """
    if use.names != ("ssh",) or use.seen or texts not in rules.allow or not all(map(_PLAIN_WORD.fullmatch, texts[1:])):
        return False
    remote = examine(texts[_REMOTE], tuple(map(Word, texts[_REMOTE:]))) if len(texts) > _REMOTE else None
    return remote is not None and remote.models[0].kind == "program" and not remote.payload


def _knows_help(use: Use) -> bool:
    """Programs of the system: they read no file of the project before they tell about themselves."""
    plain = use.models[0].kind == "program" and use.models[0].wrapper is None
    return plain and family_of(use.names[0]) in _OF_THE_SYSTEM


_OF_THE_SYSTEM = frozenset(("danger", "files", "system", "text", "writing"))
_ONLY_TELLS = (("--version",), ("--help",))
_REMOTE = 2
_PLAIN_WORD = lazy_pattern(r"[A-Za-z0-9_@%+,./:=][\w@%+,./:=-]*|-{1,2}[A-Za-z0-9][\w=.,/:-]*")

# What a script like `manage.py` is asked for without changing anything but its reports.
_ASKING = frozenset(
    ("test", "check", "lint", "status", "list", "help", "version", "about", "showmigrations", "route:list")
)


def _named_code(texts: tuple[str, ...], rules: CommandRules) -> bool:
    """`python3 -c CODE` under a rule that says `-c`, if the code only computes and prints."""
    match texts:
        case (name, "-c", code) if PYTHON.fullmatch(name):
            return (name, "-c") in rules.allow and only_computes(code)
        case _:
            return False


def _named_program_file(use: Use, texts: tuple[str, ...], rules: CommandRules) -> bool:
    """`node src/index.js` under `node`, `bash -n ci.sh` under `bash -n`: a plainly named file of the workspace."""
    match texts:
        case ("node", file, *flags):
            plain = _JAVASCRIPT.fullmatch(file) is not None and _is_script(file) and all(map(plain_flag, flags))
            return ("node",) in rules.allow and plain
        case (shell, "-n", *files):
            named = (shell, "-n") in rules.allow and use.model.kind == "shell" and bool(files)
            return named and all(map(_is_script, files))
        case _:
            return False


def _is_script(text: str) -> bool:
    return _SCRIPT.fullmatch(text) is not None and not secret(Word(text), "/")


# Options of the interpreter itself, whatever it runs.
RUNTIME = lazy_pattern(
    r"-u|-B|-Wignore|--watch|--trace-warnings|--trace-deprecation|--enable-source-maps|--no-warnings|--no-deprecation"
    r"|--max-old-space-size=\d+|--stack-trace-limit=\d+|-Xm[xs]\d+[kmgKMG]|-Xss\d+[kmgKMG]|-ea|-server"
)


def _spellings(use: Use, texts: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    """To a rule, `node --watch ./server.js` is `node server.js`, and the reverse."""
    at = 1
    while use.models[0].kind == "interpreter" and at < len(texts) and RUNTIME.fullmatch(texts[at]):
        at += 1
    yield (texts[0], *texts[at:])
    if use.models[0].kind == "interpreter" and at < len(texts) and _is_script_file(texts[at]):
        script = texts[at].removeprefix("./")
        yield (texts[0], script if script != texts[at] else f"./{script}", *texts[at + 1 :])


def _is_script_file(text: str) -> bool:
    """By its ending: `deno run` has no file named `run`."""
    return _SCRIPT.fullmatch(text) is not None and FILE_ENDING.search(text) is not None


def _is_more_than_a_wrapper(use: Use, texts: tuple[str, ...], rules: CommandRules) -> bool:
    """Whether the rule says everything it runs, or it runs nothing."""
    asks = list(texts[1:]) in ASKS_FOR_VERSION or (texts in rules.exact and is_script_call(use, texts))
    named = _named_program_file(use, texts, rules) or _continues_script(use, texts, rules)
    return asks or named or _runs_script(use, texts)


def _continues_script(use: Use, texts: tuple[str, ...], rules: CommandRules) -> bool:
    """`python manage.py test` covers plain words and flags after it, `python report.py` file names and flags: a bare
    word may decide what the script does. `bash ci.sh` covers flags.
    """
    rule = (covering(rules.allow, texts) or ()) if _may_continue(use, texts) else ()
    if len(rule) < 2 or not (FILE_ENDING.search(rule[1]) or rule[1] == "artisan"):
        return False
    further = (text for text in texts[len(rule) :] if not plain_flag(text) and not plain_letters(text))
    words = [text for text in further if not text.isdigit()]
    words = words[1:] if words and _asks(words[0], texts) else words
    if not all(map(_SCRIPT.fullmatch, (*rule[1:], *words))) or any(secret(Word(text), "/") for text in words):
        return False
    if use.model.kind == "shell":
        return not words
    return len(rule) > 2 or all(map(FILE_ENDING.search, words))


def _asks(word: str, texts: tuple[str, ...]) -> bool:
    """Without `--check`, `makemigrations` writes files."""
    return word in _ASKING or (word == "makemigrations" and not {"--check", "--dry-run"}.isdisjoint(texts))


def _may_continue(use: Use, texts: tuple[str, ...]) -> bool:
    return use.models[0].kind == "interpreter" or (use.model.kind == "shell" and _runs_script(use, texts[:2]))


def is_script_call(use: Use, texts: tuple[str, ...]) -> bool:
    """`bash scripts/test.sh --fast`: what comes after the script is for the script."""
    return len(texts) > 1 and _runs_script(use, texts[:2])


def _runs_script(use: Use, texts: tuple[str, ...]) -> bool:
    """`bash scripts/test.sh`: a file of the folder, without options."""
    return use.model.kind == "shell" and use.names[0] in FILE_SHELLS and all(map(_SCRIPT.fullmatch, texts[1:]))
