"""Runs a prompt on `assent serve`, and approves edits in one folder and nothing else.

    assent serve                                                     # in one terminal
    python examples/approve_from_python.py FOLDER "fix the failing test"

It finds your server by itself. A yes carries the digest of what was shown: if the file changes in the meantime, Assent
asks again.
"""

import asyncio
import sys
from pathlib import Path

from assent.approval import Approval, EditDetails
from assent.client import Api, connect
from assent.events import ApprovalRequested, CallFinished, ModelReplied, TurnFinished
from assent.parts import Text


async def main(folder: Path, prompt: str) -> None:
    async with connect() as api:
        session = (await api.create(folder=str(folder), prompt=prompt))["id"]
        async for envelope in api.events(session):
            match envelope.event:
                case ModelReplied(parts=parts):
                    print("".join(part.text for part in parts if isinstance(part, Text)))
                case ApprovalRequested(call_id=call, approval=approval):
                    await answer(api, session, call, approval, folder)
                case CallFinished(call_id=call, status=status):
                    print(f"  {call}: {status}")
                case TurnFinished(status=status):
                    print(f"The turn ended: {status}.")
                    return
                case _:
                    pass


async def answer(api: Api, session: str, call: str, approval: Approval, folder: Path) -> None:
    match approval.details:
        case EditDetails(path=path) if Path(path).is_relative_to(folder):
            print(f"  yes: {approval.tool} {path}")
            await api.decide(session, call, "proceed_once", approval.digest)
        case _:
            print(f"  no: {approval.tool}")
            await api.decide(session, call, "cancel", approval.digest, reason="Only edits are approved here.")


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]).resolve(), sys.argv[2]))
