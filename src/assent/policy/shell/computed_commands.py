"""Whether a script for sed or awk runs commands that its text does not spell out: `awk '{system($0)}'`, `sed e`.

Serves deny and ask rules, which look for programs in the text. Knows these two languages; allows nothing.
"""

import re

from assent.lazy_pattern import lazy_pattern
from assent.policy.shell.sed import harmful_sed

# A shell, or what a shell computes: nobody knows what it runs.
_UNTOLD = r"[$`\\]|\b(?:t?c|ba|da|z|k|a)?sh\b|\b(?:eval|source|xargs)\b"
_SED_OPTION = lazy_pattern(r"^(?:--expression=|-[a-zA-Z]*?e(?=.))")
_SED_RUNS = lazy_pattern(
    r"(?:^|[;{}\n\d$/!])[ \t]*e[ \t]*(?=[;}\n]|$)"  # runs what it has read
    rf"|(?:^|[;{{}}\n\d$/!])[ \t]*e[ \t]+[^\n]*(?:{_UNTOLD})"
    r"|s([^\w\s]).*\1[gpiImM0-9]*e[gpiImM0-9]*[ \t]*(?=[;}\n]|w|$)",
    re.DOTALL,
)
_AWK_PATTERN = lazy_pattern(r"(^|[(,~!{};&|\n][ \t]*)/(?:[^/\\\n]|\\.)*/")
_TOLD = rf'"(?![^"]*(?:{_UNTOLD}))[^"]*"'
_AWK_LITERAL = lazy_pattern(
    rf"\bsystem[ \t]*\([ \t]*{_TOLD}[ \t]*\)|(?:^|[;{{(\n])[ \t]*{_TOLD}[ \t]*\|[ \t]*getline"
    rf"|(?<!\|)\|[ \t]*{_TOLD}[ \t]*(?=[;}}\n]|$)"
)
_AWK_STRING = lazy_pattern(r'"(?:[^"\\]|\\.)*"')
_AWK_RUNS = lazy_pattern(r"\bsystem\b|(?<!\|)\|(?!\|)")
_AWKS = frozenset(("awk", "gawk", "mawk", "nawk"))


def runs_computed(name: str, script: str) -> bool:
    """Whether it may run a command that is computed or read. Knows sed and awk; of other programs it says no."""
    if name in ("sed", "gsed"):
        scripts = {script, _SED_OPTION.sub("", script)}
        return any(_SED_RUNS.search(one) is not None and harmful_sed(one) is not None for one in scripts)
    if name not in _AWKS:
        return False
    plain = _AWK_LITERAL.sub("", _AWK_PATTERN.sub(r"\1", script))
    return _AWK_RUNS.search(_AWK_STRING.sub("", plain)) is not None
