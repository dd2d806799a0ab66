"""Programs that find files themselves: files that usually hold keys or passwords are left out.

A recursive search is told to skip them. A program that gets its file names from a pipe (`xargs cat`) may only get names
that cannot be secrets, unless it shows no content. Knows how to tell the programs; decides nothing.
"""

from fnmatch import translate

from assent.files.secret_names import brief_secret_globs, harmless_globs, secret_folders, secret_globs
from assent.lazy_pattern import lazy_pattern
from assent.plan import Names, Word
from assent.policy.shell.options import Use
from assent.policy.shell.paths import secret
from assent.policy.shell.program_models import options

_LETTERS = lazy_pattern(r"\[[^]]*\]|[a-z]")
_RANGES = lazy_pattern(r"[a-z](?:-[a-z])?")
_GREPS = frozenset(("grep", "egrep", "fgrep", "rgrep"))
_PACKERS = frozenset(("tar", "bsdtar", "zip"))
_GLOBS = ("--include", "-g", "--glob", "--iglob")
_RECURSIVE = ("-r", "-R", "--recursive", "--dereference-recursive")
_ONLY_NAMES = frozenset(("ls", "stat", "basename", "dirname", "realpath", "readlink", "echo", "printf", "test", "["))
_SUMS = ("md5sum", "sha1sum", "sha224sum", "sha256sum", "sha384sum", "sha512sum", "b2sum", "cksum")
_NO_CONTENT = frozenset((*_ONLY_NAMES, *_SUMS, "true", "false"))
COUNTING = frozenset(("wc", "du"))  # with `--files0-from` they would report missing files by name


def names_secret(use: Use) -> str | None:
    """A file name pattern that asks for files that would be left out."""
    for name, value in use.seen:
        if name in _GLOBS and not value.startswith("!") and secret(Word(value, literal=False), "/"):
            return value
    return None


def walks(use: Use) -> bool:
    """Whether it searches the content of whatever files it finds."""
    name = use.names[0]
    return name in ("rg", "rgrep", "diff", "ag", "ack") or (name in _GREPS and use.option(*_RECURSIVE) is not None)


def guarded(use: Use, words: tuple[Word, ...]) -> tuple[Word, ...]:
    """The words of a recursive search, with the options that leave secrets out.

    In grep and rg the last matching pattern wins, so these options come after the patterns of the command; without
    such patterns they come first.
    """
    extra = _exclusions(use)
    if not extra:
        return words
    if use.names[0] in _PACKERS:
        return _packing_no_secret(use, words, extra)
    words = _without_following(use, words)
    at = 1
    if any(name in _GLOBS for name, _ in use.seen):
        at = next((index for index, word in enumerate(words) if word.text == "--"), len(words))
    return (*words[:at], *map(Word, extra), *words[at:])


def _packing_no_secret(use: Use, words: tuple[Word, ...], extra: list[str]) -> tuple[Word, ...]:
    """Inserts the options where the program expects them: zip at the end, tar before the files, after `cf NAME`."""
    if use.names[0] == "zip":
        return (*words, *map(Word, extra))
    at = 1 if words[1].text.startswith("-") else 3
    return (*words[:at], *map(Word, extra), *words[at:])


def _without_following(use: Use, words: tuple[Word, ...]) -> tuple[Word, ...]:
    """Run `grep -R` as `-r`, and compare links as links in `diff -r`: a link that is found may lead to a secret."""
    if use.names[0] == "diff" and use.option("-r", "--recursive") is not None:
        return (words[0], Word("--no-dereference"), *words[1:])
    if use.option("-R", "--dereference-recursive") is None:
        return words
    flags = {name for name, kind in options(use.names, use.model).items() if kind == "flag"}
    options_end = next((index for index, word in enumerate(words) if word.text == "--"), len(words))
    return (*(_not_following(word, flags) for word in words[:options_end]), *words[options_end:])


def _not_following(word: Word, flags: set[str]) -> Word:
    if word.text.startswith("--d"):
        return Word("--recursive") if "--dereference-recursive".startswith(word.text) else word
    before = word.text.partition("R")[0]
    bundled = before.startswith("-") and all(f"-{letter}" in flags for letter in before[1:])
    return Word(word.text.replace("R", "r", 1)) if bundled else word


def passes_over(use: Use) -> bool:
    """Whether some files may be left out, which a reader of the output should know."""
    return bool(_exclusions(use))


def _exclusions(use: Use) -> list[str]:
    name = use.names[0]
    gets_names = use.fed or use.found
    if name in _GREPS and (gets_names or walks(use)):
        return _grep_exclusions(use, gets_names=gets_names)
    match name:
        case "rg":  # it checks `--iglob` after every `-g`, in any order; one is parsed faster than many
            return ["--iglob", f"!{{{','.join((*secret_globs(), *secret_folders()))}}}"]
        case "diff":  # it parses its options again for every pair of files, so it gets fewer, and in lower case
            return [f"--exclude={name}" for name in (*brief_secret_globs(), *secret_folders())]
        case "tar" | "bsdtar" if use.writes:  # files in the archive could be read from it later
            return [f"--exclude={_any_case(name)}" for name in (*secret_globs(), *secret_folders())]
        case "zip" if use.writes:
            return _zip_exclusions()
        case "ag":
            names = (*secret_globs(), *secret_folders())
            return [word for name in names for word in ("--ignore", _any_case(name))]
        case "ack":  # it has no globs
            files = [f"--ignore-file=match:/^{translate(name)}/i" for name in secret_globs()]
            return ["--noenv", *files, *(f"--ignore-dir={name}" for name in secret_folders())]
        case _:
            return []


def _grep_exclusions(use: Use, *, gets_names: bool) -> list[str]:
    folders = [f"--exclude={name}/*" if gets_names else f"--exclude-dir={name}" for name in secret_folders()]
    names = (name.replace("?*", "*[!/]", 1) for name in secret_globs())  # grep compares whole paths that it is given
    passed_over = [_any_case(option) for option in (*(f"--exclude={name}" for name in names), *folders)]
    return [*passed_over, *(f"--include={name}" for name in _harmless(use))]


def _zip_exclusions() -> list[str]:
    names = [_any_case(name) for name in (*secret_globs(), *secret_folders())]
    below = (f"*/{name}/*" for name in map(_any_case, secret_folders()))
    return ["-y", "-x", *names, *(f"*/{name}" for name in names), *below]  # -y packs a link as a link


def _harmless(use: Use) -> tuple[str, ...]:
    """Names that need not be compared with hundreds of globs: grep uses the last match and looks there first.

    Only for files that it finds itself, whose names it compares without their folder, and only for names that would be
    searched anyway.
    """
    if use.fed or use.found or use.option("--exclude", "--exclude-from") is not None:
        return ()
    if not all(word.literal for word in use.operands):
        return ()
    wanted = [value for name, value in use.seen if name == "--include"]
    plain = harmless_globs()
    if not wanted:
        return tuple(plain.values())
    return tuple(plain[name] for name in wanted) if plain.keys() >= set(wanted) else ()


def _any_case(option: str) -> str:
    """`.ENV` is `.env` to a person, and on some disks. Names that must not be followed are in lower case only."""
    head, equals, glob = option.rpartition("=")
    return head + equals + _LETTERS.sub(lambda part: _both(part[0].strip("[]")), glob)


def _both(letters: str) -> str:
    return f"[{letters}]" if letters[0] == "!" else f"[{letters}{''.join(_RANGES.findall(letters)).upper()}]"


# --- names from a pipe ---


def takes_files(use: Use) -> bool:
    """Whether it treats any number of files like one, and its words can only be files."""
    plain = use.model.kind == "program" and use.model.wrapper is None and use.model.effect in ("read", "run")
    return plain and use.models[0].kind == "program" and use.model.operands.split()[-1:] == ["read*"]


def fed_problem(
    use: Use, words: tuple[Word, ...], *, harmless_names: bool, names_inside: bool, at_the_end: bool
) -> str | None:
    """Why it must not get words from its input. `harmless_names`: none of them can be a secret. `names_inside`: they
    are files in the workspace; the runner skips secrets among them and never turns one into an option.
    """
    name = use.names[0]
    if names_inside and at_the_end and takes_files(use) and not use.model.inert:
        return None
    if not use.model.inert:
        return "it would get arguments from its input, and some of its options do harm"
    if harmless_names or name in _NO_CONTENT:
        return None
    if name in COUNTING and at_the_end:
        return None
    if name in _GREPS and not walks(use) and (at_the_end or _operands_last(use, words)):
        return None
    return "it would get file names from its input and may show secrets"


def opens(name: str) -> bool:
    """Whether a program opens the files it gets, instead of only looking at their names and sizes."""
    return name not in _ONLY_NAMES


def shows_content(name: str) -> bool:
    """Whether a program may show the content of files, not only names and sizes. A checksum of a short text reveals it
    to anyone who can guess.
    """
    return name not in (*_ONLY_NAMES, "true", "false", *COUNTING, "find", "tree", "pwd", "which", "type")


def shows_no_secret(use: Use) -> bool:
    """Whether it shows no content of the files it gets, or is told to skip secrets."""
    return use.names[0] in _NO_CONTENT or (use.names[0] in _GREPS and not walks(use))


def sifted(xargs: Use, words: tuple[Word, ...], *, names: bool) -> tuple[tuple[Word, ...], Names]:
    """The words of an xargs that gets only names checked by the runner, and how they reach the runner.

    `names`: its input is one file name per line, and a space does not split a name.
    """
    if xargs.option("-0", "--null") is not None or xargs.option("-d", "--delimiter") == "\\0":
        return words, "null"
    at = xargs.payload_at - (words[xargs.payload_at - 1].text == "--")
    by_line = names or xargs.option("-d", "--delimiter", "-I", "-i", "--replace") is not None
    return (*words[:at], Word("-0"), *words[at:]), "lines" if by_line else "words"


def unsifted(xargs: Use) -> str | None:
    """Why the runner cannot check the names before they are opened."""
    if xargs.option("-a", "--arg-file") is not None:
        return "it takes file names from a file"
    if xargs.option("-d", "--delimiter") not in (None, "\n", "\\n", "\\0"):
        return "it splits file names"
    return None


def without_more_options(use: Use, words: tuple[Word, ...]) -> tuple[Word, ...]:
    """The words of a program that gets more of them, with `--`: `--include=.env` from a pipe must not be an option."""
    if not use.fed or use.names[0] not in (*COUNTING, *_GREPS) or any(word.text == "--" for word in words):
        return words
    at = len(words) - len(use.operands) if _operands_last(use, words) else len(words)
    return (*words[:at], Word("--"), *words[at:])


def _operands_last(use: Use, words: tuple[Word, ...]) -> bool:
    return words[len(words) - len(use.operands) :] == tuple(use.operands)
