"""save_memory, as it is declared: one fact for all conversations to come. What a call does is in `save_memory_call`."""

from typing import Annotated

from msgspec import Meta, Struct

from assent.tools.base import InvalidParams, Invocation, Tool
from assent.tools.files import Files, check_text

LONGEST_FACT = 2_000


class SaveMemoryParams(Struct, frozen=True, forbid_unknown_fields=True):
    fact: Annotated[str, Meta(description="The fact, as one short sentence that makes sense on its own.")]


class SaveMemoryTool(Tool[SaveMemoryParams]):
    name = "save_memory"
    display_name = "SaveMemory"
    description = (
        "Remembers a fact about the user or their wishes for all conversations to come. Use it when the user asks to "
        "remember something, or states a lasting preference; not for what only matters in this conversation."
    )
    kind = "think"
    exact = True
    main_argument = "fact"
    params = SaveMemoryParams

    def __init__(self, memory: Files, name: str) -> None:
        """`memory` is the folder of the user's settings, `name` the context file in it."""
        self.memory = memory
        self.file = name

    def invocation(self, params: SaveMemoryParams) -> Invocation:
        from assent.tools.save_memory_call import SaveMemoryInvocation

        check_text(params.fact, "fact")
        if not params.fact.strip():
            raise InvalidParams("fact must not be empty")
        if len(params.fact) > LONGEST_FACT:
            raise InvalidParams(f"fact must not be longer than {LONGEST_FACT} characters; remember what matters of it")
        return SaveMemoryInvocation(self, params)
