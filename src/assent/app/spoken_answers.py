"""What a person types in answer to the model's questions: numbers, labels, their own words, or several of these.

Nothing here is dangerous to get wrong, so words need no key in front of them. But an empty line is no answer, and
neither is a single letter that is a key elsewhere.
"""

import re
from collections.abc import Iterator, Sequence

from assent.app.question_text import NONE_OF_THESE, option_labels
from assent.approval import Question

_BETWEEN_NUMBERS = re.compile(r"[\s,&+]+|\band\b", re.IGNORECASE)
_BEFORE_WORDS = re.compile(r"(?<=\d)\s+(?:and|&|\+)\s+(?=\D)", re.IGNORECASE)
_NONE = ("none", "0", NONE_OF_THESE)
_KEYS = ("y", "n")


class NoAnswer(ValueError):
    """What was typed answers nothing; the message says why, and how to answer."""


def ways_to_answer(question: Question) -> str:
    """What may be typed, in a few words."""
    numbers = f"1–{len(option_labels(question))}"
    match question.type:
        case "yesno":
            return "y, n, or your own words"
        case "text":
            return "your own words"
        case "choice" if question.multi_select:
            return f"one or more of {numbers}, none, or your own words"
        case "choice":
            return f"{numbers} or your own words"


def spoken_answer(question: Question, typed: str) -> str:
    """The answer to one question. Raises NoAnswer."""
    line = typed.strip()
    if not line:
        raise NoAnswer(f"nothing was typed; answer with {ways_to_answer(question)}")
    if (label := _label(question, line)) is not None:
        return label
    if line.lower() in _KEYS and question.type != "yesno":
        raise NoAnswer(f"`{line}` alone answers nothing here; answer with {ways_to_answer(question)}")
    return _several(question, line) if question.multi_select and question.options else _one(question, line)


def spoken_answers(questions: Sequence[Question], line: str) -> tuple[str, ...]:
    """The answers to several questions in one line, separated by `;`. Raises NoAnswer."""
    pieces = line.split(";")
    if len(pieces) != len(questions):
        raise NoAnswer(
            f"that is {len(pieces)} of {len(questions)} answers; separate them with `;`: {in_one_line(questions)}"
        )
    return tuple(_numbered(place, questions, piece) for place, piece in enumerate(pieces))


def _numbered(place: int, questions: Sequence[Question], piece: str) -> str:
    try:
        return spoken_answer(questions[place], piece)
    except NoAnswer as error:
        raise NoAnswer(
            f"({place + 1} of {len(questions)}) {error}; all in one line: {in_one_line(questions)}"
        ) from None


def in_one_line(questions: Sequence[Question]) -> str:
    """An example of all answers at once."""
    return f"y {'; '.join(map(_example, questions))}"


def _example(question: Question) -> str:
    match question.type:
        case "yesno":
            return "yes"
        case "text":
            return "words"
        case "choice":
            return "1, 2" if question.multi_select else "1"


def _label(question: Question, line: str) -> str | None:
    """The option that is meant; its number counts before a label that looks like another number."""
    labels = option_labels(question)
    if _is_number(line) and 1 <= int(line) <= len(labels):
        return labels[int(line) - 1]
    if question.type == "yesno" and line.lower() in _KEYS:
        return "Yes" if line.lower() == "y" else "No"
    return next((label for label in labels if label.strip().lower() == line.lower()), None)


def _one(question: Question, line: str) -> str:
    numbers = _numbers(line)
    if len(numbers) > 1 and question.options and all(1 <= n <= len(question.options) for n in numbers):
        raise NoAnswer(f"choose one; answer with {ways_to_answer(question)}")
    _check_number(question, line, numbers)
    return line


def _several(question: Question, line: str) -> str:
    """The options in their own order, then the person's words."""
    if line.lower() in _NONE:
        return NONE_OF_THESE
    labels = option_labels(question)
    chosen: set[str] = set()
    words: list[str] = []
    for piece in _pieces(line):
        numbers = _numbers(piece)
        _check_number(question, line, numbers)
        if numbers:
            chosen.update(labels[number - 1] for number in numbers)
        elif (label := _label(question, piece)) is not None:
            chosen.add(label)
        else:
            words.append(piece)
    return ", ".join([*(label for label in dict.fromkeys(labels) if label in chosen), *words]) if chosen else line


def _pieces(line: str) -> Iterator[str]:
    """What stands between commas. In `1 and dark mode`, the numbers and the words are two pieces."""
    for piece in filter(None, map(str.strip, line.split(","))):
        found = _BEFORE_WORDS.search(piece)
        if found is not None and _numbers(piece[: found.start()]):
            yield from (piece[: found.start()], piece[found.end() :])
        else:
            yield piece


def _numbers(text: str) -> list[int]:
    """The numbers, if there is nothing else."""
    words = [word for word in _BETWEEN_NUMBERS.split(text) if word]
    return [int(word) for word in words] if words and all(_is_number(word) for word in words) else []


def _is_number(word: str) -> bool:
    return word.isascii() and word.isdecimal() and len(word) < 10


def _check_number(question: Question, line: str, numbers: Sequence[int]) -> None:
    """A number that no option has is more likely a slip than a word."""
    labels = option_labels(question)
    if labels and (wrong := [number for number in numbers if not 1 <= number <= len(labels)]):
        raise NoAnswer(
            f"there is no option {wrong[0]}; answer with {ways_to_answer(question)}; to send it as words: y {line}"
        )
