"""How a command may reach a file that a rule guards without naming it as a word of its own: inside a text
(`bash -c 'cat x'`, `HEAD:x`, `if=x`, `file:///w/x`), through a folder that a program goes through, or through the
history of a repository.

It finds too many names rather than too few: what it finds needs approval, and nothing is denied because of it.
"""

from collections.abc import Sequence
from posixpath import dirname

from assent.git_folder import split_options
from assent.lazy_pattern import lazy_pattern
from assent.plan import Stage, Word
from assent.policy.cwd_tracking import before_wildcard, expanded, is_wild
from assent.policy.shell.command_rules import program
from assent.policy.shell.options import examine
from assent.policy.shell.recursive_search import walks

_PIECE = lazy_pattern(r"[^\s'\"`<>|&;()=$:,@{}\[\]!]+")
_PROCESS = lazy_pattern(r"^/proc/[^/]+(?:/task/[^/]+)?/(cwd|root)(?=/|$)")
_PLAIN = frozenset(
    """
    ls cat less head tail wc nl tac cut sort uniq comm diff cmp file stat du df grep egrep fgrep rgrep rg tr rev fold
    column paste join expand unexpand fmt tsort shuf od hexdump hd xxd base64 base32 md5sum sha1sum sha256sum
    sha512sum b2sum cksum basename dirname realpath readlink echo printf test [ cd pwd mkdir touch
    """.split()  # noqa: SIM905
)
"""Each word of these is one file, a pattern or a number, never a text with names in it."""
_NAMES_ONLY = frozenset("cd ls mkdir touch test [ echo printf pwd realpath readlink dirname basename stat du".split())  # noqa: SIM905
_FEEDING = frozenset(("xargs", "parallel"))
_SHOWING = frozenset(
    """
    diff show grep archive format-patch whatchanged diff-tree diff-index diff-files cat-file bundle fast-export
    range-diff difftool unpack-file checkout-index
    """.split()  # noqa: SIM905
)
_COPYING = (("worktree", "add"), ("submodule", "foreach"))
_CHANGING = frozenset(
    "am apply bisect checkout-index cherry-pick clean merge pull rebase restore revert stash switch".split()  # noqa: SIM905
)
_ONLY_A_BRANCH = frozenset(("-b", "-c", "--create", "-q", "--quiet"))
_MOVING = frozenset(("--hard", "--keep", "--merge"))
_UNPACKING = frozenset(("patch", "tar", "bsdtar", "gtar", "unzip", "7z", "cpio", "unrar"))
_SHOWING_WITH = frozenset(("log", "reflog", "stash", "add", "checkout", "reset", "restore", "status"))
_PATCH = lazy_pattern(r"-[pucLv].*|--verbose|-U\d*|--(?:patch|cc|unified|remerge-diff|dd|diff-merges|binary).*")


def is_plain(name: str) -> bool:
    """Whether none of its words, and nothing in its input, is a text with names in it."""
    return program(name) in _PLAIN


def opens_folders(name: str) -> bool:
    """Whether it may open the files in a folder that one of its words names."""
    return program(name) not in _NAMES_ONLY


def named_in_texts(stage: Stage, cwd: str) -> list[str]:
    """What may be paths inside the words of a command."""
    if is_plain(stage.words[0].text):
        return [_place(word.text, cwd) for word in words_of(stage) if word.text.startswith("/proc/")]
    texts = [word.text if is_wild(word) else expanded(word, cwd) for word in words_of(stage)]
    pieces = [piece for text in texts for piece in _PIECE.findall(text)]
    return [_place(piece, cwd) for piece in dict.fromkeys(pieces)]


def _place(piece: str, cwd: str) -> str:
    """`/proc/self/cwd/x` is a file in the folder of the command."""
    path = _PROCESS.sub(lambda found: cwd if found[1] == "cwd" else "", piece)
    return path if path[:1] == "/" else f"{cwd}/{path}"


def swept(stage: Stage, cwd: str) -> list[str]:
    """Folders whose files are read unnamed: those of wildcards, and where a program starts by default."""
    here = [cwd] if goes_through(stage.words) else []
    wild = [dirname(before_wildcard(word, cwd)) for word in words_of(stage) if is_wild(word)]
    return [*(folder if folder[:1] == "/" else f"{cwd}/{folder}" for folder in wild), *here]


def goes_through(words: Sequence[Word]) -> bool:
    """Whether it reads files that no word names, beginning in its own folder."""
    names = [program(word.text) for word in words]
    if "git" in names and _shows_history([word.text for word in words[names.index("git") + 1 :]]):
        return True
    use = examine(names[0], tuple(words))
    if not _FEEDING.isdisjoint(names) or "http.server" in names:
        return True
    return use is not None and walks(use) and not use.reads


def changes_unnamed(words: Sequence[Word]) -> bool:
    """Whether it changes or deletes files that only a patch, an archive or a repository names."""
    texts = [word.text for word in words]
    names = [program(text) for text in texts]
    if "git" in names:
        _, rest = split_options(texts[names.index("git") + 1 :])
        return bool(rest) and _changes_unnamed(rest[0], rest[1:])
    return names[0] in _UNPACKING


def _changes_unnamed(command: str, words: Sequence[str]) -> bool:
    match command:
        case "reset":
            return not _MOVING.isdisjoint(words)
        case "checkout" | "switch":
            new = not {"-b", "-c", "--create"}.isdisjoint(words)  # a new branch that starts here changes no file
            return not new or len([word for word in words if word not in _ONLY_A_BRANCH]) > 1
        case _:
            return command in _CHANGING


def _shows_history(words: Sequence[str]) -> bool:
    """Git shows any file that changed, unless words after `--` say which."""
    _, rest = split_options(list(words))
    if not rest or ("--" in rest and rest[-1] != "--"):
        return False
    if tuple(rest[:2]) in _COPYING:
        return True
    return rest[0] in _SHOWING or (rest[0] in _SHOWING_WITH and any(map(_PATCH.fullmatch, rest[1:])))


def words_of(stage: Stage) -> list[Word]:
    """The words behind the program, and the files of redirections."""
    return [*stage.words[1:], *(one.target for one in stage.redirects if isinstance(one.target, Word))]
