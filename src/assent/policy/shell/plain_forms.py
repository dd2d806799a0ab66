"""Rewrites bash forms as simpler ones with the same meaning, which are then judged and run instead.

`[[ -f x ]]` is `[ -f x ]` if it has no pattern and no arithmetic, `[[ a && b ]]` is `[ a ] && [ b ]`, and `"$(cat
<<'EOF' … EOF)"` is a multi-line text. Knows what they mean, not whether they may run.
"""

from msgspec.structs import replace

from assent.lazy_pattern import lazy_pattern
from assent.plan import Group, Join, Part, Redirect, Stage, Step, Word
from assent.policy.shell.lexer import Refused

_ABOUT_ONE = frozenset(f"-{letter}" for letter in "bcdefghknpLrsSuwxz")
_COMPARING = {"=": "=", "==": "=", "!=": "!=", "-nt": "-nt", "-ot": "-ot", "-ef": "-ef"}
_COUNTING = frozenset(("-eq", "-ne", "-lt", "-le", "-gt", "-ge"))
_NUMBER = lazy_pattern(r"-?\d+")
CONDITIONS: dict[str, Join] = {"&&": "&&", "||": "||"}


def as_test(stage: Stage) -> Stage | Group:
    """A condition in double brackets as one or more calls of the program `[`. Raises Refused."""
    if stage.words[0].text != "[[":
        return stage
    *words, last = stage.words[1:] or (Word(""),)
    joins: list[Join] = [CONDITIONS[word.text] for word in words if word.text in CONDITIONS]
    if last != Word("]]") or stage.env or len(set(joins)) > 1:  # `&&` and `||` have another precedence in brackets
        raise Refused("a condition in double brackets that is not plain")
    if not joins:
        return _one_test(stage, words)
    tests = [_one_test(replace(stage, redirects=()), part) for part in _parts(words)]
    joined: list[Join] = [";", *joins]
    return Group(
        tuple(Step(join, (test,)) for join, test in zip(joined, tests, strict=True)), redirects=stage.redirects
    )


def _parts(words: list[Word]) -> list[list[Word]]:
    parts: list[list[Word]] = [[]]
    for word in words:
        if word.text in CONDITIONS:
            parts.append([])
        else:
            parts[-1].append(word)
    return parts


def _one_test(stage: Stage, words: list[Word]) -> Stage:
    negated = bool(words) and words[0] == Word("!")
    condition = words[1:] if negated else words[:]
    if not all(map(_is_whole, condition)):
        raise Refused("a condition in double brackets that is not plain")
    match [word.text for word in condition]:
        case [first, compared, second] if compared in _COUNTING:
            # The program only compares numbers; bash would evaluate whatever it gets.
            if not (_NUMBER.fullmatch(first) and _NUMBER.fullmatch(second)):
                raise Refused("a condition in double brackets that is not plain")
        case [about, _] if about in _ABOUT_ONE:
            pass
        case [first, compared, _] if compared in _COMPARING and not first.startswith(("-", "(", "!")):
            condition[1] = Word(_COMPARING[compared])
        case _:
            raise Refused("a condition in double brackets that is not plain")
    return replace(stage, words=(Word("["), *words[: int(negated)], *condition, Word("]")))


def _is_whole(word: Word) -> bool:
    """Whether it is one word in both forms: double brackets do no word splitting or globbing."""
    return all(part.kind in ("text", "variable") or part.quoted for part in word.parts) and not any(
        part.kind == "glob" for part in word.parts
    )


def as_text(part: Part) -> Part:
    """A quoted here-document that `cat` prints, as the text itself."""
    match part.steps:
        case (step,) if part.quoted and len(step.stages) == 1 and not step.negated and not step.timed:
            stage = step.stages[0]
        case _:
            return part
    if not isinstance(stage, Stage) or stage.words != (Word("cat"),) or stage.env or len(stage.redirects) != 1:
        return part
    match stage.redirects[0]:
        case Redirect(kind="text", fd=0, target=str(text)):
            return Part("text", text.rstrip("\n"), quoted=True)
        case _:
            return part
