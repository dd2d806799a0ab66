"""Programs that come upon files by themselves: those that usually hold keys or passwords are left out.

A search that walks through folders is told to pass over them. A program that gets its file names from a pipe
(`xargs cat`) may only get names that cannot be theirs, unless it shows no content. Knows how programs are told;
does not decide.
"""

from collections.abc import Sequence
from fnmatch import fnmatchcase
from itertools import pairwise

from assent.files.protected import secret_folders, secret_globs, secret_samples
from assent.plan import Stage, Word
from assent.policy.shell.options import Use, examine
from assent.policy.shell.paths import secret
from assent.policy.shell.rules import program

_GREPS = frozenset(("grep", "egrep", "fgrep", "rgrep"))
_GLOBS = ("--include", "-g", "--glob", "--iglob")
_RECURSIVE = ("-r", "-R", "--recursive", "--dereference-recursive")
_NO_CONTENT = frozenset(
    [
        "ls",
        "stat",
        "basename",
        "dirname",
        "realpath",
        "readlink",
        "md5sum",
        "sha1sum",
        "sha224sum",
        "sha256sum",
        "sha384sum",
        "sha512sum",
        "b2sum",
        "cksum",
        "echo",
        "printf",
        "test",
        "[",
        "true",
        "false",
    ]
)
COUNTING = frozenset(("wc", "du"))  # with `--files0-from` they would repeat a file as names that are not found
_FILTERS = frozenset(("head", "tail", "sort", "uniq", *_GREPS))
_CUTTING = ("-c", "--bytes", "-o", "--only-matching")  # a part of a name is another name
_IN_SECRET_FOLDERS = (
    "config",
    "key",
    "credentials.json",
    "x.pem",
    "x.key",
    "x.p12",
    "x.pfx",
    ".env.local",
    "x_history",
)
_OR = frozenset(("-o", "-or", ","))
_NOT = frozenset(("!", "-not"))
_NAMED = frozenset(("-name", "-iname"))
_ONLY_NAMES = ("-l", "--files-with-matches", "-L", "--files-without-match", "--files")


def names_secret(use: Use) -> str | None:
    """A pattern of file names that asks for what would be left out."""
    for name, value in use.seen:
        if name in _GLOBS and not value.startswith("!") and secret(Word(value, literal=False), "/"):
            return value
    return None


def walks(use: Use) -> bool:
    """Whether it searches the content of whatever it comes upon."""
    name = use.names[0]
    return name in ("rg", "rgrep", "diff") or (name in _GREPS and use.option(*_RECURSIVE) is not None)


def guarded(use: Use, words: tuple[Word, ...]) -> tuple[Word, ...]:
    """The words of a search that walks, with the options that leave secrets out.

    The last pattern that matches wins in grep and rg, so they stand after the patterns of the command;
    without such patterns they stand first.
    """
    extra = _exclusions(use)
    if not extra:
        return words
    at = 1
    if any(name in _GLOBS for name, _ in use.seen):
        at = next((index for index, word in enumerate(words) if word.text == "--"), len(words))
    return (*words[:at], *map(Word, extra), *words[at:])


def passes_over(use: Use) -> bool:
    """Whether some files may be left out, which a reader of the output should know."""
    return bool(_exclusions(use))


def _exclusions(use: Use) -> list[str]:
    name = use.names[0]
    gets_names = use.fed or use.found
    if name in _GREPS and (gets_names or walks(use)):
        folders = [f"--exclude={name}/*" if gets_names else f"--exclude-dir={name}" for name in secret_folders()]
        return [*(f"--exclude={name}" for name in secret_globs()), *folders]
    match name:
        case "rg":
            return [word for name in (*secret_globs(), *secret_folders()) for word in ("-g", f"!{name}")]
        case "diff":  # it repeats its options before every pair of files, so it gets fewer
            names = [".env*", *(name for name in secret_globs() if not name.startswith(".env"))]
            return [f"--exclude={name}" for name in (*names, *secret_folders())]
        case _:
            return []


# --- names from a pipe ---


def fed_problem(use: Use, *, harmless_names: bool, at_the_end: bool) -> str | None:
    """Why it must not get words from its input. `harmless_names`: none of them can be a secret."""
    name = use.names[0]
    if not use.model.inert:
        return "it would get words from its input, and some of its options do harm"
    if harmless_names or shows_no_secret(use):
        return None
    if name in COUNTING and at_the_end:
        return None
    return "it would get names of files from its input and may show secrets"


def shows_no_secret(use: Use) -> bool:
    """Whether it shows no content of the files it gets, or is told to pass over secrets."""
    return use.names[0] in _NO_CONTENT or (use.names[0] in _GREPS and not walks(use))


def split_by_lines(xargs: Use, words: tuple[Word, ...]) -> tuple[Word, ...]:
    """A blank in the name of a file must not make two names of it."""
    if xargs.option("-0", "--null", "-d", "--delimiter", "-I", "-i", "--replace") is not None:
        return words
    return (words[0], Word("-d"), Word("\n"), *words[1:])


def ends_options(use: Use) -> bool:
    """Whether `--` must stand behind the words of a program that gets more of them."""
    return use.fed and use.names[0] in COUNTING


def give_harmless_names(stages: Sequence[Stage]) -> bool:
    """Whether what these commands print are names of files, none of which can be a secret's."""
    if not stages:
        return False
    first, *filters = stages
    return _finds_harmless(first) and all(map(_only_drops_lines, filters))


def _only_drops_lines(stage: Stage) -> bool:
    use = examine(program(stage.words[0].text), stage.words)
    if use is None or use.names[0] not in _FILTERS or stage.redirects:
        return False
    return not use.reads and use.option(*_CUTTING) is None


def _finds_harmless(stage: Stage) -> bool:
    use = examine(program(stage.words[0].text), stage.words)
    if use is None or not all(word.literal for word in stage.words):
        return False
    if use.names[0] == "find":
        return use.option("-printf") is None and all_named_harmlessly(stage.words)
    return walks(use) and use.names[0] != "diff" and use.option(*_ONLY_NAMES) is not None


def all_named_harmlessly(words: Sequence[Word]) -> bool:
    """Whether every alternative of this find command wants names that no secret has."""
    return all(map(_named_harmlessly, _branches(words)))


def _branches(words: Sequence[Word]) -> list[list[str]]:
    """The alternatives of an expression of find. Brackets only make less of it."""
    found: list[list[str]] = [[]]
    for word in words[1:]:
        if word.text in _OR:
            found.append([])
        else:
            found[-1].append(word.text)
    return found


def _named_harmlessly(branch: list[str]) -> bool:
    """Some name is wanted, and no secret has it."""
    if branch[-1:] == ["-prune"]:
        return True  # folders that are left out
    tests = list(zip(["", *branch], branch, branch[1:], strict=False))
    if any(one in _NOT and following == "(" for one, following in pairwise(branch)):
        return False
    names = [value for before, test, value in tests if test in _NAMED and before not in _NOT]
    return any(not _could_be_secret(name) for name in names)


def _could_be_secret(glob: str) -> bool:
    samples = (*secret_samples(), *_IN_SECRET_FOLDERS)
    return any(fnmatchcase(sample, glob.casefold()) for sample in samples) or secret(Word(glob, literal=False), "/")
