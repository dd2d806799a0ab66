"""The context of a part of a plan: its folder, its input and output, and how the last pipeline ended."""

from msgspec import Struct
from msgspec.structs import replace


class PlanFrame(Struct, kw_only=True):
    """Like that of a shell. A subshell gets a copy."""

    cwd: str
    input: int
    output: int
    errors: int
    status: int = 0
    items: dict[str, str] = {}
    """The current word of each enclosing loop."""

    def copy(self) -> "PlanFrame":
        return replace(self, items=dict(self.items))

    def descriptors(self) -> list[int]:
        return [self.input, self.output, self.errors]
