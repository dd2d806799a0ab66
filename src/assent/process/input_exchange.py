"""One exchange with a program: it gets all of its input at once and runs to its end; output and errors are separate.

Nothing of it is left afterwards, even if it takes too long, prints too much, or nobody waits for it any longer.
"""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from typing import Literal

from msgspec import Struct

from assent.process.peer import Peer
from assent.process.pty import CHUNK

Ended = Literal["exited", "timeout", "too_much_output"]


class Exchanged(Struct, frozen=True):
    ended: Ended
    status: int | None
    """The exit code, or minus the signal; None if we ended it."""
    output: bytes
    errors: str


def _ignore(_: object) -> None:
    return None


async def exchange(
    argv: Sequence[str],
    *,
    cwd: str,
    env: Mapping[str, str],
    input: bytes,
    seconds: float,
    most_bytes: int,
    on_start: Callable[[int], None] = _ignore,
    on_output: Callable[[bytes], None] = _ignore,
) -> Exchanged:
    """Raises OSError if the program cannot be started."""
    peer = await Peer.start(argv, cwd=cwd, env=env)
    output = bytearray()
    try:
        on_start(peer.pid)
        async with asyncio.timeout(seconds):
            peer.end_input(input)
            ended = await _read_all(peer, output, most_bytes, on_output)
            if ended == "exited":
                await peer.gone(seconds)
    except TimeoutError:
        ended = "timeout"
    finally:
        status = peer.status()
        await peer.close(0)
    return Exchanged(ended, status if ended == "exited" else None, bytes(output[:most_bytes]), peer.errors())


async def _read_all(peer: Peer, output: bytearray, most_bytes: int, on_output: Callable[[bytes], None]) -> Ended:
    while data := await peer.read(CHUNK):
        output += data
        on_output(data)
        if len(output) > most_bytes:
            return "too_much_output"
    return "exited"
