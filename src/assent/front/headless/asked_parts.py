"""The model's questions, asked one by one: which one is next, how to answer it, and what has been answered."""

from collections.abc import Iterator

from msgspec import Struct

from assent.app.question_text import asked_lines
from assent.app.spoken_answers import NoAnswer, in_one_line, spoken_answer, spoken_answers, ways_to_answer
from assent.app.style import Style
from assent.approval import Question

BACK = "<"


class Declined(Struct, frozen=True):
    reason: str


class NextPart(Struct, frozen=True):
    """There is another question to answer."""

    said: str = ""
    """The answer that was taken; empty if the person went back."""


class AskedParts:
    def __init__(self, questions: tuple[Question, ...]) -> None:
        self._questions = questions
        self._answers: list[str] = []

    @property
    def _question(self) -> Question:
        return self._questions[len(self._answers)]

    @property
    def _place(self) -> str:
        """Which of several questions it is; empty for a single one."""
        return f"({len(self._answers) + 1} of {len(self._questions)}) " if len(self._questions) > 1 else ""

    def lines(self, style: Style) -> Iterator[str]:
        """The question that is next."""
        first, *others = asked_lines(self._question, style)
        yield f"{self._place}{first}"
        yield from others

    def keys(self) -> Iterator[str]:
        """What else may be typed."""
        yield "d  decline to answer, with or without a reason: d ask me later"
        if len(self._questions) > 1:
            yield f"{BACK}  go back to the previous question"
            yield f"y  all answers in one line: {in_one_line(self._questions)}"

    def prompt(self) -> str:
        return f"{self._place}your answer ({ways_to_answer(self._question)}): "

    def take(self, typed: str) -> tuple[str, ...] | NextPart | Declined:
        """All answers, once there are all. Raises NoAnswer."""
        line = typed.strip()
        key, _, rest = line.partition(" ")
        key, rest = key.lower(), rest.strip()
        if line == BACK and len(self._questions) > 1:
            return self._back()
        if key == "y" and rest:
            return self._prefixed(rest)
        if key == "d" and (rest or not self._names_option(line)):
            return Declined(rest)
        self._check_single(line)
        return self._add(spoken_answer(self._question, line))

    def _back(self) -> NextPart:
        if not self._answers:
            raise NoAnswer("this is the first question")
        self._answers.pop()
        return NextPart()

    def _names_option(self, line: str) -> bool:
        return line.lower() in (option.label.strip().lower() for option in self._question.options)

    def _prefixed(self, text: str) -> tuple[str, ...] | NextPart:
        """With `y` in front, several answers or the exact words."""
        if ";" in text and len(self._questions) > 1 and not self._answers:
            return spoken_answers(self._questions, text)
        try:
            return self._add(spoken_answer(self._question, text))
        except NoAnswer:
            return self._add(text)

    def _check_single(self, line: str) -> None:
        """All answers at once, but without the key, would otherwise be taken for one."""
        if len(self._questions) > 1 and not self._answers and line.count(";") == len(self._questions) - 1:
            raise NoAnswer(f"to give all answers in one line, begin with y: {in_one_line(self._questions)}")

    def _add(self, answer: str) -> tuple[str, ...] | NextPart:
        self._answers.append(answer)
        return tuple(self._answers) if len(self._answers) == len(self._questions) else NextPart(answer)
