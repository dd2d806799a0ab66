"""How long something has taken. The clock may be changed meanwhile, so it is used only for what began elsewhere."""

_MAX_PLAUSIBLE_SECONDS = 366 * 24 * 3600.0


def since(moment: float, now: float) -> float:
    """Seconds between two wall-clock times; 0 if the clock must have been wrong at one of them."""
    seconds = now - moment
    return seconds if 0 <= seconds < _MAX_PLAUSIBLE_SECONDS else 0.0
