"""How a URL is shown to a person, and what in it deserves a second look.

A page's address can carry data out: a part that is long or looks like encoded data is a warning even on an allowed
host. It judges text only and refuses nothing.
"""

import re
from collections import Counter
from math import log2

_UNSAFE = r"[^!#$%&'()*+,\-./0-9:;=?@A-Z_a-z~]"
_TOKEN = re.compile(r"[A-Za-z0-9]+")  # the words of a phrase are joined by other characters
_HEX = r"[0-9a-fA-F]+"
_LONG_QUERY = 200
_LONG_PATH = 400


def encode_rest(rest: str) -> str:
    """Path and query: invalid characters are percent-encoded, nothing is decoded."""
    path = rest if rest.startswith("/") else "/" + rest
    return re.sub(_UNSAFE, lambda found: "".join(f"%{byte:02X}" for byte in found.group().encode()), path)


def decoded(canonical: str, host: str, readable: str) -> str:
    """What a person sees: the address, and below it the decoded form if it differs."""
    from assent.screen import make_safe

    lines = [canonical]
    if readable != host:
        lines.append(f"host: {readable}")
    if "%" in canonical:
        from urllib.parse import unquote

        lines.append(f"decoded: {unquote(canonical)}")
    return "\n".join(make_safe(line, "prompt").text for line in lines)


def warnings_about(host: str, readable: str, rest: str) -> tuple[str, ...]:
    """Short sentences; none for an ordinary address."""
    path, _, query = rest.partition("?")
    found = list[str]()
    if len(query) > _LONG_QUERY:
        found.append(f"the query has {len(query)} characters")
    if len(path) > _LONG_PATH:
        found.append(f"the path has {len(path)} characters")
    if _carries_data(query, 24) or _carries_data(path, 64) or _carries_data(host, 32):
        found.append("the address may carry encoded data")
    return (*found, *_about_letters(host, readable))


def _about_letters(host: str, readable: str) -> tuple[str, ...]:
    if readable == host:
        return ()
    from assent.screen.lookalikes import lookalikes

    return (f"international host name: {host} stands for {readable}", *lookalikes(readable))


def _carries_data(text: str, shortest: int) -> bool:
    return any(len(token) >= shortest and _looks_coded(token) for token in _TOKEN.findall(text))


def _looks_coded(token: str) -> bool:
    """Random-looking letters: base64 has about 5 bits per character, hex nearly 4, words less."""
    if len(token) >= 32 and re.fullmatch(_HEX, token):
        return True
    has_digit, has_upper = any(c.isdigit() for c in token), any(c.isupper() for c in token)
    return (has_digit or has_upper) and _entropy(token) >= (4.0 if has_digit else 4.3)


def _entropy(token: str) -> float:
    counts = Counter(token)
    return -sum(n / len(token) * log2(n / len(token)) for n in counts.values())
