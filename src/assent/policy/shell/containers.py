"""Programs in containers and clusters: whether what they start is isolated from this machine.

A rule for `docker run` or `kubectl exec` covers whatever runs inside. A folder of this machine, extra privileges,
another daemon or a file of variables goes beyond that and needs approval. Knows options; decides nothing else.
"""

from assent.lazy_pattern import lazy_pattern
from assent.policy.shell.options import Use, Words
from assent.policy.shell.paths import may_be_protected

_NAME = lazy_pattern(r"[A-Za-z0-9][\w.-]*")
_IMAGE = lazy_pattern(r"[A-Za-z0-9][\w./:@-]*")
_VALUE = lazy_pattern(r"[\w.:/@=,+%-]*")
_VARIABLE = lazy_pattern(r"[A-Za-z_]\w*=[^\n]*")  # a bare name passes on a variable of this machine
_PORTS = lazy_pattern(r"(?:(?:127\.0\.0\.1|0\.0\.0\.0|localhost):)?[\d-]*:?[\d-]+(?:/(?:tcp|udp))?")
_VOLUME = lazy_pattern(r"[A-Za-z0-9][\w.-]+:/(?!.*\.\.)[\w./-]+(?::(?:ro|rw))?")  # a named docker volume
_NETWORK = lazy_pattern(r"(?!host$|container:)[A-Za-z0-9][\w.-]*")
_CONTAINER_VALUES = {
    **dict.fromkeys(("-e", "--env"), _VARIABLE),
    **dict.fromkeys(("-p", "--publish"), _PORTS),
    **dict.fromkeys(("-v", "--volume"), _VOLUME),
    **dict.fromkeys(("--network", "--net"), _NETWORK),
    **dict.fromkeys(("-u", "--user"), lazy_pattern(r"[\w:.-]+")),
}
_COMPOSE_FILE = lazy_pattern(r"(?:\./)?(?:[A-Za-z0-9_][\w-]*/)*(?:docker-)?compose(?:[.-][\w-]+)*\.ya?ml")


def container(use: Use, words: Words) -> None:
    """`docker run IMAGE …` and `docker exec CONTAINER …`: the words after the name are for the container."""
    use.by_name = True
    compose(use, words)
    for name, value in use.seen:
        if not _CONTAINER_VALUES.get(name, _VALUE).fullmatch(value):
            use.problems.append(f"the value of `{name}` is not plain, or leads out of the container")
    if not use.operands or not _IMAGE.fullmatch(use.operands[0].text):
        use.problems.append("it does not name a plain image or container")
    use.texts += use.operands
    use.operands = []  # `/app` is a path in the container


def container_copy(use: Use, _words: Words) -> None:
    """`docker cp CONTAINER:PATH FILE`, or the other way round; a whole folder may contain secrets."""
    if len(use.operands) != 2 or not all(word.literal for word in use.operands):
        use.problems.append("it does not plainly say what to copy, and where")
        return
    source, target = use.operands
    name = source.text.rstrip("/").rpartition("/")[2]
    if ":" in source.text and ":" not in target.text:
        use.writes.append(target)
        if may_be_protected(name):  # in a folder, the copy has this name
            use.problems.append(f"{source.text} is run or trusted by tools or later commands")
    elif "." not in name.strip("."):
        use.problems.append(f"{source.text} may be a folder with secrets")
    else:
        use.reads.append(source)


def compose(use: Use, _words: Words) -> None:
    """Project files with the usual names, and plain names."""
    if "compose" not in use.names and use.names[0] != "docker-compose":
        return
    files = [value for name, value in use.seen if name in ("-f", "--file") and value]
    if not all(map(_COMPOSE_FILE.fullmatch, files)):
        use.problems.append("the file that says what to start does not have a usual name")


_POD = lazy_pattern(
    r"(?:(?:pod|pods|po|deploy|deployment|deployments|svc|service|job|sts|statefulset)/)?[a-z0-9][a-z0-9.-]*"
)
_POD_FLAGS = frozenset(("-i", "-t", "-it", "-ti", "--stdin", "--tty", "-q", "--quiet"))
_POD_VALUES = frozenset(("-c", "--container", "-n", "--namespace"))


def pod(use: Use, _words: Words) -> None:
    """`kubectl exec POD -- …`."""
    use.by_name = True
    texts = [word.text for word in use.operands]
    at = texts.index("--") if "--" in texts else len(texts)
    rest = texts[1:at]
    while rest and (rest[0] in _POD_FLAGS or (rest[0] in _POD_VALUES and _NAME.fullmatch(rest[1] if rest[1:] else ""))):
        del rest[: 1 + (rest[0] in _POD_VALUES)]
    if rest or at + 1 >= len(texts) or not _POD.fullmatch(texts[0]):
        use.problems.append("it does not plainly say what to run and in which pod")
    use.texts += use.operands
    use.operands = []


_SETTING = lazy_pattern(r"[A-Za-z0-9_][\w.\[\]-]*=[\w.,:/@+-]*")
_CHART = lazy_pattern(r"(?:\./)?[A-Za-z0-9_](?:(?!\.\.)[\w./-])*|\.")


def release(use: Use, _words: Words) -> None:
    """`helm upgrade NAME CHART`: a chart of the project or of a known repository, and plain settings."""
    use.by_name = True
    for name, value in use.seen:
        parts, plain = (value.split(","), _SETTING) if name.startswith("--set") else ([value], _VALUE)
        if not all(map(plain.fullmatch, parts)):
            use.problems.append(f"the value of `{name}` is not plain")
    if not all(map(_CHART.fullmatch, (word.text for word in use.operands))):
        use.problems.append("it does not name a plain chart")
