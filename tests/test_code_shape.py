"""The shape of the code: unique names of modules, files that can be read in one go, one file per tool, and structs
created by keyword.
"""

import ast
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[1] / "src/assent"
MAX_POSITIONAL_FIELDS = 5
MAX_LINES = 500
SHORT = ("Part", "Verdict")
"""Created in dozens of places from the first two or three fields: `Verdict("ask", "rule", why)`."""


def test_no_two_modules_have_the_same_name():
    names = Counter(path.name for path in SOURCE.rglob("*.py") if path.stem not in ("__init__", "__main__"))
    assert [name for name, times in names.items() if times > 1] == []


def test_no_file_is_too_long_to_read_in_one_go():
    lengths = {path.name: len(path.read_text(encoding="utf-8").splitlines()) for path in SOURCE.rglob("*.py")}
    assert {name: length for name, length in lengths.items() if length > MAX_LINES} == {}


def test_every_tool_has_a_file_of_its_own():
    tools = {path.name: [one.name for one in classes(path, "Tool[")] for path in (SOURCE / "tools").glob("*.py")}
    assert sum(map(len, tools.values())) > 15, "the tools were not found"
    assert {name: found for name, found in tools.items() if len(found) > 1} == {}


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


def classes(path: Path, base: str) -> Iterator[ast.ClassDef]:
    for node in ast.parse(path.read_bytes()).body:
        if isinstance(node, ast.ClassDef) and any(ast.unparse(one).startswith(base) for one in node.bases):
            yield node


def fields(struct: ast.ClassDef) -> list[ast.AnnAssign]:
    return [line for line in struct.body if isinstance(line, ast.AnnAssign) and "ClassVar" not in ast.unparse(line)]


def is_kw_only(struct: ast.ClassDef) -> bool:
    return any(keyword.arg == "kw_only" and ast.unparse(keyword.value) == "True" for keyword in struct.keywords)
