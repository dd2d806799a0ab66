"""`@path` in a prompt that comes over the API. Rows G1, H1."""

from pathlib import Path

import pytest

from assent.events import PromptSubmitted
from support.program import says
from support.served import Served, until_event


@pytest.mark.spec("G1")
@pytest.mark.spec("H1")
async def test_what_a_message_names_is_in_the_event_and_in_the_log(tmp_path: Path):
    async with Served(tmp_path) as served:
        (served.folder / "a.py").write_text("one\n")
        (served.folder / ".env").write_text("TOKEN=hush\n")
        api = served.api()
        session = (await api.create(prompt="see @a.py and @.env", model=served.scenario(says("Seen."), name="seen")))[
            "id"
        ]
        events = await until_event(api, session, "turn.finished")
        (prompt,) = [envelope.event for envelope in events if isinstance(envelope.event, PromptSubmitted)]
        assert [(each.name, each.about, each.problem) for each in prompt.attached] == [
            ("a.py", "1 line", ""),
            (".env", "", "usually holds secrets"),
        ]
        assert "hush" not in repr(events)
