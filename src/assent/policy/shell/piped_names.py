"""File names that one program passes to another: whether a secret may be among them.

An allow-list, as everywhere: the search must stay in the workspace and look for names that no secret has, and every
option, its own and of the filters after it, must only select among names. Knows find, grep and rg; decides nothing.
"""

from collections.abc import Sequence
from fnmatch import fnmatchcase

from msgspec import Struct

from assent.files.secret_names import secret_samples
from assent.lazy_pattern import lazy_pattern
from assent.plan import Stage, Word
from assent.policy.shell.command_rules import program
from assent.policy.shell.options import Use, examine
from assent.policy.shell.paths import inside, matches_by_extension, place, secret
from assent.policy.shell.program_models import model, options


def _set(*lines: str) -> frozenset[str]:
    return frozenset(word for line in lines for word in line.split())


_PATTERN = """
    -E -F -G -P -i -v -w -x -e -m -z -y --ignore-case --invert-match --word-regexp --line-regexp --regexp --null-data
    --extended-regexp --fixed-strings --perl-regexp --max-count
"""
_GREP = """
    -l -L -r -R -n -h -H -I -s -a -Z --files-with-matches --files-without-match --recursive --dereference-recursive
    --line-number --no-messages --text --include --exclude --exclude-dir --null
"""
_RG = """
    -l --files --files-with-matches --files-without-match -g --glob --iglob -t --type -T --type-not -i -s -S -F -w -x
    -v -e -P -U -u -. -0 -a -I -n -m -d -j --ignore-case --case-sensitive --smart-case --fixed-strings --text
    --word-regexp --line-regexp --invert-match --regexp --pcre2 --multiline --unrestricted --hidden --null --max-count
    --no-ignore --no-ignore-vcs --no-messages --max-depth --sort --sortr --threads --line-number
"""
_LISTS = {"grep": _set(_PATTERN, _GREP), "rg": _set(_RG)}
_ONLY_NAMES = {
    "grep": ("-l", "-L", "--files-with-matches", "--files-without-match"),
    "rg": ("-l", "--files", "--files-with-matches", "--files-without-match"),  # `-L` follows links
}
_SAME = {"egrep": "grep", "fgrep": "grep", "rgrep": "grep"}
_FILTERS = {
    "head": _set("-n --lines -N -q --quiet -z"),
    "tail": _set("-n --lines -N -q --quiet -z"),
    "sort": _set("-u -r -f -n -V -h -k -t -z --unique --reverse --ignore-case --numeric-sort --version-sort --key"),
    "uniq": _set("-u -d -i -z --unique --repeated --ignore-case"),
    "grep": _set(_PATTERN),
}
LEADING = lazy_pattern(r"-[HLP]|-O[0-3]")
BEGINS = lazy_pattern(r"[-(),!]")
_SHOWS_MORE = _set("-ls -printf -help --help -version --version -D")
_NOT_PLAIN = lazy_pattern(r"\\|\[(?![A-Za-z0-9]+\])")  # what find may read differently from us
_MAX_DEPTH = 40
_OTHER_SECRETS = (
    *("config", "key", "credentials.json", "x.pem", "x.key", "x.p12", "x.pfx", "x_history", "kcore"),
    *(f".env.{kind}" for kind in ("local", "production", "prod", "staging", "development", "dev", "test")),
)


def give_harmless_names(stages: Sequence[Stage], cwd: str, roots: Sequence[str]) -> bool:
    """Whether these commands print names of files in the workspace, none of which can be a secret."""
    if not stages:
        return False
    first, *filters = stages
    return _lists_harmless(first, cwd, roots) and all(map(_only_drops_lines, filters))


def give_names_inside(stages: Sequence[Stage], cwd: str, roots: Sequence[str]) -> bool:
    """Whether these commands print names of files in the workspace, possibly including secrets."""
    if not stages:
        return False
    first, *filters = stages
    inside = give_harmless_names(stages[:1], cwd, roots) or _git_lists(first)
    return inside and all(map(_only_drops_lines, filters))


def _git_lists(stage: Stage) -> bool:
    """`git ls-files` and `git diff --name-only` name files of the repository, unless told to look elsewhere."""
    use = examine(program(stage.words[0].text), stage.words)
    if use is None or use.names[:1] != ("git",) or not all(map(_is_plain, stage.words)):
        return False
    if any(".." in word.text.split("/") for word in stage.words) or use.option("-C", "--no-index") is not None:
        return False
    named = use.names[1:] == ("ls-files",) or (use.names[1:] == ("diff",) and use.option("--name-only") is not None)
    return named and use.option("-s", "--stage", "-t", "-v", "-f", "--format", "--eol", "--debug", "-z") is None


def finds_harmless(words: Sequence[Word], cwd: str, roots: Sequence[str]) -> bool:
    """Whether a find command acts only on files in the workspace whose names no secret has."""
    given = list(words[1:])
    while given and LEADING.fullmatch(given[0].text):
        given.pop(0)
    at = next((index for index, word in enumerate(given) if BEGINS.match(word.text)), len(given))
    if not all(map(_is_plain, given)) or not _inside(given[:at], cwd, roots):
        return False
    return _Expression([word.text for word in given[at:]]).harmless()


def _is_plain(word: Word) -> bool:
    return word.literal


def _lists_harmless(stage: Stage, cwd: str, roots: Sequence[str]) -> bool:
    use = examine(program(stage.words[0].text), stage.words)
    if use is None or not all(map(_is_plain, stage.words)):
        return False
    if use.names[0] == "find":
        return finds_harmless(stage.words, cwd, roots)
    name = _SAME.get(use.names[0], use.names[0])
    if name not in _LISTS or use.option(*_ONLY_NAMES[name]) is None or not _only(use, _LISTS[name]):
        return False
    walks = name == "rg" or use.option("-r", "-R", "--recursive", "--dereference-recursive") is not None
    return walks and _inside(use.reads, cwd, roots)


def _only_drops_lines(stage: Stage) -> bool:
    use = examine(program(stage.words[0].text), stage.words)
    if use is None or stage.redirects or use.reads:
        return False
    return _only(use, _FILTERS.get(_SAME.get(use.names[0], use.names[0]), frozenset()))


def _only(use: Use, known: frozenset[str]) -> bool:
    return bool(known) and all(name in known for name, _ in use.seen)


def _inside(places: Sequence[Word], cwd: str, roots: Sequence[str]) -> bool:
    """Other folders have secrets that cannot be recognized by name: keys in `.ssh`, tokens in `.config`."""
    found = places or (Word("."),)
    return all(inside(place(word.text, cwd), roots) and not secret(word, cwd) for word in found)


class _Known(Struct, frozen=True):
    """Whether the name is known to be harmless if a test is true, and if it is false."""

    true: bool
    false: bool


class _Expression:
    """Parses a find expression with find's precedence: `!`, then and, then or, then the comma."""

    def __init__(self, words: list[str]) -> None:
        self._words = words
        self._at = 0
        self._acts = False
        self._safe = words.count("(") <= _MAX_DEPTH
        self._table = options(("find",), found) if (found := model("find")) else {}

    def harmless(self) -> bool:
        """Without an action, find prints everything for which the expression is true."""
        if not self._safe:
            return False
        known = self._list(safe=False)
        return self._safe and self._at == len(self._words) and (self._acts or known.true)

    def _take(self, *words: str) -> bool:
        if self._words[self._at : self._at + 1] and self._words[self._at] in words:
            self._at += 1
            return True
        return False

    def _next(self) -> str:
        self._at += 1
        return self._words[self._at - 1] if self._at <= len(self._words) else ""

    def _list(self, *, safe: bool) -> _Known:
        known = self._or(safe=safe)
        while self._take(","):
            known = self._or(safe=safe)
        return known

    def _or(self, *, safe: bool) -> _Known:
        known = self._and(safe=safe)
        while self._take("-o", "-or"):
            other = self._and(safe=known.false)
            known = _Known(known.true and other.true, other.false)
        return known

    def _and(self, *, safe: bool) -> _Known:
        known = self._not(safe=safe)
        while self._at < len(self._words) and self._words[self._at] not in (")", "-o", "-or", ","):
            self._take("-a", "-and")
            other = self._not(safe=known.true)
            known = _Known(other.true, known.false and other.false)
        return known

    def _not(self, *, safe: bool) -> _Known:
        negated = False
        while self._take("!", "-not"):
            negated = not negated
        known = self._group(safe=safe) if self._take("(") else self._test(self._next(), safe=safe)
        return _Known(known.false, known.true) if negated else known

    def _group(self, *, safe: bool) -> _Known:
        known = self._list(safe=safe)
        self._safe &= self._take(")")
        return known

    def _test(self, word: str, *, safe: bool) -> _Known:
        match word:
            case "-name" | "-iname":
                pattern = self._next()
                return _Known(safe or not _could_be_secret(pattern), safe)
            case "-print" | "-print0":
                self._acts = True
                self._safe &= safe
                return _Known(safe, false=True)  # it is never false
            case _:
                self._other(word)
                return _Known(safe, safe)

    def _other(self, word: str) -> None:
        use = self._table.get(word)
        if word in _SHOWS_MORE or use not in ("flag", "value", "read"):
            self._safe = False
        elif use != "flag":
            self._next()


def _could_be_secret(glob: str) -> bool:
    if _NOT_PLAIN.search(glob) or secret(Word(glob, literal=False), "/"):
        return True
    return not matches_by_extension(glob) and any(
        fnmatchcase(sample, glob.casefold()) for sample in (*secret_samples(), *_OTHER_SECRETS)
    )
