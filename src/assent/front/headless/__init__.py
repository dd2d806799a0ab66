"""Assent without a UI: one prompt in; text, JSON or a stream of events out."""
