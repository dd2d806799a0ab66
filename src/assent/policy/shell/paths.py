"""Where a path lies, by its text alone: inside the workspace, protected, or secret.

Does not touch the disk; the runner follows links again, right before anything is written. `assent.files.protected` says
which names are special, for the file tools as well.
"""

import re
from collections.abc import Sequence
from fnmatch import fnmatchcase
from posixpath import join, normpath

from assent.files.protected import protected_names, why_protected, why_run, why_secret
from assent.files.secret_names import secret_pattern, secret_samples
from assent.lazy_pattern import lazy_pattern
from assent.plan import Part, Stage, Word

_SPECIAL = lazy_pattern(
    r"^/(?:dev/(?!null$|stdin$|fd/0$)|proc/(?:[^/]+/(?:task/[^/]+/)?(?:mem|fd|root|cwd|maps)|kcore)|sys/kernel)"
)
_MAX_PATTERN_LENGTH = 255  # the maximum length of a file name; a longer one is not tried and counts as a match
_KIND = lazy_pattern(r"\*\.(?:json|toml|ya?ml|txt|php|xml|conf|cnf|ini|csv|dat|db|sqlite)", re.IGNORECASE)
_MIN_SPECIFIC_LENGTH = 6  # `.eslint*` is about one program, `.e*` about anything
_OF_THE_SHELL = frozenset(("time", "command", "builtin"))
_HOME = Word("~", literal=False, parts=(Part("home", "~"),))


def place(text: str, cwd: str) -> str:
    """The path as an absolute, normalized text. `~` and `$HOME` stay and are outside every root."""
    if text.startswith("$PWD") and ".." not in text:
        return normpath(cwd + text.removeprefix("$PWD"))
    if text.startswith(("~", "$HOME", "$PWD")):
        return normpath(text)
    return normpath(join(cwd, text))


def moves(stage: Stage) -> bool:
    """Whether the command changes the folder of the commands after it."""
    return _behind_words_of_the_shell(stage)[0].text == "cd"


def cd_target(stage: Stage) -> Word:
    """Where `cd` goes, as the runner sees it: the first word that is not an option, or home."""
    words = _behind_words_of_the_shell(stage)
    return next((word for word in words[1:] if not word.text.startswith("-")), _HOME)


def _behind_words_of_the_shell(stage: Stage) -> tuple[Word, ...]:
    """`time cd x` and `command cd x` change the folder as well."""
    words = stage.words
    while len(words) > 1 and (words[0].text in _OF_THE_SHELL or words[0].text.startswith("-")):
        words = words[1:]
    return words


def inside(path: str, roots: Sequence[str]) -> bool:
    """Whether a placed path lies in one of the roots, component by component."""
    return any(path == root or path.startswith(root.rstrip("/") + "/") for root in map(normpath, roots))


def protected(path: str, roots: Sequence[str] = (), *, folder: bool = False) -> bool:
    """Whether writing there would change what tools or later commands do. The root's own parents do not count.
    `folder`: it becomes a folder.
    """
    for root in map(normpath, roots):
        if path == root or path.startswith(root.rstrip("/") + "/"):
            path = path[len(root) :]
            break
    names = _names(path)
    return why_protected(names, may_bring=True) is not None or why_run(names, folder=folder) is not None


def may_be_protected(name: str) -> bool:
    """Whether a file of this name, or one that a wildcard in it could match, is protected."""
    if protected("/" + name):
        return True
    if not has_wildcard(name):
        return False
    return len(name) > _MAX_PATTERN_LENGTH or any(fnmatchcase(one, name.casefold()) for one in protected_names())


def secret(word: Word, cwd: str) -> bool:
    """Whether reading there shows keys, passwords or a device. A wildcard counts as everything it could match."""
    path = place(word.text, cwd)
    if why_secret(_names(path)) or _SPECIAL.search(path):
        return True
    return not word.literal and any(map(_could_be_secret, {*path.split("/")}))


def secret_path() -> str:
    """A regular expression, for the runner, that matches the lower-cased path of a secret or a device."""
    return f"{secret_pattern()}|{_SPECIAL.pattern}"


def _names(path: str) -> list[str]:
    return [name for name in path.split("/") if name]


def has_wildcard(name: str) -> bool:
    return any(one in name for one in "*?[")


def _could_be_secret(component: str) -> bool:
    if not has_wildcard(component):
        return False
    if len(component) > _MAX_PATTERN_LENGTH:
        return True
    fixed = re.split(r"[*?\[]", component)[0]
    if component.startswith(".") and len(fixed) < _MIN_SPECIFIC_LENGTH:
        return True
    # `c*` means names with a c and `*.json` files of a type; `id_*` and `shado?` mean a secret.
    literal = re.sub(r"\[[^]]*\]|[*?]", "", component)
    if len(literal) <= 2 or matches_by_extension(component):
        return False
    return any(fnmatchcase(name, component) for name in secret_samples())


def matches_by_extension(glob: str) -> bool:
    """Whether it means all files of a type that few secrets have: programs that find secrets this way skip them."""
    return _KIND.fullmatch(glob) is not None
