"""Small languages passed as an operand: sed and awk scripts, jq programs, database queries.

They are not parsed. Each is searched for anything that could run, write or show more than its input; when in doubt, it
needs approval.
"""

import re

from assent.lazy_pattern import lazy_pattern
from assent.policy.shell.operands import is_several
from assent.policy.shell.options import Use, Words
from assent.policy.shell.sed import harmful_sed

# After a name, a number or a bracket, `/` divides; after one of these words, or the parenthesis of a condition, it may
# begin a pattern.
_DIVISION = lazy_pattern(
    r"(?:[\d\]]|\b(?!(?:print|printf|return|in|else|do|exit|delete|next|getline|length|case)\b)[A-Za-z_]\w*)[ \t]*/"
)
_STRING = lazy_pattern(r'"(?:[^"\\]|\\.)*"')
_YQ_COMMANDS = (["eval"], ["e"], ["eval-all"], ["ea"])
_ABOUT = (
    r"(?:table|index|foreign_key|database|function|collation|pragma|module)_(?:x?info|list)|user_version|page_count"
)
_SELECT = lazy_pattern(
    rf"\s*(?:(?:select|with|explain|values)\b(?!.*\n[ \t\r\f\v]*\.).*|pragma\s+(?:{_ABOUT})\s*(?:\([\w'\".]+\))?\s*|)",
    re.I | re.S,
)
_DOT = lazy_pattern(r"\.(?:tables|schema|indexes|databases|dbinfo|headers|mode|width|fullschema|help)(?: [\w%. -]*)?")
_CHANGES = lazy_pattern(
    r"\b(?:insert|update|delete|drop|create|alter|replace|attach|detach|vacuum|reindex|analyze|into|begin|commit|savepoint"
    r"|load_extension|writefile|readfile|fsdir|lsmode|edit|fts3_tokenizer|zipfile|sqlar_uncompress)\b",
    re.I,
)


_BACKUP = lazy_pattern(r"|~|[._~-]?(?:bak|backup|old|orig|original|save|sav|tmp|temp)~?")


def sed(use: Use, _words: Words) -> None:
    scripts = [value for name, value in use.seen if name in ("-e", "--expression")]
    scripts = scripts or [word.text for word in use.texts[:1]]
    if any(not word.literal for word in use.texts):
        use.problems.append("the sed script is not literal")
    if not _BACKUP.fullmatch(use.option("-i", "--in-place") or ""):
        use.problems.append("the suffix of `-i` is not one of a backup, so the copies could be files of any kind")
    for script in scripts:
        if why := harmful_sed(script):
            use.problems.append(why)


def awk(use: Use, _words: Words) -> None:
    """Patterns and prints only. Where a `/` may begin a pattern, strings and brackets are not told apart."""
    program = use.texts[0].text if use.texts else ""
    plain = _STRING.sub('""', program)
    # The first pattern or comment is outside of strings, so this finds it if there is one.
    patterns = re.search(r"[/#]", _DIVISION.sub("", plain)) is not None
    plain = program if patterns else plain
    shown = plain.partition("{")[2] if patterns else _without_brackets(_actions(plain))
    if re.search(r"system|getline|ARG[VC]|SYMTAB|FUNCTAB|@|`|\\\n", program) or re.search(r"(?<!\|)\|(?!\|)", plain):
        use.problems.append("the awk program may run other programs")
    elif "ENVIRON" in program:
        use.problems.append("the awk program may show environment variables")
    elif re.search(r">(?!=)", shown):
        # The end of an action is unknown: a pattern may contain braces, too.
        use.problems.append("the awk program may write files")
    elif plain.count("{") != plain.count("}") or re.search(r"\bfunc" if not patterns else r"\{[^}]*\{|\bfunc", plain):
        use.problems.append("the awk program is more than one line of patterns and prints")


def _actions(program: str) -> str:
    """The text inside braces; outside them there are only conditions, where `>` compares."""
    kept: list[str] = []
    depth = 0
    for character in program:
        depth = max(0, depth - (character == "}"))
        if depth:
            kept.append(character)
        depth += character == "{"
    return "".join(kept)


def _without_brackets(text: str) -> str:
    """Inside parentheses `>` compares; outside it writes."""
    kept: list[str] = []
    opened: list[int] = []
    for character in text:
        if character == "(":
            opened.append(len(kept))
        if character == ")" and opened:
            del kept[opened.pop() :]
        else:
            kept.append(character)
    return "".join(kept)


def jq(use: Use, _words: Words) -> None:
    program = use.texts[0].text if use.texts else ""
    if use.names[0] == "yq":  # some of them take a sub-command first
        rest = use.operands[1:] if [word.text for word in use.operands[:1]] in _YQ_COMMANDS else use.operands
        program = " ".join(word.text for word in rest)
        if rest is not use.operands and any(map(is_several, rest[:1])):
            use.problems.append("the program is not literal")
    if re.search(r"(?<!\.)\bENV\b|(?<!(?<!\.)\.)\b(?:str)?env\b|\benvsubst\b", program):
        use.problems.append("the program shows environment variables")
    if re.search(r"\b(?:load\w*|system|eval|import|include|input_filename|splitDoc)\b", program):
        use.problems.append("the program reads other files or runs something")


def sqlite(use: Use, _words: Words) -> None:
    """Queries only. It also runs with `-safe -readonly`, where nothing else would work."""
    for word in use.texts:
        dotted = word.text.strip().startswith(".")
        parts = [word.text.strip()] if dotted else word.text.split(";")
        if not all((_DOT if dotted else _SELECT).fullmatch(part) for part in parts) or _CHANGES.search(word.text):
            use.problems.append("it may do more than query the database")
    if not use.texts and use.option("-version", "--version", "-help") is None:
        use.problems.append("it runs commands from its input")
