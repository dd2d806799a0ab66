"""Programs that come upon files by themselves: those that usually hold keys or passwords are left out.

A search that walks through folders is told to pass over them. A program that gets its file names from a pipe
(`xargs cat`) may only get names that cannot be theirs, unless it shows no content. Knows how programs are told;
does not decide.
"""

import re
from fnmatch import translate

from assent.files.secret_names import brief_secret_globs, harmless_globs, secret_folders, secret_globs
from assent.plan import Names, Word
from assent.policy.shell.options import Use
from assent.policy.shell.paths import secret
from assent.policy.shell.program_models import options

_LETTERS = re.compile(r"\[[^]]*\]|[a-z]")
_RANGES = re.compile(r"[a-z](?:-[a-z])?")
_GREPS = frozenset(("grep", "egrep", "fgrep", "rgrep"))
_PACKERS = frozenset(("tar", "bsdtar", "zip"))
_GLOBS = ("--include", "-g", "--glob", "--iglob")
_RECURSIVE = ("-r", "-R", "--recursive", "--dereference-recursive")
_ONLY_NAMES = frozenset(("ls", "stat", "basename", "dirname", "realpath", "readlink", "echo", "printf", "test", "["))
_SUMS = ("md5sum", "sha1sum", "sha224sum", "sha256sum", "sha384sum", "sha512sum", "b2sum", "cksum")
_NO_CONTENT = frozenset((*_ONLY_NAMES, *_SUMS, "true", "false"))
COUNTING = frozenset(("wc", "du"))  # with `--files0-from` they would repeat a file as names that are not found


def names_secret(use: Use) -> str | None:
    """A pattern of file names that asks for what would be left out."""
    for name, value in use.seen:
        if name in _GLOBS and not value.startswith("!") and secret(Word(value, literal=False), "/"):
            return value
    return None


def walks(use: Use) -> bool:
    """Whether it searches the content of whatever it comes upon."""
    name = use.names[0]
    return name in ("rg", "rgrep", "diff", "ag", "ack") or (name in _GREPS and use.option(*_RECURSIVE) is not None)


def guarded(use: Use, words: tuple[Word, ...]) -> tuple[Word, ...]:
    """The words of a search that walks, with the options that leave secrets out.

    The last pattern that matches wins in grep and rg, so they stand after the patterns of the command;
    without such patterns they stand first.
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
    """With the options where the program looks for them: zip at the end, tar before the files, behind `cf NAME`."""
    if use.names[0] == "zip":
        return (*words, *map(Word, extra))
    at = 1 if words[1].text.startswith("-") else 3
    return (*words[:at], *map(Word, extra), *words[at:])


def _without_following(use: Use, words: tuple[Word, ...]) -> tuple[Word, ...]:
    """`grep -R` as `-r`, and `diff -r` of links as links: one that is come upon may lead to a secret."""
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
        folders = [f"--exclude={name}/*" if gets_names else f"--exclude-dir={name}" for name in secret_folders()]
        names = (name.replace("?*", "*[!/]", 1) for name in secret_globs())  # it compares whole paths that it is given
        passed_over = [_any_case(option) for option in (*(f"--exclude={name}" for name in names), *folders)]
        return [*passed_over, *(f"--include={name}" for name in _harmless(use))]
    match name:
        case "rg":  # it looks at `--iglob` after every `-g`, in whatever order they stand; one is read faster than many
            return ["--iglob", f"!{{{','.join((*secret_globs(), *secret_folders()))}}}"]
        case "diff":  # it repeats its options before every pair of files, so it gets fewer, and in small letters
            return [f"--exclude={name}" for name in (*brief_secret_globs(), *secret_folders())]
        case "tar" | "bsdtar" if use.writes:  # what is packed could be read from the archive
            return [f"--exclude={_any_case(name)}" for name in (*secret_globs(), *secret_folders())]
        case "zip" if use.writes:
            names = [_any_case(name) for name in (*secret_globs(), *secret_folders())]
            return [
                "-y",  # a link is packed as a link
                "-x",
                *names,
                *(f"*/{name}" for name in names),
                *(f"*/{name}/*" for name in map(_any_case, secret_folders())),
            ]
        case "ag":
            names = (*secret_globs(), *secret_folders())
            return [word for name in names for word in ("--ignore", _any_case(name))]
        case "ack":  # it knows no globs
            files = [f"--ignore-file=match:/^{translate(name)}/i" for name in secret_globs()]
            return ["--noenv", *files, *(f"--ignore-dir={name}" for name in secret_folders())]
        case _:
            return []


def _harmless(use: Use) -> tuple[str, ...]:
    """Names that need not be compared with hundreds of globs: grep takes the last that matches, and looks there first.

    Only for files that it comes upon, whose names it compares without their folder, and only such as would be searched
    anyway.
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
    """`.ENV` is `.env` to a person, and on some disks. What must not follow is said in small letters only."""
    head, equals, glob = option.rpartition("=")
    return head + equals + _LETTERS.sub(lambda part: _both(part[0].strip("[]")), glob)


def _both(letters: str) -> str:
    return f"[{letters}]" if letters[0] == "!" else f"[{letters}{''.join(_RANGES.findall(letters)).upper()}]"


# --- names from a pipe ---


def takes_files(use: Use) -> bool:
    """Whether it does to any number of files what it does to one, and its words can be nothing but files."""
    plain = use.model.kind == "program" and use.model.wrapper is None and use.model.effect in ("read", "run")
    return plain and use.models[0].kind == "program" and use.model.operands.split()[-1:] == ["read*"]


def fed_problem(
    use: Use, words: tuple[Word, ...], *, harmless_names: bool, names_inside: bool, at_the_end: bool
) -> str | None:
    """Why it must not get words from its input. `harmless_names`: none of them can be a secret. `names_inside`: they
    are those of files in the workspace; the runner passes over secrets among them, and makes no option of any.
    """
    name = use.names[0]
    if names_inside and at_the_end and takes_files(use) and not use.model.inert:
        return None
    if not use.model.inert:
        return "it would get words from its input, and some of its options do harm"
    if harmless_names or name in _NO_CONTENT:
        return None
    if name in COUNTING and at_the_end:
        return None
    if name in _GREPS and not walks(use) and (at_the_end or _operands_last(use, words)):
        return None
    return "it would get names of files from its input and may show secrets"


def opens(name: str) -> bool:
    """Whether a program opens the files it gets, and not only looks at their names and sizes."""
    return name not in _ONLY_NAMES


def shows_content(name: str) -> bool:
    """Whether a program may show what is in files, and not only their names and sizes. A checksum of a short text is as
    good as the text to somebody who can guess.
    """
    return name not in (*_ONLY_NAMES, "true", "false", *COUNTING, "find", "tree", "pwd", "which", "type")


def shows_no_secret(use: Use) -> bool:
    """Whether it shows no content of the files it gets, or is told to pass over secrets."""
    return use.names[0] in _NO_CONTENT or (use.names[0] in _GREPS and not walks(use))


def sifted(xargs: Use, words: tuple[Word, ...], *, names: bool) -> tuple[tuple[Word, ...], Names]:
    """The words of an xargs that is given only names the runner has looked at, and how they come to the runner.

    `names`: its input are names of files one a line, where a blank makes no two of one.
    """
    if xargs.option("-0", "--null") is not None or xargs.option("-d", "--delimiter") == "\\0":
        return words, "null"
    at = xargs.payload_at - (words[xargs.payload_at - 1].text == "--")
    by_line = names or xargs.option("-d", "--delimiter", "-I", "-i", "--replace") is not None
    return (*words[:at], Word("-0"), *words[at:]), "lines" if by_line else "words"


def unsifted(xargs: Use) -> str | None:
    """Why the runner cannot look at the names before they are opened."""
    if xargs.option("-a", "--arg-file") is not None:
        return "it takes names of files from a file"
    if xargs.option("-d", "--delimiter") not in (None, "\n", "\\n", "\\0"):
        return "it takes names of files apart"
    return None


def without_more_options(use: Use, words: tuple[Word, ...]) -> tuple[Word, ...]:
    """The words of a program that gets more of them, with `--`: `--include=.env` from a pipe must be no option."""
    if not use.fed or use.names[0] not in (*COUNTING, *_GREPS) or any(word.text == "--" for word in words):
        return words
    at = len(words) - len(use.operands) if _operands_last(use, words) else len(words)
    return (*words[:at], Word("--"), *words[at:])


def _operands_last(use: Use, words: tuple[Word, ...]) -> bool:
    return words[len(words) - len(use.operands) :] == tuple(use.operands)
