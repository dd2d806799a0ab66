"""Pictures and PDFs that a prompt mentions, or that a call reads, reach the model on every wire format. Row K1."""

import os
from base64 import b64encode
from pathlib import Path
from typing import Any

import msgspec
import pytest

from assent.app.opening import NewSession, SessionSetup, open_session
from assent.app.storage import open_log
from assent.commands import Submit
from assent.config import Settings
from assent.events import TurnFinished
from support.wire_formats import FORMATS, Spoken

pytestmark = pytest.mark.spec("K1")

PICTURE = bytes.fromhex(
    "89504e470d0a1a0a0000000d4948445200000001000000010806000000"
    "1f15c4890000000d49444154789c6360606060000000050001a5f645400000000049454e44ae426082"
)
DOCUMENT = b"%PDF-1.4\n1 0 obj<</Type/Catalog>>endobj\ntrailer<</Root 1 0 R>>\n%%EOF\n"
TAKES_PDFS = ("gemini", "messages", "responses")
formats = pytest.mark.parametrize("wire", FORMATS)


async def requests_of(tmp_path: Path, spoken: Spoken, prompt: str, *replies: dict[str, Any]) -> list[str]:
    work = tmp_path / "work"
    work.mkdir()
    (work / "pic.png").write_bytes(PICTURE)
    (work / "a.pdf").write_bytes(DOCUMENT)
    async with spoken.serve(*replies, {"chunks": [{"text": "Seen."}]}) as fake:
        env = spoken.env(fake) | {"ASSENT_HOME": str(tmp_path / "home"), "HOME": str(tmp_path)}
        env["PATH"] = os.environ["PATH"]
        log = open_log(env)
        setup = SessionSetup(env=env, settings=Settings(), client="test")
        async with await open_session(log, NewSession(str(work)), setup, model=spoken.model) as client:
            await client.send(Submit(prompt, by=client.me))
            async for envelope in client.events():
                if isinstance(envelope.event, TurnFinished):
                    assert envelope.event.status == "completed", envelope.event
                    break
        await log.close()
        return [msgspec.json.encode(request.body).decode() for request in fake.requests]


@formats
async def test_a_picture_and_a_pdf_that_a_prompt_mentions_reach_the_model(tmp_path: Path, wire: str) -> None:
    (sent,) = await requests_of(tmp_path, FORMATS[wire], "What is in @pic.png and @a.pdf ?")
    assert b64encode(PICTURE).decode() in sent
    assert (b64encode(DOCUMENT).decode() in sent) == (wire in TAKES_PDFS)
    if wire not in TAKES_PDFS:
        assert "application/pdf" in sent, "the model is told what it does not get"


@formats
async def test_a_picture_that_a_call_reads_reaches_the_model(tmp_path: Path, wire: str) -> None:
    read = {"chunks": [{"call": {"name": "read_file", "args": {"file_path": "pic.png"}, "id": "c1"}}]}
    _, sent = await requests_of(tmp_path, FORMATS[wire], "Look at pic.png", read)
    assert b64encode(PICTURE).decode() in sent
