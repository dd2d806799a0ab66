"""Whether a line of Python only computes and prints: `python3 -c "import sys; print(sys.version)"`.

An allow-list over its syntax tree: names of functions, modules and attributes. What it does not know asks. Used only
under a rule that names `-c`; nothing of the code runs here.
"""

import ast
import builtins
import datetime
import re
import sys
from collections import Counter, deque
from decimal import Decimal
from fractions import Fraction
from functools import cache
from importlib import import_module
from types import ModuleType
from uuid import UUID

_MAX_LENGTH = 2_000
_FUNCTIONS = frozenset(
    """
    abs all any ascii bin bool bytes chr complex dict divmod enumerate filter float format frozenset hash hex id int
    isinstance issubclass iter len list map max min next oct ord pow print range repr reversed round set slice sorted
    str sum tuple type zip
    """.split()  # noqa: SIM905
)
MODULES = frozenset(
    """
    base64 binascii bisect calendar cmath collections colorsys copy dataclasses datetime decimal difflib enum fractions
    functools hashlib heapq html itertools json keyword locale math numbers operator platform pprint random re secrets
    statistics string struct sys sysconfig textwrap time typing unicodedata uuid zlib zoneinfo
    """.split()  # noqa: SIM905
)
_DUNDERS = frozenset(("__version__", "__name__", "__doc__", "__file__", "__path__", "__all__"))
# What these modules offer computes, unless it is named in `_REACHING`.
_COMPUTING = """
    base64 binascii bisect calendar cmath collections colorsys copy datetime decimal difflib fractions functools
    hashlib heapq html itertools json keyword math operator pprint random re secrets statistics string struct textwrap
    time unicodedata uuid zlib zoneinfo
    """.split()  # noqa: SIM905
# The values whose methods compute.
_VALUES = (
    *(str, bytes, bytearray, int, float, complex, list, dict, set, range, slice, Fraction, Decimal, UUID, re.Pattern),
    *(re.Match, datetime.date, datetime.datetime, datetime.time, datetime.timedelta, datetime.timezone, Counter, deque),
)
# What the other modules tell, and what streams and objects without a module have.
_TELLING = frozenset(
    """
    abiflags api_version architecture argv args base_exec_prefix base_prefix block_size buffer builtin_module_names
    byteorder cache_tag copyright digest dont_write_bytecode encoding errors executable exec_prefix exit flags
    float_info flush freedesktop_os_release get_config_h_filename get_config_var get_config_vars get_default_scheme
    get_makefile_filename get_path get_path_names get_paths get_platform get_python_version get_scheme_names
    getdefaultencoding getdefaultlocale getencoding getfilesystemencoding getlocale getpreferredencoding
    getrecursionlimit getsizeof hash_info hexdigest hexversion implementation int_info intern isatty mac_ver machine
    major maxsize maxunicode micro minor name node orig_argv platform prec prefix processor pycache_prefix python_build
    python_compiler python_implementation python_version python_version_tuple read readline readlines release
    releaselevel safe_substitute serial setlocale stderr stdin stdlib_module_names stdout substitute system thread_info
    uname version version_info warnoptions
    """.split()  # noqa: SIM905
)
# Names among these that lead to files, processes, other modules or attributes that only a text names.
_REACHING = frozenset(
    """
    attrgetter bindtextdomain clock_settime clock_settime_ns codecs dump inspect io main methodcaller open os path popen
    reset_tzpath run singledispatch singledispatchmethod subprocess test update_wrapper wraps write
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
            return node.module in MODULES and not node.level and not any(map(_reaches, _names(node)))
        case ast.Name():
            return node.id in _FUNCTIONS or not (hasattr(builtins, node.id) or node.id.startswith("_"))
        case ast.Attribute():
            return _is_plain_attribute(node)
        case ast.MatchClass():  # `case x(modules=m)` reads an attribute, too
            return not any(map(_reaches, node.kwd_attrs))
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
    """Whether an attribute may lead further. `raw` is a class that opens files away, `gi_frame` all built-in names."""
    return name not in _plain_attributes()


@cache
def _plain_attributes() -> frozenset[str]:
    modules = [import_module(name) for name in _COMPUTING]
    offered = {name for one in modules for name in dir(one) if not isinstance(getattr(one, name), ModuleType)}
    methods = {name for one in _VALUES for name in dir(one)}
    return frozenset(name for name in offered | methods | _TELLING if name[0] != "_" and name not in _REACHING)


def _only_versions(tree: ast.AST) -> bool:
    """Of any other module only the version may be asked for."""
    imports = [node for node in ast.walk(tree) if isinstance(node, ast.Import)]
    if any(one.asname for node in imports for one in node.names):
        return False
    others = {name.partition(".")[0] for node in imports for name in _names(node) if name not in MODULES}
    if others & sys.stdlib_module_names:  # loading one may be enough: `antigravity` opens a browser
        return False
    used = [node for node in ast.walk(tree) if isinstance(node, ast.Name) and node.id in others]
    asked = [node for node in ast.walk(tree) if isinstance(node, ast.Attribute) and node.attr in _DUNDERS]
    return all(any(node.value is name for node in asked) for name in used)
