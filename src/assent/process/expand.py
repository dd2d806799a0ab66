"""Expands the words of a plan into arguments as bash would: variables, wildcards, and the output of other commands.

Values known only now are checked before anything starts. It starts no program and opens no file.
"""

import glob
import os
import re
from collections.abc import Callable
from typing import TYPE_CHECKING

from assent.process.file_limits import Refusal

if TYPE_CHECKING:
    from assent.plan import Part, Stage, Word

Look = Callable[["Part"], str]
Field = list[tuple[str, bool]]
"""The pieces of one argument, and whether wildcards in them are active."""

_PLAIN_NAME = re.compile(r"[A-Za-z0-9_](?:(?!\.\.)[\w.:/+-])*")
_BLANKS = re.compile(r"[ \t\n]+")
_WILD = re.compile(r"[*?\[]")
# A commit, branch, tag or range that cannot be mistaken for an option, a path elsewhere, or a file in a commit
# (`HEAD:.env`).
_REVISION = re.compile(r"\^?\w(?:(?!/\.\./)[\w./@^~{}+-])*")


# `-x` is an option, `@x` a file of options, `|x` a command, `host:x` another machine, `HEAD:x` a file in git.
_MORE_THAN_A_NAME = re.compile(r"[!-\-:-@\[-^`{-~]|[^/]*:")


def arguments(word: "Word", look: Look, cwd: str) -> list[str]:
    """The arguments that a word expands to; `look` resolves one part of it. Raises Refusal."""
    if word.literal:
        return [word.text]
    return [text for field in _fields(word, look) for text in _matches(field, cwd, _is_computed(word))]


def _is_computed(word: "Word") -> bool:
    return any(part.item or part.kind in ("item", "output", "status") for part in word.parts)


def _fields(word: "Word", look: Look) -> list[Field]:
    fields: list[Field] = []
    field: Field | None = None
    for part in word.parts:
        if part.item == "+":
            continue  # it belongs to the previous part
        splits = (part.kind in ("item", "output", "status") or part.item) and not part.quoted
        pieces = _BLANKS.split(look(part)) if splits else [look(part)]
        for at, piece in enumerate(pieces):
            if at and field is not None:
                fields.append(field)
                field = None
            if piece or not splits:
                field = [*(field or []), (piece, part.kind == "glob" or bool(splits))]
    return fields if field is None else [*fields, field]


def _matches(field: Field, cwd: str, computed: bool) -> list[str]:
    """The files that a wildcard matches, or the text itself. A match can only look like a file."""
    plain = "".join(text for text, _ in field)
    if not any(wild and _WILD.search(text) for text, wild in field):
        return [plain]
    pattern = "".join(text if wild else glob.escape(text) for text, wild in field)
    found = sorted(glob.glob(pattern, root_dir=cwd))
    if found and computed:
        raise Refusal(f"{plain}: an unquoted wildcard that was not checked; put it in quotes")
    fixed = field[0][0].startswith("-") and not field[0][1]
    return [one if fixed or not _MORE_THAN_A_NAME.match(one) else "./" + one for one in found] or [plain]


def check_unknown(stage: "Stage", word: "Word", found: list[str], cwd: str, is_secret: Callable[[str], bool]) -> None:
    """Check that the program may get what a word turned out to be. Raises Refusal."""
    if not word.unknown or stage.unknown == "text":
        return
    if stage.unknown == "name":
        _check_name(stage, word, found)
        return
    for at, text in enumerate(found):
        if not stage.unknown or (text.startswith("-") and not (at == 0 and word.fixed)):
            raise Refusal(f"{text}: a computed word must not be an option here")
        if stage.unknown == "revision" and (not _REVISION.fullmatch(text) or is_secret(f"/{text}")):
            raise Refusal(f"{text}: a computed word must be the name of a commit here")
        if stage.unknown == "file" and is_secret(os.path.realpath(os.path.join(cwd, text))):
            raise Refusal(f"{text}: may hold secrets")


def _check_name(stage: "Stage", word: "Word", found: list[str]) -> None:
    """It must be one word: in quotes, any text where text is expected; otherwise a plain name."""
    quoted = all(part.quoted for part in word.parts if part.kind in ("output", "item", "status"))
    is_text = quoted and any(stage.words[at] is word for at in stage.texts)
    if len(found) != 1 or not (is_text or _PLAIN_NAME.fullmatch(found[0])):
        raise Refusal(f"{' '.join(found)}: a computed word must be one plain name here")


def as_word(output: bytes) -> str:
    """The output of a command, as part of a word."""
    return os.fsdecode(output.replace(b"\0", b"").rstrip(b"\n"))
