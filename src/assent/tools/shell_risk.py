"""Which programs a command starts and how much harm it could do, at first glance.

A stop-gap until the shell gate reads commands by their grammar: a conservative splitter and a list of habits. It only
informs the person; nothing is allowed because of it. What it cannot read is called dangerous.
"""

import os
import re

from assent.approval import Risk

_SPLIT_AT = set(";|&\n")
_NOT_PROGRAMS = frozenset(
    "if then elif else fi do done while until for in case esac select function time ! { } [[ ]]".split()  # noqa: SIM905
)
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*\+?=")
_REDIRECTION = re.compile(r"(?:\d*|&)(?:>>|>\||>&|<<<|<<-?|<&|<>|>|<)\s*(\S*)")
_INTERPRETERS = frozenset("sh bash dash zsh ksh fish python python3 perl ruby node php eval source .".split())  # noqa: SIM905
_DOWNLOADERS = frozenset(("curl", "wget", "fetch", "aria2c"))

_HIGH: tuple[tuple[str, str], ...] = (
    (r"(sudo|doas|su|pkexec)\b", "runs with the rights of another user"),
    (r"rm\s+(.*\s)?(-\w*[rR]|--recursive)", "deletes whole folders"),
    (r"(dd|shred|wipefs|fdisk|parted|mkfs\S*|mkswap)\b", "writes to disks without asking"),
    (r"(shutdown|reboot|halt|poweroff|init)\b", "stops the machine"),
    (r"(chmod|chown|chgrp)\s+(.*\s)?(-\w*R|--recursive)", "changes the rights of whole folders"),
    (r"git\s+(.*\s)?push\s+(.*\s)?(-f|--force\S*|\+\S+|--delete|--mirror)", "rewrites a remote repository"),
    (r"git\s+(.*\s)?reset\s+(.*\s)?--hard", "throws away changes that were not committed"),
    (r"git\s+(.*\s)?clean\s+(.*\s)?-\w*[fdx]", "deletes files that were not committed"),
    (r"find\s.*\s(-delete|-exec\w*|-ok\w*)", "deletes or runs something for every file found"),
    (r"xargs\s+(.*\s)?(rm|sh|bash)\b", "deletes or runs something for every line of its input"),
    (r"(kill|pkill|killall)\b", "ends other programs"),
    (r"(crontab|systemctl|service|iptables|mount|umount|useradd|usermod|passwd)\b", "changes the system"),
    (r"eval\b", "runs text that is not known yet"),
)
_MEDIUM: tuple[tuple[str, str], ...] = (
    (r"(rm|mv|cp|ln|mkdir|rmdir|touch|truncate|tee|install|patch|chmod|chown|tar|unzip|rsync)\b", "changes files"),
    (r"sed\s+(.*\s)?(-\w*i|--in-place)", "changes files"),
    (r"(curl|wget|ssh|scp|sftp|nc|ncat|telnet|ftp|ping|dig|gh)\b", "uses the network"),
    (r"git\s+(.*\s)?(push|pull|fetch|clone|remote|submodule)\b", "uses the network"),
    (r"git\s+(.*\s)?(add|am|apply|checkout|cherry-pick|commit|merge|mv|rebase|reset|restore|revert|rm|stash|switch|tag)\b",
     "changes the repository"),
    (r"(pip3?|uv|npm|npx|pnpm|yarn|cargo|go|gem|apt|apt-get|dnf|yum|brew|docker|make)\b",
     "runs or installs other people's code"),
    (r"git\s+(?!(status|log|diff|show|rev-parse|ls-files|blame|grep|describe)\b)", "may change the repository"),
    (r"(sh|bash|dash|zsh|python3?|perl|ruby|node|php|source|\.)(\s|$)", "runs a script"),
)  # fmt: skip
_READERS = frozenset(
    re.findall(
        r"\S+",
        "cat cd cut date diff dirname basename du df echo exit expr false file find fold grep head hostname id less ls "
        "more nl od printf printenv pwd readlink realpath rg seq sort stat strings tail test tr tree true type uname "
        "uniq wc which whoami xxd [ : export set unset wait sleep git",
    )
)


def roots(command: str) -> tuple[str, ...]:
    """The programs it starts, in the order of the text, also inside substitutions; empty when it cannot be read."""
    return tuple(root for part in (_parts(command) or ()) if (root := _root(part)))


def risk(command: str, directory: str, workspace: str) -> tuple[Risk, str]:
    """How much harm it could do, and why we think so."""
    parts = _parts(command)
    if parts is None:
        return "high", "it could not be read: quotes or brackets do not match"
    started = [os.path.basename(root) for part in parts if (root := _root(part))]
    if any(root in _DOWNLOADERS for root in started) and any(root in _INTERPRETERS for root in started):
        return "high", "it runs what it downloads"
    if outside := _writes_outside(parts, directory, workspace):
        return "high", f"it writes outside the workspace, to {outside}"
    if reason := _habit(parts, _HIGH):
        return "high", f"it {reason}"
    if reason := _habit(parts, _MEDIUM):
        return "medium", f"it {reason}"
    if any(_written(part) for part in parts):
        return "medium", "it writes a file"
    if unknown := [root for root in started if root not in _READERS]:
        return "medium", f"nothing is known about {', '.join(dict.fromkeys(unknown))}"
    return "low", "it only reads, as far as can be seen"


def _habit(parts: list[str], habits: tuple[tuple[str, str], ...]) -> str:
    for part in parts:
        bare = _bare(part)
        for pattern, reason in habits:
            if re.match(rf"(?:\S*/)?{pattern}", bare):
                return reason
    return ""


def _bare(part: str) -> str:
    """The simple command from its program on, without keywords, assignments and redirections."""
    words = _REDIRECTION.sub(" ", part).split()
    while words and (words[0] in _NOT_PROGRAMS or _ASSIGNMENT.match(words[0])):
        words.pop(0)
    if words[1:2] == ["{"]:  # a function's body counts as if it ran
        words = words[2:]
    return " ".join(words)


def _root(part: str) -> str:
    word = _bare(part).partition(" ")[0]
    return word.strip("'\"\\") if word != _HOLE else ""


def _written(part: str) -> list[str]:
    targets = [m[1].strip("'\"") for m in _REDIRECTION.finditer(_without_quoted(part)) if ">" in m[0]]
    return [target for target in targets if target and not re.fullmatch(r"&?\d|/dev/(null|std\w+|tty)", target)]


def _writes_outside(parts: list[str], directory: str, workspace: str) -> str:
    for target in (target for part in parts for target in _written(part)):
        if target.startswith("~") or "$" in target or _HOLE in target:
            return target
        full = os.path.normpath(os.path.join(directory, target))
        if full != workspace and not full.startswith(workspace.rstrip("/") + "/"):
            return target
    return ""


def _without_quoted(part: str) -> str:
    """So that a `>` inside quotes is no redirection; the length of a quoted target does not matter here."""
    return re.sub(r"'[^']*'|\"[^\"]*\"", lambda m: m[0] if not re.search(r"[<>]", m[0]) else _HOLE, part)


_HOLE = "\x1a"
"""Stands in a command for a substitution that was taken out of it."""


def _parts(command: str) -> list[str] | None:
    """The simple commands of the text; None when quotes or brackets do not match."""
    splitter = _Splitter(command)
    return splitter.parts if splitter.split() else None


class _Splitter:
    """Walks over the text once. Substitutions are taken out and become parts of their own."""

    def __init__(self, command: str) -> None:
        self._text = command.replace("\\\n", "")
        self.parts: list[str] = []

    def split(self) -> bool:
        end = self._commands(0, "")
        return end == len(self._text)

    def _commands(self, at: int, closer: str) -> int:
        """Reads until the closing character; gives the place behind it, or -1."""
        slot = self._new_part()
        while at < len(self._text):
            char = self._text[at]
            if char == closer:
                return at + 1
            if char in _SPLIT_AT and not self._is_redirection(at):
                slot = self._new_part()
                at += 1
                continue
            at = self._piece(at, slot)
            if at < 0:
                return -1
        return at if not closer else -1

    def _piece(self, at: int, slot: int) -> int:
        """One character, quoted string or substitution of a simple command."""
        text, char = self._text, self._text[at]
        match char:
            case "'":
                end = text.find("'", at + 1) + 1
                return self._take(slot, at, end) if end else -1
            case '"':
                return self._double_quoted(at, slot)
            case "\\":
                return self._take(slot, at, min(at + 2, len(text)))
            case "#" if at == 0 or text[at - 1].isspace():
                end = text.find("\n", at)
                return end if end >= 0 else len(text)
            case _:
                return self._nested(at, slot) or self._take(slot, at, at + 1)

    def _nested(self, at: int, slot: int) -> int:
        """A substitution or subshell that starts here; 0 when there is none, -1 when it does not end."""
        text = self._text
        if text[at] == "`":
            self.parts[slot] += _HOLE
            return self._commands(at + 1, "`")
        if text[at] == "(" or text[at : at + 2] in ("$(", "<(", ">("):
            self.parts[slot] += _HOLE if text[at] != "(" else ""
            return self._commands(at + (1 if text[at] == "(" else 2), ")")
        return -1 if text[at] == ")" else 0

    def _double_quoted(self, at: int, slot: int) -> int:
        start = at
        at += 1
        while 0 <= at < len(self._text) and self._text[at] != '"':
            if self._text[at] == "\\":
                at += 2
            elif self._text[at] == "`" or self._text.startswith("$(", at):
                at = self._nested(at, slot)
            else:
                at += 1
        return self._take(slot, start, at + 1) if 0 <= at < len(self._text) else -1

    def _take(self, slot: int, start: int, end: int) -> int:
        self.parts[slot] += self._text[start:end]
        return end

    def _new_part(self) -> int:
        self.parts.append("")
        return len(self.parts) - 1

    def _is_redirection(self, at: int) -> bool:
        """`>&`, `&>` and `>|` are no operators between commands."""
        text = self._text
        before, after = text[at - 1 : at], text[at + 1 : at + 2]
        return (text[at] == "&" and (before in ("<", ">") or after == ">")) or (text[at] == "|" and before == ">")
