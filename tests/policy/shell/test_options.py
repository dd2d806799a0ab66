"""What the model of a program tells about its words: options, operands and their roles, and what is not harmless."""

import pytest

from assent.plan import Word
from assent.policy.shell.options import Use, examine
from assent.policy.shell.reader import read
from support.plans import stage_of


def shown(command: str) -> str:
    words = stage_of(read(command)).words
    use = examine(words[0].text, words)
    return "no model" if use is None else _shown(use)


def _shown(use: Use) -> str:
    found = {
        "": " ".join(use.names),
        "options": ",".join(f"{name}={value}" if value else name for name, value in use.seen),
        "operands": _texts(use.operands),
        "texts": _texts(use.texts),
        "reads": _texts(use.reads),
        "writes": _texts(use.writes),
        "runs": ",".join(use.runs),
        "payload": " ".join(word.text for word in use.payload),
    }
    lines = [f"{name} {value}".strip() for name, value in found.items() if value]
    return "; ".join(
        [*lines, *(f"! {problem.replace('is not known to be harmless', '?')}" for problem in use.problems)]
    )


def _texts(words: list[Word]) -> str:
    return ",".join(word.text for word in words)


@pytest.mark.parametrize(
    ("command", "means"),
    [
        ("mytool x", "no model"),
        ("ls -la x", "ls; options -l,-a; operands x; texts x"),
        ("ls -l -- -a", "ls; options -l; operands -a; texts -a"),
        ("sort -k2 -r f", "sort; options -k=2,-r; operands f; reads f"),
        ("sort -k 2 f", "sort; options -k=2; operands f; reads f"),
        ("sort --key=2 f", "sort; options --key=2; operands f; reads f"),
        ("sort --key 2 f", "sort; options --key=2; operands f; reads f"),
        ("sort --rev f", "sort; options --reverse; operands f; reads f"),
        ("sort --ke 2 f", "sort; options --key=2; operands f; reads f"),
        ("sort --r f", "sort; operands f; reads f; ! the option `--r` ?"),
        ("sort --nonsense f", "sort; operands f; reads f; ! the option `--nonsense` ?"),
        ("sort -- --rev", "sort; operands --rev; reads --rev"),
        ("rg --hid x", "rg; operands x; texts x; ! the option `--hid` ?"),
        ("head -5 f", "head; options -N=-5; operands f; reads f"),
        ("ls -5", "ls; ! the option `-5` ?"),
        ("sort -o x f", "sort; options -o=x; operands f; reads f; writes x; ! `-o` writes to the file x"),
        ("sort -rox f", "sort; options -r,-o=x; operands f; reads f; writes x; ! `-o` writes to the file x"),
        ("sort --check f", "sort; options --check; operands f; reads f"),
        ("sort --check=quiet f", "sort; options --check=quiet; operands f; reads f"),
        ("date -Iseconds", "date; options -I=seconds"),
        ("date -I", "date; options -I"),
        (
            "sed -ni p f",
            "sed; options -n,-i; operands p,f; texts p; reads f; ! `-i` changes or deletes files or settings",
        ),
        (
            "sed --in-place=x p",
            "sed; options --in-place=x; operands p; texts p; ! `--in-place` changes or deletes files or settings",
        ),
        (
            "sort --compress-program=x",
            "sort; options --compress-program=x; runs x; ! `--compress-program` can run another program",
        ),
        (
            "sort --compress-program x",
            "sort; options --compress-program=x; runs x; ! `--compress-program` can run another program",
        ),
        ("uniq a b", "uniq; operands a,b; reads a; ! the operand `b` ?"),
        ("cp a b c", "cp; operands a,b,c; reads a,b; writes c"),
        ("cp a", "cp; operands a; writes a"),
        ("cp", "cp"),
        ("grep -e x f", "grep; options -e=x; operands f; reads f"),
        ("grep x f g", "grep; operands x,f,g; texts x; reads f,g"),
        ("grep --regexp=x f", "grep; options --regexp=x; operands f; reads f"),
        (
            "sed --in-place p",
            "sed; options --in-place; operands p; texts p; ! `--in-place` changes or deletes files or settings",
        ),
        ("helm version --=", "helm version; ! the option `--` ?"),
        ("helm version --s", "helm version; options --short"),
        ("grep -- -- f", "grep; operands --,f; texts --; reads f"),
        ("grep -- -x f", "grep; operands -x,f; texts -x; reads f"),
        ("find -- .", "find; operands .; texts .; ! `--` does not end the options of this program"),
        ("git -- log", "git log; ! `--` does not end the options of this program"),
        ("git log -3 a", "git log; options -N=-3; operands a; texts a"),
        ("git -C d log", "git log; options -C=d; reads d"),
        ("git --no-pager log", "git log; options --no-pager"),
        ("git frob -x y", "git frob; operands y; ! `git frob` ?; ! the option `-x` ?"),
        ("git", "git; ! `git` needs a sub-command"),
        ("git --version", "git; options --version"),
        ("git remote", "git remote"),
        ("git remote frob", "git remote frob; ! `git remote frob` ?"),
        ("python -m pytest -q a", "python -m pytest; options -q; operands a; reads a"),
        ("python -m", "python -m; ! `python -m` needs a sub-command"),
        ("python x.py", "python x.py; ! `python x.py` ?"),
        ("python --version", "python; options --version"),
        ("timeout 5 ls -l", "timeout; operands 5; payload ls -l"),
        ("timeout -k 3 5 ls", "timeout; options -k=3; operands 5; payload ls"),
        ("timeout 5 -k 3 ls", "timeout; operands 5; payload -k 3 ls"),
        ("timeout -- 5 ls", "timeout; operands 5; payload ls"),
        ("timeout 5", "timeout; operands 5; ! the operand `5` ?"),
        ("timeout", "timeout"),
        ("env A=1 B=2 ls -l", "env; operands A=1,B=2; payload ls -l"),
        ("env ls", "env; payload ls"),
        ("env A=1", "env; operands A=1; ! the operand `A=1` ?"),
        ("env -- A=1 ls", "env; operands A=1; payload ls"),
        ("nice -n 5 ls -l", "nice; options -n=5; payload ls -l"),
        ("nice -5 ls", "nice; options -N=-5; payload ls"),
        ("nice -- ls", "nice; payload ls"),
        ("xargs ls -l", "xargs; payload ls -l"),
        ("xargs", "xargs"),
        (
            "ssh host ls -l",
            "ssh; operands host,ls,-l; ! the operand `host` ?; ! the operand `ls` ?; ! the operand `-l` ?",
        ),
        ("bash -c x y", "bash; options -c=x; operands y; ! the operand `y` ?"),
        ("awk -F: '{print}' f -x", "awk; options -F=:; operands {print},f,-x; texts {print}; reads f,-x"),
        ("awk -- '{print}' -x", "awk; operands {print},-x; texts {print}; reads -x"),
        ("ls *", "ls; operands *; texts *"),
        ("file *", "file; operands *; reads *"),
        ("sort *", "sort; operands *; reads *; ! `*` could match a file named like an option"),
        ("sort *.txt", "sort; operands *.txt; reads *.txt"),
        ("sort *a", "sort; operands *a; reads *a; ! `*a` could match a file named like an option"),
        ("sort *.[ab]", "sort; operands *.[ab]; reads *.[ab]; ! `*.[ab]` could match a file named like an option"),
        ("sort a*", "sort; operands a*; reads a*"),
        ("sort $HOME", "sort; operands $HOME; reads $HOME"),
        ("sort $HOME/*", "sort; operands $HOME/*; reads $HOME/*"),
        ("sort -k*", "sort; ! `-k*` expands inside an option"),
        ('sort "-k $HOME"', "sort; ! `-k $HOME` expands inside an option"),
        ("sort --key=$HOME", "sort; options --key=$HOME"),
        ("sort --key=*", "sort; options --key=*"),
        ("sort --ke*", "sort; ! `--ke*` expands inside the name of an option"),
        ("sort -k *", "sort; options -k=*; ! `*` may expand to several words after `-k`"),
        ("sort -k a*", "sort; options -k=a*; ! `a*` may expand to several words after `-k`"),
        ("sort -k $HOME", "sort; options -k=$HOME"),
        ("sort -k -o f", "sort; options -k=-o; operands f; reads f; ! `-o` after `-k` may be an option or a value"),
        ("sort -k -5 f", "sort; options -k=-5; operands f; reads f"),
        ("sort -k - f", "sort; options -k=-; operands f; reads f"),
        ("find . -size -10k", "find; options -size=-10k; operands .; texts ."),
        (
            "find . -name -x",
            "find; options -name=-x; operands .; texts .; ! `-x` after `-name` may be an option or a value",
        ),
        ("date -d '-2 days'", "date; options -d=-2 days"),
        (
            "sort '--a b' f",
            "sort; operands f; reads f; ! the name of an option contains a space or a non-ASCII character",
        ),
        ("sort -é f", "sort; operands f; reads f; ! the option `-é` ?"),
        ("sort --é f", "sort; operands f; reads f; ! the name of an option contains a space or a non-ASCII character"),
        ("sort -k", "sort; options -k; ! the option `-k` has no value"),
        ("sort --key", "sort; options --key; ! the option `--key` has no value"),
        ("ls --all=x", "ls; ! the option `--all` takes no value"),
        ("ls --color", "ls; options --color"),
        ("ls --color=auto x", "ls; options --color=auto; operands x; texts x"),
        ("sort - f", "sort; operands -,f; reads -,f"),
        ("sort '' f", "sort; operands ,f; reads ,f"),
        ("npm", "npm; ! `npm` needs a sub-command"),
        ("npm run", "npm run"),
        ("go env -json X", "go env; options -json; operands X; texts X"),
        ("find . -newer x", "find; options -newer=x; operands .; texts .; reads x"),
        ("tar -tf x", "tar; options -t,-f=x; reads x"),
        ("cat -f x", "cat; operands x; reads x; ! the option `-f` ?"),
        ("less x", "less; operands x; reads x"),
        ("less --version", "less; options --version"),
        ("stat -c %s f", "stat; options -c=%s; operands f; texts f"),
        ("tput a b c", "tput; operands a,b,c; texts a,b,c"),
        ("unlink a b", "unlink; operands a,b; writes a; ! the operand `b` ?"),
        ("printf -- x", "printf; operands x; texts x"),
        ("printf a -b", "printf; operands a,-b; texts a,-b"),
        ("docker exec x ls", "docker exec; operands x,ls; texts x,ls"),
        ("poetry run ls -l", "poetry run; payload ls -l"),
        ("git worktree", "git worktree; ! `git worktree` needs a sub-command"),
        ("git stash", "git stash"),
        ("git stash list", "git stash list"),
        ("command -v ls", "command; options -v; payload ls"),
        ("xargs -I{} ls {}", "xargs; options -I={}; payload ls {}"),
        ("xargs -0 -n1 ls", "xargs; options -0,-n=1; payload ls"),
        (
            "find . -exec ls {} +",
            "find; options -exec=ls; operands .,{},+; texts .,{},+; runs ls; ! `-exec` can run another program",
        ),
        ("git -Cd log", "git log; options -C=d; reads d"),
        ("sudo -u x ls", "sudo; options -u=x; payload ls"),
        ("grep -A1 -B 2 x", "grep; options -A=1,-B=2; operands x; texts x"),
        ("cal -3", "cal; options -N=-3"),
        ("jq --arg a b . f", "jq; options --arg=b; operands .,f; texts .; reads f"),
        ("jq --argjson a 1 . f", "jq; options --argjson=1; operands .,f; texts .; reads f"),
        ("jq --slurpfile a b . f", "jq; options --slurpfile=b; operands .,f; texts .; reads b,f"),
        ("jq --rawfile a b .", "jq; options --rawfile=b; operands .; texts .; reads b"),
        ("jq --arg a", "jq; options --arg; ! the option `--arg` has no value"),
        ("jq --arg=a b", "jq; operands b; texts b; ! the option `--arg` takes no value"),
        ("jq --slurpfile=a b", "jq; operands b; texts b; ! the option `--slurpfile` takes no value"),
        ("mount -t", "mount; options -t; ! the option `-t` has no value"),
    ],
)
def test_the_words_of_a_command_are_what_its_model_says(command: str, means: str) -> None:
    assert shown(command) == means
