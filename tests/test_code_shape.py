"""The shape of the code: one name for each module, files that can be read in one go, and structs created by keyword."""

import ast
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[1] / "src/assent"
MAX_POSITIONAL_FIELDS = 5
SHORT = ("Verdict",)
"""Created in dozens of places from the first three fields: `Verdict("ask", "rule", why)`."""


def test_no_two_modules_have_the_same_name():
    names = Counter(path.name for path in SOURCE.rglob("*.py") if path.stem not in ("__init__", "__main__"))
    assert [name for name, times in names.items() if times > 1] == []


def test_structs_with_many_fields_are_created_by_keyword():
    wide = [
        struct
        for path in SOURCE.rglob("*.py")
        for struct in structs(path)
        if len(fields(struct)) > MAX_POSITIONAL_FIELDS
    ]
    assert len(wide) > 50, "the structs were not found"
    assert [struct.name for struct in wide if not is_kw_only(struct) and struct.name not in SHORT] == []


def structs(path: Path) -> Iterator[ast.ClassDef]:
    for node in ast.walk(ast.parse(path.read_bytes())):
        if isinstance(node, ast.ClassDef) and any(
            ast.unparse(base).endswith(("Struct", "Event")) for base in node.bases
        ):
            yield node


def fields(struct: ast.ClassDef) -> list[ast.AnnAssign]:
    return [line for line in struct.body if isinstance(line, ast.AnnAssign) and "ClassVar" not in ast.unparse(line)]


def is_kw_only(struct: ast.ClassDef) -> bool:
    return any(keyword.arg == "kw_only" and ast.unparse(keyword.value) == "True" for keyword in struct.keywords)
