"""What is allowed out of the box: commands that only read, and only inside the workspace.

The program models make sure that no option of theirs runs or writes anything; what leaves the workspace asks.
"""

from posixpath import normpath

from assent.plan import Plan, Stage, Word

_NAMES = """
ls cat head tail wc nl tac cut sort uniq comm diff cmp file stat du df tree find grep egrep fgrep rg sed tr rev fold
column jq basename dirname realpath readlink pwd cd echo printf true false test [ date uname whoami id which type ps
uptime free nproc seq md5sum sha1sum sha256sum
"""
_SUBCOMMANDS = """
command -v
git status
git log
git diff
git show
git branch
git tag
git remote
git rev-parse
git describe
git blame
git ls-files
git ls-tree
git shortlog
git reflog
git stash list
pip list
pip show
pip freeze
npm ls
python --version
python3 --version
node --version
npm --version
cargo --version
go version
"""
READ_ONLY: tuple[tuple[str, ...], ...] = (
    *((name,) for name in _NAMES.split()),
    *(tuple(line.split()) for line in _SUBCOMMANDS.strip().splitlines()),
)


def stays_inside(plan: Plan, roots: tuple[str, ...]) -> bool:
    """No word of the plan names a place outside the workspace, as far as its text can tell."""
    return all(_stage_inside(stage, plan.cwd, roots) for step in plan.steps for stage in step.stages)


def _stage_inside(stage: Stage, cwd: str, roots: tuple[str, ...]) -> bool:
    words = [*stage.words[1:], *(r.target for r in stage.redirects if isinstance(r.target, Word))]
    return all(_word_inside(word, cwd, roots) for word in words)


def _word_inside(word: Word, cwd: str, roots: tuple[str, ...]) -> bool:
    if any(part.kind in ("home", "variable") for part in word.parts):
        return False
    text = word.text.rpartition("=")[2] if word.text.startswith("-") else word.text
    if not text.startswith("/") and ".." not in text.split("/"):
        return True
    place = normpath(f"{cwd}/{text}" if not text.startswith("/") else text)
    return any(place == root or place.startswith(root.rstrip("/") + "/") for root in map(normpath, roots))
