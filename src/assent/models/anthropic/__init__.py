"""Anthropic's Claude: the Messages API."""
