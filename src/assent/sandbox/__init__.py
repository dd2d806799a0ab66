"""Bounds what commands can do: profiles as data, the folders they mean on this machine, and the programs that enforce
them. Words are judged elsewhere (`assent.policy`); this package knows no rules and asks nobody.
"""
