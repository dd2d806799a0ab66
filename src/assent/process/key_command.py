"""Runs the command that the settings name for a key: `pass show anthropic`. Its output is a secret."""

import subprocess
from collections.abc import Mapping, Sequence

COMMAND_TIMEOUT = 60.0
"""It may ask the person to unlock something."""
_MAX_OUTPUT = 10_000


class KeyCommandFailed(Exception):
    """The message says why, without anything that the command printed on standard output."""


def key_from_command(words: Sequence[str], env: Mapping[str, str], seconds: float = COMMAND_TIMEOUT) -> str:
    """The first line that it prints. Blocks: call it in a thread where others wait."""
    try:
        done = subprocess.run(
            words, env=env, stdin=subprocess.DEVNULL, capture_output=True, timeout=seconds, check=False
        )
    except subprocess.TimeoutExpired as error:
        raise KeyCommandFailed(f"{words[0]} did not finish within {seconds:.0f} seconds") from error
    except OSError as error:
        raise KeyCommandFailed(f"{words[0]} cannot be run: {error.strerror}") from error
    if done.returncode != 0:
        said = done.stderr[-_MAX_OUTPUT:].decode(errors="replace").strip().splitlines()
        raise KeyCommandFailed(f"{words[0]} failed ({done.returncode}){f': {said[-1]}' if said else ''}")
    lines = done.stdout[:_MAX_OUTPUT].decode(errors="replace").strip().splitlines()
    if not lines:
        raise KeyCommandFailed(f"{words[0]} printed nothing")
    return lines[0].strip()
