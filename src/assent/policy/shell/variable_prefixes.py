"""Which variables may be set before a command without approval, and to which values.

An allow-list: PATH, LD_*, GIT_*, *_OPTIONS, HOME and every name not listed here can change what a program runs.
"""

import re

from assent.lazy_pattern import lazy_pattern

_SWITCH = lazy_pattern(r"|0|1|2|3|true|false|yes|no|on|off|always|never|auto")
_PLAIN = lazy_pattern(r"[A-Za-z0-9_.,:@+ -]*")
_ZONE = lazy_pattern(r"[A-Za-z0-9_+-]+(?:/[A-Za-z0-9_+-]+)*(?:,[A-Za-z0-9./]+)*")
_NUMBER = lazy_pattern(r"\d{1,6}")
_CAT = lazy_pattern(r"cat|")
_LANGUAGE = lazy_pattern(r"[A-Za-z]{1,8}(?:_[A-Za-z]{2})?(?:\.[A-Za-z0-9-]+)?(?:@[a-z]+)?|")
_MODE = lazy_pattern(r"[a-z]+")
_TARGET = lazy_pattern(r"[a-z0-9]+")
_LOG = lazy_pattern(r"[A-Za-z0-9_:=,*.-]*")

_VALUES: dict[str, re.Pattern[str]] = {
    "CI": _SWITCH,
    "CONTINUOUS_INTEGRATION": _SWITCH,
    "NODE_ENV": _MODE,
    "RAILS_ENV": _MODE,
    "RACK_ENV": _MODE,
    "APP_ENV": _MODE,
    "LANG": _LANGUAGE,
    "LANGUAGE": _LANGUAGE,
    "TZ": _ZONE,
    "TERM": lazy_pattern(r"dumb|xterm|xterm-256color|xterm-color|vt100|screen|ansi|linux"),
    "COLUMNS": _NUMBER,
    "LINES": _NUMBER,
    "NO_COLOR": _SWITCH,
    "FORCE_COLOR": _SWITCH,
    "CLICOLOR": _SWITCH,
    "CLICOLOR_FORCE": _SWITCH,
    "COLORTERM": _MODE,
    "NO_UPDATE_NOTIFIER": _SWITCH,
    "DISABLE_TELEMETRY": _SWITCH,
    "DO_NOT_TRACK": _SWITCH,
    "NEXT_TELEMETRY_DISABLED": _SWITCH,
    "HOMEBREW_NO_AUTO_UPDATE": _SWITCH,
    "DEBIAN_FRONTEND": lazy_pattern(r"noninteractive"),
    "PAGER": _CAT,
    "GIT_PAGER": _CAT,
    "MANPAGER": _CAT,
    "GIT_TERMINAL_PROMPT": lazy_pattern(r"0"),
    "GIT_OPTIONAL_LOCKS": lazy_pattern(r"0"),
    "PYTHONUNBUFFERED": _SWITCH,
    "PYTHONDONTWRITEBYTECODE": _SWITCH,
    "PYTHONHASHSEED": lazy_pattern(r"\d{1,10}|random"),
    "PYTHONIOENCODING": lazy_pattern(r"utf-?8", re.IGNORECASE),
    "PYTHONUTF8": _SWITCH,
    "CGO_ENABLED": _SWITCH,
    "GOOS": _TARGET,
    "GOARCH": _TARGET,
    "GO111MODULE": _SWITCH,
    "RUST_BACKTRACE": lazy_pattern(r"0|1|full"),
    "RUST_LOG": _LOG,
    "LOG_LEVEL": lazy_pattern(r"[A-Za-z]+"),
    "LOG": lazy_pattern(r"(?:trace|debug|info|warn|warning|error|off)", re.IGNORECASE),
    "DEBUG": _LOG,
    "VERBOSE": _SWITCH,
    "CARGO_TERM_COLOR": _MODE,
    "PORT": _NUMBER,
    "HISTSIZE": _NUMBER,
    "NODE_OPTIONS": lazy_pattern(r"--max[-_]old[-_]space[-_]size=\d{1,6}"),
    "RUSTFLAGS": lazy_pattern(r"-D ?warnings"),
    "CARGO_INCREMENTAL": _SWITCH,
    "PYTHONWARNINGS": lazy_pattern(r"ignore|error|default|once|always|module"),
    "ENVIRONMENT": _MODE,
    "STAGE": _MODE,
    "FLASK_ENV": _MODE,
    "FLASK_DEBUG": _SWITCH,
    "BABEL_ENV": _MODE,
    "MIX_ENV": _MODE,
    "HUSKY": lazy_pattern(r"0"),
    "DOCKER_BUILDKIT": _SWITCH,
    "GOWORK": lazy_pattern(r"off"),
    "PIP_DISABLE_PIP_VERSION_CHECK": _SWITCH,
    "PYTHONFAULTHANDLER": _SWITCH,
}
_TESTED = {
    "PYTHONPATH": lazy_pattern(
        r"(?:\.|(?:\./)?[A-Za-z0-9_](?:(?!\.\.)[\w./-])*)(?::(?:\.|(?:\./)?[A-Za-z0-9_](?:(?!\.\.)[\w./-])*))*"
    ),
    "DJANGO_SETTINGS_MODULE": lazy_pattern(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*"),
}
"""What a program that runs a project's tests may be told: the project's code runs anyway."""
_CATEGORY = lazy_pattern(
    r"LC_(?:ALL|COLLATE|CTYPE|MESSAGES|MONETARY|NUMERIC|TIME|PAPER|NAME|ADDRESS|TELEPHONE|MEASUREMENT)"
)


def harmless(name: str, value: str, *, tests: bool = False) -> bool:
    """Whether `NAME=value` before a command changes nothing but language, colour and the like. `tests`: the command
    runs the tests of a Python project.
    """
    pattern = _LANGUAGE if _CATEGORY.fullmatch(name) else _VALUES.get(name) or (_TESTED.get(name) if tests else None)
    return pattern is not None and pattern.fullmatch(value) is not None
