"""The workflow of a session: ensures that exactly one worker runs the session while it has something to do.

It knows nothing about sessions. It starts the activity `run_session`, which opens the session and reports that it is
alive; when a worker is lost, it starts another attempt with a newer token. When a session only waits, its workflow
ends, so that it costs nothing; the next nudge starts a new one.

Old and new workers run side by side, so this code must replay what older versions recorded: tests replay recorded
histories. Fields may be added to the messages if they have defaults.
"""

from dataclasses import dataclass
from datetime import timedelta

from temporalio import workflow
from temporalio.common import RetryPolicy
from temporalio.exceptions import ActivityError, TimeoutError, TimeoutType, is_cancelled_exception

WORKFLOW = "assent.session"
ACTIVITY = "assent.run_session"
NUDGE = "nudge"
HEARTBEAT_TIMEOUT = timedelta(seconds=4)
"""After this silence, a worker counts as lost."""
UNCLAIMED_TIMEOUT = timedelta(hours=1)
"""If no worker has taken the session by then, a new attempt begins: an attempt that waits forever, for a host that is
down, would collect nudges without a bound."""
LONGEST_RUN = timedelta(days=365)
ATTEMPTS_PER_RUN = 200
"""Then the workflow continues as a new run with an empty history."""
MAX_PAUSE = 60.0
TOKEN_STEP = 60_000
"""Added to a token that was refused: the clock of the engine was set back since the last one."""


@dataclass
class Supervised:
    session: str
    queue: str
    """The task queue of the workers that have the workspace of this session."""
    token: int = 0
    """The newest one issued so far."""
    failures: int = 0


@dataclass
class Attempt:
    session: str
    token: int


@dataclass
class Ended:
    state: str
    """`parked`: it has nothing to do; `again`: it has, but not here; `refused`: its token is too old; `cannot_open`:
    the detail says why, and another attempt would not help; `failed`: it may help; `lost`: nobody heard of it again;
    `unclaimed`: no worker has taken it."""
    detail: str = ""


@workflow.defn(name=WORKFLOW)
class SessionWorkflow:
    def __init__(self) -> None:
        self._nudged = False

    @workflow.signal(name=NUDGE)
    def nudge(self) -> None:
        """The session may have something to do. An open one finds it itself; one that is closing may miss it."""
        self._nudged = True

    @workflow.run
    async def run(self, supervised: Supervised) -> str:
        """Returns why the session cannot be opened; empty if it was."""
        attempts = 0
        while attempts < ATTEMPTS_PER_RUN and not workflow.info().is_continue_as_new_suggested():
            attempts += 1
            self._nudged = False
            supervised.token = max(supervised.token + 1, int(workflow.now().timestamp() * 1000))
            ended = await _attempt(supervised)
            if ended.state in ("parked", "cannot_open") and not self._nudged:
                return ended.detail
            await _prepare_next(supervised, ended)
        return workflow.continue_as_new(supervised)


async def _attempt(supervised: Supervised) -> Ended:
    try:
        return await workflow.execute_activity(
            ACTIVITY,
            Attempt(supervised.session, supervised.token),
            result_type=Ended,
            task_queue=supervised.queue,
            schedule_to_start_timeout=UNCLAIMED_TIMEOUT,
            start_to_close_timeout=LONGEST_RUN,
            heartbeat_timeout=HEARTBEAT_TIMEOUT,
            retry_policy=RetryPolicy(maximum_attempts=1),  # every attempt needs a token of its own
            cancellation_type=workflow.ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
        )
    except ActivityError as error:
        if is_cancelled_exception(error):
            raise
        return Ended(_why(error), str(error.cause))


def _why(error: ActivityError) -> str:
    match error.cause:
        case TimeoutError(type=TimeoutType.SCHEDULE_TO_START):
            return "unclaimed"
        case TimeoutError():
            return "lost"
        case _:
            return "failed"


async def _prepare_next(supervised: Supervised, ended: Ended) -> None:
    if ended.state in ("parked", "again", "cannot_open", "unclaimed"):
        supervised.failures = 0
        return
    supervised.failures += 1
    if ended.state == "refused":
        supervised.token += TOKEN_STEP * supervised.failures
    if (pause := _pause(supervised.failures, ended)) > 0:
        await workflow.sleep(pause)


def _pause(failures: int, ended: Ended) -> float:
    """Seconds. After the first loss of a worker, there is no pause; a session that makes its workers fail must wait."""
    if failures == 1 and ended.state in ("lost", "refused"):
        return 0.0
    return min(0.25 * 2.0 ** min(failures, 10), MAX_PAUSE)
