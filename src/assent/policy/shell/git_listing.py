"""Which git commands list the names of all files that another git command may show.

The runner runs them before the command itself and leaves out the names of secrets. They may list more than will be
shown, never less: options that only format the output are dropped, options that select commits or files are kept, and
with any other option the number of commits is not limited. Knows the options of git.
"""

import re

from assent.lazy_pattern import lazy_pattern
from assent.plan import Word
from assent.policy.shell.options import Use

Listings = tuple[tuple[Word, ...], ...]

# Settings must not change their output: `diff.relative`, `log.diffMerges`, `color.ui`.
_NAMES = ("--name-only", "-z", "--no-renames", "--no-relative", "--no-color", "--no-ext-diff", "--no-textconv")
_LOG = ("log", "--format=", "--diff-merges=separate", *_NAMES)
_DIFF = ("diff", *_NAMES, "--ignore-submodules=dirty")
_BEGIN: dict[tuple[str, ...], tuple[str, ...]] = {
    ("log",): _LOG,
    ("whatchanged",): _LOG,
    ("show",): (*_LOG, "--no-walk=unsorted"),
    ("diff",): _DIFF,
    ("diff-tree",): ("diff-tree", "-r", "-m", "--root", "--no-commit-id", *_NAMES),
    ("diff-index",): ("diff-index", *_NAMES, "--ignore-submodules=dirty"),
    ("diff-files",): ("diff-files", *_NAMES, "--ignore-submodules=dirty"),
}
_COUNT = (("log",), ("show",))  # `whatchanged` counts only what it shows
_CHOOSE = frozenset(
    """
    --all --branches --tags --remotes --glob --merge --merges --no-merges --first-parent --since --after --until
    --before --since-as-filter --author --committer --grep --invert-grep --all-match -i -E -F -P
    --regexp-ignore-case --extended-regexp --fixed-strings --perl-regexp --basic-regexp --grep-reflog --walk-reflogs -g
    --no-walk --do-walk --full-history --dense --sparse --simplify-merges --simplify-by-decoration --ancestry-path
    --show-pulls --date-order --author-date-order --topo-order --cherry --cherry-mark --cherry-pick --left-only
    --right-only --min-parents --max-parents --bisect --single-worktree --ignore-missing
    --exclude-first-parent-only --cached --staged --merge-base --follow --boundary --parents --children
    """.split()  # noqa: SIM905
)
_LIMIT = frozenset(("-n", "--max-count", "--skip", "-N"))
_ARRANGE = frozenset(
    """
    -p -u -s -U -z -m -c --cc --patch --no-patch --raw --patch-with-raw --patch-with-stat --unified --stat --numstat
    --shortstat --dirstat --summary --compact-summary --name-only --name-status --no-color --color --abbrev --full-index
    --binary --text -a --function-context -W --no-prefix --default-prefix --src-prefix --dst-prefix --line-prefix
    --minimal --patience --histogram --diff-algorithm --indent-heuristic --no-indent-heuristic --inter-hunk-context
    --color-moved --color-moved-ws --color-words --word-diff --word-diff-regex --no-renames -M -C --find-renames
    --find-copies --no-ext-diff --no-textconv --oneline --decorate --no-decorate --decorate-refs
    --decorate-refs-exclude --clear-decorations --source --log-size --pretty --format --date --relative-date
    --abbrev-commit --no-abbrev-commit --notes --no-notes --show-notes --encoding --expand-tabs --no-expand-tabs
    --reverse --left-right --no-mailmap --mailmap --use-mailmap --no-show-signature --ws-error-highlight -r -t --root
    --no-commit-id --exit-code --relative --no-relative -R
    """.split()  # noqa: SIM905
)
_OF_GIT = frozenset(("-C", "--no-pager", "--no-optional-locks", "--no-replace-objects", "--icase-pathspecs"))
_CONTENT = lazy_pattern(r"[^:^(!/][^:{]*:.*|:[0-3]:.*|:[^/(!^:].*", re.DOTALL)
"""`HEAD:a.txt`, `:a.txt`: the content of one file, identified by its name."""


def listings(use: Use, words: tuple[Word, ...], whole: tuple[Word, ...] = ()) -> Listings:
    """The listing commands for `words`, in which object IDs have been made commits; `whole` adds options for the whole
    history. Empty if it cannot be known which files will be shown.
    """
    options = (word for at, word in enumerate(words) if at > use.at and at not in use.operands_at)
    if not all(word.literal for word in options) or any(word.unknown for word in use.operands):
        return ()
    if use.names[1:] == ("grep",):
        return _searched(use, words)
    begin = _BEGIN.get(use.names[1:])
    if begin is None or use.option("--stdin", "--diff-merges") is not None:
        return ()
    return ((*map(Word, begin), *whole, *_choosing(use), *_chosen(use, words)),)


def changes_between(first: Word, second: Word) -> Listings:
    return ((*map(Word, _DIFF), first, second),)


def _chosen(use: Use, words: tuple[Word, ...]) -> list[Word]:
    """The commits and the paths."""
    end = _double_dash(use, words)
    commits = [words[at] for at in use.operands_at if at < (end or len(words)) and not shows_file(use, words[at])]
    if file := _one_file(use):
        return [Word("--follow"), *commits, Word("--"), *file]
    return [*commits, Word("--"), *(words[at] for at in use.operands_at if at > end)] if end else commits


def shows_file(use: Use, word: Word) -> bool:
    """Whether an operand of `git show` is one file in a commit."""
    return use.names[1:] == ("show",) and word.literal and _CONTENT.fullmatch(word.text) is not None


def _choosing(use: Use) -> list[Word]:
    kept: list[Word] = []
    limits: list[Word] = []
    limited = True
    for name, value in use.seen:
        if name in _CHOOSE:
            kept.append(_option(name, value))
        elif name in _LIMIT:
            limits.append(Word(value) if name == "-N" else _option(name, value))
        elif name == "--graph":
            kept += map(Word, ("--topo-order", "--parents"))
        elif name not in _ARRANGE and name not in _OF_GIT:
            limited = False
    return kept + limits if limited and use.names[1:] in _COUNT else kept


def _option(name: str, value: str) -> Word:
    if name.startswith("--"):
        return Word(f"{name}={value}" if value else name)
    return Word(f"{name}{value}")


def _one_file(use: Use) -> list[Word]:
    """The file of `-L 1,5:file`, whose history includes its earlier names."""
    return [Word(value.rpartition(":")[2]) for name, value in use.seen if name == "-L"][:1]


def _searched(use: Use, words: tuple[Word, ...]) -> Listings:
    """The files of the index and of each tree named; a word that names no tree is a path."""
    end = _double_dash(use, words) or len(words)
    pattern = 0 if use.option("-e", "-f") is not None else 1
    trees = [words[at] for at in use.operands_at[pattern:] if at < end]
    index = tuple(map(Word, ("ls-files", "-z", "--full-name", "--", ":/")))
    tree = tuple(map(Word, ("ls-tree", "-r", "-z", "--name-only", "--full-tree")))
    return (index, *((*tree, one) for one in trees))


def _double_dash(use: Use, words: tuple[Word, ...]) -> int:
    return next((at for at, word in enumerate(words) if at > use.at and word.text == "--"), 0)
