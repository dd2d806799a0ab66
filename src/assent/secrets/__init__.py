"""Secrets in names and in text: which variables hold one, where one is in a text, and a mark in its place.

Pure functions over text. It reads no environment, file or setting, and does not know what the text is for. Masking is a
net, not a wall: anyone who wants to get a secret past it writes it backwards.
"""
