"""What the options of git cannot tell: whether a name is looked at or made, and what is not under version control."""

import re

from assent.plan import Word
from assent.policy.shell.operands import is_several
from assent.policy.shell.options import Use, Words
from assent.policy.shell.paths import secret

_REMOTE = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]*")
_REFERENCE = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_./-]*(?::[A-Za-z0-9_][A-Za-z0-9_./-]*)?")
_REVISION = re.compile(r"[A-Za-z0-9_@][A-Za-z0-9_./@{}-]*(?:[~^]\d*)*(?:\.{2,3}[A-Za-z0-9_][\w./-]*)?")
_BRANCH = re.compile(rf"-|{_REFERENCE.pattern}|[A-Za-z0-9_@][\w./@-]*(?:[~^]\d*|@\{{-?\d+\}})+")
_ADDRESS = re.compile(
    r"(?:https://[A-Za-z0-9][\w.-]*(?::\d+)?/|(?:ssh://)?git@[A-Za-z0-9][\w.-]*[:/])(?:[\w~-][\w.~-]*/)*([\w-][\w.-]*?)(?:\.git)?/?"
)
_LISTING = ("-l", "--list", "--contains", "--no-contains", "--merged", "--no-merged", "--points-at")
_OUTSIDE = re.compile(r"[/~]|(?:.*/)?\.\.(?:/|$)")


def git_format(use: Use, _words: Words) -> None:
    if any(name in ("--format", "--pretty") and "%G" in value for name, value in use.seen):
        use.problems.append("`%G` runs a program that checks signatures")


def git_branch(use: Use, words: Words) -> None:
    """`git branch x` makes it, `-d` drops one that is merged, `-m` gives another name: a rule must say `git branch`."""
    _makes(use, use.option("-d", "--delete", "-m", "--move") is not None)
    if use.makes:
        git_names(use, words)


def git_tag(use: Use, words: Words) -> None:
    _makes(use, use.option("-a", "--annotate", "-m", "--message") is not None)
    if use.makes:
        git_names(use, words)
    if use.option("-a", "--annotate") is not None and use.option("-m", "--message") is None:
        use.problems.append("without a message it opens an editor")


def _makes(use: Use, told: bool) -> None:
    use.makes = use.by_name = told or (bool(use.operands) and use.option(*_LISTING) is None)


def git_address(use: Use, _words: Words) -> None:
    """A repository on another machine, by a plain address; a clone of it gets a folder of its name here."""
    texts = [word.text for word in use.operands]
    is_clone = use.names[-1] == "clone"
    name, address = ("x", *texts[:1]) if is_clone and texts else (*texts, "", "")[:2]
    found = _ADDRESS.fullmatch(address)
    if found is None or not _REMOTE.fullmatch(name):
        use.problems.append("it names no repository by a plain address")
    elif is_clone:
        use.writes.append(use.operands[1] if len(texts) > 1 else Word(found[1]))
    if any(not re.fullmatch(r"[\w./:=-]*", value) for _, value in use.seen):
        use.problems.append("the value of an option is not plain")


def git_config(use: Use, _words: Words) -> None:
    texts = [word.text for word in use.operands]
    if use.option("--get", "--get-all", "--get-regexp", "--get-urlmatch", "-l", "--list") is not None:
        return
    if texts[:1] in (["get"], ["list"]):
        texts = texts[1:]
    if len(texts) != 1 or texts[0] in ("set", "unset", "edit", "rename-section", "remove-section"):
        use.problems.append("`git config` with a value changes settings")


def git_outside(use: Use, _words: Words) -> None:
    """What is not under version control is where secrets are."""
    if use.option("--no-index", "--untracked", "--no-exclude-standard") is not None:
        use.problems.append("it also looks at files that are not under version control, which may hold secrets")


def git_diff(use: Use, words: Words) -> None:
    """Two paths of which one is outside the repository are compared as they lie there, with all that is in them."""
    git_outside(use, words)
    two = len(use.operands) == 2
    maybe = two or any(map(is_several, use.operands))
    if maybe and any(_OUTSIDE.match(word.text) or (two and not word.literal) for word in use.operands):
        use.problems.append("it may compare files that are not under version control, which may hold secrets")


def git_reflog(use: Use, _words: Words) -> None:
    if any(word.text in ("expire", "delete", "drop", "write") for word in use.operands):
        use.problems.append("it deletes the memory of old commits")


def git_checkout(use: Use, words: Words) -> None:
    plain = all(_BRANCH.fullmatch(word.text) or word.unknown for word in use.operands)
    if not plain or any(word.text == "--" for word in words):
        use.problems.append("it may throw changes in files away")


def git_remote(use: Use, _words: Words) -> None:
    texts = [word.text for word in use.operands if not word.unknown or word is use.operands[0]]
    if texts and not _REMOTE.fullmatch(texts[0]):
        use.problems.append(f"`{texts[0]}` is not the plain name of a remote")
    for text in texts[1:]:
        if not _REFERENCE.fullmatch(text):
            use.problems.append(f"`{text}` forces or deletes a branch")


def git_names(use: Use, _words: Words) -> None:
    """Branches and commits by plain names; a strategy or an address would be more."""
    for word in use.operands:
        if not _REVISION.fullmatch(word.text) and not word.unknown:  # the runner looks at what is not known yet
            use.problems.append(f"`{word.text}` is not the plain name of a commit")


def git_worktree(use: Use, _words: Words) -> None:
    """A folder, and perhaps a branch."""
    if not all(_REFERENCE.fullmatch(word.text) for word in use.operands[1:]):
        use.problems.append("it names no plain branch")


def git_commit(use: Use, _words: Words) -> None:
    """`--amend` without a message waits for an editor."""
    said = use.option("--no-edit", "-m", "--message", "-F", "--file", "-C", "--reuse-message")
    if use.option("--amend") is not None and said is None:
        use.problems.append("`--amend` without a message or `--no-edit` opens an editor")
    file = use.option("-F", "--file")
    if file not in (None, "-") and (not _REFERENCE.fullmatch(file) or ".." in file or secret(Word(file), "/")):
        use.problems.append("the message is not taken from a plain file of the project")


def git_restore(use: Use, _words: Words) -> None:
    """Only what is staged is touched; the files stay as they are."""
    if use.option("-S", "--staged", "--cached", "-n", "--dry-run") is None:
        use.problems.append("it may throw changes in files away")


def git_clean(use: Use, _words: Words) -> None:
    if use.option("-n", "--dry-run") is None:
        use.problems.append("without `-n` it deletes files")


def git_apply(use: Use, _words: Words) -> None:
    if use.option("--check", "--stat", "--numstat", "--summary") is None:
        use.problems.append("it changes the files that the patch names")
