"""The newest events of each watched session as encoded lines, shared by all watchers; a watcher is only a position.

Clients have no queues: one that reads too slowly falls off the old end of the ring and is told to start over. Durable
events are in order and without gaps, whoever wrote them; deltas are merged for a short time.
"""

import asyncio
from collections.abc import Callable, Iterable

from msgspec.structs import replace

from assent.app.session_log import LogError, SessionLog
from assent.events import CallOutput, Envelope, TextDelta, to_wire

JOIN_SECONDS = 0.04
RING = 2_048
"""Lines kept for watchers that lag behind or reconnect."""
RING_BYTES = 4_000_000
MAX_CATCH_UP = 4_000
"""Events read from the log for a watcher that reconnects; for more, the snapshot is cheaper."""
KEEP_UNWATCHED = 256

Wake = Callable[[], None]


class Feed:
    """`lines[place - first]` is the line at a position; positions only grow. `seq` is 0 for transient lines."""

    def __init__(self, session: str, log: SessionLog) -> None:
        self.session = session
        self._log = log
        self.first = 0
        self._lines: list[bytes] = []
        self._seqs: list[int] = []
        self._bytes = 0
        self.oldest = 0
        """Durable events after this sequence number are in the ring."""
        self.seq: int | None = None
        """The newest durable event in the ring; None until the start of the ring is known."""
        self.watchers: set[Wake] = set()
        self._delta: tuple[TextDelta | CallOutput, float] | None = None
        self._texts: list[str] = []
        self._timer: asyncio.TimerHandle | None = None
        self._pulling: asyncio.Task[None] | None = None
        self._back = asyncio.Lock()

    @property
    def end(self) -> int:
        return self.first + len(self._lines)

    def since(self, place: int, most: int) -> list[bytes] | None:
        """At most `most` lines from a position on; None if the position is no longer kept."""
        if place < self.first:
            return None
        return self._lines[place - self.first : place - self.first + most]

    def newest_seq(self, place: int, count: int) -> int:
        """The newest durable sequence number among `count` lines; 0 if there is none."""
        begin = place - self.first
        return max(self._seqs[begin : begin + count], default=0)

    # --- adding ---

    def push(self, envelope: Envelope) -> None:
        """Called directly by the runner in this process."""
        event = envelope.event
        if isinstance(event, TextDelta | CallOutput):
            self._join(event, envelope.ts)
            return
        self.flush()
        if envelope.seq == 0 or self.seq is None or envelope.seq == self.seq + 1:
            self._append([envelope])
        elif envelope.seq > self.seq:
            self.pull()  # another process wrote in between; the log has everything in order

    def pull(self) -> "asyncio.Task[None]":
        """Reads from the log what is missing here."""
        if self._pulling is None:
            self._pulling = asyncio.create_task(self._pull())
        return self._pulling

    async def _pull(self) -> None:
        try:
            while missing := await self._log.read(self.session, self.seq or 0, MAX_CATCH_UP):
                self.flush()  # text that is still being joined comes before the reply that completes it
                self._append([envelope for envelope in missing if envelope.seq > (self.seq or 0)])
        except LogError:
            pass  # watchers see nothing new; requests report the reason
        finally:
            self._pulling = None

    def _append(self, envelopes: Iterable[Envelope]) -> None:
        for envelope in envelopes:
            if envelope.seq:
                self.oldest = envelope.seq - 1 if self.seq is None else self.oldest
                self.seq = envelope.seq
            self._keep(data_line(envelope), envelope.seq)
        for wake in list(self.watchers):
            wake()

    def _keep(self, line: bytes, seq: int) -> None:
        self._lines.append(line)
        self._seqs.append(seq)
        self._bytes += len(line)
        if len(self._lines) > 2 * RING or self._bytes > 2 * RING_BYTES:
            self._trim()

    def _trim(self) -> None:
        """Drops half of it at once, so that this is rare."""
        gone = 0
        while len(self._lines) - gone > 1 and (len(self._lines) - gone > RING or self._bytes > RING_BYTES):
            self._bytes -= len(self._lines[gone])
            self.oldest = max(self.oldest, self._seqs[gone])
            gone += 1
        del self._lines[:gone], self._seqs[:gone]
        self.first += gone

    # --- deltas ---

    def _join(self, event: TextDelta | CallOutput, ts: float) -> None:
        if self._delta is not None and not _same(self._delta[0], event):
            self.flush()
        if self._delta is None:
            self._delta = (event, ts)
            self._timer = asyncio.get_running_loop().call_later(JOIN_SECONDS, self.flush)
        else:
            self._delta = (event, self._delta[1])  # the newest event has the newest count
        self._texts.append(event.text)

    def flush(self) -> None:
        if self._delta is None:
            return
        (event, ts), text = self._delta, "".join(self._texts)
        joined = replace(event, text=text)
        self._delta, self._texts = None, []
        if self._timer is not None:
            self._timer.cancel()
        self._append([Envelope(0, ts, self.session, joined)])

    # --- reconnecting watchers ---

    async def place_after(self, seq: int) -> int | None:
        """Where to continue for a watcher that has everything up to `seq`; None if that is too long ago."""
        if self.seq is None or seq > self.seq:
            await asyncio.shield(self.pull())  # the client knows newer events than we do
        if self.seq is None or seq > self.seq:
            return None
        async with self._back:
            if seq < self.oldest and not await self._extend_back(seq):
                return None
        if seq >= self.seq:
            return self.end
        return self.first + next(place for place, found in enumerate(self._seqs) if found > seq)

    async def _extend_back(self, seq: int) -> bool:
        wanted = self.oldest - seq
        if wanted + len(self._lines) > MAX_CATCH_UP:
            return False
        older = await self._log.read(self.session, seq, wanted)
        lines = [data_line(envelope) for envelope in older]
        if seq + len(lines) != self.oldest:  # the ring moved on while we read
            return False
        self._lines[:0] = lines
        self._seqs[:0] = [envelope.seq for envelope in older]
        self._bytes += sum(map(len, lines))
        self.first -= len(lines)
        self.oldest = seq
        return True


def data_line(envelope: Envelope) -> bytes:
    return b"data: " + to_wire(envelope) + b"\n"


def _same(one: TextDelta | CallOutput, other: TextDelta | CallOutput) -> bool:
    match one, other:
        case TextDelta(), TextDelta():
            return one.prompt_id == other.prompt_id
        case CallOutput(), CallOutput():
            return one.call_id == other.call_id
        case _:
            return False


class Feeds:
    """Feeds exist while someone watches, and a little longer, for those who reconnect."""

    def __init__(self, log: SessionLog, runs_here: Callable[[str], object]) -> None:
        self._log = log
        self._runs_here = runs_here
        self._feeds: dict[str, Feed] = {}

    def on_event(self, envelope: Envelope) -> None:
        """Every event of every session that runs here."""
        feed = self._feeds.get(envelope.session)
        if feed is not None:
            feed.push(envelope)

    def on_remote_event(self, envelope: Envelope, newest: int) -> None:
        """An event of a session that a worker runs; `newest` is the number of its newest durable event then. Text that
        arrives after the log has told what became of it is of no use."""
        feed = self._feeds.get(envelope.session)
        if feed is not None and (envelope.seq or newest >= (feed.seq or 0)):
            feed.push(envelope)

    async def open(self, session: str) -> Feed:
        feed = self._feeds.get(session)
        if feed is None:
            self._drop_surplus()
            feed = self._feeds[session] = Feed(session, self._log)
        if feed.seq is None:
            head = (await self._log.info(session)).events
            if feed.seq is None:
                feed.seq = feed.oldest = head
        elif not feed.watchers:
            feed.pull()  # what other processes wrote while nobody watched
        return feed

    def forget(self, session: str) -> None:
        self._feeds.pop(session, None)

    async def others_changed(self) -> None:
        """Another process wrote something: finds out to which of the watched sessions."""
        watched = [feed for feed in self._feeds.values() if feed.watchers and not self._runs_here(feed.session)]
        if not watched:
            return
        heads = await self._log.heads([feed.session for feed in watched])
        for feed in watched:
            if feed.seq is not None and heads.get(feed.session, 0) > feed.seq:
                feed.pull()

    def _drop_surplus(self) -> None:
        idle = [session for session, feed in self._feeds.items() if not feed.watchers]
        for session in idle[: max(0, len(idle) - KEEP_UNWATCHED)]:
            del self._feeds[session]
