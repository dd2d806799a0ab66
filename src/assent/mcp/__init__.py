"""Tools of other people's servers (Model Context Protocol): connect, discover, call, and never believe a word.

`manager` is the door: it keeps the configured servers running and their tools in the registry. `keeper` is the life of
one server, `link` one connection. What connects (`link`, `transport`, `http_transport`, `intercept`, `salvage`,
`results`) knows the SDK, which costs a second to import: it is imported when the first server starts. What a server
says of its tools becomes a `definition`, or is refused. `project_tools` does the same for the commands of a project.
"""
