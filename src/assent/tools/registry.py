"""The tools of a session: lookup, listing, schemas for the model, and suggestions for unknown names."""

from collections.abc import Awaitable, Callable, Iterable, Iterator

from assent.parts import Declaration
from assent.tools.tool import AnyTool


class DuplicateTool(ValueError):
    """Two tools with the same name: the second would shadow the first."""


class Registry:
    def __init__(self, tools: Iterable[AnyTool] = (), *, exclude: Iterable[str] = ()) -> None:
        self._tools: dict[str, AnyTool] = {}
        self._excluded = frozenset(exclude)
        self._declarations: tuple[Declaration, ...] | None = None
        self._waits: list[Callable[[str], Awaitable[None]]] = []
        for tool in tools:
            self.add(tool)

    def add(self, tool: AnyTool) -> None:
        if tool.name in self._excluded:
            return
        if tool.name in self._tools:
            raise DuplicateTool(f"two tools are called {tool.name!r}")
        self._tools[tool.name] = tool
        self._declarations = None

    def discard(self, name: str) -> None:
        if self._tools.pop(name, None) is not None:
            self._declarations = None

    def replace_server(self, server: str, tools: Iterable[AnyTool]) -> None:
        """Replace all tools of one server; the next model request includes them."""
        self._tools = {name: tool for name, tool in self._tools.items() if tool.server != server}
        self._declarations = None
        for tool in tools:
            self.add(tool)

    def get(self, name: str) -> AnyTool | None:
        return self._tools.get(name)

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
        tool = self.get(name)
        return tool is not None and tool.kind in ("read", "search", "execute", "fetch")

    def __iter__(self) -> Iterator[AnyTool]:
        return iter(self._tools.values())

    def names(self) -> list[str]:
        return list(self._tools)

    def declarations(self) -> tuple[Declaration, ...]:
        """Every request includes them, so the schemas are built once."""
        if self._declarations is None:
            self._declarations = tuple(
                Declaration(tool.name, tool.description, tool.schema()) for tool in self if tool.for_model
            )
        return self._declarations

    def not_found(self, name: str) -> str:
        """What to tell the model if it asks for an unknown tool."""
        return f'Tool "{name}" not found.{self._suggestion(name)}'

    def _suggestion(self, name: str) -> str:
        from rapidfuzz import process
        from rapidfuzz.distance import Levenshtein

        offered = [tool.name for tool in self if tool.for_model]
        nearest = process.extract(name, offered, scorer=Levenshtein.distance, limit=3)
        quoted = [f'"{match[0]}"' for match in nearest]
        match quoted:
            case []:
                return ""
            case [only]:
                return f" Did you mean {only}?"
            case several:
                return f" Did you mean one of: {', '.join(several)}?"
