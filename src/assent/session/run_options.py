"""How a session runs, as opposed to what it is: what its runner needs besides log, model and tools, and the policy and
the scheduler that follow from it.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING

from msgspec import Struct

from assent.agent.context_text import Context
from assent.agent.failure_advice import NearestModels
from assent.agent.loop import DEFAULT_MAX_TURNS
from assent.agent.model_caller import Retries, Sleep
from assent.commands import SetModel
from assent.config import SpendingLimits
from assent.events import Attached, Envelope
from assent.models.model_protocol import Model
from assent.parts import Usage
from assent.policy.file_approvals import FileApprovals
from assent.policy.rules import Rule
from assent.scheduler.lazy_scheduler import LazyScheduler
from assent.secrets.mask import Masker
from assent.session.background_recorder import BackgroundPort

if TYPE_CHECKING:  # the first request does not need it
    from assent.policy.kept_grants import GrantKeeper
    from assent.policy.policy import Policy
    from assent.scheduler.scheduler import Scheduler
    from assent.session.journal import SessionJournal
    from assent.session.state import SessionState
    from assent.tools.registry import Registry


class RunOptions(Struct, frozen=True, kw_only=True):
    rules: tuple[Rule, ...] = ()
    attended: bool = True
    """False: nobody can be asked, so whatever needs approval is refused."""
    max_turns: int = DEFAULT_MAX_TURNS
    max_parallel: int = 64
    approval_ttl: float | None = None
    client: str = "assent"
    token: int = 0
    """The fence token, if an engine issued one."""
    retries: Retries = Retries()
    sleep: Sleep = asyncio.sleep
    fallback: Callable[[], Model] | None = None
    """Opens the smaller model for when the quota is used up."""
    chosen_model: SetModel | None = None
    """Set if a person opens the session with a model of their choice; recorded if it is not the session's own."""
    open_model: Callable[[str], Model] | None = None
    """Opens another model by name, for when a client changes it."""
    load_context: Callable[[Sequence[str]], Context] = lambda _: Context()
    """Reads the context files, including those of the given subfolders; called whenever they may have changed."""
    load_mentions: "Callable[[str, Callable[[], Policy]], Awaitable[tuple[Attached, ...]] | None]" = lambda _, __: None
    """Reads what a prompt mentions with `@`, as far as the policy allows; None if it mentions nothing."""
    window: Callable[[str], int] = lambda _: 0
    """The context window of the model of this name, in tokens; 0 if unknown."""
    compress_above: Callable[[str], int] = lambda _: 0
    """How many tokens of conversation are too many for the model of this name; 0 means never compress."""
    small_model: Callable[[int], Model | None] = lambda _: None
    """The model that writes summaries, if there is one and it can take a request of that many tokens."""
    makes_titles: bool = False
    """Whether the small model names new sessions."""
    inspect_model: Callable[[str], Awaitable[str]] | None = None
    """Finds out what a person should know about the model of this name; may ask its provider. Usually empty."""
    offer_tools: Callable[[Model], None] = lambda _: None
    """Called before each request with the model that gets it: some tools depend on the model."""
    nearest_models: NearestModels | None = None
    """For a model that its provider does not have."""
    max_tokens: int | None = None
    """The longest reply."""
    limits: SpendingLimits = SpendingLimits()
    cost: Callable[[str, Usage], float | None] = lambda model, usage: None
    """The dollars for one request to a model, by its name; None if unknown."""
    files: FileApprovals | None = None
    """What people have approved for execution; without it, commands are judged by their words alone."""
    keeper: "GrantKeeper | None" = None
    """Writes grants that outlive the session; without it, there are none."""
    masker: Masker = Masker()
    """Knows the secrets that no result may show."""
    only: str = ""
    """Carry out only the command with this key: turns, questions and other commands stay as they are."""
    holds_queue: bool = False
    """What was sent earlier and has not begun waits until a person, who sees it, releases it."""
    background: BackgroundPort | None = None
    """What runs background commands."""
    clock: Callable[[], float] = time.time
    give_way: Callable[[], Awaitable[None]] | None = None
    """Waits while something more urgent is going on; awaited before a call runs."""
    settle: Callable[[], Awaitable[None]] | None = None
    """Stores, for other nodes, what a call keeps outside the log; awaited before the call starts and before it is
    finished."""
    listeners: Sequence[Callable[[Envelope], None]] = ()
    """Receive every event as it happens, from the opening on."""


def make_policy(state: "SessionState", options: RunOptions) -> "Policy":
    """Made from the state when it is first needed, with the first call at the latest."""
    from assent.policy.policy import Policy

    return Policy(
        options.rules,
        state.mode,
        state.grants.values(),
        roots=(state.folder,),
        uses=dict(state.grant_uses),
        clock=options.clock,
        files=options.files,
        keeper=None if state.owner else options.keeper,
    )


def make_scheduler(
    state: "SessionState",
    registry: "Registry",
    policy: "Callable[[], Policy]",
    journal: "SessionJournal",
    options: RunOptions,
) -> LazyScheduler:
    def load() -> "Scheduler":
        from assent.scheduler.scheduler import Scheduler
        from assent.scheduler.scheduler_options import SchedulerOptions

        how = SchedulerOptions(
            gate=state.gate,
            attended=options.attended,
            max_parallel=options.max_parallel,
            approval_ttl=options.approval_ttl,
            clock=options.clock,
            masker=options.masker,
            give_way=options.give_way,
            settle=options.settle,
        )
        return Scheduler(state.session, registry, policy(), journal, how)

    return LazyScheduler(load)
