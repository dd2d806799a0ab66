"""Why nobody can tell which files a command opens: names that are put together only when it runs.

Rules by path need it, in every mode. A name can come from a variable, an escape, a pipe, a list in a file, or code for
an interpreter. What a program of the project does by itself (`npm test`) does not count: rules are about commands.
"""

import re
from collections.abc import Iterator

from assent.lazy_pattern import lazy_pattern
from assent.policy.shell.checks import run_check
from assent.policy.shell.command_rules import loose
from assent.policy.shell.command_survey import Found
from assent.policy.shell.doubts import (
    Written,
    certain_name,
    commands_from_elsewhere,
    gets_code,
    runs_written,
    written_files,
)
from assent.policy.shell.options import Use, examine
from assent.policy.shell.parsed import Parsed
from assent.policy.shell.python_code import only_computes
from assent.policy.shell.shell_state import changes
from assent.policy.shell.synonyms import same_program
from assent.policy.shell.unknown_words import ANY_WORD

_KNOWN = lazy_pattern(r"\$\{?(?:HOME|PWD|USER|CI|[?#])\}?(?!\w)")
_COMPUTED_FILE = lazy_pattern(r"(?<!<)[<>](?![<(&])\s*['\"]?[^\s;&|<>'\"]*[$`]")
"""The target of a redirection, or of `$(<x)`."""
_BRACES = lazy_pattern(r"\{[^{}\s]*(?:,|\.\.)[^{}\s]*\}")
_TEXT = lazy_pattern(r"[$`\\\"'(*?\[]")
_SETTING = frozenset(("export", "declare", "typeset", "local", "readonly", "unset", "set", "shift", "return", "exit"))
_FEEDING = frozenset(("xargs", "parallel", "cpio", "pax"))
_LATER = frozenset(("at", "batch", "crontab", "alias", "trap", "complete", "bind"))
_ELSEWHERE = lazy_pattern(r"(?:^|[=:])~[^/\s]|/(?:proc|dev/fd)/.*\.\.", re.DOTALL)
"""`~+/x`, `~name/x` and `/dev/fd/../cwd/x` lead to places that depend on the process."""
_ALIASED = lazy_pattern(r"\balias\.", re.IGNORECASE)
_LISTED = lazy_pattern(r"--(?:files0?-from|pathspec-from-file|from-file|input-file)\b.*")
_LISTS = {"tar": "T", "bsdtar": "T", "gtar": "T", "zip": "@", "wget": "i", "aria2c": "i"}
_EDITORS = frozenset(("vi", "vim", "nvim", "view", "ex", "ed", "emacs", "gdb", "expect", "m4", "dc", "gnuplot"))
"""They have a language that opens files, and no model that reads it."""
_SCRIPTS = frozenset(("awk", "gawk", "mawk", "nawk", "sed", "gsed"))
"""Their models read the script, and object if it opens files."""
_QUERIES = frozenset(("sqlite3", "duckdb", "psql", "mysql", "mariadb"))
_QUERY_OF_FILES = lazy_pattern(
    r"\b(?:readfile|fsdir|edit|load_extension|zipfile|attach|pg_read\w*|load_file|load\s+data|read_\w+|copy|lo_import)\b"
    r"|(?:^|\n)\s*[.\\]",
    re.IGNORECASE,
)
_CODE = lazy_pattern(r"-[A-Za-z0-9]*[ceEpPr]|-[A-Za-z]*[ceE].*[^\w.-].*|--(?:eval|print|exec|run|execute)(?:=.*)?|eval")
_CODED_URL = lazy_pattern(r"file:.*[%{\[*]", re.IGNORECASE)
_PLAIN = lazy_pattern(r"[\w./=:,-]*")
_BUILDS = frozenset(("make", "gmake", "remake", "just", "ninja"))
_BUILT_TEXT = lazy_pattern(r"-E.*|--eval\b.*|[\w.]+[:+?]?=.*[$`].*", re.DOTALL)


def why_untold(source: str, parsed: Parsed, *, readable: bool) -> str | None:
    """The reason, or None. `readable`: the words of the outer commands, and their folders, are known."""
    if not parsed.complete:
        return "it was not fully understood"
    if (not readable or parsed.inner) and _COMPUTED_FILE.search(_KNOWN.sub("", source)):
        return "a file that it reads or writes is only known at run time"
    if not readable and changes(parsed.seen):
        return "a command in it may change what the shell makes of the others"
    inner = [one for one in parsed.inner if not one.other_name]
    outer = (*parsed.seen.commands, *parsed.seen.evaluated)
    written = Written(written_files(outer, parsed.seen.writes, frozenset()).files, telling=True)
    unknown = (*(() if readable else parsed.seen.commands), *parsed.seen.evaluated, *inner)
    reasons = [*map(_unknown_words, unknown)]
    reasons += [why for one in (*outer, *inner) for why in (_unknown_work(one), runs_written(one, written))]
    found = next(filter(None, reasons), None)
    return found and found[0].lower() + found[1:]


def _unknown_words(found: Found) -> str | None:
    """Wildcards are looked up on disk, so they are not unknown."""
    first, *rest = found.words
    if found.evaluated:
        return "in it, bash evaluates a text"
    if not first.literal and certain_name(first) == first.text:
        return "the name of a program is only known at run time"
    if loose(first.text) in ANY_WORD or loose(first.text) in _SETTING:
        return None
    if any(_is_computed(word.text) if not word.literal else _BRACES.search(word.text) for word in rest):
        return "some of its words are only known at run time"
    return None


def _is_computed(source: str) -> bool:
    plain = _KNOWN.sub("", source)
    return "$" in plain or "`" in plain or _BRACES.search(plain) is not None or plain.startswith(("<(", ">("))


def _unknown_work(found: Found) -> str | None:
    """Whether it gets names or code that the words of the command do not show."""
    name = loose(found.words[0].text)
    texts = [word.text for word in found.words[1:]]
    use = examine(name, found.words)
    if name in _FEEDING or any(map(_LISTED.fullmatch, texts)) or _takes_list(name, texts):
        return "it takes names of files from a list or a pipe"
    if name in _LATER or (name == "git" and _ALIASED.search(" ".join(texts))):
        return "it keeps a text that runs later"
    if any(map(_ELSEWHERE.search, texts)):
        return "only the running process knows where a path in it leads"
    if use is None:
        return "a program in it may open any file" if any(map(_TEXT.search, (*texts, found.input))) else None
    if name == "git" and use.unknown_sub:
        return "it may be an alias"
    if commands_from_elsewhere(use, name, found.words):
        return "a program in it reads its commands from elsewhere"
    if any(_opens_files(found, name, use, texts)):
        return "it passes code to a program that may open any file"
    return None


def _takes_list(name: str, texts: list[str]) -> bool:
    letter = _LISTS.get(name)
    return letter is not None and any(re.fullmatch(rf"-[A-Za-z]*{letter}.*", text) for text in texts)


def _opens_files(found: Found, name: str, use: Use, texts: list[str]) -> Iterator[bool]:
    """The ways in which a known program gets code."""
    yield name in _EDITORS and bool(texts or found.input)
    yield name in _BUILDS and any(map(_BUILT_TEXT.fullmatch, texts))
    yield name in _QUERIES and any(map(_QUERY_OF_FILES.search, (*texts, found.input)))
    yield any(_CODED_URL.search(text) for text in texts)
    if name in _SCRIPTS:
        before = len(use.problems)
        run_check(use, found.words)
        yield len(use.problems) > before
    if use.models[0].kind == "interpreter":
        yield _is_code(name, found, texts)


def _is_code(name: str, found: Found, texts: list[str]) -> bool:
    """Code in the words or the input of an interpreter, unless it is Python that only computes and prints."""
    at = next((at for at, text in enumerate(texts) if _CODE.fullmatch(text)), None)
    given = "" if at is None else " ".join(texts[at + 1 : at + 2])
    behind_words = at is not None and any(not text.startswith("-") for text in texts[:at])
    if at is None or (behind_words and _PLAIN.fullmatch(given)):  # `tool.py -c fast`
        return bool(found.input.strip()) and gets_code(found.words)
    python = same_program(name) == "python" and texts[at] == "-c"
    return not (python and given and only_computes(given))
