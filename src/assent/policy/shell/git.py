"""What git options cannot tell: whether a name is looked up or created, and what is not under version control."""

import re

from assent.lazy_pattern import lazy_pattern
from assent.plan import Word
from assent.policy.shell.operands import is_several
from assent.policy.shell.options import Use, Words
from assent.policy.shell.paths import secret

_REMOTE = lazy_pattern(r"[A-Za-z0-9_][A-Za-z0-9_.-]*")
_MORE_TO_PUSH = ("--tags", "--follow-tags")
_REFERENCE = lazy_pattern(r"[A-Za-z0-9_][A-Za-z0-9_./-]*(?::[A-Za-z0-9_][A-Za-z0-9_./-]*)?")
_REVISION = lazy_pattern(r"[A-Za-z0-9_@][A-Za-z0-9_./@{}-]*(?:[~^]\d*)*(?:\.{2,3}[A-Za-z0-9_][\w./-]*)?")
_BRANCH = lazy_pattern(rf"-|{_REFERENCE.pattern}|[A-Za-z0-9_@][\w./@-]*(?:[~^]\d*|@\{{-?\d+\}})+")
_ADDRESS = lazy_pattern(
    r"(?:https://[A-Za-z0-9][\w.-]*(?::\d+)?/|(?:ssh://)?git@[A-Za-z0-9][\w.-]*[:/])(?:[\w~-][\w.~-]*/)*([\w-][\w.-]*?)(?:\.git)?/?"
)
_OF_BRANCHES = (
    *("-d", "-D", "--delete", "-m", "--move", "-t", "--track", "--no-track"),
    *("-u", "--set-upstream-to", "--unset-upstream", "--create-reflog"),
)
# Settings for display, the author and common preferences; none names a program, a file or an address.
_HARMLESS_SETTING = lazy_pattern(
    r"user\.(?:name|email|useconfigonly)|pull\.(?:rebase|ff)|push\.(?:default|autosetupremote|followtags)|init\.defaultbranch"
    r"|fetch\.(?:prune|prunetags|all|parallel)|core\.(?:autocrlf|eol|safecrlf|filemode|ignorecase|quotepath|abbrev|longpaths"
    r"|precomposeunicode|whitespace|commentchar|preloadindex|untrackedcache)|color\.[\w.]+|column\.\w+|advice\.\w+"
    r"|rerere\.(?:enabled|autoupdate)|merge\.(?:conflictstyle|ff|stat|log|renames|renamelimit|branchdesc)"
    r"|diff\.(?:algorithm|colormoved|colormovedws|context|mnemonicprefix|noprefix|renames|renamelimit|wserrorhighlight)"
    r"|branch\.(?:autosetupmerge|autosetuprebase|sort)|branch\.[\w/-]+\.rebase|tag\.sort|log\.(?:date|abbrevcommit|decorate|follow)"
    r"|status\.\w+|rebase\.(?:autostash|autosquash|updaterefs|stat|abbreviatecommands)|commit\.(?:verbose|status|cleanup)"
    r"|apply\.whitespace|stash\.show\w+|blame\.(?:date|coloring|showemail)|grep\.(?:linenumber|column|patterntype)"
    r"|feature\.(?:manyfiles|experimental)|gc\.auto|help\.format|versionsort\.suffix|index\.threads|transfer\.fsckobjects",
    re.IGNORECASE,
)
_SETTING_VALUE = lazy_pattern(r"[\w@+][\w .,@+%/:'()-]*|-\d+")
_STRATEGIES = lazy_pattern(r"ort|recursive|resolve|octopus|ours|subtree")
_STRATEGY_OPTIONS = lazy_pattern(
    r"ours|theirs|ignore-(?:all-space|space-change|space-at-eol|cr-at-eol)|patience|histogram|(?:no-)?renormalize|no-renames"
    r"|find-renames(?:=\d+%?)?|diff-algorithm=\w+"
)
_ASKING = ("--get", "--get-all", "--get-regexp", "--get-urlmatch", "-l", "--list")
_NOT_HERE = ("--global", "--system", "--worktree")
_LISTING = ("-l", "--list", "--contains", "--no-contains", "--merged", "--no-merged", "--points-at")
_OUTSIDE = lazy_pattern(r"[/~]|(?:.*/)?\.\.(?:/|$)")


def git_format(use: Use, _words: Words) -> None:
    if any(name in ("--format", "--pretty") and "%G" in value for name, value in use.seen):
        use.problems.append("`%G` runs a program that checks signatures")


def git_refs(use: Use, _words: Words) -> None:
    """`%(raw)` shows the content of whatever a name stands for, which may be a file."""
    if any("raw" in value for name, value in use.seen if name in ("--format", "--sort")):
        use.problems.append("its format may show the content of files")


def git_branch(use: Use, words: Words) -> None:
    """`git branch x` creates a branch, `-d` deletes it, `-m` renames it: a rule must say `git branch`. The commits
    stay.
    """
    git_refs(use, words)
    _makes(use, use.option(*_OF_BRANCHES) is not None)
    if use.makes:
        git_names(use, words)
    followed = [value for name, value in use.seen if name in ("-u", "--set-upstream-to")]
    if not all(map(_REFERENCE.fullmatch, followed)):
        use.problems.append("it does not name a plain upstream branch")


def git_tag(use: Use, words: Words) -> None:
    git_refs(use, words)
    _makes(use, use.option("-a", "--annotate", "-m", "--message", "-d", "--delete") is not None)
    if use.makes:
        git_names(use, words)
    if use.option("-a", "--annotate") is not None and use.option("-m", "--message") is None:
        use.problems.append("without a message it opens an editor")


def _makes(use: Use, told: bool) -> None:
    use.makes = use.by_name = told or (bool(use.operands) and use.option(*_LISTING) is None)


def git_address(use: Use, _words: Words) -> None:
    """A repository on another machine, by plain address; a clone gets a folder of the same name here."""
    texts = [word.text for word in use.operands]
    is_clone = use.names[-1] == "clone"
    name, address = ("x", *texts[:1]) if is_clone and texts else (*texts, "", "")[:2]
    found = _ADDRESS.fullmatch(address)
    if found is None or not _REMOTE.fullmatch(name):
        use.problems.append("it does not name a repository by a plain address")
    elif is_clone:
        use.writes.append(use.operands[1] if len(texts) > 1 else Word(found[1]))
    if any(not re.fullmatch(r"[\w./:=-]*", value) for _, value in use.seen):
        use.problems.append("the value of an option is not plain")


def git_config(use: Use, _words: Words) -> None:
    """A value is set only for this repository, and only if it cannot make git run or read something."""
    texts = [word.text for word in use.operands]
    if use.option("--unset") is None and use.option(*_ASKING) is not None:
        return
    if _sets_harmlessly(use, texts[1:] if texts[:1] in (["set"], ["unset"]) else texts):
        use.makes = use.by_name = True
        return
    if use.option("--unset") is not None:
        use.problems.append("`--unset` changes settings")
    if texts[:1] in (["get"], ["list"]):
        texts = texts[1:]
    if len(texts) != 1 or texts[0] in ("set", "unset", "edit", "rename-section", "remove-section"):
        use.problems.append("`git config` with a value changes settings")


def _sets_harmlessly(use: Use, texts: list[str]) -> bool:
    unset = use.option("--unset") is not None or [word.text for word in use.operands[:1]] == ["unset"]
    if use.option(*_NOT_HERE, *_ASKING) is not None or not all(word.literal for word in use.operands):
        return False
    match texts:
        case [key]:
            return unset and _HARMLESS_SETTING.fullmatch(key) is not None
        case [key, value]:
            named = _HARMLESS_SETTING.fullmatch(key) is not None
            return not unset and named and _SETTING_VALUE.fullmatch(value) is not None
        case _:
            return False


def git_add(use: Use, _words: Words) -> None:
    """Ignored files may be secrets, so `-f` adds only files named one by one."""
    if use.option("-f", "--force") is not None and not (use.operands and all(map(_is_a_file, use.operands))):
        use.problems.append("`-f` adds ignored files, which may hold secrets")


def _is_a_file(word: Word) -> bool:
    return word.literal and re.fullmatch(r"(?:.*/)?[^/]+\.\w+", word.text) is not None


def format_patch(use: Use, words: Words) -> None:
    git_names(use, words)
    folders = use.values("-o", "--output-directory")
    if not all(re.fullmatch(r"(?:\./)?[\w-](?:(?!\.\.)[\w./-])*", folder) for folder in folders):
        use.problems.append("`-o` does not name a plain folder")
    use.writes += map(Word, folders)


def git_outside(use: Use, _words: Words) -> None:
    """Secrets are usually not under version control."""
    if use.option("--no-index", "--untracked", "--no-exclude-standard") is not None:
        use.problems.append("it also reads files that are not under version control, which may hold secrets")


def git_diff(use: Use, words: Words) -> None:
    """If one of two paths is outside the repository, git compares them as they are on disk, with everything in them."""
    git_outside(use, words)
    two = len(use.operands) == 2
    maybe = two or any(map(is_several, use.operands))
    if maybe and any(_OUTSIDE.match(word.text) or (two and not word.literal) for word in use.operands):
        use.problems.append("it may compare files that are not under version control, which may hold secrets")


def git_rm(use: Use, _words: Words) -> None:
    """Without `-f` git deletes only what it can restore; if the workspace is part of a larger repository, there is more
    above it.
    """
    if any(_OUTSIDE.match(word.text) for word in use.operands):
        use.problems.append("it deletes something outside the workspace")
    given = {name for name, _ in use.seen}
    if "-r" in given and given & {"-f", "--force"} and not given & {"--cached", "-n", "--dry-run"}:
        use.problems.append("it deletes whole folders, with changes that git cannot restore")


def git_reflog(use: Use, _words: Words) -> None:
    if any(word.text in ("expire", "delete", "drop", "write") for word in use.operands):
        use.problems.append("it deletes the reflog of old commits")


def git_checkout(use: Use, words: Words) -> None:
    plain = all(_BRANCH.fullmatch(word.text) or word.unknown for word in use.operands)
    makes = use.option("-b", "-B", "--orphan", "-t", "--track") is not None
    if not plain or any(word.text == "--" for word in words) or (len(use.operands) > 1 and not makes):
        use.problems.append("it may discard changes in files")


def _strategies(use: Use) -> None:
    """Git's own merge strategies; any other name would be a program."""
    for name, value in use.seen:
        ways = _STRATEGIES if name in ("-s", "--strategy") else _STRATEGY_OPTIONS
        if name in ("-s", "--strategy", "-X", "--strategy-option") and value and not ways.fullmatch(value):
            use.problems.append(f"`{name}` does not name one of git's own merge strategies")


def git_remote(use: Use, _words: Words) -> None:
    _strategies(use)
    texts = [word.text for word in use.operands if not word.unknown or word is use.operands[0]]
    remotes = texts if use.names[-1] == "show" else texts[:1]
    use.problems += [f"`{text}` is not a plain remote name" for text in remotes if not _REMOTE.fullmatch(text)]
    for text in texts[1:]:
        if not _REFERENCE.fullmatch(text):
            use.problems.append(f"`{text}` forces or deletes a branch")
        elif ":" in text and use.names[-1] != "push":
            use.problems.append(f"`{text}` changes a branch of this repository")
    use.items += [Word(name) for name, _ in use.seen if name in _MORE_TO_PUSH and use.names[-1] == "push"]


def git_names(use: Use, _words: Words) -> None:
    """Branches and commits by plain name; an address would be more."""
    _strategies(use)
    for word in use.operands:
        if not _REVISION.fullmatch(word.text) and not word.unknown:  # the runner checks what is not known yet
            use.problems.append(f"`{word.text}` is not a plain commit name")


def git_worktree(use: Use, _words: Words) -> None:
    """A folder, and possibly a branch."""
    if not all(_REFERENCE.fullmatch(word.text) for word in use.operands[1:]):
        use.problems.append("it does not name a plain branch")


def git_commit(use: Use, _words: Words) -> None:
    """`--amend` without a message waits for an editor."""
    said = use.option("--no-edit", "-m", "--message", "-F", "--file", "-C", "--reuse-message")
    if use.option("--amend") is not None and said is None:
        use.problems.append("`--amend` without a message or `--no-edit` opens an editor")
    file = use.option("-F", "--file")
    if file not in (None, "-") and (not _REFERENCE.fullmatch(file) or ".." in file or secret(Word(file), "/")):
        use.problems.append("the message does not come from a plain file of the project")


def git_restore(use: Use, _words: Words) -> None:
    """Touches only the index; the files stay as they are."""
    if use.option("-S", "--staged", "--cached", "-n", "--dry-run") is None:
        use.problems.append("it may discard changes in files")


def git_clean(use: Use, _words: Words) -> None:
    if use.option("-n", "--dry-run") is None:
        use.problems.append("without `-n` it deletes files")


def git_apply(use: Use, _words: Words) -> None:
    if use.option("--check", "--stat", "--numstat", "--summary") is None:
        use.problems.append("it changes the files named in the patch")
