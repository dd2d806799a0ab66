"""The page's modules as one script, made when the server starts: on a slow connection, sixty small files take seconds.

Every module becomes a function that returns what it exports, in the order in which they need each other. It understands
only the forms of `import` and `export` that the page uses. The files themselves stay as they are, and are served as
well.
"""

import re
from collections.abc import Iterator, Mapping

_IMPORT = re.compile(r'^import\s*(?P<what>\{[^}]*\}|[\w$]+)\s*from\s*"(?P<path>[^"]+)";?', re.M)
_PASSED_ON = re.compile(r'^export\s*(?P<what>\{[^}]*\})\s*from\s*"(?P<path>[^"]+)";?', re.M)
_LIST = re.compile(r"(?:(?<=;)|(?<=\})|^)export\s*\{(?P<what>[^}]*)\};?", re.M)
_DECLARED = re.compile(r"^export (?P<kind>async function|function|const|class) (?P<name>[\w$]+)", re.M)
_DEFAULT = re.compile(r"(?:(?<=;)|(?<=\})|^)export default ", re.M)
_LEFT_OVER = re.compile(r"^(?:import|export)\b(?!\()", re.M)
_COMMENT = re.compile(r"(?s:/\*\*.*?\*/)|^[ \t]*//.*$", re.M)
_BLANK = re.compile(r"\n\s*\n+")
_MODULE = re.compile(r"\W")


class CannotBundle(ValueError):
    """A module needs itself, or uses a form of import or export that is not known here."""


def bundle(files: Mapping[str, str], main: str) -> str:
    """`files` by their path; `main` is the module that starts the page."""
    order = list(_in_order(files, main, ()))
    return "\n".join(_function(files[path], path) for path in order)


def _in_order(files: Mapping[str, str], path: str, users: tuple[str, ...]) -> Iterator[str]:
    """The modules that it needs, and then itself; each once."""
    seen: set[str] = set()

    def visit(path: str, users: tuple[str, ...]) -> Iterator[str]:
        if path in users:
            raise CannotBundle(f"{' needs '.join((*users, path))}")
        if path in seen:
            return
        for found in (*_IMPORT.finditer(files[path]), *_PASSED_ON.finditer(files[path])):
            yield from visit(_resolved(path, found["path"]), (*users, path))
        seen.add(path)
        yield path

    return visit(path, users)


def _resolved(path: str, target: str) -> str:
    parts = path.split("/")[:-1]
    for part in target.split("/"):
        match part:
            case ".":
                pass
            case "..":
                parts.pop()
            case name:
                parts.append(name)
    return "/".join(parts)


def _function(source: str, path: str) -> str:
    body = source if "/vendor/" in f"/{path}" else _BLANK.sub("\n", _COMMENT.sub("", source))
    module = _Module(path)
    body = module.rewritten(body)
    if found := _LEFT_OVER.search(body):
        raise CannotBundle(f"{path}: {body[found.start() : found.start() + 60]!r}")
    given = ", ".join(f"{name}: {own}" for name, own in module.exports)
    return f"const {_name(path)} = (() => {{\n{body.strip()}\nreturn {{ {given} }};\n}})();"


class _Module:
    """Replaces the imports and exports of one module, and collects what it exports."""

    def __init__(self, path: str) -> None:
        self._path = path
        self.exports: list[tuple[str, str]] = []
        """The exported name, and the expression for it."""

    def rewritten(self, body: str) -> str:
        body = _IMPORT.sub(self._imported, body)
        body = _PASSED_ON.sub(self._passed_on, body)
        body = _LIST.sub(self._listed, body)
        body = _DECLARED.sub(self._declared, body)
        return _DEFAULT.sub(self._default, body)

    def _imported(self, found: re.Match[str]) -> str:
        what = found["what"]
        names = re.sub(r"\s+as\s+", ": ", what) if what.startswith("{") else f"{{ default: {what} }}"
        return f"const {names} = {_name(_resolved(self._path, found['path']))};"

    def _passed_on(self, found: re.Match[str]) -> str:
        module = _name(_resolved(self._path, found["path"]))
        self.exports.extend((name, f"{module}.{own}") for own, name in _names(found["what"].strip("{}")))
        return ""

    def _listed(self, found: re.Match[str]) -> str:
        self.exports.extend((name, own) for own, name in _names(found["what"]))
        return ""

    def _declared(self, found: re.Match[str]) -> str:
        self.exports.append((found["name"], found["name"]))
        return f"{found['kind']} {found['name']}"

    def _default(self, _: re.Match[str]) -> str:
        self.exports.append(("default", "_default"))
        return "const _default = "


def _names(listed: str) -> Iterator[tuple[str, str]]:
    """The own name and the exported name of each: `a, b as c`."""
    for one in filter(None, (one.strip() for one in listed.split(","))):
        own, _, name = one.partition(" as ")
        yield own.strip(), name.strip() or own.strip()


def _name(path: str) -> str:
    return "_" + _MODULE.sub("_", path)
