"""Words that are not file names, whatever they look like: printed text, patterns, scripts, separators.

`sed -n '/def/p' x` does not read a folder called `/def`, and `cut -d/` does not read the root of the disk. An
allow-list of programs and options; says nothing about what the words may do.
"""

from assent.policy.shell.operands import is_several
from assent.policy.shell.options import Use, Words

# All their arguments are printed or computed.
_PRINTS = frozenset(("echo", "printf", "expr", "seq", "factor", "numfmt", "tr", "sleep", "basename", "dirname"))
# Their first operand is a pattern or a script, unless an option provides it.
_PATTERN_FIRST = frozenset(
    ("grep", "egrep", "fgrep", "rgrep", "zgrep", "rg", "ag", "ack", "sed", "gsed", "awk", "gawk", "mawk", "nawk", "jq")
)
_VALUES: dict[str, str] = {
    "grep": "-e --regexp --label --group-separator --include --exclude --exclude-dir",
    "zgrep": "-e",
    "rg": "-e --regexp -g --glob --iglob -r --replace -t -T --type --type-not",
    "sed": "-e --expression",
    "awk": "-F -v",
    "cut": "-d -f -b -c --delimiter --fields --output-delimiter",
    "sort": "-t -k --field-separator --key",
    "column": "-s -o --separator --output-separator",
    "paste": "-d --delimiters",
    "join": "-t -o -e",
    "date": "-d --date",
    "find": "-name -iname -path -ipath -wholename -iwholename -regex -iregex -printf",
    "git": "--format --pretty --grep --author --committer --since --until --after --before -S -G -e -m --message",
}
_SAME = {
    **dict.fromkeys(("egrep", "fgrep", "rgrep"), "grep"),
    **dict.fromkeys(("gawk", "mawk", "nawk"), "awk"),
    "gsed": "sed",
}


def plain_texts(use: Use, words: Words) -> tuple[int, ...]:
    """Positions of the words that are not file names. Wildcards are expanded from disk, so they are never included."""
    name = use.names[0]
    known = _VALUES.get(_SAME.get(name, name), "").split()
    found = {at for option, at in use.values_at if option in known}
    if name in _PRINTS:
        found.update(use.operands_at)
    elif _has_pattern_first(use):
        found.add(use.operands_at[0])
    return tuple(at for at in sorted(found) if not is_several(words[at]))


def _has_pattern_first(use: Use) -> bool:
    if use.names[:2] == ("git", "grep"):
        return bool(use.operands) and use.option("-e", "-f") is None
    return use.names[0] in _PATTERN_FIRST and bool(use.texts) and use.texts[0] is use.operands[0]
