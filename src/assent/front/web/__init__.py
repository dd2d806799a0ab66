"""`assent serve`: sessions for browsers and scripts. An API, one stream per browser, a page; see docs/api.md.

Imported only by `serve`, because it needs a web framework. Nothing here decides what may run: that is the session's
business, and every command goes through its inbox like those of any other client.
"""
