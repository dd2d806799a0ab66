"""Commands that a program such as redis-cli or psql gets as text: in its words, as its input or from a file.

Serves the deny and ask rules, so it finds too much rather than too little, and says when it cannot know.
"""

import re
from collections.abc import Iterator

from assent.lazy_pattern import lazy_pattern
from assent.plan import Word
from assent.policy.shell.command_rules import loose
from assent.policy.shell.command_survey import Found
from assent.policy.shell.synonyms import same_program, synonyms

_ENDS = lazy_pattern(r"\\[nr]|[\n;]")
_WORD = lazy_pattern(r"[\w.:*@$/-]+")
_PLAIN_ECHO = lazy_pattern(r"\s*echo\s+(?!-)[^\\$`|&<>(){}*?\[\]~]*")
_FILES = lazy_pattern(r"-[aAbeElnqsStwxXz01]*f.*|--f(?:ile|il|i)?(?:=.*)?|-b.*|-init|-i")
_READS_FILE = lazy_pattern(
    r"\\i[r\s]|\\\.|\.(?:read|import|shell|system)\b|\bsource\b|\\!|redis\.p?call\b.*\.\.", re.IGNORECASE
)
# Statements that run what a query or a script puts together, or what is stored.
_COMPUTES = lazy_pattern(
    r"\b(?:execute|prepare|fcall|evalsha)(?:_ro)?\b|\bdo\s*(?:\\?\$|')|\\g(?:exec|set)|redis\s*\[|p?call\s*\(\s*[^'\"\s]|\bstring\."
    r"|\bloadstring\b|(?<![\w:]):['\"]?[a-z_]",
    re.IGNORECASE,
)
_COMMENT = lazy_pattern(r"/\*!?\d*|\*/")  # MySQL runs what is in `/*! … */`
_ESCAPED = lazy_pattern(r"\\(?![nrt'\"])")
_MAX_STATEMENTS = 40
_MAX_LENGTH = 4_000


def console(command: Found) -> str:
    """How the program is told what to do, if it is a console: an option, or `words`."""
    return synonyms(same_program(loose(command.words[0].text))).console


def statements(command: Found) -> Iterator[tuple[tuple[Word, ...], bool]]:
    """What a console is told to do, as words behind its name, and whether that is certain."""
    if not (option := console(command)):
        return
    first = (command.words[0], *([] if option == "words" else [Word(option)]))
    texts = [word.text for word in command.words[1:]]
    given = [(one, True) for text in texts for one in (text, text[2:] if text[:1] == "-" else "") if " " in one]
    given += [(command.input, _is_known(command))] if command.input else []
    for text, sure in given:
        for one in _ENDS.split(_COMMENT.sub(" ", text[:_MAX_LENGTH]))[:_MAX_STATEMENTS]:
            yield (*first, *map(Word, _WORD.findall(one))), sure


def reads_unknown(command: Found) -> bool:
    """Whether a console obeys an input or a file that is only known at run time."""
    option = console(command)
    texts = [word.text for word in command.words[1:]]
    told = any(" " in text for text in texts) if option == "words" else any(text.startswith(option) for text in texts)
    texts += ["-f"] if option == "words" and "--eval" in texts else []
    given = (*texts, command.input)
    if any(_READS_FILE.search(text) or _COMPUTES.search(text) for text in given) or any(map(_FILES.fullmatch, texts)):
        return bool(option)
    unknown = bool(command.input_file) or (bool(command.input or command.piped) and not _is_known(command))
    long = len(command.input) > _MAX_LENGTH or any(len(text) > _MAX_LENGTH for text in texts)
    return bool(option) and ((unknown and not told) or long)


def _is_known(command: Found) -> bool:
    """A here-document without expansions, or what a plain `echo` prints."""
    if _ESCAPED.search(command.input):  # `"FLUSH\x41LL"`
        return False
    return not command.piped or _PLAIN_ECHO.fullmatch(command.input) is not None
