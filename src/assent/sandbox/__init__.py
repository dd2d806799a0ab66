"""Limits what commands can do: profiles as data, the folders they mean on this machine, and the programs that enforce
them. `assent.policy` judges the words of a command; this package knows no rules and asks nobody.
"""
