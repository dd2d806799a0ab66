"""The clients that open sessions by themselves, when there is something to do. Others open a session for a person.

After a restart, the sessions of its name are those of a server.
"""

SERVE = "serve"
WORK = "work"
SERVER_CLIENTS = (SERVE, WORK)
