"""Prints every row of docs/spec.md with the tests that prove it; fails when a row that is not planned has none."""

import ast
import re
import sys
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
ROW = re.compile(r"^- ([A-J]\d+) (\(planned\) )?(.*)$", re.MULTILINE)


def rows() -> list[tuple[str, bool, str]]:
    text = (ROOT / "docs" / "spec.md").read_text(encoding="utf-8")
    return [(row, bool(planned), words) for row, planned, words in ROW.findall(text)]


def tests() -> dict[str, list[str]]:
    found: dict[str, list[str]] = defaultdict(list)
    for path in sorted((ROOT / "tests").rglob("test_*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                for row in marks(node):
                    found[row].append(f"{path.relative_to(ROOT)}::{node.name}")
        for row in module_marks(path):
            found[row].append(str(path.relative_to(ROOT)))
    return found


def marks(node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) -> list[str]:
    return [row for decorator in node.decorator_list for row in spec_rows(decorator)]


def module_marks(path: Path) -> list[str]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    assigned = (node.value for node in tree.body if isinstance(node, ast.Assign) and is_pytestmark(node))
    return [row for value in assigned for node in ast.walk(value) for row in spec_rows(node)]


def is_pytestmark(node: ast.Assign) -> bool:
    return any(isinstance(target, ast.Name) and target.id == "pytestmark" for target in node.targets)


def spec_rows(node: ast.AST) -> list[str]:
    """The rows named by `pytest.mark.spec("A1", …)`."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "spec":
        return [argument.value for argument in node.args if isinstance(argument, ast.Constant)]
    return []


def main() -> int:
    proofs = tests()
    known = rows()
    missing = [row for row, planned, _ in known if not planned and not proofs[row]]
    for row, planned, words in known:
        state = "planned" if planned and not proofs[row] else f"{len(proofs[row])} tests"
        print(f"{row:<4} {state:<9} {words[:90]}")
        for test in proofs[row]:
            print(f"       {test}")
    unknown = set(proofs) - {row for row, _, _ in known}
    for row in sorted(unknown):
        print(f"! tests name the row {row}, which does not exist: {proofs[row]}")
    for row in missing:
        print(f"! {row} has no test")
    done = sum(bool(proofs[row]) for row, _, _ in known)
    print(f"{done} of {len(known)} rows have tests, {len(missing)} are missing one")
    return 1 if missing or unknown else 0


if __name__ == "__main__":
    sys.exit(main())
