"""Front ends: each shows sessions, sends commands, and keeps no state that is not in the log."""
