"""The policy room: what may happen without asking, and what must be asked."""
