"""`propose_plan`: in plan mode, the model shows its plan, and the person decides how to continue.

An accepted plan becomes the to-do list, and ends plan mode; what the person writes instead goes back to the model.
Offered in plan mode only.
"""

from typing import Annotated

from msgspec import Meta, Struct

from assent.approval import AskDetails, Choice, Mode, Question
from assent.parts import PlainDisplay, Todo, TodosDisplay
from assent.tools.declared import PLAN
from assent.tools.support.files import check_text
from assent.tools.tool import InvalidParams, Invocation, Live, Permit, Resources, Tool, ToolFailed, ToolResult

MAX_STEPS = 30
CHOICES: dict[str, Mode] = {
    "Carry it out": "default",
    "Carry it out, with edits that run without asking": "auto_edit",
}
NOT_YET = "Keep planning"


class ProposePlanParams(Struct, frozen=True, forbid_unknown_fields=True):
    steps: Annotated[tuple[str, ...], Meta(description="What you would do, in order; one short sentence each.")]
    summary: Annotated[str, Meta(description="The plan in a few sentences: what changes, where, and why.")] = ""


class ProposePlanTool(Tool[ProposePlanParams]):
    name = PLAN
    display_name = "Plan"
    description = (
        "Plan mode is read-only. When you know what to do, show the user your plan with this tool and wait for the "
        "decision: if it is accepted, plan mode ends and you carry the plan out; otherwise, change it as the user says."
    )
    kind = "other"
    exact = True
    params = ProposePlanParams

    def invocation(self, params: ProposePlanParams) -> Invocation:
        if not 1 <= len(params.steps) <= MAX_STEPS:
            raise InvalidParams(f"a plan has 1 to {MAX_STEPS} steps, not {len(params.steps)}")
        if any(not step.strip() for step in params.steps):
            raise InvalidParams("every step needs a description")
        for text in (*params.steps, params.summary):
            check_text(text, "plan")
        return ProposePlanInvocation(params)


class ProposePlanInvocation(Invocation):
    def __init__(self, params: ProposePlanParams) -> None:
        self._params = params

    def describe(self) -> str:
        return f"a plan with {len(self._params.steps)} steps" if len(self._params.steps) > 1 else "a plan with one step"

    def resources(self) -> Resources:
        return Resources(things=("todos",))

    async def should_confirm(self) -> AskDetails:
        steps = [f"- {step}" for step in self._params.steps]  # the numbers belong to the answers
        text = "\n".join([*([self._params.summary, "", "Steps:"] if self._params.summary else []), *steps])
        options = tuple(Choice(label) for label in (*CHOICES, NOT_YET))
        return AskDetails((Question(question=text, header="Plan", options=options, placeholder="what to change"),))

    async def execute(self, permit: Permit, live: Live) -> ToolResult:
        if permit.answers is None:
            raise ToolFailed("no_answer", "Nobody decided about the plan. Describe it, and wait.")
        (answer,) = permit.answers
        if answer not in CHOICES:
            said = "The user wants to continue planning." if answer == NOT_YET else f"The user says: {answer}"
            return ToolResult({"accepted": False, "answer": said}, PlainDisplay(answer))
        steps = tuple(Todo(step, "pending") for step in self._params.steps)
        told = "The plan is accepted, and is now the list of steps. Carry it out."
        return ToolResult({"accepted": True, "mode": CHOICES[answer], "answer": told}, TodosDisplay(steps))
