"""ask_user: questions for the person, answered through an approval like everything that waits for one.

The answers come with the permit, never with the arguments, so a model cannot give them itself. If nobody can be asked,
the call is refused before it gets here.
"""

from typing import Annotated

from msgspec import Meta, Struct

from assent.approval import AskDetails, Question
from assent.parts import PlainDisplay
from assent.tools.support.files import check_text
from assent.tools.tool import InvalidParams, Invocation, Live, Permit, Resources, Tool, ToolFailed, ToolResult

MAX_QUESTIONS = 4
MIN_OPTIONS, MAX_OPTIONS = 2, 4


class AskUserParams(Struct, frozen=True, forbid_unknown_fields=True):
    questions: Annotated[tuple[Question, ...], Meta(description="One to four related questions.")]


class AskUserTool(Tool[AskUserParams]):
    name = "ask_user"
    display_name = "AskUser"
    description = (
        "Asks the user and waits for the answer: a choice of 2 to 4 options (the user may also answer freely), "
        "a text, or yes/no. Ask only what you cannot find out yourself and what affects what you do next."
    )
    kind = "other"
    exact = True
    params = AskUserParams

    def invocation(self, params: AskUserParams) -> Invocation:
        if not 1 <= len(params.questions) <= MAX_QUESTIONS:
            raise InvalidParams(f"ask between 1 and {MAX_QUESTIONS} questions at a time")
        for question in params.questions:
            _check(question)
        return AskUserInvocation(params.questions)


def _check(question: Question) -> None:
    check_text(question.question, "question")
    if not question.question.strip():
        raise InvalidParams("a question must not be empty")
    options = len(question.options)
    if question.type == "choice" and not MIN_OPTIONS <= options <= MAX_OPTIONS:
        raise InvalidParams(f"a choice needs {MIN_OPTIONS} to {MAX_OPTIONS} options, not {options}")
    if any(not option.label.strip() for option in question.options):
        raise InvalidParams("every option needs a label")


class AskUserInvocation(Invocation):
    def __init__(self, questions: tuple[Question, ...]) -> None:
        self._questions = questions

    def describe(self) -> str:
        return " ".join(self._questions[0].question.split())

    def resources(self) -> Resources:
        return Resources()

    async def should_confirm(self) -> AskDetails:
        return AskDetails(self._questions)

    async def execute(self, permit: Permit, live: Live) -> ToolResult:
        if permit.answers is None:
            raise ToolFailed(
                "no_answer", "Nobody answered the question. Continue without an answer, or say what you need to know."
            )
        lines = [
            f"{question.question}\n  {answer}" for question, answer in zip(self._questions, permit.answers, strict=True)
        ]
        answers = {str(place): answer for place, answer in enumerate(permit.answers)}
        return ToolResult({"answers": answers}, PlainDisplay("\n".join(lines)))
