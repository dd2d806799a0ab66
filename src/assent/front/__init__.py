"""Front ends: each shows sessions to somebody, sends commands, and keeps no state that the log does not have."""
