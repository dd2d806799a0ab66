"""Tools from third-party servers (Model Context Protocol): connect, discover, call, and trust nothing they say.

`manager` is the entry point: it keeps the configured servers running and their tools in the registry.
`server_supervisor` looks after one server, and `server_connection` is one connection to it. Modules that connect
(`server_connection`, `transport`, `http_transport`, `intercept`, `salvage`, `results`) use the SDK, which takes a
second to import, so they are imported when the first server starts. What a server says about its tools becomes a
`Definition` or is refused. `project_tools` does the same for the commands of a project.
"""
