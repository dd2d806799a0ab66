"""Notifies people elsewhere when a question is waiting, and when it no longer is. It knows no front end.

A command that waits for input, such as a password, counts as a question; the text of its prompt is not reported.
A question that is answered soon is not reported at all. A reported question is withdrawn when someone has answered it,
wherever they did.
"""

import asyncio
import hashlib
import time
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from contextlib import suppress
from typing import Any, Protocol

from msgspec import Struct
from msgspec.structs import replace

from assent.app.session_log import LogError, SessionInfo
from assent.app.webhook_formats import QuestionNotice, folder_name, input_summary, summary
from assent.approval import Approval, ExecDetails
from assent.events import ApprovalAnswered, ApprovalRequested, CallFinished, CallInput, CallScheduled, Envelope
from assent.parts import InputWanted

ANSWERS = {"cancel": "refused"}

Place = tuple[str, str]
"""A session and a call."""
FindSession = Callable[[str], Awaitable[SessionInfo]]


class Channel(Protocol):
    """One way to reach someone."""

    @property
    def delay(self) -> float:
        """Seconds: a question that is answered sooner is not reported."""
        ...

    async def send(self, notice: QuestionNotice) -> None:
        """Returns when it has arrived, or cannot arrive."""
        ...


class ChannelSource(Protocol):
    def is_used(self) -> bool: ...

    def of(self, owner: str) -> Sequence[Channel]:
        """Those that are notified about this owner's sessions."""
        ...


class _Input(Struct, frozen=True):
    """What a command waits for."""

    id: str


class _Waiting(Struct):
    question: Approval | _Input
    told: list[tuple[Channel, QuestionNotice]]
    task: asyncio.Task[None] | None = None


class QuestionNotices:
    def __init__(self, find: FindSession, *sources: ChannelSource) -> None:
        self._find, self._sources = find, sources
        self._waiting: dict[Place, _Waiting] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self.address = ""
        """Where the page is, for people; set when the server listens."""

    def on_event(self, envelope: Envelope) -> None:
        """Every event of every session that runs here."""
        match envelope.event:
            case ApprovalRequested(call_id=call_id, approval=approval):
                self._end((envelope.session, call_id), "replaced")
                self._begin((envelope.session, call_id), approval)
            case CallInput(call_id=call_id, wanted=InputWanted(number=number)):
                self._end((envelope.session, call_id), "replaced")
                self._begin((envelope.session, call_id), _Input(_input_id(envelope.session, call_id, number)))
            case ApprovalAnswered(call_id=call_id, outcome=outcome, by=by) if outcome != "modify_with_editor":
                who = by.rpartition("@")[0] or by
                self._end((envelope.session, call_id), f"{ANSWERS.get(outcome, 'approved')} by {who}")
            case CallScheduled(call_id=call_id) | CallFinished(call_id=call_id) | CallInput(call_id=call_id):
                self._end((envelope.session, call_id), "no longer waiting")
            case _:
                pass

    async def close(self) -> None:
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    # --- questions ---

    def _begin(self, place: Place, question: Approval | _Input) -> None:
        if not any(source.is_used() for source in self._sources):
            return
        waiting = _Waiting(question, [])
        self._waiting[place] = waiting
        waiting.task = self._spawn(self._tell_all(place, waiting))

    def _end(self, place: Place, how: str) -> None:
        waiting = self._waiting.pop(place, None)
        if waiting is None:
            return
        if waiting.task is not None:
            waiting.task.cancel()  # what was not sent yet is not needed any more
        for channel, notice in waiting.told:
            self._spawn(channel.send(_answered(notice, how)))

    async def _tell_all(self, place: Place, waiting: _Waiting) -> None:
        with suppress(LogError):
            info = await self._find(place[0])
            channels = [channel for source in self._sources for channel in source.of(info.owner)]
            await asyncio.gather(*(self._tell(channel, info, waiting) for channel in channels))

    async def _tell(self, channel: Channel, info: SessionInfo, waiting: _Waiting) -> None:
        await asyncio.sleep(channel.delay)
        notice = self._notice(info, waiting.question)
        waiting.told.append((channel, notice))  # before it is sent: it may arrive although no response did
        await channel.send(notice)

    def _notice(self, info: SessionInfo, question: Approval | _Input) -> QuestionNotice:
        url = f"{self.address}/#/s/{info.id}"
        plain = QuestionNotice(
            event="question.waiting",
            id=question.id,
            session=info.id,
            folder=folder_name(info.folder),
            kind="input",
            text=input_summary(info.folder),
            url=url,
            at=time.time(),
        )
        if isinstance(question, _Input):
            return plain
        details = question.details
        return replace(
            plain,
            kind=details.__struct_config__.tag,
            risk=details.risk if isinstance(details, ExecDetails) else "",
            text=summary(details, info.folder),
            url=f"{url}/q/{question.id}",
        )

    def _spawn(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task


def _answered(notice: QuestionNotice, how: str) -> QuestionNotice:
    return replace(notice, event="question.answered", by=how, at=time.time())


def _input_id(session: str, call_id: str, number: int) -> str:
    """The same on every server of a cluster, and without the model's words, such as the id that it gave the call."""
    return hashlib.sha256(f"{session} {call_id} {number}".encode()).hexdigest()[:32]
