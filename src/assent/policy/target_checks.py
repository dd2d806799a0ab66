"""What a command would write to a place where it means more: through a link, or under a name that tools run.

The shell gate judges words by their text; this module checks on disk where files arrive, and which module `python -m`
finds. It looks at names only and opens nothing.
"""

import os
from collections.abc import Collection, Iterator, Sequence
from itertools import pairwise

from msgspec import Struct

from assent.files.protected import shadowing
from assent.plan import Plan, Stage
from assent.policy.cwd_tracking import expanded, with_folders
from assent.policy.shell.command_rules import program
from assent.policy.shell.exact_rules import PYTHON
from assent.policy.shell.options import examine
from assent.policy.shell.paths import inside, protected
from assent.policy.shell.python_code import imported
from assent.policy.symlink_checks import entries, matches_of

_BRINGING = (("cp",), ("mv",), ("ln",), ("install",), ("git", "mv"))
_NEW_BRANCH = ("-b", "-B", "--orphan", "-t", "--track", "--detach", "-d")
_PARTS: tuple[tuple[str, ...], ...] = ((), ("__init__.py",), ("__main__.py",))
_RECURSIVE = ("-r", "-R", "-a", "--recursive", "--archive")


def write_behind(plan: Plan) -> str | None:
    """Why the plan may write through a link: outside the workspace, or to files that tools run."""
    roots = [os.path.realpath(root) for root in plan.roots]
    if (there := next((path for path in _trees(plan) if os.path.lexists(path)), None)) is not None:
        return f"{there} already exists, and its content may be overwritten"
    if (link := next(_emptied(plan), None)) is not None:
        return f"{link} is a link, and everything behind it would be deleted"
    arriving = list(_arrivals(plan))
    for path in (*plan.writes, *(one.path for one in arriving if one.by in ("cp", "install"))):  # `mv` replaces a link
        real = os.path.realpath(path)
        if "gitconfig" in os.path.basename(path):
            continue
        if not inside(real, roots):
            return f"{path} leads to {real}, outside the workspace"
        if real != os.path.normpath(path) and protected(real, roots):  # the text itself has been judged
            return f"{path} leads to {real}, which is run or trusted by tools or later commands"
    return next((why for one in arriving if (why := _new_meaning(one, roots))), None)


def discarded_behind(plan: Plan) -> str | None:
    """Why `git checkout x` would discard changes: x is a file, not a branch."""
    for stage, folders in with_folders(plan):
        use = examine(program(stage.words[0].text), stage.words)
        if use is None or use.names != ("git", "checkout") or use.option(*_NEW_BRANCH) is not None:
            continue
        for cwd in (os.path.join(cwd, use.option("-C") or "") for cwd in folders):
            if named := next((one.text for one in use.operands if os.path.lexists(os.path.join(cwd, one.text))), None):
                return f"{named} is a file, and its changes would be discarded"
    return None


class _Arrival(Struct, frozen=True):
    """A file or folder that a program puts in a new place."""

    by: str
    source: str
    path: str


def _new_meaning(one: _Arrival, roots: Sequence[str]) -> str | None:
    """Why a file means more in its new place: `mv a/json.py .` changes what Python loads, and so does `mv a json`."""
    place = os.path.join(os.path.realpath(os.path.dirname(one.path)), os.path.basename(one.path))
    inner = entries(one.source) if os.path.isdir(one.source) and not os.path.isdir(place) else []
    for name in ("", *inner):
        old, new = (os.path.normpath(os.path.join(folder, name)) for folder in (os.path.realpath(one.source), place))
        if protected(new, roots, folder=os.path.isdir(old)) and (name == "" or not protected(old, roots)):
            return f"{new} would be run or trusted by tools or later commands"
    return None


def module_behind(plan: Plan) -> str | None:
    """Why `python -m` or `python -c` would run a file of the folder it is run in: Python looks there first."""
    for stage, folders in with_folders(plan):
        option, value = _of_python(stage)
        if not option:
            continue
        loaded = imported(value) if option == "-c" else set[str]()
        for cwd in folders:
            if (found := _first_module(cwd, loaded, is_top=option == "-m" and cwd in plan.roots)) is not None:
                return f"Python would load {found} of {cwd} instead of the installed module of that name"
    return None


def _of_python(stage: Stage) -> tuple[str, str]:
    """The option that puts the current folder first among the places of modules, and its value."""
    texts = [program(word.text) for word in stage.words]
    at = next((at for at, text in enumerate(texts) if PYTHON.fullmatch(text)), len(texts))
    return next(((text, value) for text, value in pairwise([*texts[at:], ""]) if text in ("-m", "-c")), ("", ""))


def _first_module(cwd: str, loaded: Collection[str], *, is_top: bool) -> str | None:
    """A module there that code loads, or that a tool or another module may load. At the top of the workspace, creating
    one of those needed approval, and `-m` runs code of the project anyway.
    """
    named = (name + ending for name in sorted(loaded) for ending in ("", ".py", ".pyc", ".so"))
    if found := next((name for name in named if os.path.exists(os.path.join(cwd, name))), None):
        return found
    parts = ((name, *rest) for name in ([] if is_top else entries(cwd)) for rest in _PARTS)
    return next(("/".join(one) for one in parts if shadowing(one) and os.path.isfile(os.path.join(cwd, *one))), None)


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


def _emptied(plan: Plan) -> Iterator[str]:
    """`rm -r link/` deletes what the link leads to."""
    for stage, folders in with_folders(plan):
        if program(stage.words[0].text) == "rm":
            places = [os.path.join(cwd, expanded(word, cwd)) for word in stage.words[1:] for cwd in folders]
            yield from (one for one in places if one.endswith("/") and os.path.islink(one.rstrip("/")))


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
