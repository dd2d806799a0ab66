"""How much a model should think, for providers that have fewer levels than Assent. Pure."""

from typing import get_args

from assent.models.model_protocol import Effort

ALL_EFFORTS: tuple[Effort, ...] = get_args(Effort)


def nearest_effort(wanted: Effort, accepted: tuple[Effort, ...]) -> Effort:
    """If two levels are equally near, the lower one."""
    place = ALL_EFFORTS.index(wanted)
    return min(accepted, key=lambda effort: abs(ALL_EFFORTS.index(effort) - place))
