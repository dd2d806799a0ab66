"""The clients that open sessions by themselves, when there is something to do. Others open a session for a person.

After a restart, a server reopens the sessions last opened under its name.
"""

SERVE = "serve"
WORK = "work"
SERVER_CLIENTS = (SERVE, WORK)
