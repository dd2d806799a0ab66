"""Runs other programs: start, read, stop, leave nothing behind.

This package knows no tool, no policy and no session.
"""
