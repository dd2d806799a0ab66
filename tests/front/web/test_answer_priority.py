"""Answers come first: what runs waits for them, but not for ever."""

import asyncio

import pytest

from assent.front.web.answer_priority import AnswerPriority


async def test_work_waits_until_the_last_answer_under_way_is_taken():
    first = AnswerPriority()
    with first.answering():
        with first.answering():
            work = asyncio.ensure_future(first.give_way())
            await asyncio.sleep(0)
        await asyncio.sleep(0)
        assert not work.done()
    await work


async def test_without_an_answer_under_way_work_goes_on_at_once():
    first = AnswerPriority()
    with first.answering():
        pass
    work = first.give_way()
    with pytest.raises(StopIteration):  # it waits for nothing
        work.send(None)


async def test_answers_that_keep_coming_hold_work_up_for_a_moment_only():
    first = AnswerPriority(max_wait=0.001)
    with first.answering():
        await first.give_way()


async def test_an_answer_that_nobody_takes_holds_work_up_once_and_not_again():
    first = AnswerPriority(max_wait=0.01)
    with first.answering():
        await first.give_way()
        with pytest.raises(StopIteration):  # it waits for nothing
            first.give_way().send(None)
        first.max_wait = 1_000.0
        with first.answering():
            work = asyncio.ensure_future(first.give_way())
            await asyncio.sleep(0)
            assert not work.done(), "there is another one"
        await work


async def test_what_has_waited_goes_on_one_by_one_and_stops_again_for_the_next_answer():
    first = AnswerPriority()
    order: list[int] = []

    async def work(number: int) -> None:
        await first.give_way()
        order.append(number)

    with first.answering():
        tasks = [asyncio.create_task(work(number)) for number in range(5)]
        await asyncio.sleep(0)
    await tasks[0]
    with first.answering():
        for _ in range(20):
            await asyncio.sleep(0)
        assert len(order) < 3, "someone answered when the first had gone on"
        late = asyncio.create_task(work(5))
        await asyncio.sleep(0)
    await asyncio.gather(*tasks, late)
    assert order == [0, 1, 2, 3, 4, 5]


async def test_whoever_gave_up_waiting_holds_up_nobody():
    first = AnswerPriority()
    with first.answering():
        gone, others = asyncio.ensure_future(first.give_way()), [asyncio.ensure_future(first.give_way()) for _ in "ab"]
        await asyncio.sleep(0)
        gone.cancel()
        await asyncio.gather(gone, return_exceptions=True)
    await asyncio.gather(*others)
