"""Programs and sub-commands without a model: what a rule for one of them covers.

The words of the rule, followed by plain operands and plain options: flags, numbers, and values that cannot name a
command, a file elsewhere or another machine. A rule of one word names a program, not everything it can do: words that
usually change something, and names of programs that it may run, need a rule that contains them. A rule that says what
is changed, such as `gem install rails`, covers nothing else.
"""

import re
from collections.abc import Iterator, Sequence

from assent.lazy_pattern import lazy_pattern
from assent.plan import Word
from assent.policy.shell.command_rules import program
from assent.policy.shell.program_models import model

_ASKS_ABOUT_ITSELF = (["--version"], ["--help"])
_PLAIN = lazy_pattern(r"[A-Za-z0-9_./:,][A-Za-z0-9_./:@,+-]*")
_CHANGES = frozenset(
    """
    abandon add apply attach bud build-and-push c checkout clean clear clone cmd commit config connect console copy
    cordon cp create decrypt delete deploy destroy dev disable down downgrade drain drop edit enable eval exec
    export flush gc import init install kill launch login logout merge migrate mv new open patch post promote prune
    publish pull purge push put rebase rec record reload remove rename replace require reset resize restart restore
    resume reveal revert revoke rm rmi rollback rotate run save scale secret secrets seed sell send serve server set
    shell ship shutdown spawn squash ssh start stat stop studio submit suspend sync trigger tunnel uninstall unlock
    unset up update upgrade upload use wipe worker write x
    """.split()  # noqa: SIM905
)
# Sub-commands whose words are another command, or decide what runs later.
RUNS_OTHERS = frozenset(
    """
    alias attach bash config console debug dlx edit eval exec exec-env extension hook hooks import login plugin plugins
    remote repl rpc run run-script script sh shell ssh tunnel x
    """.split()  # noqa: SIM905
)
# After these, further words are of the same kind.
_BEFORE_ITEMS = _CHANGES - RUNS_OTHERS - {"dev", "open", "run", "serve", "server", "start", "use", "work", "worker"}
# Every plain word may be another task.
_RUN_TASKS = frozenset(("ant", "brunch", "doit", "fab", "grunt", "gulp", "inv", "invoke", "jake", "lein", "sbt"))
# Names of programs that are just as often ordinary words.
_ALSO_WORDS = frozenset(
    """
    arch batch bind bridge build code column command complete convert cut date defaults diff dir env expand export fg
    file find fold format free go head help history host install join just last link locale look make mount node open
    parallel pass paste ping python read route rule script security seq service size sleep sort source split sum swift
    tail task test time top tree true type uptime users view wait watch who yes
    """.split()  # noqa: SIM905
)


# Options whose name says that they run or load something, or choose where to read, write or connect.
_TELLING = frozenset(
    """
    address agent append auth base bin binary bootstrap browser bucket cache cert chdir cmd code command compiler
    conf config connect context cookie credential credentials cwd data dest destination dir directory domain dsn
    editor endpoint engine entry env environment eval exec executable execute expression ext extension extensions
    extra file filename files folder format formatter from git global header home hook hooks host html import in
    include index infile init input install interpreter key kubeconfig launcher ld lib library link linker load
    loader local location log logfile makefile manifest middleware module netrc node option options out outdir
    outfile output override pager parser path pidfile pipe plugin plugins post pre prefix preload prepend
    preprocessor preset processor profile program project property proxy python rc rcfile register registry remote
    repo report reporter repository require resolver results root rsh runner runtime save script scripts secret
    server set setting settings setup shell sock socket source ssh stdin store system target tasks teardown temp
    template theme tmp token tool toolchain trace transform transformer uri url use user userconfig wrapper
    """.split()  # noqa: SIM905
)
_TELLING_ENDS = tuple("dir file path cmd exec script config url plugin module bin log runner".split())  # noqa: SIM905
_FLAG_CHANGES = (_CHANGES | {"generate"}) - {"enable", "disable"}  # these are switches there
_MORE_CHANGES = _CHANGES | frozenset(("api", "debug", "fix", "inspect", "latest", "snapshot", "snapshots", "ui", "web"))
GIT_FOLDER = lazy_pattern(r"(?i)(?:^|[/:=])\.git(?:/|$)")
_FLAG = lazy_pattern(r"--[a-z0-9][A-Za-z0-9_-]*")
_LETTERS = lazy_pattern(r"-(?:[A-Za-z]{1,4}|[A-Za-z]?\d+)")
_VALUE = lazy_pattern(r"[A-Za-z0-9_][A-Za-z0-9_.,%+-]*")
_NUMBER = lazy_pattern(r"\d+[a-z%]{0,2}")
_CODE = frozenset("ce")
_WITH_VALUE = frozenset("CDEFILOTWXfioprx")
"""Letters that often take a program, a file or a place as their value: by themselves they are flags."""


def unknown_words(words: Sequence[Word], named: int, *, described: bool = False) -> Iterator[str]:
    """Why the words after the first `named` ones are more than the rule says. `described`: the program is known, and
    does not run others.
    """
    if [word.text for word in words[1:]] in _ASKS_ABOUT_ITSELF:
        return
    names_items = not _BEFORE_ITEMS.isdisjoint(word.text for word in words[1 : named - 1])
    changes = named == 1 or program(words[0].text) in _RUN_TASKS
    for at in range(max(1, named), len(words)):
        word, following = words[at], words[at + 1].text if at + 1 < len(words) else ""
        if word.literal and word.text.startswith("-") and plain_option(word.text, following):
            parts = _parts(word.text)
            if (
                named == 1
                and word.text.startswith("--")
                and parts != ["dry", "run"]
                and not _FLAG_CHANGES.isdisjoint(parts)
            ):
                yield f"`{word.text}` may change something, so a rule must name it"
        elif not word.literal or not _PLAIN.fullmatch(word.text):
            yield f"`{word.text}` is more than the rule says, and the program is unknown"
        elif (place := _place(word.text)) is not None:
            yield f"`{word.text}` is {place}"
        elif names_items:
            yield f"the rule does not name `{word.text}`"
        elif changes and not _CHANGES.isdisjoint(word.text.split(":")):  # also `db:drop`
            yield f"`{word.text}` may change something, so a rule must name it"
        elif not described and may_be_program(word.text):
            yield f"`{word.text}` may be a program that it runs, and the program is unknown"


def _place(text: str) -> str | None:
    if GIT_FOLDER.search(text):
        return "in the folder of git"
    return "a place on another machine" if "://" in text else None


def plain_option(text: str, following: str) -> bool:
    """A flag, or an option with a plain value, that names neither a command nor a place. `following`: the next word."""
    name, equals, value = text.partition("=")
    if text == "--":
        return False
    if _LETTERS.fullmatch(text):
        return _CODE.isdisjoint(text) and (_WITH_VALUE.isdisjoint(text) or _is_alone(following))
    if not _FLAG.fullmatch(name):
        return False
    telling = any(part in _TELLING or part.endswith(_TELLING_ENDS) for part in _parts(name))
    if equals:
        return not telling and _VALUE.fullmatch(value) is not None and ".." not in value
    return not telling or _parts(name)[0] == "no"


def _is_alone(following: str) -> bool:
    """Whether the next word is not the option's value, unless it is a number."""
    return not following or following.startswith("-") or _NUMBER.fullmatch(following) is not None


def may_be_program(word: str) -> bool:
    """The name of a program and nothing else."""
    return model(word) is not None and word not in (".", *_ALSO_WORDS, *_CHANGES)


def changes_something(word: str) -> bool:
    """A word that usually means a change: `deploy`, `shutdown`."""
    return len(word) > 2 and word.lower() in _CHANGES


def plain_flag(text: str) -> bool:
    """A long flag that the program may obey: plain, and not one that usually changes something."""
    parts = _parts(text)
    harmless = _MORE_CHANGES.isdisjoint(parts) or parts[0] == "no" or parts == ["dry", "run"]
    return text.startswith("--") and plain_option(text, "") and harmless


def plain_letters(text: str) -> bool:
    """Short flags that usually take no value: `-v`, `-qq`."""
    known = _LETTERS.fullmatch(text) is not None and text[1:].isalpha()
    return known and (_WITH_VALUE | _CODE).isdisjoint(text[1:])


def _parts(name: str) -> list[str]:
    """The words in the name of an option, including `--camelCase`."""
    return (
        re.sub(r"([a-z0-9])([A-Z])", r"\1-\2", name.lstrip("-").partition("=")[0]).lower().replace("_", "-").split("-")
    )
