"""The environment of child processes: built, never just inherited.

Our own programs and MCP servers get a few ordinary variables and what is given to them. An approved command gets what
the person's own shell would give it, except secrets and variables that would make bash or the loader run something that
nobody was shown. The settings can name more of both. It does not know the command that will run.
"""

import os
from collections.abc import Mapping
from fnmatch import fnmatchcase

from assent.config import Environment

PASSED = frozenset(
    {
        "PATH",
        "HOME",
        "USER",
        "LOGNAME",
        "SHELL",
        "LANG",
        "LANGUAGE",
        "TERM",
        "TMPDIR",
        "TZ",
        "SSL_CERT_FILE",
        "SSL_CERT_DIR",
    }
)
_PROMPTS = "GIT_TERMINAL_PROMPT"
FIXED = {
    "ASSENT": "1",
    "PAGER": "cat",
    "GIT_PAGER": "cat",
    _PROMPTS: "0",  # an invisible prompt would hang the call
    "DEBIAN_FRONTEND": "noninteractive",
}
_NO_EDITOR = {"EDITOR": "false"}
"""On a terminal, programs would open an editor that nobody can see. This makes them fail at once."""
_UNSEEN = (
    *("BASH_ENV", "BASH_FUNC_*", "SHELLOPTS", "BASHOPTS", "LD_PRELOAD", "LD_AUDIT", "DYLD_INSERT_LIBRARIES"),
    *("GIT_CONFIG_COUNT", "GIT_CONFIG_KEY_*", "GIT_CONFIG_VALUE_*", "GIT_CONFIG_PARAMETERS"),
)
"""They run or change something before the first word of the command; git's may also carry credentials."""
_FOR_PEOPLE = ("*PAGER", "*EDITOR", "VISUAL", "COLUMNS", "LINES")
"""A pager or an editor would wait for input; the size belongs to another terminal."""


def child_environment(
    source: Mapping[str, str] | None = None, *, extra: Mapping[str, str] | None = None
) -> dict[str, str]:
    """A few ordinary variables, and what is given."""
    source = os.environ if source is None else source
    return _built({name: value for name, value in source.items() if name in PASSED or name.startswith("LC_")}, extra)


def command_environment(
    rules: Environment, source: Mapping[str, str] | None = None, *, typing: bool = False
) -> dict[str, str]:
    """For a command: everything that is not a secret, subject to the settings. `typing`: a person can type into it."""
    source = os.environ if source is None else source
    built = _built({name: value for name, value in source.items() if _is_passed(name, value, rules)})
    return _NO_EDITOR | built | {_PROMPTS: source.get(_PROMPTS, "1")} if typing else built


def withheld(rules: Environment, source: Mapping[str, str] | None = None) -> list[str]:
    """The variables that commands do not get because they hold secrets."""
    source = os.environ if source is None else source
    return [name for name, value in source.items() if _is_withheld(name, value, rules)]


def _is_passed(name: str, value: str, rules: Environment) -> bool:
    left_out = _any(name, _UNSEEN + _FOR_PEOPLE) and not _any(name, rules.allow)
    return not (left_out or _is_withheld(name, value, rules))


def _is_withheld(name: str, value: str, rules: Environment) -> bool:
    from assent.secrets.variables import holds_secret

    return _any(name, rules.block) or (holds_secret(name, value) and not _any(name, rules.allow))


def _any(name: str, patterns: tuple[str, ...]) -> bool:
    return any(fnmatchcase(name, pattern) for pattern in patterns)


def _built(names: dict[str, str], extra: Mapping[str, str] | None = None) -> dict[str, str]:
    names.setdefault("PATH", os.defpath)
    names.setdefault("TERM", "xterm-256color")
    return names | FIXED | dict(extra or {})
