"""Promised tools: the model is told about them at once, and their code is loaded with the first use."""

import subprocess
import sys
from pathlib import Path

from assent.events import FileChange
from assent.files.workspace import Workspace
from assent.tools.builtin import builtin_tools
from assent.tools.declared import builtin_facts, search_facts
from assent.tools.registry import Registry
from assent.tools.tool import AnyTool
from assent.tools.undo import UndoTool

SCRIPT = Path(__file__).resolve().parents[2] / "scripts" / "declare_tools.py"


class Loader:
    def __init__(self) -> None:
        self.loads = 0

    def __call__(self) -> list[AnyTool]:
        self.loads += 1
        return builtin_tools(Workspace(["/"], "/"), memory="/ASSENT.md")


def promised(loader: Loader) -> Registry:
    registry = Registry()
    registry.promise(builtin_facts(), loader)
    return registry


def test_the_declared_tools_are_those_that_exist() -> None:
    ran = subprocess.run([sys.executable, SCRIPT, "--check"], capture_output=True, text=True)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert [facts.name for facts in search_facts()] == ["web_search"]


def test_all_sessions_share_what_is_declared() -> None:
    """Each would otherwise need 44 kB more while it is open."""
    assert all(one is other for one, other in zip(builtin_facts(), builtin_facts(), strict=True))


def test_promised_tools_look_like_loaded_ones_to_the_model() -> None:
    loader = Loader()
    registry, loaded = promised(loader), Registry(loader())
    assert registry.declarations() == loaded.declarations()
    assert registry.names() == loaded.names()
    assert [registry.may_prune(name) for name in registry.names()] == [loaded.may_prune(n) for n in loaded.names()]
    assert "read_file" in registry
    assert loader.loads == 1  # by `loaded` alone


def test_promised_tools_are_loaded_once_with_the_first_use() -> None:
    loader = Loader()
    registry = promised(loader)
    first, again = registry.get("read_file"), registry.get("read_file")
    assert [tool.name for tool in registry] == registry.names()
    assert first is again
    assert loader.loads == 1


def test_a_promised_tool_that_was_discarded_is_gone() -> None:
    registry = promised(Loader())
    registry.discard("glob")
    assert registry.get("glob") is None
    assert "glob" not in [declaration.name for declaration in registry.declarations()]


def test_a_promised_undo_knows_the_changes_of_the_session() -> None:
    changes: dict[str, FileChange] = {}
    registry = promised(Loader())
    registry.hand_over(changes)
    undo = registry.get("undo")
    assert isinstance(undo, UndoTool)
    assert undo.changes is changes
