"""What the scheduler raises to its clients."""


class Refused(Exception):
    """An answer that cannot be accepted; the message says why."""


class NotWaiting(Refused):
    """The call is not waiting for an answer: it is unknown, already answered, or over."""


class Parked(Exception):
    """The session was closed while calls of the batch were waiting; they continue when it is opened again."""
