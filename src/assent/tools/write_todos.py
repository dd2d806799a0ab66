"""write_todos: the model's own to-do list, shown to the person and kept with the session."""

from typing import Annotated

from msgspec import Meta, Struct

from assent.parts import Todo, TodosDisplay
from assent.tools.support.files import check_text
from assent.tools.tool import InvalidParams, Invocation, Live, Permit, Resources, Tool, ToolResult

MAX_TODOS = 100


class WriteTodosParams(Struct, frozen=True, forbid_unknown_fields=True):
    todos: Annotated[
        tuple[Todo, ...],
        Meta(description="The whole list, in order; it replaces the previous one. At most one step is in_progress."),
    ]


class WriteTodosTool(Tool[WriteTodosParams]):
    name = "write_todos"
    display_name = "Todos"
    description = (
        "Writes the list of steps of a larger task, for the user to follow. Send the whole list each time a step "
        "changes; keep exactly one step in_progress while you work. Not needed for simple tasks."
    )
    kind = "think"
    exact = True
    params = WriteTodosParams

    def invocation(self, params: WriteTodosParams) -> Invocation:
        if len(params.todos) > MAX_TODOS:
            raise InvalidParams(f"todos has {len(params.todos)} steps; the maximum is {MAX_TODOS}")
        if any(not todo.description.strip() for todo in params.todos):
            raise InvalidParams("every step needs a description")
        if sum(todo.status == "in_progress" for todo in params.todos) > 1:
            raise InvalidParams("only one step can be in_progress at a time")
        for todo in params.todos:
            check_text(todo.description, "description")
        return WriteTodosInvocation(params)


class WriteTodosInvocation(Invocation):
    def __init__(self, params: WriteTodosParams) -> None:
        self._todos = params.todos

    def describe(self) -> str:
        done = sum(todo.status == "completed" for todo in self._todos)
        return f"{done} of {len(self._todos)} done"

    def resources(self) -> Resources:
        return Resources(things=("todos",))

    async def execute(self, permit: Permit, live: Live) -> ToolResult:
        if not self._todos:
            return ToolResult("The list is now empty.", TodosDisplay(()))
        lines = [f"{number}. [{todo.status}] {todo.description}" for number, todo in enumerate(self._todos, start=1)]
        return ToolResult("\n".join(["The list is now:", *lines]), TodosDisplay(self._todos))
