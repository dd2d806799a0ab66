"""Brings events from the workers that run sessions to the servers whose clients watch them, as they happen."""
