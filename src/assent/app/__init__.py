"""The application layer: what every front end needs to run a session.

A front end imports this package and plain data (`assent.events`, `assent.commands`, `assent.approval`,
`assent.parts`, `assent.config`, `assent.screen`), and nothing else of Assent; `examples/minimal_front_end.py` is one.

    storage            open_log: where sessions are kept
    opening            open_session: a session that runs in this process
    session_client     what a session offers to a front end, wherever it runs
    command_sender     send a command and wait for its outcome
    engine_setup       make_engine: many sessions, for a server
    session_log, session_state, call_states, mcp_types, …    types of the packages below, by subject

Modules are imported where they are needed, not here: startup must not wait for what it does not use.
"""
