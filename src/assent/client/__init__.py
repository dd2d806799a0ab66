"""A client of `assent serve`, for scripts and for our own front ends. Lightweight: it is built on `assent.http`.

    async with connect() as api:                      # this user's server; or connect(url, token)
        session = await api.create(folder="/home/ann/shop", prompt="fix the failing test")
        async for event in api.events(session["id"]):
            …

It knows the wire format and the session's own types, and nothing about the server's internals.
"""

from assent.client.api import Api, ApiProblem, connect, discover
from assent.client.remote_session import RemoteClient

__all__ = ("Api", "ApiProblem", "RemoteClient", "connect", "discover")
