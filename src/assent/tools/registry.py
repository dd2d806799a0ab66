"""The tools of a session: lookup, listing, schemas for the model, and suggestions for unknown names.

Tools may be promised: what the model is told about them is known, and their code is loaded when one of them is used.
"""

from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping

from assent.events import FileChange
from assent.parts import Declaration
from assent.tools.tool import AnyTool, ToolFacts

REPEATABLE = ("read", "search", "execute", "fetch")
"""The kinds of tool whose output the model can get again."""


class DuplicateTool(ValueError):
    """Two tools with the same name: the second would shadow the first."""


Load = Callable[[], Iterable[AnyTool]]


class _Together:
    """Tools that are loaded together."""

    def __init__(self, load: Load) -> None:
        self._load = load
        self._tools: dict[str, AnyTool] | None = None

    def get(self, name: str) -> AnyTool:
        if self._tools is None:
            self._tools = {tool.name: tool for tool in self._load()}
        return self._tools[name]


class _Promised:
    def __init__(self, facts: ToolFacts, together: _Together) -> None:
        self.facts = facts
        self._together = together

    def keep(self) -> AnyTool:
        return self._together.get(self.facts.name)


def _facts(tool: AnyTool | _Promised) -> ToolFacts:
    return tool.facts if isinstance(tool, _Promised) else tool.facts()


def _for_model(tool: AnyTool | _Promised) -> bool:
    return tool.facts.for_model if isinstance(tool, _Promised) else tool.for_model


def _server(tool: AnyTool | _Promised) -> str:
    """Only built-in tools are promised."""
    return "" if isinstance(tool, _Promised) else tool.server


class Registry:
    def __init__(self, tools: Iterable[AnyTool] = ()) -> None:
        self._tools: dict[str, AnyTool | _Promised] = {}
        self._excluded: frozenset[str] = frozenset()
        self._declarations: tuple[Declaration, ...] | None = None
        self._waits: list[Callable[[str], Awaitable[None]]] = []
        self._changes: Mapping[str, FileChange] = {}
        for tool in tools:
            self.add(tool)

    def add(self, tool: AnyTool) -> None:
        tool.look_back_on(self._changes)
        self._add(tool.name, tool)

    def promise(self, facts: Iterable[ToolFacts], load: Load) -> None:
        """Add tools that `load` creates when the first of them is needed."""
        together = _Together(load)
        for each in facts:
            self._add(each.name, _Promised(each, together))

    def _add(self, name: str, tool: "AnyTool | _Promised") -> None:
        if name in self._tools:
            raise DuplicateTool(f"two tools are called {name!r}")
        self._tools[name] = tool
        self._declarations = None

    def exclude(self, names: Iterable[str]) -> None:
        """Do not offer these tools to the model. People can still use them."""
        self._excluded |= frozenset(names)
        self._declarations = None

    def offers(self, name: str) -> bool:
        """Whether the model may call this tool."""
        tool = self._tools.get(name)
        return tool is not None and _for_model(tool) and name not in self._excluded

    def discard(self, name: str) -> None:
        if self._tools.pop(name, None) is not None:
            self._declarations = None

    def replace_server(self, server: str, tools: Iterable[AnyTool]) -> None:
        """Replace all tools of one server; the next model request includes them."""
        self._tools = {name: tool for name, tool in self._tools.items() if _server(tool) != server}
        self._declarations = None
        for tool in tools:
            self.add(tool)

    def hand_over(self, changes: Mapping[str, FileChange]) -> None:
        """Give the tools, those to come as well, access to the changes made by the session's calls."""
        self._changes = changes
        for tool in self._tools.values():
            if not isinstance(tool, _Promised):
                tool.look_back_on(changes)

    def __contains__(self, name: str) -> bool:
        return name in self._tools

    def get(self, name: str) -> AnyTool | None:
        tool = self._tools.get(name)
        if isinstance(tool, _Promised):
            tool = self._tools[name] = tool.keep()
            tool.look_back_on(self._changes)
        return tool

    def await_with(self, wait: Callable[[str], Awaitable[None]]) -> None:
        """Some tools arrive later: `wait` returns when the tool of this name is there, or will not come."""
        self._waits.append(wait)

    async def find(self, name: str) -> AnyTool | None:
        """Like `get`, but waits for a tool that has not arrived yet, e.g. for a question from before a restart."""
        for wait in self._waits:
            if name not in self._tools:
                await wait(name)
        return self.get(name)

    def may_prune(self, name: str) -> bool:
        """Whether the model can get the output of this tool again. What people said, and notes, it cannot."""
        tool = self._tools.get(name)
        kind = tool.facts.kind if isinstance(tool, _Promised) else tool and tool.kind
        return kind in REPEATABLE

    def __iter__(self) -> Iterator[AnyTool]:
        return (tool for name in self.names() if (tool := self.get(name)) is not None)

    def names(self) -> list[str]:
        return list(self._tools)

    def declarations(self) -> tuple[Declaration, ...]:
        """Every request includes them, so the schemas are built once."""
        if self._declarations is None:
            offered = (_facts(tool) for name, tool in self._tools.items() if self.offers(name))
            self._declarations = tuple(Declaration(facts.name, facts.description, facts.schema) for facts in offered)
        return self._declarations

    def not_found(self, name: str) -> str:
        """What to tell the model if it asks for an unknown tool."""
        return f'Tool "{name}" not found.{self._suggestion(name)}'

    def _suggestion(self, name: str) -> str:
        from rapidfuzz import process
        from rapidfuzz.distance import Levenshtein

        offered = [declaration.name for declaration in self.declarations()]
        nearest = process.extract(name, offered, scorer=Levenshtein.distance, limit=3)
        quoted = [f'"{match[0]}"' for match in nearest]
        match quoted:
            case []:
                return ""
            case [only]:
                return f" Did you mean {only}?"
            case several:
                return f" Did you mean one of: {', '.join(several)}?"
