"""What other names stand for: secrets (a link to a key, a hard link to it, a wildcard that matches it), and places
outside that a link leads to.

The shell gate judges words by their text; this module checks on disk what they stand for right now. It looks at names
only and opens nothing.
"""

import glob
import os
from collections.abc import Iterator, Sequence
from itertools import dropwhile, islice, takewhile

from assent.files.hard_links import TooManyFiles, secrets_by_links, secrets_with_second_names, why_second_name
from assent.files.protected import secret_files, why_secret
from assent.files.workspace import links_around, links_at_top, names_by_links
from assent.git_folder import folders_of, included_by, leads_outside, split_options
from assent.git_part import names_beyond, part_of_repository
from assent.lazy_pattern import lazy_pattern
from assent.plan import Plan, Stage, Word, paths_in
from assent.policy.cwd_tracking import expanded, is_wild, value, with_folders
from assent.policy.shell.command_rules import program
from assent.policy.shell.options import examine
from assent.policy.shell.outside_words import READS_ANYWHERE
from assent.policy.shell.paths import inside, secret
from assent.policy.shell.recursive_search import shows_content, walks

_MAX_MATCHES = 2_000
_PATHSPEC = lazy_pattern(r"^:|[*?\[\\]")
_STREAMS = ("/dev/stdin", "/dev/stdout", "/dev/stderr", "/dev/null")
_SYSTEM = ("/usr/", "/bin/", "/lib/", "/lib64/", "/opt/", "/etc/alternatives/")


def secret_behind(plan: Plan) -> str | None:
    """Why the plan may show a secret that its text does not name."""
    for stage, folders in with_folders(plan):
        if not folders:
            return "it changes its folder too often to check its file names for secrets"
        name = program(stage.words[0].text)
        why = next((why for cwd in folders if (why := _stage(name, stage, cwd, plan.roots))), None)
        if why is not None:
            return why
    return None


def place_behind(plan: Plan) -> str | None:
    """Why a program that does more than read may work outside the workspace: a word of it is a link that leads there,
    as in `make -C link`.
    """
    roots = [os.path.realpath(root) for root in plan.roots]
    for stage, folders in with_folders(plan):
        if program(stage.words[0].text) in READS_ANYWHERE:
            continue
        words = [(word.text, os.path.join(cwd, text)) for word, cwd, text in _named_places(stage, folders)]
        for text, path in (*words, *((cwd, cwd) for cwd in folders)):
            real = os.path.realpath(path)
            if inside(os.path.normpath(path), plan.roots) and not inside(real, roots) and not _is_installed(real):
                return f"`{text}` leads to {real}, outside the workspace"
    return None


def _named_places(stage: Stage, folders: Sequence[str]) -> Iterator[tuple[Word, str, str]]:
    return ((word, cwd, text) for word in stage.words[1:] for cwd in folders for text in paths_in(expanded(word, cwd)))


def _is_installed(path: str) -> bool:
    """`.venv/bin/python` leads to the installed one."""
    return path.startswith(_SYSTEM) and os.path.isfile(path)


def repository_behind(plan: Plan) -> str | None:
    """Why git would read outside the workspace: a repository may keep its files or objects elsewhere, and words may
    name a part of it that is outside.
    """
    for stage, folders in with_folders(plan):
        words = [word.text for word in stage.words]
        at = next((at for at, word in enumerate(words) if program(word) == "git"), None)
        if at is None:
            continue
        before, rest = split_options(words[at + 1 :])
        texts = {one - (len(words) - len(rest)) for one in stage.texts}
        for cwd in (os.path.join(cwd, *folders_of(before)) for cwd in folders):
            if why := leads_outside(cwd, plan.roots) or _beyond(cwd, plan.roots, rest, texts) or _includes(cwd, plan):
                return why
    return None


def _includes(cwd: str, plan: Plan) -> str | None:
    """Git takes an included file for settings, and quotes it when it is not."""
    roots = [os.path.realpath(root) for root in plan.roots]
    for path in included_by(cwd, roots):
        real = os.path.realpath(path)
        plain = inside(real, roots) or "gitconfig" in os.path.basename(path)
        if not plain or any(secret(Word(one), "/") for one in (path, real)):
            return f"the settings of the git repository include {path}"
    return None


def _beyond(cwd: str, roots: Sequence[str], words: Sequence[str], texts: set[int]) -> str | None:
    part = part_of_repository(cwd, roots)
    word = None if part is None else names_beyond(part, cwd, words, texts)
    return None if word is None else f"`{word}` reaches outside the workspace, which is only part of the repository"


def _stage(name: str, stage: Stage, cwd: str, roots: Sequence[str]) -> str | None:
    if name == "git" and (why := _in_history(stage, cwd, roots)) is not None:
        return why
    if stage.hides:  # git shows changes of any files
        return _may_come_upon_linked(stage, cwd, roots)
    if _comes_upon_files(name, stage):
        why = _may_come_upon_twin(roots) or _may_come_upon_linked(stage, cwd, roots)
        if why is not None:
            return why
    if name == "find":
        return _starts_outside(stage, cwd, roots)
    return _behind(stage, cwd, roots) if shows_content(name) else None


def _in_history(stage: Stage, cwd: str, roots: Sequence[str]) -> str | None:
    """`git show HEAD:conf/dev` shows what `.env -> conf/dev` leads to."""
    for word in stage.words[1:]:
        _, colon, path = word.text.partition(":")
        places = [os.path.join(place, path) for place in (cwd, *roots)] if colon and path else []
        if any(_leads_to_secret(place, cwd, roots, wild=False) for place in places if os.path.lexists(place)):
            return f"`{word.text}` is a version of a file that may hold secrets"
        if (why := _first_twin(places, cwd, roots)) is not None:
            return f"`{word.text}`: {why}"
    return None


def _comes_upon_files(name: str, stage: Stage) -> bool:
    """Whether it opens files that no word names."""
    if shows_content(name) and any(word.unknown for word in stage.words):  # `cat $(ls)`
        return True
    texts = [word.text for word in stage.words]
    if name in ("find", "xargs"):
        return name == "xargs" or "-exec" in texts
    use = examine(name, stage.words)
    return use is not None and walks(use)


def _may_come_upon_twin(roots: Sequence[str]) -> str | None:
    """A search recognizes secrets by name, and one of them has a second name."""
    try:
        twin = next(iter(secrets_with_second_names(roots).values()), None)
    except TooManyFiles:
        return None  # nobody gives a secret a second name by chance; naming that file needs approval
    return None if twin is None else f"{twin} has a second name (hard link), under which a search may find it"


def _may_come_upon_linked(stage: Stage, cwd: str, roots: Sequence[str]) -> str | None:
    """With `.env -> conf/dev`, a search of `conf` finds a secret under a name that does not tell."""
    linked = {leads: name for leads, name in _led(roots).items() if not secret(Word(leads), "/")}  # skipped by name
    if not linked:
        return None
    texts = [text for word in _searched(stage) for text in matches_of(word, cwd)]
    start = roots if stage.hides else [cwd]  # git searches the whole repository
    searched = [os.path.realpath(path) for path in [os.path.join(cwd, text) for text in texts] or start]
    for leads, name in linked.items():
        if inside(leads, searched) or any(inside(place, [leads]) for place in searched):
            return f"{name} leads to {leads}, which a search may find"
    return None


def _searched(stage: Stage) -> list[Word]:
    """The words that say where to search; none means the current folder."""
    words = list(stage.words[1:])
    if stage.hides:  # before `--`, git may take a word for a commit, and after it for a pattern
        paths = list(dropwhile(lambda word: word.text != "--", words))[1:]
        return [] if any(_PATHSPEC.search(word.text) for word in paths) else paths
    match program(stage.words[0].text):
        case "find":
            return list(takewhile(lambda word: not word.text.startswith("-"), words))
        case name:
            use = examine(name, stage.words)
            return [] if use is None else use.reads


def _led(roots: Sequence[str]) -> dict[str, str]:
    """Where links with the names of secrets lead; in a workspace that is too large to check, those at its top, which
    are also known at once.
    """
    top = {leads: name for name, leads in links_at_top(roots) if why_secret((name,))}
    try:
        return secrets_by_links(roots) | top
    except TooManyFiles:
        return top


def _starts_outside(stage: Stage, cwd: str, roots: Sequence[str]) -> str | None:
    """A starting folder that is in the workspace by name only: what is found there is judged by name."""
    real_roots = [os.path.realpath(root) for root in roots]
    for word in stage.words[1:]:
        path = os.path.join(cwd, expanded(word, cwd))
        if inside(os.path.normpath(path), roots) and not inside(os.path.realpath(path), real_roots):
            return f"`{word.text}` leads to {os.path.realpath(path)}, outside the workspace"
    return None


def _behind(stage: Stage, cwd: str, roots: Sequence[str]) -> str | None:
    named = [word for word in stage.words[1:] if not word.text.startswith("--exclude=")]
    for word in (*named, *(one.target for one in stage.redirects if isinstance(one.target, Word))):
        matches = list(islice(matches_of(word, cwd), _MAX_MATCHES + 1))
        if len(matches) > _MAX_MATCHES:
            return f"`{word.text}` matches more than {_MAX_MATCHES} files, too many to check for secrets"
        if program(stage.words[0].text) == "diff":
            if found := _in_capitals(matches, cwd):
                return f"`{word.text}` contains {found}, which may hold secrets"
            matches += [
                os.path.join(folder, name) for folder in matches for name in entries(os.path.join(cwd, folder))
            ]  # with `-r` it is told not to follow links
        found = next((path for path in matches if _leads_to_secret(path, cwd, roots, wild=is_wild(word))), None)
        if found is not None:
            return f"`{word.text}` leads to {os.path.realpath(os.path.join(cwd, found))}, which may hold secrets"
        if (why := _first_twin(matches, cwd, roots)) is not None:
            return f"`{word.text}`: {why}"
    return None


def _in_capitals(folders: Sequence[str], cwd: str) -> str | None:
    """A secret in one of these folders that `diff` is not told to skip: it compares names case-sensitively."""
    found = (path for folder in folders for path in secret_files(os.path.join(cwd, folder)))
    return next((path for path in found if os.path.basename(path) != os.path.basename(path).lower()), None)


def entries(folder: str) -> list[str]:
    """The names in a folder; none if it is not one."""
    try:
        return os.listdir(folder)
    except OSError:
        return []


def _first_twin(paths: Sequence[str], cwd: str, roots: Sequence[str]) -> str | None:
    """Why one of these files may be a workspace secret under another name."""
    return next((why for path in paths if (why := why_second_name(os.path.join(cwd, path), roots))), None)


def _leads_to_secret(path: str, cwd: str, roots: Sequence[str], *, wild: bool) -> bool:
    """A name that was written out has been judged; its link target has not, and neither have the names that links give
    it (`.env -> conf/dev`).
    """
    full = os.path.join(cwd, path)
    if full in _STREAMS:
        return False
    real = os.path.realpath(full)
    changed = real != os.path.normpath(full)
    if (wild and why_secret(path.split("/"))) or (changed and secret(Word(real), "/")):
        return True
    return any(map(why_secret, names_by_links(links_around(roots, real), real)))


def matches_of(word: Word, cwd: str) -> Iterator[str]:
    """The files that a word stands for: the current matches of a wildcard, or the file it names."""
    if not is_wild(word):
        return iter(paths_in(expanded(word, cwd)))
    parts = (part.text if part.kind == "glob" else glob.escape(value(part.kind, part.text, cwd)) for part in word.parts)
    return glob.iglob("".join(parts), root_dir=cwd)
