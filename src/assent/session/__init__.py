"""A session: an append-only log, its fold, and the runner that takes commands and makes events.

It knows no front end.
"""
