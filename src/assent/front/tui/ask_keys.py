"""The keys of a question that the model asks. "No" is an answer to a yes/no question; not to answer is to decline."""

from collections.abc import Sequence

from assent.app.question_text import is_yes_or_no, option_labels
from assent.approval import AskDetails, Details, Question
from assent.front.tui.ask_draft import AskDraft

DIGITS = "123456789"
DECLINE = (("d", "decline"), ("r", "decline, because…"))
OWN_WORDS = ("a", "own words…")


def chosen_at_once(questions: Sequence[Question]) -> list[str]:
    """The labels that a number chooses, if one number is a complete answer."""
    if len(questions) != 1 or questions[0].multi_select:
        return []
    labels = option_labels(questions[0])
    return labels if len(labels) <= len(DIGITS) else []


def ticked_later(questions: Sequence[Question]) -> str:
    """The numbers of options that can be ticked, if there is one question: a number opens the list, and ticks there."""
    if len(questions) != 1 or not questions[0].multi_select:
        return ""
    return DIGITS[: len(option_labels(questions[0]))]


def answered_by(key: str, details: Details) -> str | None:
    """The option that this key answers."""
    if not isinstance(details, AskDetails):
        return None
    labels = chosen_at_once(details.questions)
    if is_yes_or_no(details) and key in ("y", "n"):
        return labels["yn".index(key)]
    return labels[int(key) - 1] if key in DIGITS[: len(labels)] else None


def ask_keys(draft: AskDraft, *, selects: bool) -> list[tuple[str, str]]:
    """Each with its meaning. `selects`: the options come first, one below the other, each with a key of its own."""
    labels = chosen_at_once(draft.questions)
    if is_yes_or_no(AskDetails(draft.questions)):
        own_words = OWN_WORDS if selects else ("a", "own words (Enter)")
        return [("y", "Yes"), ("n", "No"), own_words, *DECLINE]
    if labels and selects:
        return [*zip(DIGITS, labels, strict=False), OWN_WORDS, *DECLINE]
    ticked = ticked_later(draft.questions)
    ticks = [("–".join(ticked[:: max(len(ticked) - 1, 1)]), "tick one or more")] if ticked else []
    return [*ticks, ("y", _answer_words(draft, len(labels), selects=selects)), *DECLINE]


def _answer_words(draft: AskDraft, options: int, *, selects: bool) -> str:
    how = [] if selects else ["Enter"]
    how += [f"or 1–{options}"] if options else []
    how += [f"{draft.given} of {len(draft.questions)} given"] if draft.given else []
    return f"answer ({', '.join(how)})" if how else "answer"
