"""Clients of a session: they send commands and show events, and keep no state that the log does not have."""
