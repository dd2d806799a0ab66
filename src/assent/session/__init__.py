"""A session: an append-only log, its fold, and the runner that takes commands and produces events.

It knows no front end.
"""
