"""Programs that show or change the machine: processes, packages, permissions, the network.

Knows words; asks the machine nothing.
"""

import re

from assent.lazy_pattern import lazy_pattern
from assent.policy.shell.options import Use, Words
from assent.secrets.secret_words import variable_is_secret

_DNS = lazy_pattern(r"[+A-Za-z0-9_][A-Za-z0-9.:_=-]*|@[0-9.]+|-[x46]")
_PS_OPTION = lazy_pattern(
    r"-[AaefFlLMjHTwZdNyc]+|[aufxwlLjTmrhcSv]+|-?[0-9,]+|-[opCuUpgGtO](?!.*environ)[A-Za-z0-9_,%.:=+-]+"
    r"|--(?:forest|headers?|no-headers?|version|help|info|sort=[a-z_,%+-]+|(?:ppid|pid|user|cols|width)=[\w,%=]+)"
)
_PS_VALUED = frozenset(
    [
        "-o",
        "-p",
        "-C",
        "-u",
        "-U",
        "-g",
        "-G",
        "-t",
        "-O",
        "-q",
        "-eo",
        "-ao",
        "-axo",
        "-Ao",
        "-efo",
        "axo",
        "auxo",
        "-fp",
        "-fu",
        "-fC",
        "--ppid",
        "--pid",
        "--sort",
        "--user",
        "--format",
    ]
)
_PS_FRAGILE = lazy_pattern(r"-[A-Za-z]*[uUgGtTHMZcCdNy]")
_PS_VALUE = lazy_pattern(r"(?!.*environ)[A-Za-z0-9_%.+-][A-Za-z0-9_,%.:=+/-]*")
_SYSTEM_FILE = lazy_pattern(r"/(?:s?bin|lib\w*|usr)/.*")
_IP_OBJECTS = frozenset(
    ("a", "ad", "addr", "address", "l", "li", "link", "r", "ro", "route", "n", "neigh", "neighbour", "ru", "rule")
)
_IP_SHOWS = frozenset(("show", "sh", "list", "ls", "lst", "get"))
_ORDINARY_MODE = lazy_pattern(r"[ua]?[+-]x|0?(?:644|755|600|700)")
_SIGNAL = lazy_pattern(r"-(?:TERM|INT|HUP|15|2|1|0)")


def date(use: Use, _words: Words) -> None:
    if any(not word.text.startswith("+") for word in use.operands):
        use.problems.append("an operand without `+` sets the clock")


def dig(use: Use, words: Words) -> None:
    use.problems.clear()
    if not all(_DNS.fullmatch(word.text) for word in words[1:]):
        use.problems.append("an argument is neither a plain name nor a harmless option")


def ldd(use: Use, _words: Words) -> None:
    if not all(_SYSTEM_FILE.fullmatch(word.text) and "/.." not in word.text for word in use.operands):
        use.problems.append("it may start the program it inspects")


def man(use: Use, _words: Words) -> None:
    if any("/" in word.text for word in use.operands):
        use.problems.append("an operand with `/` is a file, not a page name")


def getent(use: Use, _words: Words) -> None:
    if any(word.text in ("shadow", "gshadow") for word in use.operands[:1]):
        use.problems.append("it shows password hashes")


def ip(use: Use, _words: Words) -> None:
    texts = [word.text for word in use.operands]
    if texts and (texts[0] not in _IP_OBJECTS or (len(texts) > 1 and texts[1] not in _IP_SHOWS)):
        use.problems.append("it may change the network")


def ps(use: Use, words: Words) -> None:
    """Arguments without a dash are BSD options; `e` among them shows the environment of every process."""
    use.problems.clear()
    texts = [word.text for word in words[1:]]
    before = ["", *texts]
    for earlier, text in zip(before, texts, strict=False):
        valued = earlier in _PS_VALUED and _PS_VALUE.fullmatch(text)
        if not valued and text not in _PS_VALUED and not _PS_OPTION.fullmatch(text):
            use.problems.append(f"`{text}` may show the environment of processes")
    # If ps cannot make sense of its options, it reads `-e` as BSD `e`.
    if any(re.match(r"-[A-Za-z]*e", text) for text in texts) and any(_PS_FRAGILE.match(text) for text in texts):
        use.problems.append("`-e` together with an option that may fail can show the environment of processes")


def dpkg(use: Use, _words: Words) -> None:
    if not use.seen:
        use.problems.append("without `-l`, `-L`, `-s` or `-S` it changes packages")


def certificate(use: Use, _words: Words) -> None:
    """A certificate is public, and nothing else in the file is shown."""
    plain = all(re.fullmatch(r"[\w./-]*", given) and not given.endswith(".key") for given in use.values("-in"))
    if not plain or use.option("-noout") is None:
        use.problems.append("it may show more than a certificate")


def mode(use: Use, _words: Words) -> None:
    """A rule must name the permissions, unless they are those of ordinary files and scripts."""
    mode = use.operands[0].text if use.operands else ""
    own = re.fullmatch(r"u\+[rwX]+", mode) is not None
    use.names, use.by_name = (*use.names, mode), not (own or _ORDINARY_MODE.fullmatch(mode))
    if own:  # the owner could do so at any time
        use.excuse("-R", "--recursive")
        return
    if not re.fullmatch(r"[uga]*[+-][rwx]+|0?[4567][04567]{2}", mode):
        use.problems.append("it sets permissions that are not plain")


def kill(use: Use, words: Words) -> None:
    """Processes by number; a signal that they cannot handle needs a rule that names it."""
    texts = [word.text for word in words[1:]]
    numbers = texts[1:] if texts and _SIGNAL.fullmatch(texts[0]) else texts
    if numbers and all(re.fullmatch(r"\d{2,}", text) for text in numbers):
        use.problems.clear()
        return
    never(use, words)


def never(use: Use, _words: Words) -> None:
    if not use.seen:
        use.problems.append("it changes the system or the shell, so a rule for its name alone never allows it")


def variables(use: Use, _words: Words) -> None:
    if any(variable_is_secret(word.text) for word in use.operands):
        use.problems.append("it prints a variable that may hold a secret")
