"""The log in PostgreSQL, for sessions that several machines share. Needs the extra `assent[cluster]`."""
