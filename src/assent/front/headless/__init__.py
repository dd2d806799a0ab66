"""Assent without a screen of its own: one prompt in, text, JSON or a stream of events out."""
