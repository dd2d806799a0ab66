"""What a command does beyond the words of the rule that covers it: more files, addresses, packages, values of options.

A rule that names one of these covers no other. Knows rules and the kinds of words in a command, not programs.
"""

from itertools import pairwise

from assent.plan import Word
from assent.policy.shell.command_rules import Prefix
from assent.policy.shell.options import Use
from assent.policy.shell.synonyms import same_option
from assent.policy.shell.undescribed import GIT_FOLDER


def further_operands(use: Use, rule: Prefix, *, at_the_top: bool) -> list[str]:
    """A rule that names what a command writes, requests or installs covers nothing else: `rm a`, `npm install x`. Files
    are those at the top of the workspace, where the person saw the command.
    """
    items = [word.text for word in _items(use)]
    if not any(item in rule[1:] for item in items):
        return []
    others = [word.text for word in use.writes if word.text in rule] if not at_the_top else []
    return [
        *(f"the rule does not name `{item}`" for item in items if item not in rule),
        *(f"the rule means `{name}` in another folder" for name in others),
    ]


def other_targets(use: Use, rule: Prefix) -> list[str]:
    """A rule for `kubectl apply` is about the cluster that is chosen already."""
    options = () if use.model.effect == "read" else use.models[0].elsewhere.split()
    return [f"the rule does not name `{name}`" for name, _ in use.seen if name in options and name not in rule]


def _items(use: Use) -> list[Word]:
    """The operands of one kind; others mean something by their place, such as the remote and branch of `git push`."""
    if use.writes or use.model.effect == "write":
        return [*(word for word in use.operands if word in use.reads or word in use.writes), *use.items]
    return use.items


def further_values(use: Use, rule: Prefix) -> list[str]:
    """A rule that names the value of an option covers no other one: `apply -f a.yml` not also `-f b.yml`."""
    valued = {name for name, value in pairwise(rule) if name.startswith("-") and not value.startswith("-")}
    same = {other for name in valued for other in same_option(use.names[0], use.names[-1], name)}
    named = {word.partition("=")[2] or word for word in rule}
    return [
        f"the rule does not name `{value}`" for name, value in use.seen if name in same and value not in ("", *named)
    ]


def inside_git(use: Use) -> list[str]:
    """A word that may be where the command writes, such as in `docker cp x:/hook .git/hooks`."""
    if use.model.effect == "read":
        return []
    return [f"`{word.text}` is in the folder of git" for word in use.texts if GIT_FOLDER.search(word.text)]
