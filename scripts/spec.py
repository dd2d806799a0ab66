"""Prints every row of docs/spec.md with the tests that prove it, and how many rows are fully implemented.

Fails if a row that counts has no test, if a planned one has some, or if a test names a row that does not exist.
"""

import ast
import re
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
ROW = re.compile(r"^- ([A-Z]\d+[a-z]?) (?:\((planned|partly)\) )?(.*)$", re.MULTILINE)
Proofs = Mapping[str, Sequence[str]]


class Row(NamedTuple):
    id: str
    mark: str
    """`planned`, `partly`, or empty for a row that counts."""
    words: str


def rows() -> list[Row]:
    return [Row(*found) for found in ROW.findall((ROOT / "docs" / "spec.md").read_text(encoding="utf-8"))]


def tests() -> Proofs:
    found: defaultdict[str, list[str]] = defaultdict(list)
    for path in sorted((ROOT / "tests").rglob("test_*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        for row, name in marks(tree):
            found[row].append("::".join(filter(None, (str(path.relative_to(ROOT)), name))))
    return found


def marks(tree: ast.Module) -> Iterator[tuple[str, str]]:
    """The rows named by the marks of functions and classes, and by `pytestmark` for the whole file."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield from ((row, node.name) for decorator in node.decorator_list for row in spec_rows(decorator))
    for node in tree.body:
        if isinstance(node, ast.Assign) and any(ast.unparse(target) == "pytestmark" for target in node.targets):
            yield from ((row, "") for part in ast.walk(node.value) for row in spec_rows(part))


def spec_rows(node: ast.AST) -> list[str]:
    """The rows named by `pytest.mark.spec("A1", …)`."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "spec":
        return [word.value for word in node.args if isinstance(word, ast.Constant) and isinstance(word.value, str)]
    return []


def problems(known: Sequence[Row], proofs: Proofs) -> Iterator[str]:
    for row, times in Counter(row.id for row in known).items():
        if times > 1:
            yield f"{row} occurs {times} times"
    for row in known:
        if not row.mark and not proofs.get(row.id):
            yield f"{row.id} has no test; is it planned?"
        if row.mark == "planned" and proofs.get(row.id):
            yield f"{row.id} is planned, but has tests: {', '.join(proofs[row.id])}"
    for row in sorted(set(proofs) - {row.id for row in known}):
        yield f"tests name the row {row}, which does not exist: {', '.join(proofs[row])}"


def show(row: Row, proven_by: Sequence[str]) -> None:
    print(f"{row.id:<4} {row.mark or f'{len(proven_by)} tests':<9} {row.words[:90]}")
    for test in proven_by:
        print(f"       {test}")


def main() -> int:
    known, proofs = rows(), tests()
    for row in known:
        show(row, proofs.get(row.id, ()))
    wrong = list(problems(known, proofs))
    print("\n".join(f"! {problem}" for problem in wrong))
    count = Counter(row.mark for row in known)
    print(
        f"{count['']} of {len(known)} rows are implemented and proven by tests; "
        f"{count['partly']} are implemented in part, {count['planned']} are planned."
    )
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
