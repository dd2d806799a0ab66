"""May this happen? Rules, modes and grants produce a verdict; they never run anything and never ask anyone."""
