"""What is allowed out of the box: commands that only read, and only inside the workspace.

The program models ensure that none of their options runs or writes anything. A command whose text points outside the
workspace needs approval, except for files that only describe the machine (`/proc/cpuinfo`, `/etc/os-release`); if
it would leave through a link, the runner refuses it (`Plan.inside`). Programs that decide for themselves what to run
(version managers, package managers) are not here.
"""

from assent.plan import Plan, Stage, Word, is_public, paths_in
from assent.policy.cwd_tracking import with_folders
from assent.policy.shell.command_rules import program
from assent.policy.shell.options import examine
from assent.policy.shell.paths import inside, moves, place

_NAMES = """
ls cat head tail wc nl tac cut sort uniq comm diff cmp file stat du df tree find grep egrep fgrep rg sed tr rev fold
less column jq basename dirname realpath readlink pwd cd echo printf true false : test [ date uname whoami id which type
uptime free nproc seq md5sum sha1sum sha224sum sha256sum sha384sum sha512sum b2sum cksum sum shasum awk gawk mawk
xargs paste join expand unexpand fmt pr tsort shuf od hexdump hd xxd strings base64 base32 zcat bzcat xzcat zstdcat
zgrep tar zipinfo hostname sleep arch tty groups logname hostid expr factor numfmt cal ncal locale getconf lscpu lsblk
sw_vers vmstat whereis bc fd fdfind bat yq who w users last ps pgrep pidof pstree lsof ss netstat ip ifconfig route arp
iostat mpstat lsusb lspci lsmod lsb_release findmnt mount nm readelf objdump size ldd yes man
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
git stash show
git grep
git merge-base
git rev-list
git worktree list
git cat-file -t
git cat-file -s
git cat-file -e
git cat-file -p
git symbolic-ref
git show-ref
git for-each-ref
git name-rev
git cherry
git show-branch
git diff-tree
git diff-index
git diff-files
git range-diff
git whatchanged
git annotate
git count-objects
git check-ignore
git check-attr
git remote get-url
git bisect log
git version
git check-ref-format
git check-mailmap
git sparse-checkout list
git stripspace
git notes list
git notes show
git fsck
top -b
systemctl status
systemctl is-active
systemctl is-enabled
systemctl is-failed
systemctl list-units
systemctl list-unit-files
systemctl list-timers
systemctl list-dependencies
timedatectl status
hostnamectl status
dpkg -l
dpkg -L
dpkg -s
dpkg -S
apt list
apt show
apt search
apt policy
apt-cache show
apt-cache search
apt-cache policy
tput cols
tput lines
tput colors
sqlite3 -readonly
unzip -l
unzip -v
unzip -t
unzip -Z
unzip -z
gzip -l
gzip -t
xz -l
xz -t
bzip2 -t
gzip -cd
xz -cd
bzip2 -cd
gunzip -c
gunzip -l
gunzip -t
openssl version
openssl dgst
"""
READ_ONLY: tuple[tuple[str, ...], ...] = (
    *((name,) for name in _NAMES.split()),
    *(tuple(line.split()) for line in _SUBCOMMANDS.strip().splitlines()),
)
_PLAIN = """
ls cat head tail wc nl tac cut comm cmp diff stat du df grep egrep fgrep tr rev fold paste join expand unexpand od
basename dirname realpath readlink pwd cd echo printf true false : test [ uname whoami id which type seq nproc arch
groups logname md5sum sha1sum sha224sum sha256sum sha384sum sha512sum b2sum cksum sum sleep
"""
_PLAIN_GIT = frozenset(("status", "log", "diff", "show", "branch", "rev-parse", "ls-files", "ls-tree", "blame"))
PLAIN_READS: tuple[tuple[str, ...], ...] = (
    *((name,) for name in _PLAIN.split()),
    *(words for words in READ_ONLY if words[0] == "git" and len(words) == 2 and words[1] in _PLAIN_GIT),
)
"""What runs by itself where no sandbox works: programs that can neither write files nor start others, whatever their
options are, and the usual questions to git, which is restricted in its own way.
"""
_OWN_OUTPUT = ("/dev/stdout", "/dev/stderr")
_FOLLOWING = {
    "ls": ("-L", "--dereference"),
    "du": ("-L", "--dereference"),
    "tree": ("-l",),
    "find": ("-L", "-follow"),
    "fd": ("-L", "--follow"),
    "fdfind": ("-L", "--follow"),
}
"""Options that make a program follow links while it walks a tree. `rg -L` needs approval by itself, and `grep -R` runs
as `-r`.
"""


def stays_inside(plan: Plan, roots: tuple[str, ...]) -> bool:
    """Whether no word of the plan names a place outside the workspace, judging by text alone."""
    stages = list(with_folders(plan))
    if len(stages) > 1 and moves(stages[-1][0]) and len(stages[-1][0].words) == 2:
        del stages[-1]  # nothing runs in its target: `cd src; ls; cd ..`
    return all(bool(folders) and all(_stage_inside(stage, cwd, roots) for cwd in folders) for stage, folders in stages)


def _stage_inside(stage: Stage, cwd: str, roots: tuple[str, ...]) -> bool:
    if moves(stage) and len(stage.words) != 2:
        return False  # home, or something unknown
    if _follows_links(stage):
        return False
    named = [word for at, word in enumerate(stage.words) if at and at not in stage.texts]
    if program(stage.words[0].text) == "tee":
        named = [word for word in named if word.text not in _OWN_OUTPUT]
    words = [*named, *(r.target for r in stage.redirects if isinstance(r.target, Word))]
    return all(_word_inside(word, cwd, roots) for word in words)


def _follows_links(stage: Stage) -> bool:
    name = program(stage.words[0].text)
    use = examine(name, stage.words)
    return use is not None and use.option(*_FOLLOWING.get(name, ())) is not None


def _word_inside(word: Word, cwd: str, roots: tuple[str, ...]) -> bool:
    if any(part.kind == "variable" for part in word.parts):
        return False
    places = [place(text, cwd) for text in paths_in(word.text)]
    return word.text == "/dev/null" or all(inside(one, roots) or (word.literal and is_public(one)) for one in places)
