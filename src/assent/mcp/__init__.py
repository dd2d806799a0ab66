"""Tools of other people's servers (Model Context Protocol): connect, discover, call, and never believe a word.

`manager` is the door: it keeps the configured servers running and their tools in the registry. `keeper` is the life of
one server, `link` one connection. Only `link`, `transport` and `results` know the SDK, which costs a second to import:
they are imported when the first server starts. What a server says of its tools becomes a `definition`, or is refused.
"""
