"""The application layer: what every front end needs to run a session."""
