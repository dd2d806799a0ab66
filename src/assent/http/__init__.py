"""HTTP/1.1 as bytes on a stream: heads, bodies, one connection. It knows no provider and no page.

What can go wrong:

    HttpError
    ├── Unsendable   the request has characters that HTTP forbids
    ├── NoReply      the connection ended before the first byte of a response
    ├── Silent       nothing was received, or nothing was accepted, for too long
    └── Broken       the response was cut off or is not HTTP
"""


class HttpError(Exception):
    """`str(error)` says what happened, and names the host where it is known."""


class Unsendable(HttpError):
    pass


class NoReply(HttpError):
    """The text begins with a colon or is empty, so that it can follow a sentence."""


class Silent(HttpError):
    pass


class Broken(HttpError):
    pass
