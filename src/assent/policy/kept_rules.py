"""Grants that outlive their session: written as rules to the user's own policy file, to be read and removed there.

A rule that is there already is not written again. A file that would not be valid afterwards stays as it is.
"""

import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Protocol

import msgspec

from assent.approval import Grant
from assent.files.private_folder import save_private
from assent.files.regular_file import NotPlain, read_plain
from assent.policy.rules import BadRule


class RuleKeeper(Protocol):
    """The policy's port to it: the policy opens no file."""

    def keep(self, grant: Grant) -> None:
        """Raises BadRule or OSError, and then has changed nothing."""
        ...

    def standing(self) -> Sequence[Grant]:
        """The grants of earlier sessions that hold here."""
        ...

    def drop(self, grant_id: str) -> bool:
        """Whether there was such a grant."""
        ...


class KeptRules:
    def __init__(self, path: Path, known_tools: Iterable[str]) -> None:
        self._path = path
        self._known = tuple(known_tools)

    def keep(self, grant: Grant) -> None:
        from assent.policy.rulefile import parse_rules

        path = Path(os.path.realpath(self._path))
        text, rule = self._text(path), rule_text(grant)
        if rule in text:
            return
        whole = f"{text.rstrip()}\n\n{rule}".lstrip()
        parse_rules(whole.encode(), str(self._path), "user", self._known)
        save_private(path, whole.encode())

    def _text(self, path: Path) -> str:
        try:
            return read_plain(path).decode()
        except FileNotFoundError:
            return ""
        except (NotPlain, UnicodeDecodeError) as error:
            raise BadRule(f"cannot add a rule to {path}: {error}") from error


def rule_text(grant: Grant) -> str:
    """As a table of a rule file."""
    lists = {"domains": grant.domains, "writable": grant.writable}
    if grant.kind == "domain":
        fields: dict[str, object] = {"tool": grant.tool, "domain": grant.value}
    else:
        fields = {"command": " ".join(grant.prefixes[0]), "sandbox": grant.sandbox}
        fields |= {name: value for name, value in lists.items() if value}
    fields |= {"decision": "allow", "note": "you answered always"}
    lines = (f"{name} = {msgspec.json.encode(value).decode()}" for name, value in fields.items())
    return "\n".join(["[[rule]]", *lines, ""])
