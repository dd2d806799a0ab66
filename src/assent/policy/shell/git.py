"""What the options of git cannot tell: whether a name is looked at or made, and what is not under version control."""

import re

from assent.policy.shell.options import Use, Words

_REMOTE = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]*")
_REFERENCE = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_./-]*(?::[A-Za-z0-9_][A-Za-z0-9_./-]*)?")
_LISTING = ("-l", "--list", "--contains", "--no-contains", "--merged", "--no-merged", "--points-at")
_OUTSIDE = re.compile(r"[/~]|(?:.*/)?\.\.(?:/|$)")


def git_format(use: Use, _words: Words) -> None:
    if any(name in ("--format", "--pretty") and "%G" in value for name, value in use.seen):
        use.problems.append("`%G` runs a program that checks signatures")


def git_listing(use: Use, _words: Words) -> None:
    if use.operands and use.option(*_LISTING) is None:
        use.problems.append(f"`{' '.join(use.names)}` with a name makes or changes it")


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
    if len(use.operands) == 2 and any(not word.literal or _OUTSIDE.match(word.text) for word in use.operands):
        use.problems.append("it may compare files that are not under version control, which may hold secrets")


def git_reflog(use: Use, _words: Words) -> None:
    if any(word.text in ("expire", "delete", "drop", "write") for word in use.operands):
        use.problems.append("it deletes the memory of old commits")


def git_checkout(use: Use, words: Words) -> None:
    plain = all(_REFERENCE.fullmatch(word.text) for word in use.operands)
    if not plain or any(word.text == "--" for word in words):
        use.problems.append("it may throw changes in files away")


def git_remote(use: Use, _words: Words) -> None:
    texts = [word.text for word in use.operands]
    if texts and not _REMOTE.fullmatch(texts[0]):
        use.problems.append(f"`{texts[0]}` is not the plain name of a remote")
    for text in texts[1:]:
        if not _REFERENCE.fullmatch(text):
            use.problems.append(f"`{text}` forces or deletes a branch")
