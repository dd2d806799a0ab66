"""Searches that walk through folders: files that usually hold keys or passwords are left out.

Knows the names of such files and how grep and rg are told to pass over them; does not decide.
"""

from assent.plan import Word
from assent.policy.shell.options import Use
from assent.policy.shell.paths import secret

_FILES = (
    ".env",
    ".env.*",
    "*.pem",
    "*.key",
    "id_rsa*",
    "id_ed25519*",
    ".netrc",
    ".npmrc",
    ".pypirc",
    ".git-credentials",
    "credentials*",
)
_FOLDERS = (".ssh", ".aws", ".gnupg")
_GREPS = frozenset(("grep", "egrep", "fgrep", "rgrep"))
_GLOBS = ("--include", "-g", "--glob", "--iglob")


def names_secret(use: Use) -> str | None:
    """A pattern of file names that asks for what would be left out."""
    for name, value in use.seen:
        if name in _GLOBS and not value.startswith("!") and secret(Word(value, literal=False), "/"):
            return value
    return None


def guarded(use: Use, words: tuple[Word, ...]) -> tuple[Word, ...]:
    """The words of a search that walks, with the options that leave secrets out.

    The last pattern that matches wins in both programs, so they stand after the patterns of the command;
    without such patterns they stand first.
    """
    extra = _exclusions(use)
    if not extra:
        return words
    at = 1
    if any(name in _GLOBS for name, _ in use.seen):
        at = next((index for index, word in enumerate(words) if word.text == "--"), len(words))
    return (*words[:at], *map(Word, extra), *words[at:])


def _exclusions(use: Use) -> list[str]:
    if use.names[0] == "rg":
        return [word for name in (*_FILES, *_FOLDERS) for word in ("-g", f"!{name}")]
    if use.names[0] == "rgrep" or (use.names[0] in _GREPS and use.option("-r", "--recursive") is not None):
        return [f"--exclude={name}" for name in _FILES] + [f"--exclude-dir={name}" for name in _FOLDERS]
    return []
