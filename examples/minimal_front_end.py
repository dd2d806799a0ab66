"""A complete front end: sends one prompt, prints what happens, and asks before anything is done.

    python examples/minimal_front_end.py "what is in this folder?" [MODEL]

Like every front end, it imports only the application layer and plain data.
"""

import asyncio
import os
import sys

from assent.app.opening import NewSession, SessionSetup, open_session
from assent.app.question_text import question_lines
from assent.app.session_client import SessionClient
from assent.app.storage import open_log
from assent.app.style import Style
from assent.app.wording import call_about, safe
from assent.commands import Answer, Submit
from assent.config import load_settings
from assent.events import ApprovalRequested, CallFinished, CallRequested, Envelope, ModelReplied, TurnFinished
from assent.parts import Text


async def main(prompt: str, model: str | None = None) -> None:
    setup = SessionSetup(env=os.environ, settings=load_settings(os.environ), client="example")
    log = open_log(os.environ)
    try:
        new = NewSession(os.path.realpath(os.getcwd()))
        async with await open_session(log, new, setup, model=model) as session:
            await session.history()  # from here on `events` has no gap
            await session.send(Submit(prompt, by=session.me))
            async for envelope in session.events():
                if isinstance(envelope.event, TurnFinished):
                    print(f"-- {envelope.event.status}")
                    break
                await show(session, envelope)
    finally:
        await log.close()


async def show(session: SessionClient, envelope: Envelope) -> None:
    match envelope.event:
        case ModelReplied(parts=parts):
            print("".join(safe(part.text) for part in parts if isinstance(part, Text)))
        case CallRequested(request=request):
            print(f"> {safe(request.tool, 'label')} {safe(call_about(request), 'label')}")
        case ApprovalRequested(call_id=call_id):
            await ask(session, call_id)
        case CallFinished(call_id=call_id, status=status):
            print(f"  {safe(call_id, 'label')}: {status}")
        case _:
            pass


async def ask(session: SessionClient, call_id: str) -> None:
    for call in session.state.waiting():
        if call.request.call_id == call_id:
            print(*question_lines(call, Style(colour=False)), sep="\n")
            print("  Allow it once? [y/N] ", end="", flush=True)
            yes = (await asyncio.to_thread(sys.stdin.readline)).strip() == "y"
            outcome = "proceed_once" if yes else "cancel"
            await session.send(Answer(call_id=call_id, outcome=outcome, digest=call.approval.digest, by=session.me))


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
