"""Running other programs: start, read, stop, leave nothing behind.

This room knows no tool, no policy and no session.
"""
