"""A picture from the person's clipboard. Terminals paste text only, so this asks the desktop's own tool."""

import subprocess
from collections.abc import Iterator, Mapping, Sequence

SECONDS = 5.0
LARGEST = 20_000_000
_PNG = b"\x89PNG\r\n\x1a\n"


def picture_from_clipboard(env: Mapping[str, str]) -> bytes:
    """A PNG; empty if there is none, or nothing to ask. Blocks: call it in a thread."""
    return next(filter(None, (_output(words, env) for words in _tools(env))), b"")


def _tools(env: Mapping[str, str]) -> Iterator[Sequence[str]]:
    if env.get("WAYLAND_DISPLAY"):
        yield "wl-paste", "--type", "image/png"
    if env.get("DISPLAY"):
        yield "xclip", "-selection", "clipboard", "-target", "image/png", "-out"


def _output(words: Sequence[str], env: Mapping[str, str]) -> bytes:
    try:
        done = subprocess.run(
            words, env=env, stdin=subprocess.DEVNULL, capture_output=True, timeout=SECONDS, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return b""  # it is not installed, or the picture is no longer offered
    is_picture = done.returncode == 0 and done.stdout.startswith(_PNG) and len(done.stdout) <= LARGEST
    return done.stdout if is_picture else b""
