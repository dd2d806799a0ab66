"""Secrets in names and in text: which variables hold one, where one stands in a text, and a mark in its place.

Ground floor: pure functions over text. It reads no environment, file or setting, and knows nothing of what the text is
for. Masking is a net, not a wall: whoever wants to get a secret past it writes it backwards.
"""
