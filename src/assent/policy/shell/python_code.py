"""Whether a line of Python only computes and prints: `python3 -c "import sys; print(sys.version)"`.

An allow-list over its syntax tree: names of functions, modules and attributes. What it does not know asks. Used only
under a rule that names `-c`; nothing here runs.
"""

import ast
import builtins
import sys

_MAX_LENGTH = 2_000
_FUNCTIONS = frozenset(
    """
    abs all any ascii bin bool bytes chr complex dict divmod enumerate filter float format frozenset hash hex id int
    isinstance issubclass iter len list map max min next oct ord pow print range repr reversed round set slice sorted
    str sum tuple type zip
    """.split()  # noqa: SIM905
)
_MODULES = frozenset(
    """
    base64 binascii bisect calendar cmath collections colorsys copy dataclasses datetime decimal difflib enum fractions
    functools hashlib heapq html itertools json keyword locale math numbers operator platform pprint random re secrets
    statistics string struct sys sysconfig textwrap time typing unicodedata uuid zlib zoneinfo
    """.split()  # noqa: SIM905
)
_DUNDERS = frozenset(("__version__", "__name__", "__doc__", "__file__", "__path__", "__all__"))
# Attributes of these modules that lead to files, processes or other modules.
_REACHING = frozenset(
    """
    argparse attrgetter builtins breakpointhook codecs ctypes displayhook dump excepthook exit fdopen getattr inspect io
    load_module methodcaller modules open os path path_hooks path_importer_cache meta_path popen posix reload run
    setprofile settrace socket subprocess sys system threading tool types unraisablehook write
    """.split()  # noqa: SIM905
)
_STREAMS = ("stdin", "stdout", "stderr")


def only_computes(code: str) -> bool:
    """Whether the code reaches for no file, process, machine or other code."""
    if len(code) > _MAX_LENGTH:
        return False
    try:
        tree = ast.parse(code)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return all(map(_is_plain, ast.walk(tree))) and _only_versions(tree)


def imported(code: str) -> set[str]:
    """The modules that the code loads, without their submodules."""
    try:
        nodes = list(ast.walk(ast.parse(code)))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return set()
    names = [name for node in nodes if isinstance(node, ast.Import) for name in _names(node)]
    names += [node.module for node in nodes if isinstance(node, ast.ImportFrom) and node.module]
    return {name.partition(".")[0] for name in names}


def _is_plain(node: ast.AST) -> bool:
    match node:
        case ast.ImportFrom():
            return node.module in _MODULES and not node.level and not any(map(_reaches, _names(node)))
        case ast.Name():
            return node.id in _FUNCTIONS or not (hasattr(builtins, node.id) or node.id.startswith("_"))
        case ast.Attribute():
            return _is_plain_attribute(node)
        case ast.FunctionDef() | ast.ClassDef() | ast.AsyncFunctionDef() | ast.With() | ast.Global() | ast.Nonlocal():
            return False
        case _:
            return True


def _names(node: ast.ImportFrom | ast.Import) -> list[str]:
    return [one.name for one in node.names]


def _is_plain_attribute(node: ast.Attribute) -> bool:
    """`sys.stdout.write` only prints; `sys.modules` leads anywhere."""
    if node.attr == "write" and isinstance(node.value, ast.Attribute) and node.value.attr in _STREAMS:
        return True
    return node.attr in _DUNDERS or not _reaches(node.attr)


def _reaches(name: str) -> bool:
    return name.startswith("_") or name in _REACHING or name == "*"


def _only_versions(tree: ast.AST) -> bool:
    """Of any other module only the version may be asked for."""
    imports = [node for node in ast.walk(tree) if isinstance(node, ast.Import)]
    if any(one.asname for node in imports for one in node.names):
        return False
    others = {name.partition(".")[0] for node in imports for name in _names(node) if name not in _MODULES}
    if others & sys.stdlib_module_names:  # loading one may be enough: `antigravity` opens a browser
        return False
    used = [node for node in ast.walk(tree) if isinstance(node, ast.Name) and node.id in others]
    asked = [node for node in ast.walk(tree) if isinstance(node, ast.Attribute) and node.attr in _DUNDERS]
    return all(any(node.value is name for node in asked) for name in used)
