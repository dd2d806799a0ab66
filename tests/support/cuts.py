"""Splits bytes at given positions."""

from itertools import pairwise


def cut_at(data: bytes, places: list[int]) -> list[bytes]:
    edges = [0, *sorted(place % (len(data) + 1) for place in places), len(data)]
    return [data[start:end] for start, end in pairwise(edges)]


def is_whole(response: bytes, place: int) -> bool:
    """Whether the events have all arrived at this place, and only the end of the HTTP response is missing."""
    return not response[place:].strip(b"\r\n0")


def is_text(data: bytes) -> bool:
    """A scenario is JSON, so the cut must not go through a letter; tests of the decoder cut there, too."""
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True
