"""Takes the checks of the gate away, one at a time, and says which of them no test misses.

    scripts/mutate.py [--every N] [--start K] [FILE ...]     FILE as in policy/rules.py; default: the whole gate

A change is made in memory only: each one is tried in a forked process, in which the tests nearest to the file run until
the first fails. What survives is printed with its line: a check without a test, or a check that does nothing.
"""

import argparse
import ast
import importlib.abc
import importlib.machinery
import importlib.util
import os
import signal
import sys
import tempfile
from collections.abc import Iterator, Sequence
from copy import deepcopy
from pathlib import Path
from types import CodeType, ModuleType

_ROOT = Path(__file__).resolve().parent.parent
_SOURCE = _ROOT / "src" / "assent"
_GATE = (
    *("policy/commands.py", "policy/policy.py", "policy/rules.py", "policy/rulefile.py", "policy/grants.py"),
    *("policy/trust.py", "policy/built_in.py", "policy/globs.py"),
    *(f"web/{name}.py" for name in ("urls", "url_text", "addresses", "hosts", "dial", "fetch", "content")),
    *(f"front/web/{name}.py" for name in ("security", "tokens", "limits")),
    *(f"screen/{path.name}" for path in sorted((_SOURCE / "screen").glob("*.py"))),
    *(f"policy/shell/{path.name}" for path in sorted((_SOURCE / "policy" / "shell").glob("*.py"))),
    *(f"files/{path.name}" for path in sorted((_SOURCE / "files").glob("*.py"))),
)
_TESTS = {
    "policy/shell": ["policy/shell", "policy/test_policy.py"],
    "web": ["web/test_fetch.py"],
    "web/content.py": ["web/test_content.py"],
    "web/readable.py": ["web/test_readable.py"],
    "web/urls.py": ["web/test_urls.py"],
    "web/url_text.py": ["web/test_urls.py"],
    "web/addresses.py": ["web/test_urls.py"],
    "web/hosts.py": ["web/test_urls.py", "policy/test_policy.py"],
    "policy/trust.py": ["policy/test_trust.py"],
    "policy/rulefile.py": ["policy/test_rulefile.py", "policy/test_policy.py"],
    "policy": [
        "policy/test_gate_checks.py",
        "policy/test_policy.py",
        "policy/test_rulefile.py",
        "policy/test_trust.py",
    ],
    **{f"files/{name}.py": ["files/test_file_access.py"] for name in ("access", "beneath", "draft", "errors")},
    **{f"files/{name}.py": ["files/test_private.py"] for name in ("plain", "private")},
    "files/context.py": ["files/test_context_files.py"],
    "files/ignore.py": ["files/test_ignore.py"],
    "files/listing.py": ["files/test_listing.py"],
    "files/protected.py": ["files/test_protected.py", "files/test_workspace.py", "policy/shell/test_sweep.py"],
    "files/resolve.py": ["files/test_file_resolve.py"],
    "files": ["files/test_workspace.py"],
    "front/web": ["front/web/test_door_checks.py"],
    "screen": ["test_screen_parts.py", "test_screen.py"],
}
_SECONDS = 120
_PAIRS = ((ast.Eq, ast.NotEq), (ast.In, ast.NotIn), (ast.Is, ast.IsNot), (ast.Lt, ast.LtE), (ast.Gt, ast.GtE))
_OTHER: dict[type[ast.cmpop], type[ast.cmpop]] = dict([*_PAIRS, *((right, left) for left, right in _PAIRS)])


def mutants(tree: ast.Module) -> Iterator[tuple[int, str, ast.Module]]:
    """Line, what was done, and the changed module."""
    types = {id(inner) for node in ast.walk(tree) for part in _types(node) for inner in ast.walk(part)}
    for index, node in enumerate(ast.walk(tree)):
        if id(node) in types:
            continue
        for number, name in enumerate(_possible(node)):
            changed = deepcopy(tree)
            _apply(next(one for at, one in enumerate(ast.walk(changed)) if at == index), number)
            yield getattr(node, "lineno", 0) or _line(node), name, ast.fix_missing_locations(changed)


def _types(node: ast.AST) -> list[ast.AST]:
    """The parts of a node that only a type checker reads, or whoever imports all names."""
    parts = [getattr(node, "annotation", None), getattr(node, "returns", None)]
    if isinstance(node, ast.Subscript) and ast.unparse(node.value) == "Literal":
        parts.append(node)
    if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
        parts.append(node)
    if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__":
        parts.append(node)
    return [part for part in parts if isinstance(part, ast.AST)]


def _possible(node: ast.AST) -> list[str]:
    match node:
        case ast.If() | ast.While() | ast.IfExp():
            always = ["condition always holds"] if isinstance(node, ast.IfExp) else []
            return ["condition never holds", *always]
        case ast.BoolOp(values=values):
            return [f"without `{ast.unparse(value)}`" for value in values]
        case ast.Compare(ops=[op]) if type(op) in _OTHER:
            return [f"`{ast.unparse(node)}` turned around"]
        case ast.Set(elts=elts) | ast.Tuple(elts=elts, ctx=ast.Load()) | ast.List(elts=elts, ctx=ast.Load()):
            constant = len(elts) > 1 and all(isinstance(one, ast.Constant) for one in elts)
            return [f"without {ast.unparse(one)}" for one in elts] if constant else []
        case ast.MatchOr(patterns=patterns):
            return [f"without case {ast.unparse(one)}" for one in patterns]
        case ast.match_case(pattern=pattern):
            return [] if isinstance(pattern, ast.MatchAs) and pattern.pattern is None else [_case(node)]
        case ast.Call(func=ast.Name(id="any" | "all" as name)):
            return [f"not {name}"]
        case ast.UnaryOp(op=ast.Not()):
            return [f"`{ast.unparse(node)}` without not"]
        case ast.Expr(value=ast.Call() | ast.Await(value=ast.Call())):
            return [f"without `{ast.unparse(node)}`"]
        case _:
            return []


def _apply(node: ast.AST, number: int) -> None:
    match node:
        case ast.If() | ast.While() | ast.IfExp():
            node.test = ast.Constant(value=bool(number))
        case ast.BoolOp(values=values):
            values[number] = values[number - 1]  # the same twice is the same once
        case ast.Compare(ops=ops):
            ops[0] = _OTHER[type(ops[0])]()
        case ast.Set(elts=elts) | ast.Tuple(elts=elts) | ast.List(elts=elts):
            del elts[number]
        case ast.MatchOr(patterns=patterns):
            patterns[number] = patterns[number - 1]
        case ast.match_case():
            node.guard = ast.Constant(value=False)
        case ast.Call(func=ast.Name() as func):
            func.id = "all" if func.id == "any" else "any"
        case ast.UnaryOp():
            node.op, node.operand = ast.Not(), ast.UnaryOp(op=ast.Not(), operand=node.operand)
        case ast.Expr():
            node.value = ast.Constant(value=None)
        case _:
            raise AssertionError(node)


def _case(node: ast.match_case) -> str:
    return f"without case {ast.unparse(node.pattern)}"


def _line(node: ast.AST) -> int:
    return next((one.lineno for one in ast.walk(node) if isinstance(one, ast.expr | ast.pattern)), 0)


class _Loader(importlib.machinery.SourceFileLoader):
    def __init__(self, name: str, path: str, code: CodeType) -> None:
        super().__init__(name, path)
        self._code = code

    def get_code(self, fullname: str) -> CodeType:
        return self._code


class _Finder(importlib.abc.MetaPathFinder):
    """Gives the changed module in place of the one on the disk."""

    def __init__(self, name: str, path: Path, tree: ast.Module) -> None:
        self._name, self._path = name, path
        self._loader = _Loader(name, str(path), compile(tree, str(path), "exec"))

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        if fullname != self._name:
            return None
        return importlib.util.spec_from_file_location(fullname, self._path, loader=self._loader)


def survives(file: str, tree: ast.Module, scratch: str) -> bool:
    """Whether all the nearest tests pass. A fork, because the module must be imported afresh."""
    name = "assent." + file.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
    finder = _Finder(name, _SOURCE / file, tree)
    child = os.fork()
    if child == 0:
        try:
            _test(file, finder, scratch)
        finally:
            os._exit(1)
    _, status = os.waitpid(child, 0)
    return status == 0


def _test(file: str, finder: _Finder, scratch: str) -> None:
    import pytest

    signal.alarm(_SECONDS)  # an endless loop is a failure too
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, 1)
    os.dup2(null, 2)
    sys.meta_path.insert(0, finder)
    tests = next(_TESTS[key] for key in (file, str(Path(file).parent)) if key in _TESTS)
    options = ["-x", "-q", "-p", "no:cacheprovider", f"--basetemp={scratch}/{os.getpid()}"]
    os._exit(pytest.main([*options, *(str(_ROOT / "tests" / test) for test in tests)]))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="*", default=_GATE)
    parser.add_argument("--every", type=int, default=1, help="try only every N-th change")
    parser.add_argument("--start", type=int, default=0, help="begin with the K-th change")
    args = parser.parse_args()
    os.chdir(_ROOT)
    for name in ("msgspec", "pytest", "tree_sitter_bash"):  # what the tests need is imported once, before the forks
        importlib.import_module(name)
    tried = survived = 0
    with tempfile.TemporaryDirectory() as scratch:
        for file in args.files:
            whole = ast.parse((_SOURCE / file).read_text())
            if not survives(file, whole, scratch):
                sys.exit(f"{file}: its tests fail as it is")
            found = list(mutants(whole))[args.start :: args.every]
            for line, what, tree in found:
                tried += 1
                if survives(file, tree, scratch):
                    survived += 1
                    print(f"{file}:{line}: {what}", flush=True)
            print(f"# {file}: {len(found)} changes", flush=True)
    print(f"{survived} of {tried} changes survived")
    return 1 if survived else 0


if __name__ == "__main__":
    sys.exit(main())
