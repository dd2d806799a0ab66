"""Secrets under version control: git commands that show changes or content leave them out.

Where git accepts paths, the runner excludes the secrets that it would show (`git_listing`), or all secret patterns if
they cannot be listed. Where git accepts none, or an object ID hides the path, the command needs approval. Knows the git
options that show content.
"""

import re
from functools import cache

from assent.files.protected import secret_folders, secret_globs
from assent.lazy_pattern import lazy_pattern
from assent.plan import Word
from assent.policy.shell.git_listing import Listings, changes_between, listings, shows_file
from assent.policy.shell.options import Use
from assent.policy.shell.program_models import group_owner, options

_ALWAYS = frozenset(("diff", "show", "grep", "range-diff", "stash show", "format-patch"))
_BY_OPTION = frozenset(("log", "whatchanged", "diff-tree", "diff-index", "diff-files"))
_ONLY_NAMES = frozenset(
    """
    -s --no-patch --raw --stat --numstat --shortstat --dirstat --cumulative --dirstat-by-file --summary
    --compact-summary --name-only --name-status --quiet -q
    """.split()  # noqa: SIM905
)
# To count lines git opens the files, which a sandbox hides from it.
_COUNTS = frozenset(("--stat", "--numstat", "--shortstat", "--dirstat", "--cumulative", "--compact-summary"))
_NEUTRAL = _ONLY_NAMES | frozenset(
    """
    -z -M -C -B -l -r -t -R -X --root --no-color --color --no-renames --find-renames --find-copies --break-rewrites
    --abbrev --full-index --diff-filter --exit-code --relative --no-relative --no-ext-diff --no-textconv --cached
    --staged --merge-base --no-prefix --default-prefix --src-prefix --dst-prefix --line-prefix --minimal --patience
    --histogram --diff-algorithm --indent-heuristic --no-indent-heuristic --ita-invisible-in-index
    --find-object --rotate-to --skip-to --combined-all-paths --ignore-cr-at-eol --ignore-space-at-eol
    --ignore-space-change --ignore-all-space --ignore-blank-lines --color-moved
    --color-moved-ws --inter-hunk-context --ws-error-highlight -w -b
    """.split()  # noqa: SIM905
)
_ONE_FILE = ("--follow", "-L")  # they take exactly one path, which is checked by name
_NUMBER = lazy_pattern(r"(\^?)([0-9a-fA-F]{4,64})")
_NUMBER_OF_WHATEVER = lazy_pattern(r"\^?[0-9a-fA-F]{4,64}\^\{(?!commit\}|tree\}|/)")
_WALKS_ALL = lazy_pattern(r"(?:HEAD|@|ORIG_HEAD|FETCH_HEAD|[0-9a-f]{7,64})(?:[~^@{][^:]*)?|[^:]*\.\.[^:]*")
_CHOOSES_COMMITS = frozenset(("--full-history", "--sparse", "--dense", "--simplify-merges", "--simplify-by-decoration"))
_TYPES = ("commit", "tree", "tag")


def hides(use: Use) -> bool:
    """Whether it shows content, and has options that leave secrets out."""
    named = bool(use.operands) and all(shows_file(use, word) for word in use.operands)
    stat = use.names[1:] == ("stash", "show") and not use.seen
    return _shows(use) and use.option(*_ONE_FILE) is None and not named and not stat


def listing(use: Use, words: tuple[Word, ...]) -> Listings:
    """Commands that list the names of everything it may show."""
    if not hides(use) and not _shows_earlier_names(use):
        return ()
    if use.names[1:] == ("stash", "show"):
        return changes_between(*_stash(use))
    return listings(use, _plainly(use, words), _WHOLE_HISTORY if _walks_all(use) else ())


def _shows_earlier_names(use: Use) -> bool:
    return use.option("-L") is not None or (_shows(use) and use.option("--follow") is not None)


def why_not_hidden(use: Use) -> str | None:
    """Why it may still show a secret."""
    match use.names[1:]:
        case ("cat-file",) if not _asks_about(use) and any(map(_is_number, use.operands)):
            return "it shows an object by ID, which may be a secret"
        case ("status",) if use.option("-v", "--verbose") is not None:
            return "it shows all changes, which may include secrets"
        case ("commit",) if use.option("--dry-run") is not None and use.option("-v", "--verbose") is not None:
            return "it shows all changes, which may include secrets"
        case _ if hides(use) and use.option("--literal-pathspecs", "--full-diff") is not None:
            return "with `--literal-pathspecs` or `--full-diff` git cannot leave secrets out"
        case _ if _shows(use) and any(_NUMBER_OF_WHATEVER.match(end) for word in use.operands for end in _ends(word)):
            return "it shows an object by ID, which may be a secret"
        case _:
            return None


def with_limited_objects(use: Use, words: tuple[Word, ...]) -> tuple[Word, ...]:
    """The words, with object IDs limited to commits, and with room for the path patterns."""
    if use.names[1:] == ("stash", "show"):
        return _as_diff(use, words)
    if not hides(use):
        return words
    ready = _plainly(use, words)
    if use.names[1] == "range-diff" and not any(word.text == "--" for word in words):
        return (*ready, Word("--"))
    return (*ready[: use.at + 1], *_WHOLE_HISTORY, *ready[use.at + 1 :]) if _walks_all(use) else ready


def _plainly(use: Use, words: tuple[Word, ...]) -> tuple[Word, ...]:
    end = next((at for at, word in enumerate(words) if word.text == "--"), len(words))
    pattern = use.operands_at[:1] if use.names[1] == "grep" and use.option("-e", "-f") is None else []
    commits = {at for at in use.operands_at if at < end and at not in pattern}
    return tuple(_as_commit(word) if at in commits else word for at, word in enumerate(words))


def _as_diff(use: Use, words: tuple[Word, ...]) -> tuple[Word, ...]:
    """`git stash show` takes no paths; `git diff` of the same changes does."""
    kept = [word for at, word in enumerate(words) if at > use.at and at not in use.operands_at and word.text != "--"]
    return (*words[: use.at - 1], Word("--no-pager"), Word("diff"), *(kept or [Word("--stat")]), *_stash(use))


def _stash(use: Use) -> tuple[Word, Word]:
    """The commit it was made from, and the stash itself."""
    named = use.operands[-1].text if use.operands else "refs/stash"
    stash = f"refs/stash@{{{named}}}" if named.isdigit() else named
    return Word(f"{stash}^1"), Word(stash)


_WHOLE_HISTORY = (Word("--full-history"), Word("--sparse"))


def _walks_all(use: Use) -> bool:
    """Without path patterns git skips no commit; with ours it would, unless told not to."""
    if use.names[1] != "log" or not _CHOOSES_COMMITS.isdisjoint(name for name, _ in use.seen):
        return False
    return all(_WALKS_ALL.fullmatch(word.text) for word in use.operands)


def _as_commit(word: Word) -> Word:
    """`git show ID` also shows a file; with `^{commit}` git reports an error for anything but a commit."""
    if not word.literal:
        return word
    return Word("".join(f"{one}^{{commit}}" if _NUMBER.fullmatch(one) else one for one in _ends(word)))


def _ends(word: Word) -> list[str]:
    """The ends of a range, and the separator between them."""
    return re.split(r"(\.{2,3})", word.text)


def _is_number(word: Word) -> bool:
    return _NUMBER.fullmatch(word.text) is not None or _NUMBER_OF_WHATEVER.match(word.text) is not None


def _shows(use: Use) -> bool:
    sub = " ".join(use.names[1:])
    seen = {name for name, _ in use.seen}
    telling = {name for name in seen - _NEUTRAL if name in _diff_options()}
    if sub == "diff" and not _COUNTS.isdisjoint(seen):
        return True
    if sub in _ALWAYS:
        return sub in ("grep", "range-diff", "format-patch") or bool(telling) or _ONLY_NAMES.isdisjoint(seen)
    return sub in _BY_OPTION and bool(telling)


def _asks_about(use: Use) -> bool:
    """`cat-file -t X` only describes the object, and `cat-file tree X` shows no file content."""
    about = use.option("-t", "-s", "-e", "--batch-check", "--batch-all-objects") is not None
    return about or (len(use.operands) == 2 and use.operands[0].text in _TYPES)


@cache
def _diff_options() -> frozenset[str]:
    return frozenset(options(("git", "groups", "diff"), group_owner("git")["diff"]))


@cache
def hidden_paths() -> tuple[str, ...]:
    """The patterns in the form that git compares fastest: a leading star followed by plain letters."""
    files = (one for glob in secret_globs() for one in _pathspecs(glob))
    return (*files, *(f":(top,exclude,icase,glob)**/{name}/**" for name in secret_folders()))


def _pathspecs(glob: str) -> tuple[str, ...]:
    if not re.search(r"[*?\[]", glob):
        return f":(top,exclude,icase){glob}", f":(top,exclude,icase)*/{glob}"
    plain = glob.startswith("*") and not re.search(r"[*?\[]", glob[1:])
    return (f":(top,exclude,icase){glob}",) if plain else (f":(top,exclude,icase,glob)**/{glob}",)
