"""Conversations to display: Markdown as models write it, and sessions of any length in a log on disk."""

import asyncio
import time
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

from assent.approval import Decision
from assent.events import (
    CallFinished,
    CallRequest,
    CallRequested,
    CallScheduled,
    CallStarted,
    DurableEvent,
    Envelope,
    ModelReplied,
    PromptSubmitted,
    TurnFinished,
)
from assent.parts import Call, ModelPart, PlainDisplay, Result, Text, Usage
from assent.session.runner import create_session
from assent.session.sqlite_log import SqliteLog

SECTION = """\
## Step {n}: where the total goes wrong

The function `total` adds the *gross* prices, but `line_items` already holds **net** ones; the tax is counted twice. \
Three places matter, and only the last one has to change:

1. `cart.py` collects the items and keeps their order.
2. `tax.py` knows the rates, by country and by kind of goods.
3. `total.py` puts both together, and this is where it happens.

```python
def total(items: list[Item], rates: Rates) -> Decimal:
    net = sum((item.price * item.count for item in items), Decimal())
    tax = sum((item.price * item.count * rates[item.kind] for item in items), Decimal())
    return (net + tax).quantize(Decimal("0.01"))
```

| file | lines | what changes |
|------|------:|--------------|
| `cart.py` | 120 | nothing |
| `tax.py` | 48 | nothing |
| `total.py` | 31 | one line |

> Rounding happens once, at the end: rounding each line loses up to a cent for each of them.

- The tests in `tests/test_total.py` cover the sum and the rounding.
- None covers a cart with two kinds of goods; I would add one.

"""


def markdown(size: int) -> str:
    """This many characters of it."""
    sections = "".join(SECTION.format(n=n) for n in range(1, size // len(SECTION) + 2))
    return sections[:size].rsplit("\n", 1)[0]


def fragments(text: str, count: int) -> list[str]:
    ends = [len(text) * n // count for n in range(count + 1)]
    return [text[start:end] for start, end in pairwise(ends)]


def make_session(home: Path, folder: Path, messages: int, model: str) -> str:
    """A session of this many prompts, each with a reply of 2.9 kB and two calls; returns its id."""
    return asyncio.run(_make_session(home, folder, messages, model))


async def _make_session(home: Path, folder: Path, messages: int, model: str) -> str:
    log = SqliteLog(home)
    session = await create_session(log, str(folder), model, "default")
    fence = await log.acquire(session)
    seq = (await log.read(session))[-1].seq
    for n in range(messages):
        envelopes = [Envelope(seq + place, time.time(), session, event) for place, event in enumerate(_message(n), 1)]
        await log.append(fence, envelopes)
        seq += len(envelopes)
    await log.release(fence)
    await log.close()
    return session


def _message(n: int) -> Iterator[DurableEvent]:
    prompt_id = f"p{n}"
    requests = [
        CallRequest(
            call_id=f"c{n}-{k}",
            tool="read_file",
            args={"file_path": f"/home/ann/shop/total_{n}_{k}.py"},
            prompt_id=prompt_id,
        )
        for k in (0, 1)
    ]
    yield PromptSubmitted(prompt_id, f"Message {n}: why does test_total fail?", "me", f"key-{n}")
    calls: tuple[ModelPart, ...] = tuple(Call(one.call_id, one.tool, one.args) for one in requests)
    yield _reply(prompt_id, (Text("I look at both files."), *calls))
    for request in requests:
        yield from _call(request)
    yield _reply(prompt_id, (Text(markdown(2900) + f"\n\nThe end of reply {n}."),))
    yield TurnFinished(prompt_id, "completed")


def _reply(prompt_id: str, parts: tuple[ModelPart, ...]) -> ModelReplied:
    return ModelReplied(
        prompt_id=prompt_id, model="none", parts=parts, finish="stop", usage=Usage(input=4000, output=800)
    )


def _call(request: CallRequest) -> Iterator[DurableEvent]:
    code = "".join(f"    line_{n} = compute({n})\n" for n in range(40))
    yield CallRequested(request)
    yield CallScheduled(request.call_id, Decision(source="tool", reason="reading is always allowed"))
    yield CallStarted(request.call_id, "digest")
    result = Result(request.call_id, request.tool, {"output": code})
    yield CallFinished(
        call_id=request.call_id, status="success", result=result, display=PlainDisplay(code), duration_ms=3
    )
