"""The verdict on a command: rules about the whole tool, rules and grants about words, and files that rules guard.

The shell gate (`policy.shell`) knows what the words mean; this module knows who may decide on them.
"""

import glob
from collections.abc import Iterable
from itertools import islice
from posixpath import isdir, normpath, realpath

from msgspec.structs import replace

from assent.approval import ExecDetails, Grant, Mode, UnapprovedFile
from assent.files.hard_links import has_other_names, second_name_below
from assent.lazy_pattern import lazy_pattern
from assent.plan import Plan, SandboxName, Stage, simple_commands
from assent.policy.built_in import PLAIN_READS, READ_ONLY, stays_inside
from assent.policy.command_grants import folder_of
from assent.policy.cwd_tracking import expanded, is_wild, value, with_folders
from assent.policy.decision import (
    Verdict,
    by_containment,
    by_grants,
    by_guard,
    by_rule,
    by_yolo,
    first,
    read_only,
)
from assent.policy.effects import only_reads
from assent.policy.file_approvals import unapproved_in_words
from assent.policy.globs import text_matches
from assent.policy.guarded_names import (
    changes_unnamed,
    goes_through,
    is_plain,
    named_in_texts,
    opens_folders,
    swept,
    words_of,
)
from assent.policy.query_commands import is_question
from assent.policy.rules import Rule, Ruling, can_contain
from assent.policy.sandbox_choice import absolute, sandbox_of, widest
from assent.policy.script_arguments import program_passed_on
from assent.policy.shell import CommandRules, Judgement, judge
from assent.policy.shell.command_rules import program
from assent.policy.shell.command_survey import Found
from assent.policy.shell.lexer import Refused
from assent.policy.shell.parsed import parse, understood
from assent.policy.shell.paths import has_wildcard, inside
from assent.policy.shell.unknown_words import ANY_WORD
from assent.policy.symlink_checks import matches_of, place_behind, repository_behind, secret_behind
from assent.policy.target_checks import discarded_behind, module_behind, write_behind
from assent.policy.untold_names import why_untold


class _TooMany(Exception):
    """So many folders or files are named that any of them may be meant."""


class CommandJudge:
    """Judges one command. `rules` are those for its tool and mode, in the order in which they are quoted."""

    def __init__(
        self,
        details: ExecDetails,
        rules: Iterable[Rule],
        grants: Iterable[Grant],
        mode: Mode,
        roots: tuple[str, ...],
        unapproved: tuple[UnapprovedFile, ...] = (),
    ) -> None:
        self._details = details
        self._unapproved = unapproved
        self._mode: Mode = mode
        self._roots = roots
        self._rules = list(rules)
        self._whole = [rule for rule in self._rules if not rule.words() and not rule.path]
        guards = [rule for rule in self._rules if rule.path and rule.ruling != "allow"]
        self._guards = [rule for rule in guards if not rule.keeps_unchanged(_TOOL)]
        self._write_guards = [rule for rule in guards if rule.keeps_unchanged(_TOOL)]
        here = folder_of(details.command, details.directory)
        self._grants = [grant for grant in grants if here and grant.value in ("", here)]
        """A grant for a command holds in the folder where it was given; a `cd` may lead there, or out of it."""

    def verdict(self) -> Verdict:
        found = self.judgement()
        denied = self._speaking("deny", found)
        if denied is not None:
            return by_rule(denied)
        if self._mode == "plan":
            return read_only()
        asked = self._speaking("ask", found)
        if asked is not None:
            return by_rule(asked)
        if found.doubt:
            return Verdict("ask", "rule", found.doubt.rstrip("."))
        return self._allowed(found)

    def asks_about_words(self) -> bool:
        """Whether a rule asks about this command, or may."""
        found = self.judgement()
        return self._speaking("ask", found) is not None or bool(found.doubt)

    def _speaking(self, ruling: Ruling, found: Judgement) -> Rule | None:
        """The first rule that denies or asks: about the tool, about words anywhere in the line, about a named file."""
        whole = first(self._whole, ruling)
        if whole is not None:
            return whole
        said = found.denied if ruling == "deny" else found.asked
        rules = [rule for rule in self._rules if rule.ruling == ruling and rule.words()]
        named = next((rule for rule in rules if rule.words() == said or self._quotes(rule)), None)
        if named is not None:
            return named
        return next((rule for rule in self._guards if rule.ruling == ruling and self._touches(rule, found)), None)

    def _touches(self, rule: Rule, found: Judgement) -> bool:
        """Whether some word names a file that the rule covers, directly or through a link."""
        try:
            places = self._named() if found.readable else self._named_by_text()
        except _TooMany:
            return True
        return any(rule.guards(one, self._roots) for place in places for one in _lies(place))

    def _quotes(self, rule: Rule) -> bool:
        return bool(rule.argument) and text_matches(rule.argument, self._details.command)

    def _named(self) -> list[str]:
        """The files named by words, option values and redirections, wherever a `cd` may have led."""
        stages = list(self._in_folders())
        if not all(folders for _, folders in stages) or any(_may_name_any_file(stage) for stage, _ in stages):
            raise _TooMany
        placed = [(word, cwd) for stage, folders in stages for word in words_of(stage) for cwd in folders]
        texts = [(expanded(word, cwd), cwd) for word, cwd in placed if not is_wild(word)]
        texts += [
            (found, cwd) for word, cwd in placed if is_wild(word) for found in _all(matches_of(word, cwd), _MAX_PATHS)
        ]
        return [_place(part, cwd) for text, cwd in texts for part in (text, *_values(text))]

    def _in_folders(self) -> Iterable[tuple[Stage, tuple[str, ...]]]:
        return with_folders(
            Plan(steps=understood(self._details.command), cwd=self._details.directory, roots=self._roots)
        )

    def _named_by_text(self, *more: str) -> list[str]:
        """An unparsed command is split into pieces, any of which may be a folder: too many rather than too few."""
        text = self._with_known_folders(" ".join((self._details.command, *more)))
        pieces: list[str] = _PIECE.findall(f"{text} {_QUOTE.sub('', text)}")
        pieces += [part for piece in pieces for part in _SEPARATOR.split(piece) if part not in ("", piece)]
        folders: list[str] = [self._details.directory]
        for piece in pieces:
            led = [place for cwd in folders if isdir(place := normpath(_place(piece, cwd))) and place not in folders]
            folders = _all([*folders, *led], _MAX_FOLDERS)
        wild = _all((piece for piece in dict.fromkeys(pieces) if has_wildcard(piece)), _MAX_WILDCARDS)
        pieces += [found for piece in wild for cwd in folders for found in _found(piece, cwd)]
        return [_place(piece, cwd) for piece in pieces for cwd in folders]

    def _with_known_folders(self, text: str) -> str:
        """The text with home and the current folder substituted; replacing one `~` too many does no harm."""
        here = self._details.directory
        return _FOLDER.sub(lambda found: value("variable", found[1] or "HOME", here), text)

    def _written(self) -> list[tuple[str, ...]]:
        """The commands of the line as written; the gate's own words include its hardening."""
        return [tuple(word.text for word in stage.words) for stage in self._stages()]

    def _stages(self) -> list[Stage]:
        return list(simple_commands(understood(self._details.command)))

    # --- allowing ---

    def _allowed(self, found: Judgement) -> Verdict:
        if (guarded := self._by_guards(found)) is not None:
            return guarded
        if self._mode == "yolo":
            return by_yolo()
        verdict = self._by_permissions(found)
        return by_containment() if verdict.ruling == "ask" and self._may_be_contained(found) else verdict

    def _may_be_contained(self, found: Judgement) -> bool:
        """Files that rules guard are in the workspace, so no sandbox keeps a command from them. What a rule lets run
        outside the sandbox would not work in it.
        """
        if self._mode != "contained" or self._guards or self._write_guards or not can_contain(self._details):
            return False
        return found.plan is None or all(rule.sandbox != "off" for rule in self._choosing(found))

    def _by_permissions(self, found: Judgement) -> Verdict:
        whole = first(self._whole, "allow")
        if whole is not None:
            return by_rule(whole)
        if found.plan is not None:
            return _by_link(found.plan) or self._by_script(found.plan) or self._by_words(found)
        return Verdict("ask", "rule", _why_wider(self._details)) if self._details.wider else self._by_built_in()

    def _by_words(self, found: Judgement) -> Verdict:
        used = self._used_grants(found)
        if used is None:
            return Verdict("ask", "rule", "a grant with a use limit covers a single command, not several")
        assert found.plan is not None
        given = [*self._choosing(found), *used]
        chosen: list[SandboxName] = [one.sandbox for one in given if one.sandbox is not None]
        if "off" in chosen:
            return Verdict("ask", "rule", "a rule lets it run outside the sandbox, which needs approval every time")
        if missing := next((one for one in chosen if one in self._details.no_sandbox), None):
            return Verdict("ask", "rule", f"a rule requires the sandbox `{missing}`, which does not work here")
        sandbox = "read-only" if self._only_reads() and not chosen else sandbox_of(found.plan, chosen)
        if found.plan.only_confined and (sandbox == "off" or "workspace" in self._details.no_sandbox):
            return Verdict("ask", "rule", "the files that it writes are not named in it, and no sandbox would bound it")
        confined = found.plan.only_confined or bool(chosen)
        plan = replace(
            found.plan, sandbox=sandbox, only_confined=confined, domains=_union(one.domains for one in given)
        )
        plan = replace(plan, writable=_union(map(absolute, one.writable) for one in given))
        if self._details.wider and not _suffices(plan, self._details):
            return Verdict("ask", "rule", _why_wider(self._details))
        if used and self._unapproved:
            return Verdict("ask", "rule", unapproved_in_words(self._unapproved))
        if used:
            return by_grants(used, plan)
        return Verdict("allow", "rule", _why(found), _decided_by(found, "allow"), plan)

    def _choosing(self, found: Judgement) -> list[Rule]:
        """The rules that allow the commands of the line, however these are written; they may name their sandbox."""
        return [rule for rule in self._allowing() if rule.words() in found.relied]

    def _used_grants(self, found: Judgement) -> list[Grant] | None:
        """The grants required to allow it; None if one with a use limit would count for several commands."""
        needed = set(found.relied).difference(rule.words() for rule in self._allowing())
        used = [grant for grant in self._grants if not needed.isdisjoint((*grant.prefixes, *grant.exact))]
        if len(self._stages()) > 1 and any(grant.max_uses is not None for grant in used):
            return None
        return used

    def _allowing(self) -> list[Rule]:
        return [rule for rule in self._rules if rule.ruling == "allow" and rule.words()]

    def _by_guards(self, found: Judgement) -> Verdict | None:
        """Words may reach a guarded file without naming it: inside a text, through its folder, a wildcard or a hard
        link. What only reads may reach files that a rule keeps from being changed.
        """
        guards = [*self._guards, *(() if self._only_reads() else self._write_guards)]
        if not guards:
            return None
        parsed = parse(self._details.command)
        if why := why_untold(self._details.command, parsed, readable=found.readable):
            return by_guard(guards[0], f"{why}, and it may name a file that {{rule}} covers")
        try:
            names, trees = self._reached(found)
        except _TooMany:
            return by_guard(guards[0], "it may name a file that {rule} covers")
        named = {one for name in names for one in _lies(name)}
        below = {one.rstrip("/") + "/" for tree in trees for one in _lies(tree)}
        for rule in guards:
            if any(rule.guards(one, self._roots) for one in named):
                return by_guard(rule, "it may name a file that {rule} covers")
            if any(rule.may_be_below(tree, self._roots) for tree in below):
                return by_guard(rule, "it may reach files that {rule} covers")
        here = self._details.directory.rstrip("/") + "/"
        if (rule := self._changed_unnamed(here)) is not None:
            return by_guard(rule, "it may change files that {rule} covers")
        if any(map(has_other_names, names)) or any(map(second_name_below, self._walked(found))):
            return by_guard(guards[0], "a file in it has a second name (hard link) and may be one that {rule} covers")
        return None

    def _changed_unnamed(self, folder: str) -> Rule | None:
        """The rule that keeps files in the folder from being changed, if a command may change any of them."""
        rules = [rule for rule in self._write_guards if rule.may_be_below(folder, self._roots)]
        parsed = parse(self._details.command)
        commands = [one.words for one in (*parsed.seen.commands, *parsed.inner) if not one.other_name]
        return rules[0] if rules and not self._only_reads() and any(map(changes_unnamed, commands)) else None

    def _walked(self, found: Judgement) -> list[str]:
        """Folders of the workspace whose files it may open, whatever their names."""
        if found.readable:
            stages = [(stage, cwds) for stage, cwds in self._in_folders() if opens_folders(stage.words[0].text)]
            words = [
                _place(expanded(word, cwd), cwd) for stage, cwds in stages for word in words_of(stage) for cwd in cwds
            ]
            here = [cwd for stage, cwds in stages if goes_through(stage.words) for cwd in cwds]
        else:
            words, here = self._named_by_text(), list[str]()
        roots = list(map(realpath, self._roots))
        folders = [*filter(isdir, words), *here, *self._searched()]
        return [folder for folder in folders if inside(realpath(folder), roots)]

    def _only_reads(self) -> bool:
        return only_reads(self._details.command, self._details.directory, self._roots)

    def _reached(self, found: Judgement) -> tuple[list[str], list[str]]:
        """What may be names of files in the command, and the folders whose files it may read."""
        if not found.readable:
            names = self._named_by_text(*self._inside(parse(self._details.command).seen.commands))
            return names, [*filter(isdir, names), *self._searched()]
        words = self._named()
        texts = [
            place for stage, places in self._in_folders() for cwd in places for place in named_in_texts(stage, cwd)
        ]
        inside = self._inside()
        inner = self._named_by_text(*inside) if inside else []
        trees = [*filter(isdir, (*words, *texts, *inner)), *self._swept(), *self._searched()]
        return [*words, *texts, *inner], trees

    def _searched(self) -> list[str]:
        """Where commands inside a text, or in a line that was not understood, search by default."""
        parsed = parse(self._details.command)
        own = [one for one in (*parsed.seen.commands, *parsed.inner) if not one.other_name]
        known = [one.words for one in own if one.nested or isinstance(parsed.steps, Refused)]
        return [self._details.directory] if any(map(goes_through, known)) else []

    def _inside(self, outer: Iterable[Found] = ()) -> list[str]:
        """The words of commands inside a text, without their quotes, and the texts that programs get as input."""
        parsed = parse(self._details.command)
        inner = [one for one in parsed.inner if not one.other_name]
        words = [word.text for one in (*outer, *inner) for word in one.words]
        return words + [one.input for one in parsed.seen.commands if one.input and not is_plain(one.words[0].text)]

    def _by_script(self, plan: Plan) -> Verdict | None:
        """Words passed on to a project script, unless a rule or grant names them."""
        rules = [rule.words() for rule in self._allowing()]
        granted = [words for grant in self._grants for words in (*grant.prefixes, *grant.exact)]
        why = program_passed_on(plan, [*rules, *granted])
        return None if why is None else Verdict("ask", "rule", why)

    def _swept(self) -> list[str]:
        """Folders whose files are read unnamed: those of wildcards, and where a search starts by default."""
        return [place for stage, folders in self._in_folders() for cwd in folders for place in swept(stage, cwd)]

    def _by_built_in(self) -> Verdict:
        """Commands that only read are allowed out of the box, as long as they stay inside the workspace."""
        found = self.judgement(built_in=True)
        if found.plan is None:
            return self._by_sandbox() or Verdict("ask", "rule", _why(found), _decided_by(found, "ask"))
        if self._guards:
            return Verdict("ask", "rule", f"a command may touch files that {self._guards[0].describe()} covers")
        if not stays_inside(found.plan, self._roots):
            return Verdict("ask", "rule", "it reads outside the workspace, and none of your rules allows that")
        if asked := _by_link(found.plan) or self._by_script(found.plan):
            return asked
        used = self._used_grants(found)
        if used is None or used:
            return self._by_words(found)
        if not self._needs_no_rule():
            verdict = self._by_words(found)
            return verdict if verdict.plan is None else replace(verdict, plan=replace(verdict.plan, inside=True))
        plan = replace(found.plan, inside=True, sandbox="read-only")
        return Verdict("allow", "rule", _why(found), f"built-in: {_decided_by(found, 'allow')}", plan)

    def _needs_no_rule(self) -> bool:
        """Whether every part of it only reads; otherwise rules allow the parts that do more."""
        if not self._allowing():
            return True
        return CommandJudge(self._details, (), (), self._mode, self._roots).judgement(built_in=True).plan is not None

    @property
    def _is_bounded(self) -> bool:
        """Whether a sandbox makes sure that a command only reads."""
        return "read-only" not in self._details.no_sandbox

    def _by_sandbox(self) -> Verdict | None:
        """Asks about what would run by itself if there were a sandbox."""
        details = replace(self._details, no_sandbox=())
        judge = CommandJudge(details, self._rules, self._grants, self._mode, self._roots, self._unapproved)
        if self._is_bounded or judge.judgement(built_in=True).plan is None:
            return None
        return Verdict("ask", "rule", "it should only read, but no sandbox works here that could ensure that")

    def _questions(self) -> list[tuple[str, ...]]:
        """The parts that only query a program or the machine."""
        try:
            written = self._written()
        except Refused:
            return []
        if any("cd" in words for words in written):
            return []  # the folder decides which program answers
        return [words for words in written if is_question(words, self._details.directory, self._roots)]

    def judgement(self, *, built_in: bool = False) -> Judgement:
        """The shell gate's judgement, with the rules and grants about words."""
        spoken = {r: tuple(rule.words() for rule in self._rules if rule.ruling == r and rule.words()) for r in _RULINGS}
        asking = self._questions() if built_in and self._is_bounded else []
        prefixes = tuple(prefix for grant in self._grants for prefix in grant.prefixes)
        known = CommandRules(
            allow=(*spoken["allow"], *prefixes),
            reading=(READ_ONLY if self._is_bounded else PLAIN_READS) if built_in else (),
            ask=spoken["ask"],
            deny=spoken["deny"],
            exact=(*(line for grant in self._grants for line in grant.exact), *asking),
        )
        return judge(self._details.command, known, cwd=self._details.directory, roots=self._roots)


def _may_name_any_file(stage: Stage) -> bool:
    """Whether words that are known only at run time may be file names."""
    return any(word.unknown for word in stage.words) and program(stage.words[0].text) not in ANY_WORD


def _found(pattern: str, cwd: str) -> list[str]:
    """The files that a text with wildcards matches now."""
    return [_place(path, cwd) for path in _all(glob.iglob(pattern, root_dir=cwd), _MAX_PATHS)]


def _all(found: Iterable[str], most: int) -> list[str]:
    some = list(islice(found, most + 1))
    if len(some) > most:
        raise _TooMany
    return some


def _place(word: str, cwd: str) -> str:
    """The path as it will be opened: only `realpath` knows what `..` means after a link."""
    return word if word[:1] == "/" else f"{cwd}/{word}"


def _lies(place: str) -> tuple[str, str]:
    """Where a path is by its text, and where its links lead."""
    return normpath(place), realpath(place)


def _why_wider(details: ExecDetails) -> str:
    """What the model asks for, beyond what the sandbox allows."""
    if details.sandbox == "off":
        return "the model asks to run it without the sandbox"
    wanted = [f"to write to {path}" for path in details.writable] + [f"to connect to {one}" for one in details.domains]
    if wanted:
        return f"the model asks for more than the sandbox allows: {', '.join(wanted)}"
    return "the model asks for network access, which the sandbox refused"


def _suffices(plan: Plan, details: ExecDetails) -> bool:
    """Whether a rule or a grant allows everything that the model asks for."""
    return (
        widest([plan.sandbox, details.sandbox]) == plan.sandbox
        and set(details.domains) <= set(plan.domains)
        and set(details.writable) <= set(plan.writable)
    )


def _union(found: Iterable[Iterable[str]]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(one for many in found for one in many))


_MAX_FOLDERS = 8
_FOLDER = lazy_pattern(r"\$\{?(HOME|PWD)\b\}?|~(?=/|\s|$)")
_MAX_PATHS = 20_000
_MAX_WILDCARDS = 100
_QUOTE = lazy_pattern(r"['\"\\]")
_PIECE = lazy_pattern(r"[^\s'\"`<>|&;()=$]+")
_SEPARATOR = lazy_pattern(r"[:,@]")
_TOOL = "run_shell_command"
_RULINGS: tuple[Ruling, ...] = ("allow", "ask", "deny")


def _by_link(plan: Plan) -> Verdict | None:
    checks = (secret_behind, write_behind, discarded_behind, place_behind, repository_behind, module_behind)
    why = next((why for check in checks if (why := check(plan))), None)
    return None if why is None else Verdict("ask", "rule", why)


def _values(text: str) -> list[str]:
    """The value glued to an option: `--file=x`, `-fx`."""
    return [value for value in (text.partition("=")[2], text[2:]) if value] if text.startswith("-") else []


def _why(found: Judgement) -> str:
    return found.why.rstrip(".")


def _decided_by(found: Judgement, ruling: Ruling) -> str:
    return "; ".join(dict.fromkeys(part.by for part in found.parts if part.decision == ruling))
