"""Assent: an AI agent that acts only with your assent."""

__version__ = "0.1.0"
