"""The conversation: one reply (turn), and the loop that feeds results back until no call is left.

It knows models and the scheduler; it does not know how sessions are stored or shown.
"""
