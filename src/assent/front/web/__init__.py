"""`assent serve`: sessions for browsers and scripts. An API, one stream a browser, a page; the contract is docs/api.md.

Imported by `serve` alone: it brings a web framework. Nothing here decides: what may run is the session's business, and
every command goes through its inbox like those of any other client.
"""
