"""The open web: which addresses may be fetched, and the only code that fetches them.

`urls`, `hosts`, `addresses` and `url_text` judge and open nothing; `dial` and `fetch` connect, only to what was judged.
This package knows no tool, no policy and no session.
"""
