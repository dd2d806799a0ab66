"""What a person has answered so far to questions of the model: kept until it is sent, even while no screen is open."""

from assent.app.question_text import NONE_OF_THESE, option_labels
from assent.approval import Question


class Reply:
    """The answer to one question: options, or own words; both, if several options can be ticked.

    Text that was typed stays, even if an option is chosen instead.
    """

    def __init__(self) -> None:
        self.chosen: set[int] = set()
        self.words = ""
        self.own = False
        """Whether the words are the answer."""
        self.given = False


class AskDraft:
    def __init__(self, questions: tuple[Question, ...]) -> None:
        self.questions = questions
        self.place = 0
        """The question that is being answered."""
        self._replies = [Reply() for _ in questions]

    @property
    def question(self) -> Question:
        return self.questions[self.place]

    @property
    def reply(self) -> Reply:
        return self._replies[self.place]

    @property
    def labels(self) -> list[str]:
        return option_labels(self.question)

    @property
    def writes(self) -> bool:
        """Whether the question can only be answered in own words."""
        return not self.labels

    @property
    def number(self) -> str:
        """Which of several questions it is; empty for a single one."""
        return f"{self.place + 1} of {len(self.questions)}" if len(self.questions) > 1 else ""

    @property
    def given(self) -> int:
        return sum(reply.given for reply in self._replies)

    @property
    def nothing(self) -> bool:
        """Whether nothing is ticked or written."""
        return not self.reply.chosen and not self.reply.words.strip()

    def choose(self, places: set[int]) -> bool:
        self.reply.chosen, self.reply.own = places, False
        return self._next()

    def write(self, words: str) -> bool:
        if (place := _yes_or_no(self.question, words)) is not None:
            return self.choose({place})
        self.reply.words, self.reply.own = words, True
        return self._next()

    def _next(self) -> bool:
        """Goes to the next question; false if this was the last."""
        self.reply.given = True
        if self.place + 1 == len(self.questions):
            return False
        self.place += 1
        return True

    def back(self) -> bool:
        """Goes to the question before; false if this is the first."""
        if not self.place:
            return False
        self.place -= 1
        return True

    @property
    def answers(self) -> tuple[str, ...]:
        return tuple(_said(*pair) for pair in zip(self.questions, self._replies, strict=True))


def _yes_or_no(question: Question, words: str) -> int | None:
    """The place of the option that was written out, or begun."""
    said = words.strip().lower()
    labels = [label.lower() for label in option_labels(question)] if question.type == "yesno" else []
    return next((place for place, label in enumerate(labels) if said in (label, label[0])), None)


def _said(question: Question, reply: Reply) -> str:
    labels = option_labels(question)
    chosen = [labels[place] for place in sorted(reply.chosen)]
    if question.multi_select:
        return ", ".join(filter(None, (*chosen, reply.words.strip()))) or NONE_OF_THESE
    return reply.words if reply.own else ", ".join(chosen)
