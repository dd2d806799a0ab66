"""Secrets behind other names: a link to a key, or a wildcard that matches one.

The shell gate judges words by their text; here the disk is asked what they stand for in this moment. It looks at names
only and opens nothing.
"""

import glob
import os
from collections.abc import Iterator
from itertools import islice

from assent.files.protected import why_secret
from assent.plan import Plan, Stage, Word, paths_in
from assent.policy.folders import expanded, value, with_folders
from assent.policy.shell.paths import secret
from assent.policy.shell.rules import program
from assent.policy.shell.sweep import shows_content

_MOST_MATCHES = 2_000


def secret_behind(plan: Plan) -> str | None:
    """Why the plan may show a secret that its text does not name."""
    for stage, folders in with_folders(plan):
        if not folders:
            return "it changes its folder too often to look for secrets behind its names"
        if shows_content(program(stage.words[0].text)):
            why = next((why for cwd in folders if (why := _behind(stage, cwd))), None)
            if why is not None:
                return why
    return None


def _behind(stage: Stage, cwd: str) -> str | None:
    words = [*stage.words[1:], *(one.target for one in stage.redirects if isinstance(one.target, Word))]
    for word in words:
        matches = list(islice(_matches(word, cwd), _MOST_MATCHES + 1))
        if len(matches) > _MOST_MATCHES:
            return f"`{word.text}` matches more than {_MOST_MATCHES} files, too many to look for secrets among them"
        found = next((path for path in matches if _leads_to_secret(path, cwd, wild=_is_wild(word))), None)
        if found is not None:
            return f"`{word.text}` leads to {os.path.realpath(os.path.join(cwd, found))}, which may hold secrets"
    return None


def _leads_to_secret(path: str, cwd: str, *, wild: bool) -> bool:
    """A name that was written out has been judged already; what it links to has not."""
    full = os.path.join(cwd, path)
    real = os.path.realpath(full)
    changed = real != os.path.normpath(full)
    return bool((wild and why_secret(path.split("/"))) or (changed and secret(Word(real), "/")))


def _matches(word: Word, cwd: str) -> Iterator[str]:
    if not _is_wild(word):
        return iter(paths_in(expanded(word, cwd)))
    parts = (part.text if part.kind == "glob" else glob.escape(value(part.kind, part.text, cwd)) for part in word.parts)
    return glob.iglob("".join(parts), root_dir=cwd)


def _is_wild(word: Word) -> bool:
    return any(part.kind == "glob" for part in word.parts)
