"""Requests to other machines: addresses for curl and wget, SQL for databases, commands for Redis.

An allow-list: anything that is not plainly a query needs approval. Knows words; opens no connection.
"""

import re

from assent.http.loopback import is_loopback
from assent.lazy_pattern import lazy_pattern
from assent.policy.shell.options import Use, Words
from assent.policy.shell.undescribed import changes_something

_URL = lazy_pattern(
    r"(https?://)?(localhost|\[::1\]|[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)+)(?::\d{1,5})?(?:[/?][^\s{}\[\]\\<>\"^`|#]*)?"
)
_HERE = lazy_pattern(r"(?:https?://)?(?:localhost|127\.0\.0\.1)(?=[:/?]|$)")
_MAX_URL_LENGTH = 300
# Where clouds publish the keys of a machine.
_METADATA = lazy_pattern(r"169\.254\.|metadata\b|100\.100\.100\.200", re.I)
_IPV4 = lazy_pattern(r"(?:[1-9]?\d|1\d\d|2\d\d)(?:\.(?:[1-9]?\d|1\d\d|2\d\d)){3}")
_HEADER = lazy_pattern(
    r"(?:accept(?:-[a-z]+)?|content-type|user-agent|cache-control|pragma|if-[a-z-]+|x-requested-with|range|origin|dnt)"
    r": ?[^\r\n@]*",
    re.I,
)
_NUMBER = lazy_pattern(r"[\d.,-]+")
_WRITE_OUT = lazy_pattern(r"(?:[\w .,:;=/'\"\\-]|%\{[\w.]+\})*")
_AGENT = lazy_pattern(r"[\w ./();:,+-]+")
_METHOD = lazy_pattern(r"GET|HEAD|OPTIONS")
_SENDS = lazy_pattern(r"POST|PUT|PATCH|DELETE")
_DATA = ("-d", "--data", "--data-urlencode")
_QUERY = lazy_pattern(r"[\w.\[\]-]+=[^@<\r\n]{0,200}")  # part of the address; `@` would read it from a file
_NOWHERE = lazy_pattern(r"-|/dev/null")
_TEXTS = {
    **dict.fromkeys(("-H", "--header"), _HEADER),
    **dict.fromkeys(("-w", "--write-out"), _WRITE_OUT),
    **dict.fromkeys(("-A", "--user-agent"), _AGENT),
    **dict.fromkeys(("-X", "--request"), _METHOD),
    **dict.fromkeys(("-o", "--output", "-O", "--output-document"), _NOWHERE),
}


def curl(use: Use, _words: Words) -> None:
    asked = use.option("-G", "--get") is not None
    sends = _sends_here(use)
    if sends:
        use.names, use.by_name = ("curl", "-X", use.option("-X", "--request") or ""), True
    for name, value in use.seen:
        if sends and (name in ("-X", "--request") or (name in _DATA and "@" not in value)):
            continue
        if name in _DATA:
            if not asked or not _QUERY.fullmatch(value):
                use.problems.append(f"`{name}` sends data")
        elif value and not _TEXTS.get(name, _NUMBER).fullmatch(value):
            use.problems.append(f"the value of `{name}` may do more than request a page")
    _addresses(use)
    if use.option("-k", "--insecure") is not None and not all(_HERE.match(word.text) for word in use.operands):
        use.problems.append("without certificate checks the server may be anyone")


def _sends_here(use: Use) -> bool:
    """Another method, to a server on this machine; a rule must name it: `curl -X POST`."""
    local = bool(use.operands) and all(_HERE.match(word.text) for word in use.operands)
    method = use.option("-X", "--request") or ""
    return use.names == ("curl",) and local and _SENDS.fullmatch(method) is not None


def wget(use: Use, words: Words) -> None:
    curl(use, words)
    if use.operands and use.option("-O", "--output-document", "--spider") is None:
        use.problems.append("without `-O -` or `--spider` it writes a file")


def _addresses(use: Use) -> None:
    if not use.operands and use.option("-V", "--version", "--help") is None:
        use.problems.append("it does not name an address")
    if use.operands and use.option("-V", "--version", "--help") is not None:
        use.problems.append("the version needs no address")
    for word in use.operands:
        url = _URL.fullmatch(word.text)
        if url is None or not word.literal or len(word.text) > _MAX_URL_LENGTH or _unusual(url[2]):
            use.problems.append(f"`{word.text}` is not a plain page address")
        elif any(map(changes_something, re.split(r"[/?&=.]", word.text))):
            use.problems.append(f"`{word.text}` may change something")


def _unusual(host: str) -> bool:
    """The metadata service of a cloud, including other notations of its address: `0xA9.0xFE.0xA9.0xFE`."""
    number = host.rpartition(".")[2][:1].isdigit() or any(label[:2].lower() == "0x" for label in host.split("."))
    return bool(_METADATA.match(host)) or (number and not _IPV4.fullmatch(host))


# --- databases ---

_APPLICATION = lazy_pattern(r"[A-Za-z_][\w.]*(?::[A-Za-z_][\w.]*(?:\(\))?)?")
_SERVED = lazy_pattern(r"[\w.:,%*-]*")
_DIRECTORY = lazy_pattern(r"\.|(?:\./)?[A-Za-z0-9_](?:(?!\.\.)[\w./-])*")
_TO_A_FILE = ("--access-logfile", "--error-logfile")


def served(use: Use, _words: Words) -> None:
    """An application of the project by plain name; its address and its settings are plain values."""
    use.by_name = use.names == ("flask", "run")
    for name, value in use.seen:
        plain = _APPLICATION if name in ("-A", "--app") else lazy_pattern("-") if name in _TO_A_FILE else _SERVED
        if value and name not in ("--reload-dir", "--app-dir", "--root-path") and not plain.fullmatch(value):
            use.problems.append(f"the value of `{name}` is not plain")
    if not all(_DIRECTORY.fullmatch(word.text) for word in use.reads):
        use.problems.append("it loads code from a place that is not plainly in the project")
    if use.names[0] != "fastapi" and not all(_APPLICATION.fullmatch(word.text) for word in use.operands):
        use.problems.append("it does not name an application of the project")


_SQL_WORDS = frozenset(
    """
    all analyze and as asc avg between by case cast coalesce count current_date current_timestamp databases date
    date_trunc desc describe distinct else end except exists explain extract false first from full group having ilike in
    indexes inner intersect interval is join last left length like limit lower max min natural not now null nulls
    offset on or order outer over partition round row_number right schemas select show status sum table tables
    then to trim true union upper using variables version when where with
    """.split()  # noqa: SIM905
)
_SQL_CHANGES = lazy_pattern(
    r"\b(?:into|insert|update|delete|drop|alter|create|truncate|grant|revoke|copy|call|do|execute|exec|merge|replace|set|lock"
    r"|vacuum|load|import|outfile|dumpfile|program|security|perform|begin|commit|notify|listen|reindex|cluster|refresh)\b",
    re.I,
)
_SQL_CALL = lazy_pattern(r"\b(\w+)\s*\(")
_SQL = lazy_pattern(r"\s*(?:select|show|explain|describe|desc|table|with)\b[\w\s.,*'\"=<>!()%+/|:-]*;?\s*", re.I)
_META = lazy_pattern(r"\\(?:d[a-zA-Z]{0,3}\+?|l\+?|conninfo|dt\+?)(?: [\w.*]+)?")
_PLAIN = lazy_pattern(r"[A-Za-z0-9_.-]+")
_QUESTION = ("-c", "--command", "-e", "--execute")


def sql(use: Use, _words: Words) -> None:
    for name, value in use.seen:
        if name in _QUESTION and not _asks(value):
            use.problems.append("it may do more than query the database")
        elif name not in _QUESTION and value and not _PLAIN.fullmatch(value):
            use.problems.append(f"the value of `{name}` is not plain")
    _stays_here(use)
    if not all(_PLAIN.fullmatch(word.text) for word in use.operands):
        use.problems.append("the database name is not plain")
    if use.option(*_QUESTION, "-l", "--list", "-V", "--version", "--help") is None:
        use.problems.append("it runs commands from its input")


def _stays_here(use: Use) -> None:
    if not all(map(is_loopback, use.values("-h", "--host"))):
        use.problems.append("it contacts another machine")


def _asks(text: str) -> bool:
    if _META.fullmatch(text):
        return True
    calls = [call.lower() for call in _SQL_CALL.findall(text)]
    return bool(_SQL.fullmatch(text)) and not _SQL_CHANGES.search(text) and all(call in _SQL_WORDS for call in calls)


_REDIS = frozenset(
    """
    dbsize echo exists get getrange hexists hget hgetall hkeys hlen hmget hvals info keys lastsave lindex llen lrange
    mget ping pttl scan scard sismember smembers strlen time ttl type xlen xrange zcard zcount zrange zrank zscore
    """.split()  # noqa: SIM905
)


def redis(use: Use, _words: Words) -> None:
    first = next(iter(use.operands), None)
    if first is None and use.option("-v", "--version", "--help") is None:
        use.problems.append("it runs commands from its input")
    elif first is not None and first.text.lower() not in _REDIS:
        use.problems.append(f"`{first.text}` may do more than query the database")
    _stays_here(use)


def fingerprint(use: Use, _words: Words) -> None:
    """Of a public key only; anything else shows, creates or changes keys."""
    if use.option("-l") is None or not (use.option("-f") or "").endswith(".pub"):
        use.problems.append("it does more than show the fingerprint of a public key")
