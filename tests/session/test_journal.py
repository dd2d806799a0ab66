"""The journal: whoever waits for a record is answered, whatever happens."""

import asyncio
from typing import NoReturn

import pytest

from assent.commands import Submit
from assent.session.state import SessionState
from support.session_harness import SessionHarness, text


async def test_a_bug_in_the_fold_ends_the_session_instead_of_stopping_it_silently(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def broken(*_: object) -> NoReturn:
        raise TypeError("a bug")

    harness = SessionHarness(text("Hello."))
    async with await harness.open() as runner:
        monkeypatch.setattr(SessionState, "_hear", broken)
        feed = runner.subscribe()
        await runner.send(Submit("hi"))
        async with asyncio.timeout(30):
            async for _ in feed:
                pass
        assert isinstance(runner.failure, TypeError)
