"""Limits what commands can do: profiles as data, the paths they cover on this machine, and the programs that enforce
them. `assent.policy` judges the words of a command; this package knows no rules and asks nobody.
"""
