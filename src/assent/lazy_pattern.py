"""Regular expressions that are compiled when they are first used.

The shell gate has hundreds of them, of which one command needs a few. Compiling all of them when its modules are
imported would cost more than everything else about a first command.
"""

import re
from typing import cast


class _LazyPattern:
    """Behaves like a `re.Pattern` from the first use of a method on."""

    def __init__(self, pattern: str, flags: int) -> None:
        self.pattern, self.flags = pattern, flags

    def __getattr__(self, name: str) -> object:
        method = getattr(re.compile(self.pattern, self.flags), name)
        setattr(self, name, method)
        return method


def lazy_pattern(pattern: str, flags: int = 0) -> re.Pattern[str]:
    """Like `re.compile`, except that a mistake in the pattern is found when it is used."""
    return cast("re.Pattern[str]", _LazyPattern(pattern, flags))
