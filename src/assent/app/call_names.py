"""Finds a call by what people type for it: its number as `assent sessions show` has it, its id, or the start of one."""

from collections.abc import Iterable

from assent.app.lookup import NotFound


def whole_name(name: str, calls: Iterable[str]) -> str:
    """The id of the call with this number; anything else stays as it is. `calls` are those of the session, in order.

    A number that is also the start of an id is refused: a person must not answer another call than they mean.
    """
    ids = list(calls)
    digits = name.removeprefix("#")
    if name in ids or not (digits.isascii() and digits.isdigit() and len(digits) < 10):
        return name
    number = int(digits)
    numbered = ids[number - 1] if 0 < number <= len(ids) else None
    started = [] if name.startswith("#") else [one for one in ids if one.startswith(digits)]
    if any(one != numbered for one in started):
        if numbered is None:
            return name
        raise NotFound(f"{name!r} is the number of call {numbered}, and the start of {started[0]}: give more of the id")
    if numbered is None:
        raise NotFound(f"there is no call {number}; the session has {len(ids)}")
    return numbered
