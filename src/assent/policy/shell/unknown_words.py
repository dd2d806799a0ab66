"""Words that are known only at run time: `$(…)`, `$?`, the variable of a loop over such words.

They can be anything: no word, several, an option, the name of a secret. So they are allowed only for programs to which
that makes no difference, or where the runner can check them before the program starts. Decides nothing else.
"""

from collections.abc import Sequence

from assent.plan import UNKNOWN, Stage, Step, Unknown, Word, outputs
from assent.policy.shell.command_rules import program
from assent.policy.shell.options import Use, examine, is_number
from assent.policy.shell.piped_names import give_names_inside
from assent.policy.shell.recursive_search import takes_files

# They print or compare whatever they get.
ANY_WORD = frozenset(("echo", "printf", "true", "false", "test", "[", "basename", "dirname"))
# They read whatever they are given, and the number of operands does not matter.
_READERS = frozenset(
    (
        *("cat", "head", "tail", "wc", "nl", "tac", "ls", "stat", "file", "du", "rev", "grep", "egrep", "fgrep"),
        *("md5sum", "sha1sum", "sha256sum", "sha512sum"),
    )
)
_REVISIONS = frozenset(
    (
        *("log", "diff", "show", "rev-parse", "rev-list", "merge-base", "describe", "shortlog", "name-rev"),
        *("push", "pull", "fetch", "rebase", "merge", "cherry-pick", "revert", "switch"),
    )
)
# Options whose value is text, or a new name; no value of theirs is read as anything else.
_TEXT_OPTIONS: dict[tuple[str, ...], tuple[str, ...]] = {
    ("git", "commit"): ("-m", "--message"),
    ("git", "log"): ("--author", "--committer", "--grep", "--since", "--until", "--after", "--before"),
    ("git", "tag"): ("-m", "--message"),
    ("git", "merge"): ("-m", "--message"),
    ("git", "stash", "push"): ("-m", "--message"),
    ("git", "checkout"): ("-b",),
    ("git", "switch"): ("-c", "--create"),
    ("docker", "build"): ("-t", "--tag", "--label", "--build-arg"),
}
_NAMED = (("git", "tag"), ("git", "branch"), ("docker", "tag"))

# They print names of files or commits. For any other text there is `echo`.
_NAME_GIVERS = frozenset(("find", "ls", "basename", "dirname", "pwd", "realpath", "which"))
_NAME_GIVERS_OF_GIT = frozenset(
    ("ls-files", "rev-parse", "describe", "merge-base", "rev-list", "branch", "tag", "diff", "symbolic-ref")
)
_COMMIT_GIVERS = (("git", "merge-base"), ("git", "describe"), ("git", "rev-list"), ("git", "symbolic-ref"))
_ONLY_NAMES = ("-l", "-L", "--files", "--files-with-matches", "--files-without-match", "--name-only")
_FILTERS = frozenset(("head", "tail", "sort", "uniq", "grep", "egrep", "fgrep"))


def has_unknown(stage: Stage) -> bool:
    return any(word.unknown for word in stage.words)


def what_unknown(use: Use | None, stage: Stage, cwd: str, roots: Sequence[str]) -> Unknown:
    """What the unknown words of a command may be; empty if it must not have any."""
    unknown = [word for word in stage.words if word.unknown]
    if use is None or not unknown or stage.words[0].unknown:
        return ""
    if all(map(is_number, unknown)):
        return "file"  # the runner ensures that it is not an option, except for its own prefix
    if use.names[0] in ANY_WORD:
        return "text"
    if any(part.kind == "status" and part.text != "?" for word in unknown for part in word.parts):
        return ""
    if all(_is_made_up(word, use, stage) for word in unknown):
        return "name"
    return _names_of(use, unknown, cwd, roots) if _gives_names(outputs(unknown)) else ""


def _names_of(use: Use, unknown: list[Word], cwd: str, roots: Sequence[str]) -> Unknown:
    """What the words may be if they are names of files or commits."""
    if _changes_files(use) and all(_is_among(word, use.reads) for word in unknown):
        return "file" if _give_names_inside(outputs(unknown), cwd, roots) else ""
    if use.names == ("git", "checkout") and _give_commits(outputs(unknown)):
        return "revision" if all(_is_among(word, use.texts) for word in unknown) else ""
    if use.names[0] in _READERS and all(_is_among(word, [*use.reads, *use.texts]) for word in unknown):
        return "file"
    if use.names[0] == "git" and use.names[1:2] and use.names[1] in _REVISIONS:
        return "revision" if all(_is_among(word, use.texts) for word in unknown) else ""
    return ""


def _changes_files(use: Use) -> bool:
    """Programs that may run on any file of the workspace: checkers, formatters and `git add`."""
    return use.names == ("git", "add") or (takes_files(use) and use.model.effect == "run")


def _give_names_inside(steps: Sequence[Step], cwd: str, roots: Sequence[str]) -> bool:
    stages = [[one for one in step.stages if isinstance(one, Stage)] for step in steps]
    return all(give_names_inside(found, cwd, roots) for found in stages) and bool(stages)


def _give_commits(steps: Sequence[Step]) -> bool:
    """A file name would discard the changes in that file."""
    match [one for step in steps for one in step.stages]:
        case [Stage() as stage]:
            use = examine(program(stage.words[0].text), stage.words)
            return use is not None and use.names in _COMMIT_GIVERS
        case _:
            return False


def _is_made_up(word: Word, use: Use, stage: Stage) -> bool:
    """Whether it is the text value of an option, or a new name whose prefix keeps it from being an option."""
    options = _TEXT_OPTIONS.get(use.names, ())
    if any(stage.words[at] is word and option in options for option, at in use.values_at):
        return True
    if any(word.fixed.startswith(f"{option}=") for option in options if option.startswith("--")):  # `--author="$(…)"`
        return all(part.quoted for part in word.parts if part.kind in UNKNOWN)
    return use.names in _NAMED and bool(word.fixed) and _is_among(word, use.texts)


def _gives_names(steps: Sequence[Step]) -> bool:
    return all(_gives_name(command, first=at == 0) for step in steps for at, command in enumerate(step.stages))


def _gives_name(command: object, *, first: bool) -> bool:
    """Whether a part of a pipe prints names, or passes names on."""
    use = examine(program(command.words[0].text), command.words) if isinstance(command, Stage) else None
    if use is None:
        return False
    name = use.names[0]
    if not first:
        return name in _FILTERS and not use.reads
    if name == "git":
        named = use.names[1:2] != ("diff",) or use.option(*_ONLY_NAMES) is not None
        return named and bool(use.names[1:2]) and use.names[1] in _NAME_GIVERS_OF_GIT
    return name in _NAME_GIVERS or (name in ("grep", "rg") and use.option(*_ONLY_NAMES) is not None)


def _is_among(word: Word, operands: list[Word]) -> bool:
    return any(word is one for one in operands)
