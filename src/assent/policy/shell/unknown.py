"""Programs that nobody has described: what a rule for one of them covers.

The words of the rule, and after them plain operands. A rule of one word names a program, not all that it can do: words
that usually change something, and names of programs that it may run, need a rule that says them.
"""

import re
from collections.abc import Iterator, Sequence

from assent.plan import Word
from assent.policy.shell.models import model

_ASKS_ABOUT_ITSELF = (["--version"], ["--help"])
_PLAIN = re.compile(r"[A-Za-z0-9_./:,][A-Za-z0-9_./:@,+-]*")
_CHANGES = frozenset(
    """
    abandon add apply attach build-and-push c checkout clean clear clone cmd commit config connect console copy
    cordon cp create decrypt delete deploy destroy dev disable down downgrade drain drop edit enable eval exec
    export flush gc import init install kill launch login logout merge migrate mv new open patch post promote prune
    publish pull purge push put rebase rec record reload remove rename replace reset resize restart restore resume
    reveal revert revoke rm rmi rollback rotate run save scale secret secrets seed sell send serve server set shell
    ship shutdown spawn squash ssh start stat stop studio submit suspend sync trigger tunnel uninstall unlock unset
    up update upgrade upload use wipe worker write x
    """.split()  # noqa: SIM905
)
# Names of programs that are as often words about something else.
_ALSO_WORDS = frozenset(
    """
    arch batch bind bridge build code column command complete convert cut date defaults diff dir env expand export fg
    file find fold format free go head help history host install join just last link locale look make mount node open
    parallel pass paste ping python read route rule script security seq service size sleep sort source split sum swift
    tail task test time top tree true type uptime users view wait watch who yes
    """.split()  # noqa: SIM905
)


def unknown_words(words: Sequence[Word], named: int) -> Iterator[str]:
    """Why the words behind the `named` first ones are more than the rule says."""
    if [word.text for word in words[1:]] in _ASKS_ABOUT_ITSELF:
        return
    for word in words[max(1, named) :]:
        if not word.literal or not _PLAIN.fullmatch(word.text):
            yield f"`{word.text}` is more than the rule says, and the program is not known"
        elif "://" in word.text:
            yield f"`{word.text}` is a place on another machine"
        elif named == 1 and not _CHANGES.isdisjoint(word.text.split(":")):  # also `db:drop`
            yield f"`{word.text}` may change something, so a rule must name it"
        elif model(word.text) is not None and word.text not in (*_ALSO_WORDS, *_CHANGES):
            yield f"`{word.text}` may be a program that it runs, and the program is not known"
