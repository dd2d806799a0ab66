"""What other names stand for: secrets (a link to a key, a hard link to it, a wildcard that matches it), and places to
write that a link leads to.

The shell gate judges words by their text; this module checks on disk what they stand for right now. It looks at names
only and opens nothing.
"""

import glob
import os
from collections.abc import Iterator, Sequence
from itertools import islice, takewhile

from msgspec import Struct

from assent.files.hard_links import TooManyFiles, secrets_by_links, secrets_with_second_names, why_second_name
from assent.files.protected import secret_files, shadowing, why_secret
from assent.files.workspace import links_at_top, links_around, names_by_links
from assent.git_folder import folders_of, included_by, leads_outside, split_options
from assent.git_part import names_beyond, part_of_repository
from assent.plan import Plan, Stage, Word, paths_in
from assent.policy.cwd_tracking import expanded, is_wild, value, with_folders
from assent.policy.shell.command_rules import program
from assent.policy.shell.exact_rules import PYTHON
from assent.policy.shell.options import examine
from assent.policy.shell.outside_words import READS_ANYWHERE
from assent.policy.shell.paths import inside, protected, secret
from assent.policy.shell.recursive_search import shows_content, walks

_MAX_MATCHES = 2_000
_STREAMS = ("/dev/stdin", "/dev/stdout", "/dev/stderr", "/dev/null")
_SYSTEM = ("/usr/", "/bin/", "/lib/", "/lib64/", "/opt/", "/etc/alternatives/")
_BRINGING = (("cp",), ("mv",), ("ln",), ("git", "mv"))
_RECURSIVE = ("-r", "-R", "-a", "--recursive", "--archive")


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


def write_behind(plan: Plan) -> str | None:
    """Why the plan may write through a link: outside the workspace, or to files that tools run."""
    roots = [os.path.realpath(root) for root in plan.roots]
    if (there := next((path for path in _trees(plan) if os.path.lexists(path)), None)) is not None:
        return f"{there} already exists, and its content may be overwritten"
    arriving = list(_arrivals(plan))
    for path in (*plan.writes, *(one.path for one in arriving if one.by == "cp")):  # `mv` replaces a link
        real = os.path.realpath(path)
        if "gitconfig" in os.path.basename(path):
            continue
        if not inside(real, roots):
            return f"{path} leads to {real}, outside the workspace"
        if real != os.path.normpath(path) and protected(real, roots):  # the text itself has been judged
            return f"{path} leads to {real}, which is run or trusted by tools or later commands"
    return next((why for one in arriving if (why := _new_meaning(one, roots))), None)


class _Arrival(Struct, frozen=True):
    """A file or folder that a program puts in a new place."""

    by: str
    source: str
    path: str


def _new_meaning(one: _Arrival, roots: Sequence[str]) -> str | None:
    """Why a file means more in its new place: `mv a/json.py .` changes what Python loads, and so does `mv a json`."""
    place = os.path.join(os.path.realpath(os.path.dirname(one.path)), os.path.basename(one.path))
    inner = _entries(one.source, "") if os.path.isdir(one.source) and not os.path.isdir(place) else []
    for name in ("", *inner):
        old, new = (os.path.normpath(os.path.join(folder, name)) for folder in (os.path.realpath(one.source), place))
        if protected(new, roots, folder=os.path.isdir(old)) and (name == "" or not protected(old, roots)):
            return f"{new} would be run or trusted by tools or later commands"
    return None


def module_behind(plan: Plan) -> str | None:
    """Why `python -m` would run a file of the folder it is run in instead of the tool: Python looks there first. At the
    top of the workspace, such a file needed approval.
    """
    for stage, folders in with_folders(plan):
        if not _runs_module(stage):
            continue
        for cwd in (cwd for cwd in folders if cwd not in plan.roots):
            entries = _entries(cwd, "")
            inner = [(name, *rest) for name in entries for rest in ((), ("__init__.py",), ("__main__.py",))]
            if found := next((one for one in inner if shadowing(one) and os.path.isfile(os.path.join(cwd, *one))), None):
                return f"Python would load {'/'.join(found)} of {cwd} instead of the module of that name"
    return None


def _runs_module(stage: Stage) -> bool:
    texts = [program(word.text) for word in stage.words]
    at = next((at for at, text in enumerate(texts) if PYTHON.fullmatch(text)), len(texts))
    return "-m" in texts[at:]


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
    return (
        (word, cwd, text) for word in stage.words[1:] for cwd in folders for text in paths_in(expanded(word, cwd))
    )


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


def _arrivals(plan: Plan) -> Iterator[_Arrival]:
    """What `cp`, `mv`, `git mv` and `ln` put where."""
    for stage, folders in with_folders(plan):
        use = examine(program(stage.words[0].text), stage.words)
        by = use.names[-1] if use is not None and use.names in _BRINGING else ""
        if use is None or not by or not use.operands:
            continue
        *sources, target = use.operands
        for cwd in (os.path.join(cwd, use.option("-C") or "") for cwd in folders):
            place = os.path.join(cwd, expanded(target, cwd)).rstrip("/") or "/"
            whole = use.option("-T", "--no-target-directory") is not None or not os.path.isdir(place)
            for path in (path.rstrip("/") for word in sources for path in matches_of(word, cwd)):
                from_link = os.path.dirname(place) if whole else place
                source = os.path.join(from_link if by == "ln" else cwd, path)
                yield _Arrival(by, source, place if whole else os.path.join(place, os.path.basename(path)))


def _trees(plan: Plan) -> Iterator[str]:
    """Where `cp -r` puts whole folders: it would write through links in them, and each file is not checked."""
    for stage, folders in with_folders(plan):
        use = examine(program(stage.words[0].text), stage.words)
        if use is None or use.names[0] != "cp" or use.option(*_RECURSIVE) is None or not use.operands:
            continue
        *sources, target = use.operands
        for cwd in folders:
            place = os.path.join(cwd, expanded(target, cwd))
            whole = use.option("-T", "--no-target-directory") is not None or not os.path.isdir(place)
            for path in (path for word in sources for path in matches_of(word, cwd)):
                if os.path.isdir(os.path.join(cwd, path)):
                    yield place if whole else os.path.join(place, os.path.basename(path.rstrip("/")))


def _stage(name: str, stage: Stage, cwd: str, roots: Sequence[str]) -> str | None:
    if stage.hides:  # git shows changes of any files
        return _may_come_upon_linked(stage, cwd, roots)
    if _comes_upon_files(name, stage):
        why = _may_come_upon_twin(roots) or _may_come_upon_linked(stage, cwd, roots)
        if why is not None:
            return why
    if name == "find":
        return _starts_outside(stage, cwd, roots)
    return _behind(stage, cwd, roots) if shows_content(name) else None


def _comes_upon_files(name: str, stage: Stage) -> bool:
    """Whether it opens files that no word names."""
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
    searched = [os.path.realpath(os.path.join(cwd, text)) for text in texts or ["."]]
    for leads, name in linked.items():
        if inside(leads, searched) or any(inside(place, [leads]) for place in searched):
            return f"{name} leads to {leads}, which a search may find"
    return None


def _searched(stage: Stage) -> list[Word]:
    """The words that say where to search; none means the current folder."""
    words = list(stage.words[1:])
    if stage.hides:  # before `--`, git may take a word for a commit
        return words[at + 1 :] if (at := next((at for at, one in enumerate(words) if one.text == "--"), None)) else []
    match program(stage.words[0].text):
        case "find":
            return list(takewhile(lambda word: not word.text.startswith("-"), words))
        case name:
            use = examine(name, stage.words)
            return [] if use is None else use.reads


def _led(roots: Sequence[str]) -> dict[str, str]:
    """Where links with the names of secrets lead; in a workspace that is too large to check, those at its top."""
    try:
        return secrets_by_links(roots)
    except TooManyFiles:
        return {leads: name for name, leads in links_at_top(roots) if why_secret((name,))}


def _starts_outside(stage: Stage, cwd: str, roots: Sequence[str]) -> str | None:
    """A starting folder that is in the workspace by name only: what is found there is judged by name."""
    real_roots = [os.path.realpath(root) for root in roots]
    for word in stage.words[1:]:
        path = os.path.join(cwd, expanded(word, cwd))
        if inside(os.path.normpath(path), roots) and not inside(os.path.realpath(path), real_roots):
            return f"`{word.text}` leads to {os.path.realpath(path)}, outside the workspace"
    return None


def _behind(stage: Stage, cwd: str, roots: Sequence[str]) -> str | None:
    words = [*stage.words[1:], *(one.target for one in stage.redirects if isinstance(one.target, Word))]
    for word in words:
        matches = list(islice(matches_of(word, cwd), _MAX_MATCHES + 1))
        if len(matches) > _MAX_MATCHES:
            return f"`{word.text}` matches more than {_MAX_MATCHES} files, too many to check for secrets"
        if program(stage.words[0].text) == "diff":
            if found := _in_capitals(matches, cwd):
                return f"`{word.text}` contains {found}, which may hold secrets"
            matches += [os.path.join(folder, name) for folder in matches for name in _entries(folder, cwd)]
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


def _entries(folder: str, cwd: str) -> list[str]:
    """What `diff` of two folders opens by itself, including links; with `-r` it is told not to follow links."""
    try:
        return os.listdir(os.path.join(cwd, folder))
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
