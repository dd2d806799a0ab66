"""Carries events, as they happen, from the workers that run sessions to the servers whose clients watch them."""
