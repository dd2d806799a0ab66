"""The environment that children get: built, not inherited, so that our own keys never reach a command.

It knows nothing of the command that will run.
"""

import os
import re
from collections.abc import Iterable, Mapping

PASSED = frozenset(
    {
        "PATH",
        "HOME",
        "USER",
        "LOGNAME",
        "SHELL",
        "LANG",
        "LANGUAGE",
        "TERM",
        "TMPDIR",
        "TZ",
        "SSL_CERT_FILE",
        "SSL_CERT_DIR",
    }
)
FIXED = {
    "ASSENT": "1",
    "PAGER": "cat",
    "GIT_PAGER": "cat",
    "GIT_TERMINAL_PROMPT": "0",  # a prompt that nobody sees would hang the call
    "DEBIAN_FRONTEND": "noninteractive",
}
_SECRET = re.compile(r"KEY|TOKEN|SECRET|PASSW|CREDENTIAL|AUTH(?!OR)", re.IGNORECASE)


def child_environment(
    source: Mapping[str, str] | None = None,
    *,
    also: Iterable[str] = (),
    extra: Mapping[str, str] | None = None,
) -> dict[str, str]:
    """`also` names further variables to pass on; one whose name smells of a secret is not passed."""
    source = os.environ if source is None else source
    named = PASSED.union(name for name in also if not _SECRET.search(name))
    built = {name: value for name, value in source.items() if name in named or name.startswith("LC_")}
    built.setdefault("PATH", os.defpath)
    built.setdefault("TERM", "xterm-256color")
    return built | FIXED | dict(extra or {})
