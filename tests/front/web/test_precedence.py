"""Answers come first: what runs waits for them, but not for ever."""

import asyncio

import pytest

from assent.front.web import precedence
from assent.front.web.precedence import Precedence


async def test_work_waits_until_the_last_answer_under_way_is_taken():
    first = Precedence()
    with first.answering():
        with first.answering():
            work = asyncio.ensure_future(first.give_way())
            await asyncio.sleep(0)
        await asyncio.sleep(0)
        assert not work.done()
    await work


async def test_without_an_answer_under_way_work_goes_on_at_once():
    first = Precedence()
    with first.answering():
        pass
    work = first.give_way()
    with pytest.raises(StopIteration):  # it waits for nothing
        work.send(None)


async def test_answers_that_keep_coming_hold_work_up_for_a_moment_only(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(precedence, "PATIENCE", 0.001)
    first = Precedence()
    with first.answering():
        await first.give_way()
