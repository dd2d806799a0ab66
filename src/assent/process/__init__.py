"""The process room: starting, feeding and ending child processes."""
