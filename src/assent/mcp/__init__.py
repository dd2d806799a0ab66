"""Tools of other people's servers (Model Context Protocol): connect, discover, call, and never believe a word.

`manager` is the door: it keeps the configured servers running and their tools in the registry. `keeper` is the life of
one server, `link` one connection (with `transport`, the only modules that know the SDK, which costs a second to import
and is imported when the first server is started). What a server says of its tools becomes a `definition`, or is refused.
"""
