"""Other words for exactly the same command, in which a rule names it: `pnpm lint` is `pnpm run lint`, `make -C . test`
is `make test`.

What runs are the words that the rule names, so nothing runs that it does not allow.
"""

from msgspec.structs import replace

from assent.lazy_pattern import lazy_pattern
from assent.plan import Stage, Word
from assent.policy.shell.command_rules import CommandRules, covering, program
from assent.policy.shell.synonyms import other_words

_RUNNERS = frozenset(("pnpm", "yarn", "bun"))
_BUILDERS = frozenset(("make", "gmake", "ninja"))
_SCRIPT = lazy_pattern(r"[A-Za-z0-9_][\w:.-]*")
_HERE = frozenset((".", "./"))
_SCRIPT_WORDS = 3


def as_named(stage: Stage, rules: CommandRules) -> Stage:
    """The command in the words of a rule, if it has none in its own."""
    name = program(stage.words[0].text)
    if name in _BUILDERS:
        return _without_folder(stage)
    if name not in _RUNNERS or not all(word.literal for word in stage.words[:_SCRIPT_WORDS]):
        return stage
    words, named = _other_form(stage.words)
    own, other = (tuple(one.text for one in form) for form in (stage.words, words))
    known = covering(rules.allow, other)
    if known is None or len(known) < named or len(covering(rules.allow, own) or ()) > 1:
        return stage
    return replace(stage, words=words)


def _other_form(words: tuple[Word, ...]) -> tuple[tuple[Word, ...], int]:
    """A script with or without `run`, and how many words a rule must have to name it. Sub-commands of the package
    manager are not scripts.
    """
    known = other_words(program(words[0].text))
    match [word.text for word in words[:_SCRIPT_WORDS]]:
        case [_, "run", script, *_] if _SCRIPT.fullmatch(script) and script not in known:
            return (words[0], *words[2:]), 2
        case [_, script, *_] if _SCRIPT.fullmatch(script) and script not in known:
            return (words[0], Word("run"), *words[1:]), _SCRIPT_WORDS
        case _:
            return words, len(words) + 1


def _without_folder(stage: Stage) -> Stage:
    """Without `-C .` right behind the program, which changes nothing."""
    words = stage.words
    match [word.text if word.literal else "" for word in words[1:3]]:
        case ["-C" | "--directory", here] if here in _HERE:
            return replace(stage, words=(words[0], *words[3:]))
        case [glued, *_] if glued in ("-C.", "-C./", "--directory=.", "--directory=./"):
            return replace(stage, words=(words[0], *words[2:]))
        case _:
            return stage
