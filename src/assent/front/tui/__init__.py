"""The terminal UI: a client of a session like any other. Commands in, events out, and what the log says on the screen.

It keeps no truth of its own: everything shown is `client.state` or an event. It knows Textual; nothing else does.
The first frame must be up before anything heavy is imported: modules here import only Textual and plain data at their
top, and whatever opens a session where it is opened.
"""
