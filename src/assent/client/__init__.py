"""A client of `assent serve`, for scripts and for our own front ends. Light: it stands on `assent.http`.

    async with connect() as api:                      # the server of this user; or connect(url, token)
        session = await api.create(folder="/home/ann/shop", prompt="fix the failing test")
        async for event in api.events(session["id"]):
            …

It knows the wire and the session's own types, and nothing of the server's insides.
"""

from assent.client.api import Api, ApiProblem, connect, discover
from assent.client.remote_session import RemoteClient

__all__ = ("Api", "ApiProblem", "RemoteClient", "connect", "discover")
