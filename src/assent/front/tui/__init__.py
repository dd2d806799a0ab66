"""The terminal UI: a client of a session like any other. It sends commands and shows what the log says.

It keeps no state of its own: everything shown is `client.state` or an event. It knows Textual; nothing else does.
The first frame must be up before anything heavy is imported: at their top, modules here import only Textual and plain
data; whatever opens a session is imported where it is opened.
"""
