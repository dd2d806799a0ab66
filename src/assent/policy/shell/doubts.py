"""Why nobody can tell whether a deny or ask rule applies: names, texts and input that are known only at run time.

Says what is uncertain about one command; `denial` knows the rules and what follows from a doubt.
"""

import re
from collections.abc import Sequence
from itertools import pairwise
from posixpath import basename, normpath

from msgspec import Struct

from assent.lazy_pattern import lazy_pattern
from assent.plan import Part, Word
from assent.policy.shell.checks import run_check
from assent.policy.shell.command_rules import loose
from assent.policy.shell.command_survey import Found
from assent.policy.shell.command_survey import word as source_word
from assent.policy.shell.computed_commands import runs_computed
from assent.policy.shell.consoles import reads_unknown
from assent.policy.shell.options import Use, examine
from assent.policy.shell.paths import protected
from assent.policy.shell.synonyms import same_program, synonyms
from assent.policy.shell.unwrap import FILE_SHELLS

_CODE = frozenset("awk gawk mawk nawk sed vi vim ex ed emacs gdb".split())  # noqa: SIM905
_DATABASES = ("sqlite3", "sqlite")
_NAMING = frozenset(("alias", "hash", "declare", "typeset", "export", "readonly", "local"))
_COPYING = frozenset(("cp", "ln", "mv", "install", "link"))
_PROGRAM_VARIABLE = lazy_pattern(
    r"(?:\w*_)?(?:EDITOR|PAGER|COMMAND|CMD|SHELL|BROWSER|SSH|ASKPASS|VISUAL|WRAPPER|RSH|RUNNER)|LESS(?:OPEN|CLOSE)"
)
_READ_FILES = FILE_SHELLS.union(("source", "."))
_BUILD_FILES = ("makefile", "gnumakefile", "justfile", ".justfile", "build.ninja")
_MAKE_SETTING = lazy_pattern(r"(?<!\S)(?:--eval\b|-E|(?:GNU)?MAKEFLAGS=|MAKEFILES=|\.DEFAULT_GOAL\b)")
_STARTS_PROGRAMS = lazy_pattern(
    r"subprocess|popen|system|exec|spawn|\bpty\b|ctypes|child_process|__import__|importlib|getattr|eval|fork|`|%x|\bqx\b"
    r"|passthru|(?<![\w/-])\.(?:sh|sy)\w*",
    re.IGNORECASE,
)
_COMPUTES = lazy_pattern(
    r"['\")]\s*[+.]+\s*['\"\w(]|[\w)]\s*\+\s*['\"]|chr|join|decode|fromChar|format|replace|reverse|\\[xu0-7]|\bf['\"]|['\"]\s*%"
    r"|\[::|__import__|importlib|getattr|\beval|\$[\w{(&]|argv|environ|pack\(|['\"]\s+['\"]|<\w*>|\binput\s*\(|stdin|\.read|\bopen\s*\("
    r"|\b(?:system|exec)[\s(]*`|['\"](?:[\w/]*/)?(?:ba|da|z|k)?sh['\"]\s*(?:[\])]|,\s*['\"]-[il]*s)",
    re.IGNORECASE,
)
_BASH_TABLES = ("BASH_CMDS", "BASH_ALIASES")
_LATER = frozenset(("at", "batch"))
_FILE_OPTION = lazy_pattern(r"^(?:-[a-zA-Z]*f|--(?:make)?file=?)")
_CODE_OPTION = lazy_pattern(r"-[a-zA-Z]*[ceErx]|--(?:eval|expression|command|cmd|execute|exec|code|print|run)")
_GLUED = lazy_pattern(r"(-[a-zA-Z]*?[ceEr](?=[\"$`])|--[\w-]+(?==))=?")
_SCRIPTED = ("sed", "gsed", "awk", "gawk", "mawk", "nawk")
_SCRIPT_OPTION = lazy_pattern(r"-[a-zA-Z]*e|--expression")
_BUILDS = ("make", "gmake", "remake", "just", "ninja")
_FROM_INPUT = lazy_pattern(r"-|/dev/stdin|(?:/dev/fd|/proc/(?:self|\d+)/fd)/\d+|<\(.*", re.DOTALL)
_RUNTIME_FLAG = lazy_pattern(r"-[uBsSIEOiqbdwvW]+|--[a-z-]+(?:=[\w-]+)?")
_NAMED_BEHIND = lazy_pattern(
    r"\"[^\"]*/([\w.+-]+)\"|\"[^\"]*\"/([\w.+-]+)|\$\{?(?:HOME|PWD)\b\}?/(?:[\w.+-]+/)*([\w.+-]+)"
)
_ESCAPED = lazy_pattern(r"\\[ntr]")  # for printf they are blanks
_QUOTING = lazy_pattern(r"[\"'\\]")
_EXPANDS = lazy_pattern(r"\$(?!(?:HOME|PWD)\b)[\w{(]|`")
_TOKEN = lazy_pattern(r"[\w.+-]+")
_PATH = lazy_pattern(r"[\w.+/-]+")
_IMPORTED = lazy_pattern(r"\b(?:import|from)\s+(\w+)\.")
_SIGN = lazy_pattern(r"^[+-](?![+-])")
_MAX_NAMED_LENGTH = 20_000  # longer texts are not surveyed in full, which is a doubt by itself

Words = tuple[Word, ...]


def names_program(text: str, programs: frozenset[str]) -> bool:
    """In a recipe of make, a program may follow a sign: `-rm x`."""
    plain = _ESCAPED.sub(" ", text[:_MAX_NAMED_LENGTH])
    tokens: list[str] = [*_TOKEN.findall(f"{plain} {unquoted(plain)}"), *_IMPORTED.findall(plain)]
    return any(same_program(one) in programs for token in tokens for one in (token, _SIGN.sub("", token)))


def unquoted(text: str) -> str:
    """What a shell makes of it: `r''m` and `r\\m` are rm."""
    return _QUOTING.sub("", text)


def _adds_options(text: str, programs: frozenset[str]) -> bool:
    """`TF_CLI_ARGS=-auto-approve terraform apply`: the words of the command do not tell everything."""
    patterns = [pattern for one in programs if (pattern := synonyms(one).variables)]
    return any(re.search(rf"(?<![\w.-])(?:{pattern})(?![\w-])", text) for pattern in patterns)


def certain_name(word: Word) -> str:
    """The program's name, as far as it is certain: `"$ROOT/bin/tool"` is tool."""
    if not word.literal and (behind := _NAMED_BEHIND.fullmatch(word.text)) is not None:
        return next(group for group in behind.groups() if group)
    return word.text


def feeds(use: Use | None) -> bool:
    return use is not None and use.model.wrapper is not None and use.model.wrapper.feeds


def why_unknown(command: Found, programs: frozenset[str]) -> str | None:
    """What is uncertain about a command, given the programs that rules name."""
    name = loose(command.words[0].text)
    return _unknown_name(command, name, programs) or _unknown_work(command, name, programs)


def _unknown_name(command: Found, name: str, programs: frozenset[str]) -> str | None:
    first = command.words[0]
    if command.evaluated:
        return "In it, bash evaluates a text that may contain a command"
    if not first.literal and _NAMED_BEHIND.fullmatch(first.text) is None:
        return "The name of a program is only known at run time"
    if first.literal and "{" in first.text and "," in first.text:
        return "The name of a program is only known at run time"
    if "git" in programs and ("GIT_CONFIG" in command.text or "--config-env" in command.text):
        return "It changes the settings of git"
    if _adds_options(" ".join((command.text, *(word.text for word in command.words))), programs):
        return "A variable may add options to a program"
    if "make" in programs and _MAKE_SETTING.search(command.text):
        return "It may choose other targets"
    if name == "env" and (why := names_in_variable([word.text for word in command.words[1:]], programs)):
        return why
    if _gives_name(name, command, programs):
        return "It gives a program another name or stores it in a variable"
    return None


def _unknown_work(command: Found, name: str, programs: frozenset[str]) -> str | None:
    if same_program(name) in programs and reads_unknown(command):
        return "It obeys an input or a file that is not known here"
    words = tuple(part for word in command.words for part in _apart(word))
    use = examine(name, words)
    if command.input and (why := _runs_input(name, use, command, programs)):
        return why
    if use is None:
        return None
    if name in _LATER:
        return "It schedules commands to run later"
    if commands_from_elsewhere(use, name, words):
        return "A program in it reads its commands from elsewhere"
    if _code_is_computed(use, name, words):
        return "The code of a program in it is only known at run time"
    if feeds(use) and any(_may_run(word) for word in use.payload):
        return "It reads commands from its input"
    runs = [*use.runs, *(value for _, value in use.seen if "command=" in value.lower())]  # `ssh -o ProxyCommand=…`
    if _code_runs_others(use, name, words, programs) or any(map(_EXPANDS.search, runs)):
        return "A program in it may run another one"
    return None


def _apart(word: Word) -> Words:
    """`--to-command="$X"` and `-e"$x"` as an option and its value."""
    if word.literal or (glued := _GLUED.match(word.text)) is None:
        return (word,)
    value = word.text[glued.end() :]
    return Word(glued[1]), Word(value, literal=False, parts=(Part("variable", value),))


def _code_is_computed(use: Use, name: str, words: Words) -> bool:
    """`perl -e "$x"`, `awk "{$x}"`: bash puts the code together."""
    if use.models[0].kind != "interpreter" and name not in (*_CODE, *_DATABASES, "expect"):
        return False
    values = [second for first, second in pairwise(words) if _CODE_OPTION.fullmatch(first.text)]
    code = values or (use.texts[:1] if name in _SCRIPTED else use.texts)
    return any(not word.literal and _EXPANDS.search(word.text) for word in code)


def _code_runs_others(use: Use, name: str, words: Words, programs: frozenset[str]) -> bool:
    scripts = synonyms(same_program(name)).same  # `php composer.phar` has another name, which is compared
    texts = [text for word in words[1:] if basename(text := word.text) not in scripts or not _PATH.fullmatch(text)]
    if any(runs_computed(name, text) for text in texts):
        return True
    if name in _DATABASES and any(map(_hides_program, texts)):
        return True
    code = use.models[0].kind == "interpreter" or name in _CODE or name in _BUILDS
    return code and any(names_program(text, programs) or _hides_program(text) for text in texts if not text.isalnum())


def commands_from_elsewhere(use: Use, name: str, words: Words) -> bool:
    """A shell without `-c` and without a plainly named file, or a build whose file is the input."""
    if name in _BUILDS:
        return any(_FROM_INPUT.fullmatch(_FILE_OPTION.sub("", word.text)) for word in words[1:])
    if name in _CODE:
        return _script_from_elsewhere(use, words)
    return use.model.kind == "shell" and name in (*FILE_SHELLS, "source", ".") and _reads_commands(use)


def _script_from_elsewhere(use: Use, words: Words) -> bool:
    """`sed -f - x`, `awk "$(cat x)"`."""
    files = [second.text for first, second in pairwise(words) if _FILE_OPTION.fullmatch(first.text)]
    files += [_FILE_OPTION.sub("", word.text) for word in words[1:] if _FILE_OPTION.match(word.text)]
    scripts = [second for first, second in pairwise(words) if _SCRIPT_OPTION.fullmatch(first.text)] or use.texts[:1]
    computed = any(not word.literal and word.text.lstrip('"')[:1] in "$`" for word in scripts)
    return computed or any(map(_FROM_INPUT.fullmatch, files))


def _hides_program(code: str) -> bool:
    """Whether code may start a program whose name it puts together: `popen('r' + 'm x')`."""
    return _STARTS_PROGRAMS.search(code) is not None and _COMPUTES.search(code) is not None


class Written(Struct, frozen=True):
    """Files that a command line writes. `telling`: something in it names a program that a rule covers."""

    files: frozenset[str]
    telling: bool


def written_files(commands: Sequence[Found], written: Sequence[str], programs: frozenset[str]) -> Written:
    copied = [word.text for one in commands if loose(one.words[0].text) == "tee" for word in one.words[1:]]
    files = frozenset(normpath(one) for one in (*(source_word(text).text for text in written), *copied))
    telling = any(names_program(f"{one.text} {one.input}", programs) for one in commands) if files else False
    return Written(files, telling)


def runs_written(command: Found, written: Written) -> str | None:
    """`echo 'rm x' > z.sh; sh z.sh`. A file for an interpreter counts if it may contain what a rule covers."""
    if not written.files:
        return None
    name = loose(command.words[0].text)
    use = examine(name, command.words)
    telling = written.telling and (name in _BUILDS or (use is not None and use.models[0].kind == "interpreter"))
    words = command.words if telling or name in _READ_FILES else command.words[:1]
    built = telling and name in _BUILDS and any(basename(one).lower() in _BUILD_FILES for one in written.files)
    if built or (written.telling and _obeys(use, written.files)):
        return "It runs a file that it has just written"
    given = command.input_file if written.telling and _may_obey_input(use, name) else ""
    texts = [*(word.text for word in words), given]
    if written.telling and name in _DATABASES:
        texts += [part for word in command.words for part in word.text.split()]  # `.read x.sql`
    if any(normpath(text) in written.files for text in texts if text):
        return "It runs a file that it has just written"
    return None


def _may_obey_input(use: Use | None, name: str) -> bool:
    return use is None or use.models[0].kind != "program" or name in _CODE or name in _DATABASES


def _obeys(use: Use | None, files: frozenset[str]) -> bool:
    """`… > .git/hooks/post-commit; git commit`, `… > package.json; npm run x`: a program that does more than read may
    run a file that tools run.
    """
    reads = use is not None and use.model.effect == "read" and not use.payload
    return not reads and any(protected(f"/{file.lstrip('/')}") for file in files)


def names_in_variable(assigned: Sequence[str], programs: frozenset[str]) -> str | None:
    """`EDITOR='rm x'; git commit`."""
    for one in assigned:
        name, _, value = one.partition("=")
        if "make" in programs and _MAKE_SETTING.match(one):
            return "It may choose other targets"
        if _adds_options(name, programs):
            return "A variable may add options to a program"
        if name.startswith(_BASH_TABLES):
            return "It gives a program another name or stores it in a variable"
        if _PROGRAM_VARIABLE.fullmatch(name) and (names_program(value, programs) or _EXPANDS.search(value)):
            return "It gives a program another name or stores it in a variable"
    return None


def _runs_input(name: str, use: Use | None, command: Found, programs: frozenset[str]) -> str | None:
    """`ed <<< '!rm x'`, `echo 'exec rm x' | tclsh`: a program that is not known to only read its input may run it."""
    if use is not None:
        run_check(use, command.words)
        if use.payload:  # its payload is looked at by itself
            return None
        if use.models[0].kind == "interpreter" and command.piped and gets_code(command.words):
            return "A program in it reads its commands from elsewhere"
        if use.models[0].kind == "program" and not use.problems and name not in _CODE:
            return None
    runs_code = use is not None and use.models[0].kind == "interpreter" and _hides_program(command.input)
    named = runs_code or names_program(command.input, programs)
    return "It gives a program a text that names another one" if named else None


def gets_code(words: Words) -> bool:
    """An interpreter without a program in its words."""
    return all(_FROM_INPUT.fullmatch(word.text) or _RUNTIME_FLAG.fullmatch(word.text) for word in words[1:])


def _gives_name(name: str, command: Found, programs: frozenset[str]) -> bool:
    """`alias x=rm`, `GIT_PAGER=rm git log`, `ln -s /bin/rm x`."""
    variables = command.text[: max(0, command.text.find(command.words[0].text))]
    texts = [word.text for word in command.words[1:]] if name in _NAMING else []
    if name in _COPYING:
        texts = [word.text for word in command.words[1:] if "/" in word.text or not word.literal]
    return any(names_program(text, programs) for text in (variables, *texts))


def _reads_commands(use: Use) -> bool:
    """No `-c`, and no plainly named file."""
    if use.option("-c", "--command") is not None:
        return False
    first = next(iter(use.operands), None)
    return first is None or not first.literal or _FROM_INPUT.fullmatch(first.text) is not None


def _may_run(word: Word) -> bool:
    use = examine(loose(word.text), (word,)) if word.literal else None
    return not word.literal or word.text == "{}" or (use is not None and use.model.wrapper is not None)
