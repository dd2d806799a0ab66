"""Which program is at the other end of a connection on this machine, and whether Assent itself started it."""

from assent.process.callers import GONE, Address, why_refused

__all__ = ("GONE", "Address", "why_refused")
