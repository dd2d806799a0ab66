"""A long session in a process of its own, to be measured from outside: many turns, each with a call and an answer.

    python -m bench.talking FOLDER TURNS < settings

Standard input has one line of JSON: the environment, the models in turn, and who writes the summaries. It prints one
line for each turn: seconds, CPU seconds, kilobytes of resident memory.
"""

import asyncio
import os
import sys
import time
from collections.abc import AsyncIterator
from pathlib import Path

import msgspec
from msgspec import Struct

from assent.app.opening import LocalClient, NewSession, SessionSetup, open_session
from assent.app.storage import open_log
from assent.cli import collect_rarely
from assent.commands import SetModel, Submit
from assent.config import Settings
from assent.events import Envelope, TurnFinished

WINDOW = 32_000
"""Small, so that the conversation is compressed again and again."""
PAGE = os.sysconf("SC_PAGE_SIZE")


class Talk(Struct, frozen=True):
    env: dict[str, str]
    models: tuple[str, ...]
    small_model: str


async def main(folder: Path, turns: int, talk: Talk) -> None:
    env = talk.env | {"ASSENT_HOME": str(folder / "home"), "HOME": str(folder), "PATH": os.environ["PATH"]}
    settings = Settings(context_window=WINDOW, small_model=talk.small_model)
    log = open_log(env)
    setup = SessionSetup(env=env, settings=settings, client="bench")
    async with await open_session(log, NewSession(str(folder)), setup, model=talk.models[0]) as client:
        events = client.events()
        for turn in range(turns):
            if turn and turn * len(talk.models) % turns == 0:
                await client.send(SetModel(talk.models[turn * len(talk.models) // turns], by=client.me))
            await _measured_turn(client, events, turn)
    await log.close()


async def _measured_turn(client: LocalClient, events: AsyncIterator[Envelope], turn: int) -> None:
    began, cpu = time.perf_counter(), time.process_time()
    await client.send(Submit(f"Turn {turn}: read the notes again.", by=client.me))
    async for envelope in events:
        match envelope.event:
            case TurnFinished(status="completed"):
                break
            case TurnFinished():
                raise SystemExit(f"turn {turn}: {envelope.event}")
            case _:
                pass
    sys.stdout.write(f"{time.perf_counter() - began} {time.process_time() - cpu} {_kilobytes()}\n")
    sys.stdout.flush()


def _kilobytes() -> float:
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * PAGE / 1024


if __name__ == "__main__":
    collect_rarely()  # like every run of Assent
    asyncio.run(main(Path(sys.argv[1]), int(sys.argv[2]), msgspec.json.decode(sys.stdin.readline(), type=Talk)))
