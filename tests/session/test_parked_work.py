"""Which parked sessions have something to do."""

import pytest

from assent.commands import Answer, CancelTurn, Command, Compress, Submit
from assent.session.log import Inboxed, SessionInfo
from assent.session.memory_log import MemoryLog
from assent.session.parked_work import can_go_on, has_work

PROMPT, ANSWER = Submit("go"), Answer(call_id="c1", outcome="proceed_once", digest="d")


def session(*, unfinished: bool = False, waiting: int = 0) -> SessionInfo:
    parts = {"id": "s", "folder": "/w", "model": "m", "title": "", "created_at": 0.0, "updated_at": 0.0, "events": 1}
    return SessionInfo(**parts, unfinished=unfinished, waiting=waiting)  # pyright: ignore[reportArgumentType]


@pytest.mark.parametrize(
    ("unfinished", "waiting", "commands", "expected"),
    [
        (False, 0, [], False),
        (False, 0, [PROMPT], True),
        (False, 0, [Compress(by="ann")], True),
        (True, 0, [], True),
        (True, 1, [], False),
        (True, 1, [PROMPT], False),
        (True, 1, [Compress(by="ann")], False),
        (True, 1, [ANSWER], True),
        (True, 1, [PROMPT, CancelTurn(by="ann")], True),
    ],
)
def test_a_session_goes_on_with_what_it_can_take_now(
    unfinished: bool, waiting: int, commands: list[Command], expected: bool
):
    inbox = [Inboxed(str(number), command) for number, command in enumerate(commands)]
    assert can_go_on(session(unfinished=unfinished, waiting=waiting), inbox) is expected


async def test_a_session_that_is_gone_has_nothing_to_do():
    assert not await has_work(MemoryLog(), "gone")
