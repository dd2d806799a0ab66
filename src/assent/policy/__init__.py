"""May this happen? Rules, modes and grants give a verdict; they never run anything and never ask anybody themselves."""
