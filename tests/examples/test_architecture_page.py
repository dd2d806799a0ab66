"""docs/architecture.md names modules and packages that exist, and its tree has every package."""

import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SOURCE = ROOT / "src/assent"
PAGE = (ROOT / "docs/architecture.md").read_text(encoding="utf-8")
_BLOCK = re.compile(r"^ *```.*?^ *```\n", re.MULTILINE | re.DOTALL)
_MODULE = re.compile(r"[\w/]+\.py\b")
_PACKAGE = re.compile(r"((?:  )+)(\w+)/ ")
_IN_CODE_STYLE = re.compile(r"`([^`\n]+\.py)`")


def tree() -> list[str]:
    (block,) = (block for block in _BLOCK.findall(PAGE) if "src/assent/\n" in block)
    return block.splitlines()[2:-1]


def described() -> Iterator[tuple[Path, str]]:
    """Each line of the tree with the folder it describes. A continuation line describes the same folder."""
    path: list[str] = []
    for line in tree():
        if found := _PACKAGE.match(line):
            depth = len(found[1]) // 2
            path = [*path[: depth - 1], found[2]]
        elif re.match(r" {2}\w", line):
            path = []
        yield SOURCE.joinpath(*path), line


def exists(module: str) -> bool:
    """A path from the package or the project, or the name of exactly one module."""
    if "/" in module:
        return (SOURCE / module).is_file() or (ROOT / module).is_file()
    return len(list(SOURCE.rglob(module))) == 1


def test_every_module_in_the_tree_exists_in_its_package() -> None:
    named = [(folder, module) for folder, line in described() for module in _MODULE.findall(line)]
    assert len(named) > 100, "the tree was not found"
    assert [module for folder, module in named if not ((SOURCE if "/" in module else folder) / module).is_file()] == []


def test_the_tree_has_every_package_and_no_other() -> None:
    packages = {path.parent for path in SOURCE.rglob("__init__.py")}
    shown = {folder for folder, _ in described()}
    assert packages - shown == set()
    assert {folder for folder in shown if not folder.is_dir()} == set()


def test_every_module_in_code_style_exists() -> None:
    modules = _IN_CODE_STYLE.findall(_BLOCK.sub("", PAGE))
    assert len(modules) > 30, "no modules were found"
    assert [module for module in modules if not exists(module)] == []
