"""Removes the checks of the gate, one at a time, and reports which removals no test notices.

    scripts/mutate.py [--every N] [--start K] [FILE ...]     FILE as in policy/rules.py; default: the whole gate

Changes are made in memory only. The tests nearest to the file are collected once; each change is applied to the module
in a forked process, in which the tests that reach it run until the first fails. Changes they miss are tried once more
with all of them, in a process that imports the module afresh. What survives that too is printed with its line: a check
without a test, or a check that does nothing.
"""

import argparse
import ast
import gc
import importlib.abc
import importlib.machinery
import importlib.util
import json
import os
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import deepcopy
from functools import cache
from pathlib import Path
from types import CodeType, FrameType, FunctionType, ModuleType
from typing import NamedTuple

import pytest
from _pytest.main import pytest_runtestloop

_ROOT = Path(__file__).resolve().parent.parent
_SOURCE = _ROOT / "src" / "assent"
_GATE = (
    *("policy/command_policy.py", "policy/policy.py", "policy/rules.py", "policy/rulefile.py", "policy/grants.py"),
    "policy/rulefile_words.py",
    *("policy/trust.py", "policy/built_in.py", "policy/globs.py", "policy/cwd_tracking.py", "policy/symlink_checks.py"),
    *(f"web/{name}.py" for name in ("urls", "url_text", "addresses", "hosts", "dial", "fetch", "content")),
    *(f"front/web/{name}.py" for name in ("security", "access_tokens", "request_limits")),
    *(f"screen/{path.name}" for path in sorted((_SOURCE / "screen").glob("*.py"))),
    *(f"policy/shell/{path.name}" for path in sorted((_SOURCE / "policy" / "shell").glob("*.py"))),
    *(f"process/{name}.py" for name in ("name_filter", "family", "run_program", "memory_limit")),
    *(f"files/{path.name}" for path in sorted((_SOURCE / "files").glob("*.py"))),
    "cli/policy_jsonl.py",
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
    "policy/rulefile_words.py": ["policy/test_rulefile.py"],
    "policy": [
        "policy/test_gate_checks.py",
        "policy/test_policy.py",
        "policy/test_built_in.py",
        "policy/test_rulefile.py",
        "policy/test_trust.py",
    ],
    **{f"files/{name}.py": ["files/test_file_access.py"] for name in ("access", "openat", "atomic_write", "errors")},
    **{f"files/{name}.py": ["files/test_private.py"] for name in ("regular_file", "private_folder")},
    "files/context_reader.py": ["files/test_context_files.py"],
    "files/ignore.py": ["files/test_ignore.py"],
    "files/listing.py": ["files/test_listing.py"],
    "files/locks.py": ["files/test_locks.py"],
    "files/protected.py": [
        "files/test_protected.py",
        "files/test_workspace.py",
        "policy/shell/test_recursive_search.py",
    ],
    "files/resolve.py": ["files/test_file_resolve.py"],
    "files": ["files/test_workspace.py"],
    "process/name_filter.py": ["process/test_name_filter.py"],
    "process/family.py": ["process/test_family.py"],  # never one that ends a family: a changed one may be anyone
    "process/memory_limit.py": ["process/test_memory_limit.py"],
    "process/run_program.py": [
        "process/test_process_run.py",
        "process/test_process_text.py",
        "process/test_process_kill.py",
    ],
    "cli/policy_jsonl.py": ["policy/test_gate_lines.py"],
    "front/web": ["front/web/test_access_checks.py"],
    "screen": ["test_screen_parts.py", "test_screen.py"],
}
_SECONDS = 20  # for one test: an endless loop is a failure too
_SECONDS_WATCHED = 200  # for one unmutated test, slowed down by tracing
_ANYWHERE = range(1_000_000)
_PAIRS = ((ast.Eq, ast.NotEq), (ast.In, ast.NotIn), (ast.Is, ast.IsNot), (ast.Lt, ast.LtE), (ast.Gt, ast.GtE))
_OTHER: dict[type[ast.cmpop], type[ast.cmpop]] = dict([*_PAIRS, *((right, left) for left, right in _PAIRS)])


Reached = Mapping[str, Sequence[tuple[str, int]]]


class Change(NamedTuple):
    line: int
    what: str
    code: CodeType
    reach: range  # of lines: a test that enters a function starting there may notice


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
    """The parts of a node that only a type checker, or `import *`, reads."""
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
            always = ["condition is always true"] if isinstance(node, ast.IfExp) else []
            return ["condition is always false", *always]
        case ast.BoolOp(values=values):
            return [f"without `{ast.unparse(value)}`" for value in values]
        case ast.Compare(ops=[op]) if type(op) in _OTHER:
            return [f"`{ast.unparse(node)}` inverted"]
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
    """Provides the changed module instead of the one on disk."""

    def __init__(self, name: str, path: Path, code: CodeType) -> None:
        self._name, self._path = name, path
        self._loader = _Loader(name, str(path), code)

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        if fullname != self._name:
            return None
        return importlib.util.spec_from_file_location(fullname, self._path, loader=self._loader)


class _Watch:
    """Writes the name of each failing test to a pipe."""

    pipe = -1

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed and self.pipe >= 0:
            os.write(self.pipe, report.nodeid.encode())


class _Reached(_Watch):
    """Which tests run which functions: the file and the line where each begins. And how long each test takes."""

    def __init__(self) -> None:
        self.begins: set[tuple[str, int]] = set()
        self.tests: dict[str, list[tuple[str, int]]] = {}
        self.seconds: dict[str, float] = {}

    def quickest(self) -> Reached:
        return dict(sorted(self.tests.items(), key=lambda test: self.seconds[test[0]]))

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        self.begins.clear()
        self.seconds[nodeid] = -time.monotonic()
        threading.settrace(self._called)
        sys.settrace(self._called)

    def pytest_runtest_logfinish(self, nodeid: str) -> None:
        sys.settrace(None)
        self.seconds[nodeid] += time.monotonic()
        self.tests[nodeid] = [one for one in self.begins if one[0].startswith(str(_SOURCE))]

    def _called(self, frame: FrameType, _event: str, _value: object) -> None:
        self.begins.add((frame.f_code.co_filename, frame.f_code.co_firstlineno))


class _Trial(_Watch):
    """Tries the changes of one module on tests that were collected once; keeps the numbers of those they miss."""

    def __init__(self, file: str, changes: Sequence[Change], reached: Reached) -> None:
        self.name, self.path, self.changes, self.reached = _module(file), str(_SOURCE / file), changes, reached
        self.missed: list[int] = []

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        importlib.import_module(self.name)
        order = {nodeid: place for place, nodeid in enumerate(self.reached)}
        session.items.sort(key=lambda item: (item.path.stem != f"test_{Path(self.path).stem}", order[item.nodeid]))
        gc.freeze()
        self.missed += [number for number, change in enumerate(self.changes) if not self._found(session, change)]
        return True

    def _found(self, session: pytest.Session, change: Change) -> bool:
        """Whether a test fails; the next change meets that test first."""
        status, failed = _apart(lambda pipe: self._try(session, change, pipe))
        session.items.sort(key=lambda item: item.nodeid != failed)
        return status != 0

    def _try(self, session: pytest.Session, change: Change, pipe: int) -> int:
        self.pipe = pipe
        session.items = [item for item in session.items if self._comes_by(item, change)]
        try:
            swap(self.name, change.code)
        except Exception:
            return 0  # a module that cannot be changed in place; it is tried afresh
        try:
            pytest_runtestloop(session)
        except (session.Failed, session.Interrupted):
            return 1
        return 0

    def _comes_by(self, item: pytest.Item, change: Change) -> bool:
        return any(path == self.path and line in change.reach for path, line in self.reached[item.nodeid])


def _apart(run: Callable[[int], int]) -> tuple[int, str]:
    """Run it silently in a fork: returns its exit status, and what it wrote to its pipe."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            null = os.open(os.devnull, os.O_RDWR)
            for standard in range(3):
                os.dup2(null, standard)
            os._exit(run(write))
        finally:
            os._exit(1)
    os.close(write)
    with os.fdopen(read) as pipe:
        said = pipe.read()
    return os.waitpid(child, 0)[1], said


def swap(name: str, code: CodeType) -> None:
    """Replace the functions and constants of a module with the changed ones."""
    module = sys.modules[name]
    changed = {"__name__": name, "__file__": module.__file__, "__package__": module.__package__}
    exec(code, changed)  # noqa: S102 (our own module)
    _swap_all(name, vars(module), changed)


def _swap_all(name: str, old: Mapping[str, object], new: Mapping[str, object]) -> None:
    for key, value in list(new.items()):
        was = old.get(key)
        function = _function(value)
        if function is not None and (before := _function(was)) is not None:
            before.__code__ = function.__code__
        elif isinstance(value, type) and value.__module__ == name:
            _swap_all(name, vars(was), vars(value))
        elif isinstance(old, dict) and not key.startswith("__") and not _same(value, was):
            for module in list(sys.modules.values()):
                if vars(module).get(key, module) is was:
                    setattr(module, key, value)


def _same(value: object, was: object) -> bool:
    try:
        return bool(value == was)
    except Exception:
        return False


def _function(value: object) -> FunctionType | None:
    for inner in ("__wrapped__", "__func__", "fget"):
        value = getattr(value, inner, value)
    return value if isinstance(value, FunctionType) else None


def _module(file: str) -> str:
    return "assent." + file.removesuffix(".py").removesuffix("/__init__").replace("/", ".")


def _tests(file: str) -> tuple[str, ...]:
    return tuple(next(_TESTS[key] for key in (file, str(Path(file).parent)) if key in _TESTS))


def _options(tests: tuple[str, ...], scratch: str, seconds: int = _SECONDS) -> list[str]:
    options = ["-x", "-q", "-s", "-p", "no:cacheprovider", f"--timeout={seconds}", f"--basetemp={scratch}/tests"]
    return [*options, *(str(_ROOT / "tests" / test) for test in tests)]


def _changes(file: str) -> list[Change]:
    """Every change that results in a different program."""
    path = _SOURCE / file
    tree = ast.parse(path.read_text())
    whole = compile(tree, str(path), "exec")
    changed = (
        Change(line, what, compile(one, str(path), "exec"), _reach(tree, line)) for line, what, one in mutants(tree)
    )
    return [change for change in changed if change.code != whole]


def _reach(tree: ast.Module, line: int) -> range:
    """The lines of the function that contains this line, or of the whole file."""
    for node in ast.walk(tree):
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef() if node.body[0].lineno <= line <= (node.end_lineno or 0):
                return range(node.lineno, (node.end_lineno or 0) + 1) if not node.decorator_list else _ANYWHERE
            case _:
                continue
    return _ANYWHERE


@cache
def _reached(tests: tuple[str, ...], scratch: str) -> Reached:
    """The fastest tests first."""

    def run(pipe: int) -> int:
        reached = _Reached()
        status = pytest.main(_options(tests, scratch, _SECONDS_WATCHED), plugins=[reached])
        with os.fdopen(pipe, "w") as out:
            json.dump(reached.quickest(), out)
        return status

    status, said = _apart(run)
    if status != 0:
        sys.exit(f"{' '.join(tests)}: these tests fail without any change")
    return json.loads(said)


def _missed(file: str, changes: Sequence[Change], scratch: str) -> list[Change]:
    """The changes, made in place, that no test that reaches them notices."""

    def run(pipe: int) -> int:
        trial = _Trial(file, changes, reached)
        status = pytest.main(_options(_tests(file), scratch), plugins=[trial])
        os.write(pipe, " ".join(map(str, trial.missed)).encode())
        return status

    reached = _reached(_tests(file), scratch)
    status, numbers = _apart(run)
    if status != 0:
        sys.exit(f"{file}: its changes could not be tried")
    return [changes[int(number)] for number in numbers.split()]


def _survives_afresh(file: str, change: Change, scratch: str) -> bool:
    def run(_pipe: int) -> int:
        sys.meta_path.insert(0, _Finder(_module(file), _SOURCE / file, change.code))
        return pytest.main(_options(_tests(file), scratch))

    return _apart(run)[0] == 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="*", default=_GATE)
    parser.add_argument("--every", type=int, default=1, help="try only every N-th change")
    parser.add_argument("--start", type=int, default=0, help="start with the K-th change")
    parser.add_argument("--quick", action="store_true", help="do not retry afresh; may report too many")
    args = parser.parse_args()
    os.chdir(_ROOT)
    survived = 0
    with tempfile.TemporaryDirectory() as scratch:
        for file in args.files:
            changes = _changes(file)[args.start :: args.every]
            missed = _missed(file, changes, scratch)
            left = [change for change in missed if args.quick or _survives_afresh(file, change, scratch)]
            survived += len(left)
            print("".join(f"{file}:{change.line}: {change.what}\n" for change in left), end="")
            print(f"# {file}: {len(left)} of {len(changes)} changes survived", flush=True)
    return 1 if survived else 0


if __name__ == "__main__":
    sys.exit(main())
