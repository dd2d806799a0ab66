"""Notices a reply that never ends: the same text over and over, or more of it than any model may send.

Only exact repetition counts. Lists, tables and code often look alike from line to line without being a loop, and inside
a code fence long runs of the same line are ordinary data, so the limit is much higher there.
"""

from assent.models.model_protocol import CallChunk, Chunk, Finished, TextChunk, ThoughtChunk

MAX_REPLY_LENGTH = 4_000_000
"""In characters; about ten times the largest output limit of any model."""
MAX_REPLY_SECONDS = 3_600.0
"""A stream can go on forever without any text: keep-alives are not silence."""
REPEATS = 10
PROSE = 2_000
"""Characters of pure repetition that stop a reply."""
CODE = 12_000
MAX_PERIOD = 2_400

_WINDOW = REPEATS * MAX_PERIOD
_INTERVAL = 1_000
_PROBE = 100
_CANDIDATES = 50
_CALL = 1_000  # the size of a call in addition to the text of its arguments


class RepetitionDetector:
    """Gets the pieces of one text. The cost of a piece does not grow with the text."""

    def __init__(self) -> None:
        self._tail = ""
        self._pending: list[str] = []
        self._unchecked = 0
        self._in_code = False

    def feed(self, text: str) -> bool:
        """True if the text so far ends in too many repetitions of the same passage."""
        self._pending.append(text)
        self._unchecked += len(text)
        if self._unchecked < _INTERVAL:
            return False
        new = "".join(self._pending)
        self._pending, self._unchecked = [], 0
        fences = (self._tail[-2:] + new).count("```")
        self._in_code ^= fences % 2 == 1
        self._tail = (self._tail + new)[-_WINDOW:]
        return self._repeats(CODE if self._in_code else PROSE)

    def _repeats(self, least: int) -> bool:
        """Tries the distances to earlier places that look like the end of the text, nearest first."""
        tail, end = self._tail, len(self._tail)
        probe, place = tail[-_PROBE:], end - _PROBE
        for _ in range(_CANDIDATES):
            place = tail.rfind(probe, 0, place + _PROBE - 1)
            period = end - _PROBE - place
            run = max(REPEATS * period, least)
            if place < 0 or run > end:
                return False
            if tail[-run:-period] == tail[-run + period :]:
                return True
        return False


def out_of_time(seconds: float) -> Finished:
    """How a reply ends that has taken too long."""
    return Finished("too_long", said=f"{seconds / 60:g} minutes")


class ReplyGuard:
    """Watches one reply while it streams."""

    def __init__(self) -> None:
        self._size = 0
        self._texts = RepetitionDetector()
        self._thoughts = RepetitionDetector()

    def observe(self, chunk: Chunk) -> Finished | None:
        """How the reply ends here, if it must not continue."""
        match chunk:
            case TextChunk():
                return self._judge(len(chunk.text) + 1, self._texts.feed(chunk.text))
            case ThoughtChunk(text):
                return self._judge(len(text) + 1, self._thoughts.feed(text))
            case CallChunk(args=args):
                texts = (len(value) for value in args.values() if isinstance(value, str))
                return self._judge(_CALL + sum(texts), repeated=False)
            case Finished():
                return None

    def _judge(self, size: int, repeated: bool) -> Finished | None:
        self._size += size
        if repeated:
            return Finished("repetition")
        if self._size > MAX_REPLY_LENGTH:
            return Finished("too_long", said=f"{MAX_REPLY_LENGTH:,} characters")
        return None
