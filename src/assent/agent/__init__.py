"""The conversation: one reply at a time, and the loop that sends results back until no call is left.

It knows models and the scheduler; it does not know how sessions are stored or shown.
"""
